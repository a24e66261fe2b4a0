// SPDX-License-Identifier: Apache-2.0
#include "cases/pair_cover.hpp"

#include "cases/case_id.hpp"
#include "cases/random.hpp"
#include "reference/error.hpp"

#include <bit>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

namespace ropecheck {
namespace {

/// Orders of axes tried for each choice of the cover; the one that covers most is taken.
constexpr int kCandidates = 3;
/// Choices drawn in a row that are there already: the space holds no more.
constexpr int kPatience = 1000;

class Generator {
 public:
  Generator(const AxisSpace& space, std::uint64_t seed)
      : space_(space), cover_(space), random_(seed), order_(axes().size()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    // Laws contradict most; they come first.
    std::swap(order_.front(), order_[axis_index("law")]);
  }

  void cover_all() {
    for (std::size_t a = 0; a < order_.size(); ++a) {
      for (std::size_t b = a + 1; b < order_.size(); ++b) cover_axes(a, b);
    }
  }

  void fill(std::int64_t num_choices) {
    const auto draw = [this](std::size_t, std::uint32_t left, const Choice&) {
      return draw_bit(left);
    };
    int failures = 0;
    while (static_cast<std::int64_t>(choices_.size()) < num_choices && failures < kPatience) {
      shuffle_order();
      const auto choice = space_.complete(Choice(order_.size(), kOpen), order_, draw);
      failures = choice && add(*choice) ? 0 : failures + 1;
    }
  }

  std::vector<Choice> take() { return std::move(choices_); }

 private:
  /// A pair on one axis alone is no pair; axes with one value make none worth a case.
  void cover_axes(std::size_t a, std::size_t b) {
    const auto num_a = static_cast<int>(space_.values(a).size());
    const auto num_b = static_cast<int>(space_.values(b).size());
    if (num_a < 2 || num_b < 2) return;
    for (int i = 0; i < num_a; ++i) {
      for (int j = 0; j < num_b; ++j) cover_pair(a, i, b, j);
    }
  }

  void cover_pair(std::size_t a, int i, std::size_t b, int j) {
    const std::size_t value_a = cover_.value_index(a, i);
    const std::size_t value_b = cover_.value_index(b, j);
    if (cover_.state(value_a, value_b) != PairState::open) return;
    Choice partial(order_.size(), kOpen);
    partial[a] = i;
    partial[b] = j;
    const auto best = best_completion(partial);
    if (!best) {
      cover_.set_state(value_a, value_b, PairState::impossible);
      return;
    }
    cover_.cover(*best);
    const bool is_new = add(*best);
    ROPECHECK_CHECK(is_new, "a choice that covers a new pair is there already");
  }

  std::optional<Choice> best_completion(const Choice& partial) {
    const auto greedy = [this](std::size_t axis, std::uint32_t left, const Choice& chosen) {
      return most_open(axis, left, chosen);
    };
    std::optional<Choice> best;
    int most = -1;
    for (int candidate = 0; candidate < kCandidates; ++candidate) {
      auto choice = space_.complete(partial, order_, greedy);
      shuffle_order();
      if (!choice) return best;
      const int open = num_open(*choice);
      if (open <= most) continue;
      most = open;
      best = std::move(choice);
    }
    return best;
  }

  /// Among the values that cover as many open pairs, one is drawn, so that none is favoured.
  int most_open(std::size_t axis, std::uint32_t left, const Choice& chosen) {
    std::uint32_t best = 0;
    int most = -1;
    for (std::uint32_t rest = left; rest != 0; rest &= rest - 1) {
      const int open = cover_.num_open_with(axis, std::countr_zero(rest), chosen);
      if (open < most) continue;
      if (open > most) best = 0;
      most = open;
      best |= rest & -rest;
    }
    return draw_bit(best);
  }

  int draw_bit(std::uint32_t bits) {
    for (std::uint64_t skip = random_.below(static_cast<std::uint64_t>(std::popcount(bits)));
         skip > 0; --skip) {
      bits &= bits - 1;
    }
    return std::countr_zero(bits);
  }

  [[nodiscard]] int num_open(const Choice& choice) const {
    int open = 0;
    for (std::size_t axis = 0; axis < choice.size(); ++axis) {
      open += cover_.num_open_with(axis, choice[axis], choice);
    }
    return open;
  }

  void shuffle_order() {
    for (std::size_t i = order_.size() - 1; i > 1; --i) {
      std::swap(order_[i], order_[1 + random_.below(i)]);
    }
  }

  bool add(const Choice& choice) {
    if (!seen_.insert(choice).second) return false;
    choices_.push_back(choice);
    return true;
  }

  const AxisSpace& space_;
  PairCover cover_;
  Random random_;
  std::vector<std::size_t> order_;  ///< of the search; its first stays
  std::set<Choice> seen_;
  std::vector<Choice> choices_;
};

}  // namespace

PairCover::PairCover(const AxisSpace& space) {
  for (std::size_t axis = 0; axis < axes().size(); ++axis) {
    first_value_.push_back(num_values_);
    num_values_ += space.values(axis).size();
  }
  states_.assign(num_values_ * num_values_, PairState::open);
  // A pair with an axis of one value is that value's own business.
  for (std::size_t axis = 0; axis < axes().size(); ++axis) {
    if (space.values(axis).size() > 1) continue;
    for (std::size_t other = 0; other < num_values_; ++other) {
      set_state(first_value_[axis], other, PairState::covered);
    }
  }
}

void PairCover::set_state(std::size_t value_a, std::size_t value_b, PairState state) {
  states_[value_a * num_values_ + value_b] = state;
  states_[value_b * num_values_ + value_a] = state;
}

void PairCover::cover(const Choice& choice) {
  for (std::size_t a = 0; a < choice.size(); ++a) {
    for (std::size_t b = a + 1; b < choice.size(); ++b) {
      if (choice[a] == kOpen || choice[b] == kOpen) continue;
      set_state(value_index(a, choice[a]), value_index(b, choice[b]), PairState::covered);
    }
  }
}

int PairCover::num_open_with(std::size_t axis, int value, const Choice& chosen) const {
  const PairState* row = &states_[value_index(axis, value) * num_values_];
  int open = 0;
  for (std::size_t other = 0; other < chosen.size(); ++other) {
    if (other == axis || chosen[other] == kOpen) continue;
    if (row[value_index(other, chosen[other])] == PairState::open) ++open;
  }
  return open;
}

std::vector<Choice> cover_pairs(const AxisSpace& space, std::int64_t num_choices,
                                std::uint64_t seed) {
  Generator generator(space, seed);
  generator.cover_all();
  generator.fill(num_choices);
  return generator.take();
}

}  // namespace ropecheck
