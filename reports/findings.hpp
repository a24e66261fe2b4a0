// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/result.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ropecheck {

// What every form of report says about a run, before it is laid out.

/// The points, in the order in which a kernel comes to them.
[[nodiscard]] std::span<const Point> all_points();

/// A case that failed, with the check that says most about it.
struct Failure {
  const CaseResult* result = nullptr;
  const CheckResult* worst = nullptr;  ///< null: no check of it failed, its message says why
  std::int64_t other_failed_checks = 0;
};

/// Failing cases, the worst first: those that answered no numbers (crashed, timed_out, invalid),
/// then by max z (NaN counts as infinity), then in suite order. Pointers live as long as `run`.
[[nodiscard]] std::vector<Failure> failures(const RunResult& run);

/// One family and profile.
struct FamilyLine {
  Family family = Family::padding;
  std::string profile;
  std::int64_t cases = 0;
  std::int64_t failed = 0;
  std::int64_t unsupported = 0;
  double max_z = 0;           ///< over checks with the reference
  double pooled_rms_z = 0;    ///< over its pools, but for position_ids, which are exact
  std::int64_t elements = 0;  ///< in these pools
  Verdict verdict = Verdict::passed;
};

/// In the order of families, then of profiles as they come in the run.
[[nodiscard]] std::vector<FamilyLine> family_lines(const RunResult& run);

/// One kind of check that needs no reference: a law, or what may not be touched.
struct LawLine {
  std::string check;
  std::int64_t cases = 0;
  std::int64_t failed = 0;
  std::int64_t unsupported = 0;
  std::int64_t bitwise_equal =
      0;  ///< of `bitwise_compared`, cases whose two sides are the same bits
  std::int64_t bitwise_compared = 0;
};

/// By name.
[[nodiscard]] std::vector<LawLine> law_lines(const RunResult& run);

/// An observation point that was not seen, or not always.
struct UnseenPoint {
  Point point = Point::attention_output;
  std::int64_t checks = 0;       ///< with the reference; 0: nothing asked for it
  std::int64_t unsupported = 0;  ///< of these
  std::string consequence;       ///< one sentence: what cannot be seen therefore
};

[[nodiscard]] std::vector<UnseenPoint> unseen_points(const RunResult& run);

/// The command that runs a case again with the same bits.
[[nodiscard]] std::string replay_line(const RunInfo& info, const std::string& case_id);

/// "call 1, sequence 0, token 17 (coordinate 17), head 5, channel 64"; empty if it is nowhere.
[[nodiscard]] std::string describe(const Location& location);

}  // namespace ropecheck
