// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/result.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ropecheck {

// When the error of a check that passes in both runs has grown. Inputs are the same bits, but
// another order of sums draws other rounding errors, so a limit has to leave room for chance.

/// A check: its max z is this much larger ...
inline constexpr double kGrownMaxZFactor = 1.5;
/// ... and above half of the limit 8: right kernels stay below it over 10^7 elements.
inline constexpr double kGrownMaxZFloor = 4;
/// Or its rms z, over kMinRowsForRms rows or more: with 64 rows each of two values has a relative
/// deviation of 1 / sqrt(2 * 64) = 0.09, their quotient 0.125, so 1.5 is four deviations away ...
inline constexpr double kGrownRmsFactor = 1.5;
/// ... and above a third of the limit 1.5.
inline constexpr double kGrownRmsFloor = 0.5;
/// Or the rms z of a pool, which has thousands of rows: ten deviations away.
inline constexpr double kGrownPoolFactor = 1.2;

/// One check, case or pool that differs between two runs.
struct Change {
  std::string case_id;      ///< of a pool: "family profile"
  std::string check;        ///< of a case: empty; of a pool: "pool"
  std::string point;        ///< of a case: empty
  std::string old_verdict;  ///< empty: not there
  std::string new_verdict;  ///< empty: not there
  double old_max_z = 0;
  double new_max_z = 0;
  double old_rms_z = 0;
  double new_rms_z = 0;
  std::string message;  ///< of the new run
};

/// What changed from an old run to a new one. A check is in one list only;
/// newly_failing and error_grown begin with the largest z.
struct ReportDiff {
  std::vector<Change> newly_failing;  ///< fails now, did not fail
  std::vector<Change> newly_passing;  ///< passes now, failed
  std::vector<Change> error_grown;    ///< z grew, beyond the factors above
  std::vector<Change> missing;  ///< a case or check that is not there any more, or unsupported now
  std::vector<Change> added;    ///< a case or check that was not there, or was unsupported
  std::vector<Change> bitwise_lost;  ///< a law whose two sides were the same bits, and are no more
  std::int64_t compared = 0;         ///< checks in both
  std::string old_backend;
  std::string new_backend;

  /// 1 if something newly fails, is missing, or has a grown error; else 0.
  [[nodiscard]] int exit_status() const;
};

/// Compares two runs of the same cases, by case id, check and point; any two backends.
/// Errors: throws Error{invalid_argument} for runs of another suite, seed, profiles, filter or
///         shard, and for runs without one case in common (another contract).
[[nodiscard]] ReportDiff compare_runs(const RunResult& old_run, const RunResult& new_run);

[[nodiscard]] std::string diff_text(const ReportDiff& diff);
[[nodiscard]] std::string diff_json(const ReportDiff& diff);

}  // namespace ropecheck
