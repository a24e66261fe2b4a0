// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cases/case.hpp"
#include "cases/laws.hpp"
#include "cases/rules.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ropecheck {

/// No value chosen.
inline constexpr int kOpen = -1;

/// One value of each axis, by its index in the values of that axis, or kOpen. Shape: [axes].
using Choice = std::vector<int>;

/// The values that a suite gives to the axes of one family, and which of them go together. What
/// goes together is found by search over the rules and laws, each looked at as soon as the axes
/// that it reads are chosen: a choice that cannot be completed is proved to be impossible.
class AxisSpace {
 public:
  /// Says which of the values left (a bit each) of an axis to try next, given what is chosen so
  /// far.
  using Preference = std::function<int(std::size_t axis, std::uint32_t left, const Choice& chosen)>;

  /// Shape:  values [axes], at least one and at most 32 texts each.
  /// Errors: throws Error{invalid_argument} for text that is no value of its axis.
  AxisSpace(Family family, std::vector<std::vector<std::string>> values);

  [[nodiscard]] Family family() const { return family_; }
  [[nodiscard]] const std::vector<std::string>& values(std::size_t axis) const {
    return values_[axis];
  }

  /// A choice that contains `partial` and contradicts nothing, or nothing if there is none. Open
  /// axes are chosen in `order`, those with one value left first.
  /// Shape: order [axes], a permutation.
  [[nodiscard]] std::optional<Choice> complete(const Choice& partial,
                                               const std::vector<std::size_t>& order,
                                               const Preference& prefer) const;

  /// The same, any completion. Answers whether the choice is possible.
  [[nodiscard]] bool is_possible(const Choice& partial) const;

  /// The case of a complete choice; its seed is that of a default case.
  [[nodiscard]] CaseSpec spec(const Choice& choice) const;

  /// The choice of a case of this family; kOpen where the space has no such value.
  [[nodiscard]] Choice choice_of(const CaseSpec& spec) const;

 private:
  /// Some axes, a bit each.
  using AxisSet = std::uint32_t;

  /// A rule, or the domain of a law.
  struct Constraint {
    std::vector<std::size_t> axes;
    AxisSet set = 0;
    const Rule* rule = nullptr;
    const Law* law = nullptr;
  };
  /// Where a search stands. `spec` holds the chosen values; its other fields mean nothing.
  struct State {
    Choice chosen;
    std::vector<std::uint32_t> left;  ///< [axes] values not ruled out, a bit each
    std::vector<AxisSet> reasons;     ///< [axes] whose values ruled out the others
  };
  /// Axes whose values cannot stand together; nothing if all is well.
  using Conflict = std::optional<AxisSet>;

  void add_constraint(std::string_view keys, const Rule* rule, const Law* law);
  [[nodiscard]] static bool is_broken(const Constraint& constraint, const CaseSpec& spec);
  /// Chooses a value that is left, and rules out what cannot follow.
  Conflict choose(State& state, CaseSpec& spec, std::size_t axis, int value) const;
  /// Looks at a constraint after a choice: rules out values of its last open axis.
  Conflict propagate(State& state, CaseSpec& spec, const Constraint& constraint) const;
  void set(CaseSpec& spec, std::size_t axis, int value) const;
  [[nodiscard]] std::size_t next_axis(const State& state,
                                      const std::vector<std::size_t>& order) const;
  /// Depth-first, with a jump back to the latest axis that has a part in a conflict.
  Conflict search(State& state, CaseSpec& spec, const std::vector<std::size_t>& order,
                  const Preference& prefer) const;

  Family family_;
  std::vector<std::vector<std::string>> values_;
  std::size_t law_axis_;
  std::vector<Constraint> constraints_;
  std::vector<std::vector<std::size_t>> constraints_of_;  ///< [axes]
  std::vector<std::size_t> natural_order_;
  State root_;  ///< axes with one value chosen, the rest narrowed
  CaseSpec root_spec_;
};

}  // namespace ropecheck
