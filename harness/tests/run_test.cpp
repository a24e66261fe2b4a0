// SPDX-License-Identifier: Apache-2.0
#include "harness/run.hpp"

#include "cases/suite.hpp"
#include "harness/tests/catch.hpp"
#include "harness/tests/fake_kernel.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <vector>

using namespace ropecheck;

namespace {

/// A few small float32 cases of every family.
std::vector<CaseSpec> some_cases() {
  SuiteOptions options;
  options.profiles = {"strict_f32"};
  std::vector<CaseSpec> cases;
  std::map<Family, int> count;
  for (const CaseSpec& spec : make_suite("smoke", options)) {
    if (count[spec.family]++ < 3) cases.push_back(spec);
  }
  return cases;
}

CaseSpec decode_case(const std::string& changes = "") {
  return parse_id("decode/rows=2/len=6.ragged/steps=3/pad=left/cache=caller" + changes);
}

RunResult run(Kernel& kernel, const std::vector<CaseSpec>& cases, RunOptions options = {}) {
  return run_cases(kernel, cases, {}, options, {});
}

const CheckResult& find_check(const CaseResult& result, const std::string& check, Point point) {
  for (const CheckResult& candidate : result.checks) {
    if (candidate.check == check && candidate.point == point) return candidate;
  }
  FAIL("no check " << check << " at " << to_string(point));
  return result.checks.front();
}

float* output_of(const ropecheck_step_args& args) { return static_cast<float*>(args.output->data); }

}  // namespace

TEST_CASE("sample backends pass small cases of every family") {
  const std::vector<CaseSpec> cases = some_cases();
  REQUIRE(cases.size() >= 18);
  for (const char* name : {"reference", "tiled", "naive"}) {
    INFO(name);
    const std::unique_ptr<Kernel> kernel = load_backend(name);
    const RunResult result = run(*kernel, cases);
    for (const CaseResult& one : result.cases) {
      INFO(one.id << ": " << one.message);
      CHECK_FALSE(is_failure(one.verdict));
    }
    CHECK(result.summary.verdicts.at("passed") > 0);
    CHECK(result.summary.cases == static_cast<std::int64_t>(cases.size()));
  }
}

TEST_CASE("results do not depend on how many cases run at once") {
  const std::vector<CaseSpec> cases = some_cases();
  const std::unique_ptr<Kernel> kernel = load_backend("tiled");
  RunOptions one, four;
  one.jobs = 1;
  four.jobs = 4;
  const RunResult a = run(*kernel, cases, one), b = run(*kernel, cases, four);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    CHECK(a.cases[i].id == b.cases[i].id);
    REQUIRE(a.cases[i].checks.size() == b.cases[i].checks.size());
    for (std::size_t j = 0; j < a.cases[i].checks.size(); ++j) {
      CHECK(a.cases[i].checks[j].max_z == b.cases[i].checks[j].max_z);
      CHECK(a.cases[i].checks[j].rms_z == b.cases[i].checks[j].rms_z);
    }
  }
}

TEST_CASE("a NaN, an unwritten output and an infinity fail") {
  for (const float wrong :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    SpoiledKernel kernel("minimal_c", [wrong](const ropecheck_step_args& args, Reply reply) {
      // The last row of the last call is a token, whatever the pads.
      std::int64_t size = 1;
      for (int axis = 0; axis < args.output->rank; ++axis) size *= args.output->shape[axis];
      output_of(args)[size - 1] = wrong;
      return reply;
    });
    const RunResult result = run(kernel, {decode_case()});
    CHECK(result.cases[0].verdict == Verdict::failed);
    CHECK(std::isinf(result.summary.max_z));
    CHECK(result.summary.exit_status == 1);
  }
}

TEST_CASE("a changed input fails, and so does a slot that was not named") {
  SpoiledKernel changes_input("minimal_c", [](const ropecheck_step_args& args, Reply reply) {
    static_cast<float*>(args.query->data)[0] += 1;
    return reply;
  });
  const CaseResult input = run(changes_input, {decode_case()}).cases[0];
  CHECK(find_check(input, "inputs_unchanged", Point::attention_output).verdict == Verdict::failed);

  SpoiledKernel writes_everywhere("minimal_c", [](const ropecheck_step_args& args, Reply reply) {
    std::int64_t size = 1;
    for (int axis = 0; axis < args.value_cache->rank; ++axis) size *= args.value_cache->shape[axis];
    static_cast<float*>(args.value_cache->data)[size - 1] = 42;
    return reply;
  });
  const CaseResult slot = run(writes_everywhere, {decode_case()}).cases[0];
  CHECK(find_check(slot, "slots_untouched", Point::attention_output).verdict == Verdict::failed);
}

