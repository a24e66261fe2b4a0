// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cases/axis_space.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ropecheck {

/// What is known of a pair of values of two axes.
enum class PairState : std::uint8_t { open, covered, impossible };

/// The pairs of values of any two axes of a space, and which of them some case has.
class PairCover {
 public:
  explicit PairCover(const AxisSpace& space);

  /// A value of the space, counted over all axes.
  [[nodiscard]] std::size_t value_index(std::size_t axis, int value) const {
    return first_value_[axis] + static_cast<std::size_t>(value);
  }
  [[nodiscard]] PairState state(std::size_t value_a, std::size_t value_b) const {
    return states_[value_a * num_values_ + value_b];
  }
  void set_state(std::size_t value_a, std::size_t value_b, PairState state);

  /// Every pair of values of the choice is covered; open axes have none.
  void cover(const Choice& choice);

  /// Open pairs of one value with those of the other axes that `chosen` has.
  [[nodiscard]] int num_open_with(std::size_t axis, int value, const Choice& chosen) const;

 private:
  std::vector<std::size_t> first_value_;  ///< [axes]
  std::size_t num_values_ = 0;
  std::vector<PairState> states_;  ///< [num_values, num_values], symmetric
};

/// Choices that cover every pair of values that go together, by a greedy search: each begins with
/// the first open pair, and takes for every further axis the value that covers most. Then further
/// ones, no two alike, up to `num_choices`. The same for the same space and seed.
[[nodiscard]] std::vector<Choice> cover_pairs(const AxisSpace& space, std::int64_t num_choices,
                                              std::uint64_t seed);

}  // namespace ropecheck
