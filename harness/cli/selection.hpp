// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cases/case.hpp"
#include "harness/result.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ropecheck {

/// Which cases a command is about, as options say.
struct Selection {
  std::string suite = "default";
  std::vector<std::string> filters;
  std::vector<std::string> profiles;  ///< empty: those of the suite
  std::uint64_t seed = 1;
  std::string shard;  ///< "I/N", or empty
};

/// Declares --suite, --filter, --profile, --seed and --shard.
void add_selection_options(CLI::App& app, Selection& selection);

/// Part `index` (from 0) of `count` parts.
struct Shard {
  std::int64_t index = 0;
  std::int64_t count = 1;
};

/// "I/N", I from 1; empty: all. Errors: throws Error{invalid_argument}.
[[nodiscard]] Shard parse_shard(std::string_view text);

/// What a selection comes to.
struct SelectedCases {
  std::vector<CaseSpec> cases;
  std::vector<std::string>
      profiles;  ///< of the suite, whether or not cases of theirs are selected, sorted
  std::int64_t suite_cases = 0;  ///< before filters and shard
};

/// Errors: throws Error{not_found} for an unknown suite or profile, Error{invalid_argument} for a
/// malformed shard.
[[nodiscard]] SelectedCases select_cases(const Selection& selection);

/// Fills in what a report says about the choice of cases.
void describe_selection(const Selection& selection, const SelectedCases& selected, RunInfo& info);

/// Why nothing was selected, and what to do: one sentence.
[[nodiscard]] std::string nothing_selected(const Selection& selection,
                                           const SelectedCases& selected);

}  // namespace ropecheck
