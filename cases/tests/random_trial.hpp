// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cases/placement.hpp"
#include "cases/random.hpp"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace ropecheck {

/// A drawn scenario and a placement that can carry it.
struct Trial {
  Scenario scenario;
  Placement placement;
  bool positions_follow = true;  ///< from the tensors alone
};

/// Draws a scenario, and follows it by counts and columns, to know what may come next.
class TrialMaker {
 public:
  explicit TrialMaker(std::uint64_t seed) : random_(seed) {}

  Trial make() {
    draw_placement();
    draw_contract();
    const int sequences = static_cast<int>(random_.between(1, 4));
    trial_.scenario.num_sequences = sequences;
    tokens_.resize(static_cast<std::size_t>(sequences));
    if (trial_.placement.form == Form::packed) add_pack();
    add_call(0, 5);
    // Nothing but a backend's own cache remembers where a continued segment started.
    const std::int64_t more =
        continued_by_backend() && trial_.placement.cache != CacheOwner::backend
            ? 0
            : random_.between(0, 5);
    for (std::int64_t i = 0; i < more; ++i) {
      if (physical() || random_.below(2) == 0) {
        add_call(0, random_.between(1, 3));
      } else {
        add_edit();
      }
    }
    return trial_;
  }

 private:
  template <typename T>
  T pick(std::initializer_list<T> values) {
    return values.begin()[random_.below(values.size())];
  }
  [[nodiscard]] bool physical() const {
    return trial_.scenario.contract.pad_positions == PadPositions::physical_column;
  }
  [[nodiscard]] bool continued_by_backend() const {
    return trial_.scenario.contract.segment_positions == SegmentPositions::continued &&
           !trial_.placement.positions_given;
  }

  void draw_placement() {
    Placement& placement = trial_.placement;
    placement.form = pick({Form::padded, Form::padded, Form::packed});
    placement.cache = pick({CacheOwner::none, CacheOwner::caller, CacheOwner::backend});
    placement.slots = pick({SlotOrder::by_column, SlotOrder::by_rank});
    placement.shuffled_rows = random_.below(2) == 0;
    placement.positions_given = random_.below(2) == 0;
    placement.seed = random_.next();
    placement.spare_slots = random_.between(0, 2);
    if (placement.form == Form::packed) return;
    placement.pad =
        pick({PadSide::none, PadSide::left, PadSide::right, PadSide::both, PadSide::holes});
    if (placement.pad != PadSide::none) placement.extra_pads = random_.between(0, 3);
  }

  void draw_contract() {
    Contract& contract = trial_.scenario.contract;
    contract.first_coordinate = random_.between(0, 2);
    if (trial_.placement.form == Form::packed) {
      contract.segment_positions = pick({SegmentPositions::restart, SegmentPositions::continued});
      if (trial_.placement.cache == CacheOwner::none) {
        contract.segment_visibility =
            pick({SegmentVisibility::isolated, SegmentVisibility::shared});
      }
    } else if (trial_.placement.pad != PadSide::holes && random_.below(4) == 0) {
      contract.pad_positions = PadPositions::physical_column;
    }
  }

  void add_pack() {
    Pack pack;
    for (int s = 0; s < trial_.scenario.num_sequences; ++s) {
      pack.segments.insert(pack.segments.begin() + random_.between(0, static_cast<std::int64_t>(s)),
                           s);
    }
    trial_.scenario.steps.push_back(pack);
    trial_.positions_follow &=
        trial_.scenario.contract.segment_positions == SegmentPositions::restart ||
        !trial_.placement.positions_given;
  }

  void add_call(std::int64_t least, std::int64_t most) {
    Call call;
    const bool equal =
        trial_.placement.form == Form::padded && trial_.placement.pad == PadSide::none;
    const std::int64_t common = random_.between(least, most);
    for (int s = 0; s < trial_.scenario.num_sequences; ++s) {
      const bool left_out =
          !equal && trial_.placement.cache != CacheOwner::caller && random_.below(6) == 0;
      if (left_out) continue;
      call.appends.insert(
          call.appends.begin() + random_.between(0, static_cast<std::int64_t>(call.appends.size())),
          {s, equal ? common : random_.between(least, most)});
    }
    if (physical()) add_gaps(call);
    for (const Append& append : call.appends) {
      tokens_[static_cast<std::size_t>(append.sequence)] += append.count;
    }
    trial_.scenario.steps.push_back(call);
  }

  /// Pads consume coordinates: gaps that bring each row to the column where its tokens start.
  void add_gaps(const Call& call) {
    const Placement& placement = trial_.placement;
    const bool ranks =
        placement.cache == CacheOwner::caller && placement.slots == SlotOrder::by_rank;
    if (ranks) return;
    std::int64_t longest = 0;
    for (const Append& append : call.appends) longest = std::max(longest, append.count);
    const std::int64_t columns = longest + placement.extra_pads;
    next_column_.resize(tokens_.size());
    for (const Append& append : call.appends) {
      if (append.count == 0) continue;
      const std::int64_t pads = columns - append.count;
      const std::int64_t begin = columns_ + (placement.pad == PadSide::left   ? pads
                                             : placement.pad == PadSide::both ? pads / 2
                                                                              : 0);
      std::int64_t& next = next_column_[static_cast<std::size_t>(append.sequence)];
      trial_.scenario.steps.push_back(Gap{append.sequence, begin - next});
      next = begin + append.count;
    }
    columns_ += columns;
  }

  void add_edit() {
    const int s = static_cast<int>(random_.below(tokens_.size()));
    std::int64_t& tokens = tokens_[static_cast<std::size_t>(s)];
    const std::int64_t begin = random_.between(0, tokens);
    const TokenRange range{begin, random_.between(begin, tokens)};
    const auto kind = random_.below(5);
    if (kind == 0) {
      trial_.scenario.steps.push_back(Truncate{s, begin});
      tokens = begin;
      return;
    }
    // Only a backend's own cache is told of edits.
    trial_.positions_follow &= trial_.placement.cache == CacheOwner::backend;
    if (kind == 1) {
      trial_.scenario.steps.push_back(Remove{s, range});
      tokens -= range.end - range.begin;
    } else if (kind == 2) {
      trial_.scenario.steps.push_back(Shift{s, range, random_.between(-5, 5)});
    } else if (kind == 3) {
      trial_.scenario.steps.push_back(Divide{s, range, random_.between(1, 3)});
    } else if (tokens_.size() > 1 &&
               trial_.scenario.contract.segment_visibility == SegmentVisibility::isolated) {
      const int target = (s + 1) % static_cast<int>(tokens_.size());
      trial_.scenario.steps.push_back(Truncate{target, 0});
      trial_.scenario.steps.push_back(Copy{s, target});
      tokens_[static_cast<std::size_t>(target)] = tokens;
    }
  }

  Random random_;
  Trial trial_;
  std::vector<std::int64_t> tokens_;  ///< [sequences]
  std::vector<std::int64_t>
      next_column_;  ///< [sequences] physical_column: where its next token would stand
  std::int64_t columns_ = 0;
};

}  // namespace ropecheck