TEST_CASE(
    "what a backend answers is data: errors are invalid, refusals are unsupported, nothing ran is "
    "no pass") {
  SpoiledKernel error("minimal_c", [](const ropecheck_step_args&, Reply) {
    return Reply{ROPECHECK_ERROR, "out of registers"};
  });
  const RunResult invalid = run(error, {decode_case()});
  CHECK(invalid.cases[0].verdict == Verdict::invalid);
  CHECK(invalid.cases[0].message == "out of registers");
  CHECK(invalid.summary.exit_status == 1);

  SpoiledKernel refusal("minimal_c", [](const ropecheck_step_args&, Reply) {
    return Reply{ROPECHECK_UNSUPPORTED, "no"};
  });
  const RunResult unsupported = run(refusal, {decode_case()});
  CHECK(unsupported.cases[0].verdict == Verdict::unsupported);
  CHECK(unsupported.summary.exit_status == 4);
  CHECK(run(refusal, {}).summary.exit_status == 4);
}

TEST_CASE("an observation that is not offered is unsupported, and the others are judged") {
  SpoiledKernel silent("minimal_c", [](const ropecheck_step_args& args, Reply reply) {
    *args.offered = 0;
    return reply;
  });
  const CaseResult result = run(silent, {decode_case()}).cases[0];
  CHECK(result.verdict == Verdict::passed);
  CHECK(find_check(result, "reference", Point::rotated_query).verdict == Verdict::unsupported);
  CHECK(find_check(result, "reference", Point::position_ids).verdict == Verdict::unsupported);
  CHECK(find_check(result, "reference", Point::attention_output).verdict == Verdict::passed);
}

TEST_CASE("a failure is located by meaning: call, sequence, token, head, channel") {
  SpoiledKernel kernel("minimal_c", [](const ropecheck_step_args& args, Reply reply) {
    // Single-token calls only: row 1, head 1, channel 3.
    if (args.output->shape[1] == 1) {
      const std::int64_t at = args.output->stride_elems[0] + args.output->stride_elems[2] +
                              3 * args.output->stride_elems[3];
      output_of(args)[at] += 0.25F;
    }
    return reply;
  });
  const CaseResult result = run(kernel, {decode_case("/order=natural/heads=2.1")}).cases[0];
  const CheckResult& check = find_check(result, "reference", Point::attention_output);
  CHECK(check.verdict == Verdict::failed);
  CHECK(check.worst.call >= 1);
  CHECK(check.worst.sequence == 1);
  CHECK(check.worst.head == 1);
  CHECK(check.worst.channel == 3);
  CHECK(check.bad_elements == 3);
}

TEST_CASE("limits that nothing could break are no pass") {
  SpoiledKernel honest("reference", [](const ropecheck_step_args&, Reply reply) { return reply; });
  std::vector<CaseSpec> cases = {parse_id("padding/rows=4/len=24.equal/pad=left/heads=4.2")};
  RunResult result = run(honest, cases);
  // The same numbers, judged by a profile a thousand times as loose.
  for (CheckResult& check : result.cases[0].checks) {
    check.max_z *= 1e-3;
    check.rms_z *= 1e-3;
  }
  const RunSummary summary = summarise(result.cases);
  REQUIRE_FALSE(summary.pools.empty());
  for (const PooledResult& pool : summary.pools) CHECK(pool.verdict == Verdict::profile_too_loose);
  CHECK(summary.exit_status == 1);
}

TEST_CASE("the worst failing cases keep their tensors, and those that pass alone are told apart") {
  int calls = 0;
  SpoiledKernel once("minimal_c", [&calls](const ropecheck_step_args& args, Reply reply) {
    if (calls++ == 0) std::memset(args.output->data, 0, 4);
    if (calls == 1) output_of(args)[0] = 1e9F;
    return reply;
  });
  RunOptions options;
  options.jobs = 1;
  const CaseSpec spec = parse_id("padding/rows=1/len=4.equal/pad=none");
  const CaseResult result = run(once, {spec}, options).cases[0];
  CHECK(result.verdict == Verdict::failed);
  CHECK(result.only_after);
  std::set<std::string> names;
  for (const KeptTensor& tensor : result.kept) names.insert(tensor.name);
  for (const char* name :
       {"call0/query", "call0/key", "call0/value", "call0/attention_output/actual",
        "call0/attention_output/expected", "call0/attention_output/sigma"}) {
    CHECK(names.count(name) == 1);
  }
}
