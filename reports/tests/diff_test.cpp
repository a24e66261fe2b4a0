// SPDX-License-Identifier: Apache-2.0
#include "reports/diff.hpp"

#include "harness/tests/catch.hpp"
#include "reference/error.hpp"
#include "reports/tests/sample_run.hpp"

#include <nlohmann/json.hpp>

namespace ropecheck {

using Catch::Matchers::Contains;

namespace {

/// One case with one check.
RunResult run_with(Verdict verdict, double max_z, double rms_z = 0.1) {
  RunResult run;
  run.info = sample_info();
  run.cases = {sample_case(Family::padding, 32, verdict)};
  run.cases[0].checks = {sample_check("reference", verdict, max_z)};
  run.cases[0].checks[0].rms_z = rms_z;
  return run;
}

std::size_t changes(const ReportDiff& diff) {
  return diff.newly_failing.size() + diff.newly_passing.size() + diff.error_grown.size() +
         diff.missing.size() + diff.added.size() + diff.bitwise_lost.size();
}

}  // namespace

TEST_CASE("a run does not differ from itself") {
  const ReportDiff diff = compare_runs(sample_run(), sample_run());
  CHECK(changes(diff) == 0);
  CHECK(diff.compared == 5);
  CHECK(diff.exit_status() == 0);
  CHECK_THAT(diff_text(diff), Contains("no regression"));
}

TEST_CASE("a check that fails now is newly failing, and one that passes now is newly passing") {
  const RunResult good = run_with(Verdict::passed, 2);
  const RunResult bad = run_with(Verdict::failed, 50);
  const ReportDiff worse = compare_runs(good, bad);
  CHECK(worse.newly_failing.size() == 1);
  CHECK(changes(worse) == 1);
  CHECK(worse.exit_status() == 1);
  CHECK_THAT(diff_text(worse), Contains("passed -> failed, z 2 -> 50"));
  const ReportDiff better = compare_runs(bad, good);
  CHECK(better.newly_passing.size() == 1);
  CHECK(changes(better) == 1);
  CHECK(better.exit_status() == 0);
}

TEST_CASE("an error that grew within the limit is seen, and chance is not") {
  CHECK(
      compare_runs(run_with(Verdict::passed, 3), run_with(Verdict::passed, 6)).error_grown.size() ==
      1);
  CHECK(compare_runs(run_with(Verdict::passed, 3), run_with(Verdict::passed, 6)).exit_status() ==
        1);
  CHECK(changes(compare_runs(run_with(Verdict::passed, 1), run_with(Verdict::passed, 3.9))) == 0);
  CHECK(changes(compare_runs(run_with(Verdict::passed, 4), run_with(Verdict::passed, 5.9))) == 0);
  CHECK(compare_runs(run_with(Verdict::passed, 2, 0.3), run_with(Verdict::passed, 2, 0.6))
            .error_grown.size() == 1);
  CHECK(changes(compare_runs(run_with(Verdict::passed, 2, 0.1),
                             run_with(Verdict::passed, 2, 0.4))) == 0);
  RunResult few = run_with(Verdict::passed, 2, 0.9);
  few.cases[0].checks[0].rows = 63;
  CHECK(changes(compare_runs(run_with(Verdict::passed, 2, 0.3), few)) == 0);
}

TEST_CASE("an error that becomes infinite has grown, and one that stays infinite has not") {
  const RunResult failing = run_with(Verdict::failed, 50);
  const RunResult infinite = run_with(Verdict::failed, kInfinity);
  CHECK(compare_runs(failing, infinite).error_grown.size() == 1);
  CHECK(changes(compare_runs(infinite, infinite)) == 0);
}

TEST_CASE("a pool whose rms z grew or that shows nothing now is a regression") {
  RunResult old_run = sample_run();
  old_run.summary.pools[0].verdict = Verdict::passed;
  CHECK(compare_runs(old_run, sample_run()).newly_failing.size() == 1);
  old_run.summary.pools[0].rms_z = 0.4;
  RunResult grown = old_run;
  grown.summary.pools[0].rms_z = 0.5;
  CHECK(compare_runs(old_run, grown).error_grown.size() == 1);
}

TEST_CASE("a case that is gone, or unsupported now, is missing, and one that came is new") {
  RunResult both = run_with(Verdict::passed, 2);
  both.cases.push_back(sample_case(Family::decode, 40, Verdict::passed));
  both.cases[1].checks = {sample_check("reference", Verdict::passed, 1)};
  const RunResult one = run_with(Verdict::passed, 2);
  CHECK(compare_runs(both, one).missing.size() == 1);
  CHECK(compare_runs(both, one).exit_status() == 1);
  CHECK(compare_runs(one, both).added.size() == 1);
  CHECK(compare_runs(one, both).exit_status() == 0);
  const ReportDiff lost = compare_runs(one, run_with(Verdict::unsupported, 0));
  CHECK(lost.missing.size() == 1);
  CHECK(lost.exit_status() == 1);
}

TEST_CASE("a new case that fails is newly failing") {
  RunResult both = run_with(Verdict::passed, 2);
  both.cases.push_back(sample_case(Family::decode, 40, Verdict::failed));
  CHECK(compare_runs(run_with(Verdict::passed, 2), both).newly_failing.size() == 1);
}

TEST_CASE("a case that crashed without a check is newly failing") {
  RunResult crashed = run_with(Verdict::passed, 2);
  crashed.cases[0].verdict = Verdict::crashed;
  crashed.cases[0].checks.clear();
  const ReportDiff diff = compare_runs(run_with(Verdict::passed, 2), crashed);
  CHECK(diff.newly_failing.size() == 1);
  CHECK(diff.exit_status() == 1);
}

TEST_CASE("lost bitwise equality is told, and is no failure") {
  RunResult equal = run_with(Verdict::passed, 2);
  equal.cases[0].checks[0].bitwise = true;
  RunResult unequal = equal;
  unequal.cases[0].checks[0].bitwise = false;
  CHECK(compare_runs(equal, unequal).bitwise_lost.size() == 1);
  CHECK(compare_runs(equal, unequal).exit_status() == 0);
  CHECK(changes(compare_runs(unequal, equal)) == 0);
}

TEST_CASE("runs of another suite, seed, profiles, filter, shard or contract are refused") {
  const RunResult run = run_with(Verdict::passed, 2);
  const auto refused = [&](const RunResult& other, const std::string& reason) {
    CHECK_THROWS_WITH(compare_runs(run, other), Contains("cannot be compared") && Contains(reason));
  };
  RunResult other = run;
  other.info.suite = "nightly";
  refused(other, "suite 'smoke' in the old one, 'nightly' in the new one");
  other = run;
  other.info.seed = 2;
  refused(other, "seed");
  other = run;
  other.info.profiles = {"strict_f32"};
  refused(other, "profiles");
  other = run;
  other.info.filter = "";
  refused(other, "filter");
  other = run;
  other.info.shard = "2/2";
  refused(other, "shard");
  other = run;
  other.cases[0].spec.pad_positions = PadPositions::physical_column;
  other.cases[0].id = to_id(other.cases[0].spec);
  refused(other, "another contract");
}

TEST_CASE("what newly fails is listed by its z, the largest first") {
  RunResult good;
  good.info = sample_info();
  RunResult bad = good;
  for (const double z : {50.0, kInfinity, 400.0}) {
    const std::int64_t length = 32 + std::ssize(good.cases);
    good.cases.push_back(sample_case(Family::padding, length, Verdict::passed));
    good.cases.back().checks = {sample_check("reference", Verdict::passed, 1)};
    bad.cases.push_back(sample_case(Family::padding, length, Verdict::failed));
    bad.cases.back().checks = {sample_check("reference", Verdict::failed, z)};
  }
  const std::vector<Change> failing = compare_runs(good, bad).newly_failing;
  REQUIRE(failing.size() == 3);
  CHECK(std::isinf(failing[0].new_max_z));
  CHECK(failing[1].new_max_z == 400);
  CHECK(failing[2].new_max_z == 50);
}

TEST_CASE("the difference as JSON holds the lists, their counts and the exit status") {
  const auto json = nlohmann::json::parse(
      diff_json(compare_runs(run_with(Verdict::passed, 2), run_with(Verdict::failed, kInfinity))));
  CHECK(json.at("exit_status") == 1);
  CHECK(json.at("counts").at("newly_failing") == 1);
  CHECK(json.at("counts").at("missing") == 0);
  const auto& change = json.at("newly_failing").at(0);
  CHECK(change.at("old_verdict") == "passed");
  CHECK(change.at("new_verdict") == "failed");
  CHECK(change.at("old_max_z") == 2);
  CHECK(change.at("new_max_z").is_null());
  CHECK(json.at("compared") == 1);
}

}  // namespace ropecheck
