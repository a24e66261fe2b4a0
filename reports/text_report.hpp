// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/result.hpp"

#include <string>
#include <string_view>

namespace ropecheck {

/// What is shown of a run that failed.
inline constexpr int kWorstShown = 10;
inline constexpr int kReplayLinesShown = 10;

/// The report for people, ASCII but for messages of the backend: verdict and counts, what was not
/// seen, a table by family and profile, laws, the worst failing cases, replay lines.
[[nodiscard]] std::string text_report(const RunResult& run);

/// Every check of every case, with its worst element: what `replay` prints.
[[nodiscard]] std::string text_details(const RunResult& run);

/// "passed", "FAILED" or "nothing ran", by exit status.
[[nodiscard]] std::string_view headline(int exit_status);

}  // namespace ropecheck
