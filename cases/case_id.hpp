// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cases/case.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace ropecheck {

/// One axis of a case: one key of its id, and how its value is written and read. Ids, suites and
/// the coverage table all go through this one table.
struct Axis {
  std::string_view key;
  /// The value as an id has it.
  std::string (*write)(const CaseSpec& spec);
  /// Sets the value; false, and nothing is set, for text that is not one.
  bool (*read)(CaseSpec& spec, std::string_view text);
  /// What a value looks like, to follow "expected".
  std::string (*expects)();
};

/// All axes, in the order of their keys in an id.
[[nodiscard]] std::span<const Axis> axes();

/// Index of the axis of that key in `axes()`. Errors: throws Error{invalid_argument} that lists the
/// keys.
[[nodiscard]] std::size_t axis_index(std::string_view key);

/// Sets one axis by text. Errors: throws Error{invalid_argument} naming key, expectation and text.
void set_axis(CaseSpec& spec, const Axis& axis, std::string_view text);

/// The family of that name. Errors: throws Error{invalid_argument} that lists the names.
[[nodiscard]] Family parse_family(std::string_view name);

/// All families, in the order of the enumeration.
[[nodiscard]] std::span<const Family> families();

}  // namespace ropecheck
