// SPDX-License-Identifier: Apache-2.0
#include "cases/axis_space.hpp"

#include "cases/case_id.hpp"
#include "reference/error.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

namespace ropecheck {
namespace {

constexpr std::size_t kMaxAxes = 32;
constexpr std::size_t kMaxValues = 32;

constexpr std::uint32_t bit_of(std::size_t axis) { return std::uint32_t{1} << axis; }

std::vector<std::size_t> axes_of_keys(std::string_view keys) {
  std::vector<std::size_t> result;
  while (!keys.empty()) {
    const std::size_t blank = keys.find(' ');
    result.push_back(axis_index(keys.substr(0, blank)));
    keys = blank == std::string_view::npos ? std::string_view() : keys.substr(blank + 1);
  }
  return result;
}

}  // namespace

AxisSpace::AxisSpace(Family family, std::vector<std::vector<std::string>> values)
    : family_(family), values_(std::move(values)), law_axis_(axis_index("law")) {
  ROPECHECK_CHECK(values_.size() == axes().size() && values_.size() <= kMaxAxes, "{} axes",
                  values_.size());
  constraints_of_.resize(values_.size());
  natural_order_.resize(values_.size());
  std::iota(natural_order_.begin(), natural_order_.end(), std::size_t{0});
  for (const Rule& rule : rules()) add_constraint(rule.keys, &rule, nullptr);
  for (const Law& law : laws()) add_constraint(law.depends_on, nullptr, &law);

  root_spec_.family = family;
  root_.chosen.assign(values_.size(), kOpen);
  root_.reasons.assign(values_.size(), 0);
  for (std::size_t axis = 0; axis < values_.size(); ++axis) {
    const std::size_t count = values_[axis].size();
    ROPECHECK_CHECK(count >= 1 && count <= kMaxValues, "axis {} has {} values", axes()[axis].key,
                    count);
    for (const std::string& text : values_[axis]) set_axis(root_spec_, axes()[axis], text);
    root_.left.push_back(count == kMaxValues ? ~0U : (1U << count) - 1);
  }
  for (std::size_t axis = 0; axis < values_.size(); ++axis) {
    if (values_[axis].size() > 1) continue;
    ROPECHECK_CHECK(!choose(root_, root_spec_, axis, 0), "family {}: {}={} goes with nothing",
                    to_string(family), axes()[axis].key, values_[axis][0]);
  }
}

void AxisSpace::add_constraint(std::string_view keys, const Rule* rule, const Law* law) {
  Constraint constraint;
  constraint.axes = axes_of_keys(keys);
  constraint.rule = rule;
  constraint.law = law;
  if (law != nullptr) constraint.axes.push_back(law_axis_);
  for (const std::size_t axis : constraint.axes) {
    constraint.set |= bit_of(axis);
    constraints_of_[axis].push_back(constraints_.size());
  }
  constraints_.push_back(std::move(constraint));
}

bool AxisSpace::is_broken(const Constraint& constraint, const CaseSpec& spec) {
  if (constraint.rule != nullptr) return constraint.rule->broken(spec).has_value();
  return spec.law == constraint.law->name && constraint.law->not_applicable(spec).has_value();
}

void AxisSpace::set(CaseSpec& spec, std::size_t axis, int value) const {
  axes()[axis].read(spec, values_[axis][static_cast<std::size_t>(value)]);
}

AxisSpace::Conflict AxisSpace::propagate(State& state, CaseSpec& spec,
                                         const Constraint& constraint) const {
  std::size_t num_open = 0;
  std::size_t open = 0;
  for (const std::size_t axis : constraint.axes) {
    if (state.chosen[axis] != kOpen) continue;
    ++num_open;
    open = axis;
  }
  if (num_open == 0 && is_broken(constraint, spec)) return constraint.set;
  if (num_open != 1) return std::nullopt;
  std::uint32_t& left = state.left[open];
  for (std::uint32_t rest = left; rest != 0; rest &= rest - 1) {
    set(spec, open, std::countr_zero(rest));
    if (!is_broken(constraint, spec)) continue;
    left &= ~(rest & -rest);
    state.reasons[open] |= constraint.set & ~bit_of(open);
  }
  if (left != 0) return std::nullopt;
  return state.reasons[open];
}

AxisSpace::Conflict AxisSpace::choose(State& state, CaseSpec& spec, std::size_t axis,
                                      int value) const {
  if ((state.left[axis] >> value & 1U) == 0) return state.reasons[axis] | bit_of(axis);
  state.chosen[axis] = value;
  state.left[axis] = 1U << value;
  set(spec, axis, value);
  for (const std::size_t index : constraints_of_[axis]) {
    const Constraint& constraint = constraints_[index];
    const bool other_law = constraint.law != nullptr && state.chosen[law_axis_] != kOpen &&
                           spec.law != constraint.law->name;
    if (other_law) continue;
    if (const Conflict conflict = propagate(state, spec, constraint)) return conflict;
  }
  return std::nullopt;
}

std::size_t AxisSpace::next_axis(const State& state, const std::vector<std::size_t>& order) const {
  std::size_t first = order.size();
  for (const std::size_t axis : order) {
    if (state.chosen[axis] != kOpen) continue;
    if (std::has_single_bit(state.left[axis])) return axis;
    if (first == order.size()) first = axis;
  }
  return first;
}

AxisSpace::Conflict AxisSpace::search(State& state, CaseSpec& spec,
                                      const std::vector<std::size_t>& order,
                                      const Preference& prefer) const {
  const std::size_t axis = next_axis(state, order);
  if (axis == order.size()) return std::nullopt;
  AxisSet blamed = state.reasons[axis];
  for (std::uint32_t left = state.left[axis]; left != 0;) {
    const int value =
        std::has_single_bit(left) ? std::countr_zero(left) : prefer(axis, left, state.chosen);
    left &= ~(1U << value);
    State next = state;
    Conflict conflict = choose(next, spec, axis, value);
    if (!conflict) conflict = search(next, spec, order, prefer);
    if (!conflict) {
      state = std::move(next);
      return std::nullopt;
    }
    // Another value of an axis without a part in the conflict changes nothing.
    if ((*conflict & bit_of(axis)) == 0) return conflict;
    blamed |= *conflict & ~bit_of(axis);
    // What was tried below has left its values in the spec.
    for (std::size_t other = 0; other < order.size(); ++other) {
      if (state.chosen[other] != kOpen) set(spec, other, state.chosen[other]);
    }
  }
  return blamed;
}

std::optional<Choice> AxisSpace::complete(const Choice& partial,
                                          const std::vector<std::size_t>& order,
                                          const Preference& prefer) const {
  State state = root_;
  CaseSpec spec = root_spec_;
  for (std::size_t axis = 0; axis < partial.size(); ++axis) {
    if (partial[axis] == kOpen || state.chosen[axis] == partial[axis]) continue;
    if (choose(state, spec, axis, partial[axis])) return std::nullopt;
  }
  if (search(state, spec, order, prefer)) return std::nullopt;
  return state.chosen;
}

bool AxisSpace::is_possible(const Choice& partial) const {
  const auto any = [](std::size_t, std::uint32_t left, const Choice&) {
    return std::countr_zero(left);
  };
  return complete(partial, natural_order_, any).has_value();
}

CaseSpec AxisSpace::spec(const Choice& choice) const {
  CaseSpec result;
  result.family = family_;
  for (std::size_t axis = 0; axis < choice.size(); ++axis) set(result, axis, choice[axis]);
  return result;
}

Choice AxisSpace::choice_of(const CaseSpec& spec) const {
  Choice choice(values_.size(), kOpen);
  for (std::size_t axis = 0; axis < values_.size(); ++axis) {
    const auto& known = values_[axis];
    const auto found = std::find(known.begin(), known.end(), axes()[axis].write(spec));
    if (found != known.end()) choice[axis] = static_cast<int>(found - known.begin());
  }
  return choice;
}

}  // namespace ropecheck
