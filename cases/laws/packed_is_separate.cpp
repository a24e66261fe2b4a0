// SPDX-License-Identifier: Apache-2.0
#include "cases/laws/registry.hpp"
#include "cases/laws/terms.hpp"
#include "cases/rules.hpp"

#include <utility>
#include <vector>

namespace ropecheck {
namespace {

constexpr std::string_view kCatches[] = {
    "segment-bounds-wrong",
    "packed-positions-wrong",
    "cache-offset-lost",
    "axis-confusion",
};

std::optional<std::string> not_applicable(const CaseSpec& spec) {
  if (!is_packed(spec.family)) return "nothing is packed";
  if (spec.segment_visibility == SegmentVisibility::shared) {
    return "segments see each other, so that apart they mean something else";
  }
  return std::nullopt;
}

/// In place of a pack whose segments continue: a gap before each, as long as those before it.
std::vector<Step> gaps_of_pack(const Call& packed) {
  std::vector<Step> gaps;
  std::int64_t before = 0;
  for (const Append& append : packed.appends) {
    if (before > 0) gaps.emplace_back(Gap{append.sequence, before});
    before += append.count;
  }
  return gaps;
}

LawPlan plan(const CaseSpec& spec, const Program& base) {
  Program rows = base;
  rows.placement.form = Form::padded;
  rows.placement.pad = PadSide::right;
  const auto& steps = base.scenario.steps;
  rows.scenario.steps.assign(steps.begin() + 1, steps.end());
  if (spec.segment_positions == SegmentPositions::continued) {
    const std::vector<Step> gaps = gaps_of_pack(std::get<Call>(steps[1]));
    rows.scenario.steps.insert(rows.scenario.steps.begin(), gaps.begin(), gaps.end());
    rows.placement.positions_given = true;
  }
  rows.scenario.contract.segment_positions = SegmentPositions::restart;
  return equal_rows(std::move(rows));
}

}  // namespace

constinit const Law kPackedIsSeparate{
    .name = "packed_is_separate",
    .statement = "A pack gives each segment what it gives as a row of its own.",
    .formula = "out(pack)[segment] = out(segment)",
    .holds = "where segments are isolated; a continued segment keeps its coordinates",
    .catches = kCatches,
    .kind = LawKind::relation,
    .depends_on = "seg",
    .not_applicable = not_applicable,
    .plan = plan,
};

}  // namespace ropecheck
