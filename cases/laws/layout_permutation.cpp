// SPDX-License-Identifier: Apache-2.0
#include "cases/laws/registry.hpp"
#include "cases/laws/terms.hpp"
#include "reference/rope.hpp"

#include <numeric>
#include <utility>
#include <vector>

namespace ropecheck {
namespace {

constexpr std::string_view kCatches[] = {
    "pair-layout-mismatch",
    "weight-permutation",
    "frequency-exponent",
    "rotary-dim-wrong",
};

std::optional<std::string> not_applicable(const CaseSpec& spec) {
  if (spec.rotary_dim >= 4) return std::nullopt;
  return "one pair has one layout";
}

/// [head_dim] the channel of layout `to` that stands for each channel of layout `from`.
std::vector<int> channel_map(PairLayout from, PairLayout to, int rotary_dim, int head_dim) {
  std::vector<int> map(static_cast<std::size_t>(head_dim));
  std::iota(map.begin(), map.end(), 0);
  for (int pair = 0; pair < rotary_dim / 2; ++pair) {
    const auto [first_from, second_from] = pair_channels(from, pair, rotary_dim, 0);
    const auto [first_to, second_to] = pair_channels(to, pair, rotary_dim, 0);
    map[static_cast<std::size_t>(first_from)] = first_to;
    map[static_cast<std::size_t>(second_from)] = second_to;
  }
  return map;
}

LawPlan plan(const CaseSpec& spec, const Program& base) {
  const PairLayout layout =
      spec.layout == PairLayout::half_split ? PairLayout::interleaved : PairLayout::half_split;
  Program other = base;
  other.scenario.model.layout = layout;
  other.values.channel_source =
      channel_map(layout, spec.layout, spec.rotary_dim, spec.heads.head_dim);
  LawPlan plan = equal_rows(std::move(other));
  plan.terms[0].channel_of = channel_map(spec.layout, layout, spec.rotary_dim, spec.heads.head_dim);
  return plan;
}

}  // namespace

constinit const Law kLayoutPermutation{
    .name = "layout_permutation",
    .statement = "A pair layout is the other one with the channels of queries and keys permuted.",
    .formula = "R_half(p) P x = P R_inter(p) x",
    .holds = "where there are at least two pairs; values are not permuted",
    .catches = kCatches,
    .kind = LawKind::relation,
    .depends_on = "dim",
    .not_applicable = not_applicable,
    .plan = plan,
};

}  // namespace ropecheck
