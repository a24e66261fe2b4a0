// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/result.hpp"

#include <cmath>
#include <limits>
#include <string>

namespace ropecheck {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A message as a backend may write it: quotes, markup, a line break, a control character, UTF-8,
/// and a byte that belongs to no character.
inline const std::string kOddMessage = "it's <\"odd\"> & \x01 größe\nsecond line \xFF ]]>";

inline CheckResult sample_check(const std::string& name, Verdict verdict, double max_z) {
  CheckResult check;
  check.check = name;
  check.verdict = verdict;
  check.elements = 4096;
  check.bad_elements = verdict == Verdict::failed ? 3 : 0;
  check.rows = 128;
  check.ill_conditioned = 2;
  check.max_z = max_z;
  check.rms_z = max_z / 4;
  check.worst_row_rms_z = max_z / 2;
  check.worst_head_rms_z = max_z / 3;
  check.bias_z = -0.125;
  check.max_abs_error = 0.5;
  check.max_ulp = 77;
  check.worst = {1, 2, 17, 19, 5, 64};
  check.expected = 0.41015625;
  check.actual = -0.41015625;
  check.sigma = 1e-3;
  return check;
}

inline CaseResult sample_case(Family family, std::int64_t length, Verdict verdict) {
  CaseResult result;
  result.spec.family = family;
  result.spec.length = length;
  result.id = to_id(result.spec);
  result.verdict = verdict;
  result.reference_seconds = 0.25;
  result.backend_seconds = 0.125;
  result.total_seconds = 0.5;
  return result;
}

inline RunInfo sample_info() {
  RunInfo info;
  info.backend = "./lib mine.so";
  info.backend_name = "mine";
  info.backend_version = "2.1";
  info.backend_path = "./lib mine.so";
  info.suite = "smoke";
  info.seed = 18446744073709551615ULL;
  info.profiles = {"flash_f16", "strict_f32"};
  info.filter = "*decode*";
  info.shard = "1/2";
  info.options = "block=64\nmode=fast one\n";
  info.environment = {{"cores", "2"}, {"cpu", "größe"}};
  info.command_line = "ropecheck run --suite smoke";
  return info;
}

/// Counts as the harness makes them.
inline void count(RunResult& run) {
  for (const Verdict verdict : kAllVerdicts) {
    run.summary.verdicts[std::string(to_string(verdict))] = 0;
    run.summary.check_verdicts[std::string(to_string(verdict))] = 0;
  }
  run.summary.cases = std::ssize(run.cases);
  for (const CaseResult& result : run.cases) {
    ++run.summary.verdicts[std::string(to_string(result.verdict))];
    if (is_failure(result.verdict)) run.summary.exit_status = 1;
    for (const CheckResult& check : result.checks) {
      ++run.summary.check_verdicts[std::string(to_string(check.verdict))];
      run.summary.max_z = std::fmax(run.summary.max_z, check.max_z);
    }
  }
}

/// A run with a bit of everything: a passing case with a law, a failing one with infinite z and
/// kept tensors, one that is not supported, one that crashed without a check, and a pool that is
/// too loose.
inline RunResult sample_run() {
  RunResult run;
  run.info = sample_info();
  CaseResult passing = sample_case(Family::padding, 32, Verdict::passed);
  passing.checks = {sample_check("reference", Verdict::passed, 2),
                    sample_check("batch_order", Verdict::passed, 1)};
  passing.checks[1].bitwise = true;
  CaseResult failing = sample_case(Family::decode, 33, Verdict::failed);
  failing.message = "z above the limit";
  failing.checks = {sample_check("reference", Verdict::failed, 812),
                    sample_check("reference", Verdict::failed, kInfinity)};
  failing.checks[0].point = Point::rotated_key;
  failing.checks[1].message = kOddMessage;
  failing.checks[1].actual = std::nan("");
  failing.kept = {{"call0/attention_output/actual", {2, 2}, {1, 2, std::nan(""), 4}},
                  {"call0/query", {3}, {5, 6, 7}}};
  CaseResult unsupported = sample_case(Family::shift, 34, Verdict::unsupported);
  unsupported.message = "no cache here";
  unsupported.checks = {sample_check("reference", Verdict::unsupported, 0)};
  unsupported.checks[0].point = Point::cached_key;
  CaseResult crashed = sample_case(Family::decode, 35, Verdict::crashed);
  crashed.message = "signal 11";
  crashed.only_after = true;
  run.cases = {passing, failing, unsupported, crashed};
  run.summary.pools = {{Family::padding, "strict_f32", Point::attention_output, 1, 4096, 0.05, 2,
                        Verdict::profile_too_loose, "the limits show nothing"}};
  run.summary.seconds = 12.5;
  run.summary.reference_seconds = 8;
  run.summary.backend_seconds = 4;
  run.summary.harness_seconds = 0.5;
  count(run);
  return run;
}

inline RunResult empty_run() {
  RunResult run;
  run.info = sample_info();
  run.summary.exit_status = 4;
  count(run);
  return run;
}

}  // namespace ropecheck
