// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cases/case.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ropecheck {

/// One way in which the axes of a case may contradict each other.
struct Rule {
  std::string_view
      keys;  ///< of the axes that `broken` reads, with blanks between; the family apart
  /// Why the values of these axes do not go together, or nothing.
  std::optional<std::string> (*broken)(const CaseSpec& spec);
};

/// All rules but those of the laws, which are Law::not_applicable.
[[nodiscard]] std::span<const Rule> rules();

/// The packed families: their calls are packed, those of the others padded.
[[nodiscard]] constexpr bool is_packed(Family family) {
  return family == Family::packed || family == Family::packed_decode;
}

/// The families whose scenario is a single call.
[[nodiscard]] constexpr bool is_one_call(Family family) {
  return family == Family::padding || family == Family::mixed || family == Family::packed ||
         family == Family::interpolation || family == Family::ladder;
}

/// Whether the rope is handed over as tables with one row for each position.
[[nodiscard]] constexpr bool is_table_by_position(RopeForm form) {
  return form == RopeForm::tables_half || form == RopeForm::tables_full ||
         form == RopeForm::tables_joined;
}

/// Whether some cell or slot of the case means nothing.
[[nodiscard]] constexpr bool has_meaningless_cells(const CaseSpec& spec) {
  return spec.pad != PadSide::none || spec.cache == CacheOwner::caller;
}

}  // namespace ropecheck
