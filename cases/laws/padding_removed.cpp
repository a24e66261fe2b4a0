// SPDX-License-Identifier: Apache-2.0
#include "cases/laws/registry.hpp"
#include "cases/laws/terms.hpp"

#include <utility>
#include <vector>

namespace ropecheck {
namespace {

constexpr std::string_view kCatches[] = {
    "physical-column-positions", "shared-batch-positions", "pad-keys-attended",
    "causal-frontier-wrong",     "axis-confusion",
};

std::optional<std::string> not_applicable(const CaseSpec& spec) {
  if (spec.pad == PadSide::none) return "the batch has no pads";
  if (spec.pad_positions == PadPositions::physical_column) {
    return "by this contract pads consume coordinates, and without them a row means something else";
  }
  return std::nullopt;
}

/// Steps of sequence 0; calls that bring it nothing are left out.
std::vector<Step> steps_of_first(const std::vector<Step>& steps) {
  std::vector<Step> kept;
  for (const Step& step : steps) {
    if (const auto* call = std::get_if<Call>(&step)) {
      for (const Append& append : call->appends) {
        if (append.sequence == 0 && append.count > 0) kept.emplace_back(Call{{append}});
      }
    } else if (const auto* shift = std::get_if<Shift>(&step)) {
      if (shift->sequence == 0) kept.push_back(step);
    } else if (const auto* remove = std::get_if<Remove>(&step)) {
      if (remove->sequence == 0) kept.push_back(step);
    }
  }
  return kept;
}

LawPlan plan(const CaseSpec&, const Program& base) {
  Program alone = base;
  alone.scenario.num_sequences = 1;
  alone.scenario.steps = steps_of_first(base.scenario.steps);
  alone.placement.pad = PadSide::none;
  alone.placement.extra_pads = 0;
  alone.placement.shuffled_rows = false;
  alone.placement.slots = SlotOrder::by_rank;
  LawPlan relation = equal_rows(std::move(alone));
  relation.sequences = {0};
  return relation;
}

}  // namespace

constinit const Law kPaddingRemoved{
    .name = "padding_removed",
    .statement = "A row of a padded batch gives what it gives alone and unpadded.",
    .formula = "out(row | batch, pads) = out(row)",
    .holds =
        "where pads consume no coordinate and rows are padded; shown on sequence 0, never "
        "the longest of unequal rows",
    .catches = kCatches,
    .kind = LawKind::relation,
    .depends_on = "pads pad",
    .not_applicable = not_applicable,
    .plan = plan,
};

}  // namespace ropecheck
