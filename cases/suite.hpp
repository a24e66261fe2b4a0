// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cases/case.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ropecheck {

struct SuiteOptions {
  std::vector<std::string>
      profiles;            ///< values of the profile axis; empty: strict_f32, flash_f16, flash_bf16
  std::uint64_t seed = 1;  ///< of the numbers, not of the choice of cases
};

/// The cases of a suite, in a fixed order, no two alike but for the seed: every pair of values of any
/// two axes that go together stands in at least one case of each family.
/// Errors: throws Error{not_found} for a name that is not smoke, default or nightly.
[[nodiscard]] std::vector<CaseSpec> make_suite(std::string_view name,
                                               const SuiteOptions& options = {});

/// The names: smoke, default, nightly.
[[nodiscard]] std::span<const std::string_view> suite_names();

/// One row of the coverage table: two axes of a family.
struct CoverageRow {
  Family family = Family::padding;
  std::string axis_a;
  std::string axis_b;
  std::int64_t pairs = 0;            ///< pairs of values that go together
  std::int64_t covered = 0;          ///< of these, in the suite
  std::int64_t impossible = 0;       ///< pairs that no case can have
  std::vector<std::string> missing;  ///< "a=x b=y"
};

/// Counted from the cases themselves, not from how they were made.
[[nodiscard]] std::vector<CoverageRow> coverage(std::string_view suite, const SuiteOptions& options,
                                                std::span<const CaseSpec> cases);

}  // namespace ropecheck
