// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cases/case.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace ropecheck {

/// Values of one axis, as an id has them, with blanks between.
struct AxisValues {
  std::string_view key;
  std::string_view values;
};

/// What a family has instead of the common values.
struct FamilyValues {
  Family family = Family::padding;
  std::span<const AxisValues> axes;
};

/// A suite as data: values of each axis, how many cases, and cases beyond its axes.
struct SuiteDefinition {
  std::string_view name;
  std::int64_t num_cases = 0;  ///< at least; more if pairs need them
  std::span<const AxisValues> common;
  std::span<const FamilyValues> families;
  /// Ids without profile; each is run in every profile of the suite.
  std::span<const std::string_view> extra_ids;
};

/// smoke, default, nightly.
[[nodiscard]] std::span<const SuiteDefinition> suite_definitions();

}  // namespace ropecheck
