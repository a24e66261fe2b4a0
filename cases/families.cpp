// SPDX-License-Identifier: Apache-2.0
#include "cases/families.hpp"

#include "cases/program.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace ropecheck {
namespace {

using Counts = std::vector<std::int64_t>;

Model build_model(const CaseSpec& spec) {
  Model model;
  model.shape = spec.heads;
  model.rotary_dim = spec.rotary_dim;
  model.layout = spec.layout;
  model.rule = spec.rule;
  model.softmax_scale = 1 / std::sqrt(static_cast<double>(spec.heads.head_dim));
  return model;
}

Contract build_contract(const CaseSpec& spec) {
  Contract contract;
  contract.pad_positions = spec.pad_positions;
  contract.segment_positions = spec.segment_positions;
  contract.segment_visibility = spec.segment_visibility;
  contract.first_coordinate = spec.first_coordinate;
  // Without a cache every call brings all keys unrotated, and they are rotated as they stand then.
  contract.cached_keys =
      spec.cache == CacheOwner::none ? CachedKeys::unrotated : CachedKeys::rotated;
  return contract;
}

/// Adds the steps of one scenario.
class Steps {
 public:
  Steps(const CaseSpec& spec, const Placement& placement) : spec_(spec), placement_(placement) {}

  /// One call that gives row r counts[r] tokens.
  void call(const Counts& counts) {
    Call call;
    for (std::size_t row = 0; row < counts.size(); ++row) {
      call.appends.push_back({static_cast<SequenceId>(row), counts[row]});
    }
    if (spec_.pad_positions == PadPositions::valid_rank) {
      steps_.emplace_back(std::move(call));
    } else {
      call_between_pads(std::move(call));
    }
  }

  void pack() {
    Pack pack;
    for (int row = 0; row < spec_.rows; ++row) pack.segments.push_back(row);
    steps_.emplace_back(std::move(pack));
  }

  void decode() {
    for (std::int64_t step = 0; step < spec_.steps; ++step) {
      call(Counts(static_cast<std::size_t>(spec_.rows), 1));
    }
  }

  void chunks(const Counts& lengths) {
    const std::int64_t longest = *std::max_element(lengths.begin(), lengths.end());
    for (std::int64_t begin = 0; begin < longest; begin += spec_.chunk) {
      Counts counts;
      for (const std::int64_t length : lengths) {
        counts.push_back(std::clamp(length - begin, std::int64_t{0}, spec_.chunk));
      }
      call(counts);
    }
  }

  void edit(const Counts& lengths) {
    for (std::size_t row = 0; row < lengths.size(); ++row) {
      const auto sequence = static_cast<SequenceId>(row);
      if (spec_.edit == Edit::advance) {
        steps_.emplace_back(Shift{sequence, {kKeptTokens, lengths[row]}, spec_.delta});
        continue;
      }
      steps_.emplace_back(Remove{sequence, {kKeptTokens, kKeptTokens + spec_.delta}});
      steps_.emplace_back(Shift{sequence, {kKeptTokens, lengths[row] - spec_.delta}, -spec_.delta});
    }
  }

  std::vector<Step> take() { return std::move(steps_); }

 private:
  /// Pads consume coordinates: a gap for those before the tokens, one for those after them.
  void call_between_pads(Call call) {
    const std::int64_t columns = num_columns(placement_, call);
    std::vector<Step> after;
    for (const Append& append : call.appends) {
      const std::vector<std::int64_t> places =
          token_columns(placement_, 0, append.sequence, append.count, columns);
      const std::int64_t before = places.empty() ? columns : places.front();
      steps_.emplace_back(Gap{append.sequence, before});
      after.emplace_back(Gap{append.sequence, columns - append.count - before});
    }
    steps_.emplace_back(std::move(call));
    std::move(after.begin(), after.end(), std::back_inserter(steps_));
  }

  const CaseSpec& spec_;
  const Placement& placement_;
  std::vector<Step> steps_;
};

std::vector<Step> build_steps(const CaseSpec& spec, const Placement& placement) {
  const Counts lengths = row_lengths(spec);
  Steps steps(spec, placement);
  switch (spec.family) {
    case Family::padding:
    case Family::mixed:
    case Family::interpolation:
    case Family::ladder: steps.call(lengths); break;
    case Family::decode:
      steps.call(lengths);
      steps.decode();
      break;
    case Family::packed:
      steps.pack();
      steps.call(lengths);
      break;
    case Family::packed_decode:
      steps.pack();
      steps.call(lengths);
      steps.decode();
      break;
    case Family::chunked: steps.chunks(lengths); break;
    case Family::shift:
      steps.call(lengths);
      steps.edit(lengths);
      steps.decode();
      break;
  }
  return steps.take();
}

}  // namespace

Scenario build_scenario(const CaseSpec& spec, const Placement& placement) {
  Scenario scenario;
  scenario.model = build_model(spec);
  scenario.contract = build_contract(spec);
  scenario.num_sequences = spec.rows;
  scenario.steps = build_steps(spec, placement);
  return scenario;
}

}  // namespace ropecheck
