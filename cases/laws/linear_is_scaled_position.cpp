// SPDX-License-Identifier: Apache-2.0
#include "cases/laws/registry.hpp"
#include "cases/laws/terms.hpp"
#include "cases/rules.hpp"

#include <utility>

namespace ropecheck {
namespace {

constexpr std::string_view kCatches[] = {
    "linear-factor-misapplied",
    "scaling-config-dropped",
    "user-positions-ignored",
};

/// A power of two: float32 phases stay the same bits.
constexpr std::int64_t kScale = 4;
constexpr std::int64_t kMaxScaledTable = 20000;

std::optional<std::string> not_applicable(const CaseSpec& spec) {
  if (spec.rope_form == RopeForm::rotated) return "rotated rows are handed over, each rounded once";
  if (spec.family == Family::shift) return "a shift moves by single coordinates";
  if (spec.segment_positions == SegmentPositions::continued) {
    return "a segment continues one coordinate after the one before it";
  }
  if (is_table_by_position(spec.rope_form) && kScale * coordinate_bound(spec) > kMaxScaledTable) {
    return "scaled positions are beyond the tables";
  }
  return std::nullopt;
}

LawPlan plan(const CaseSpec&, const Program& base) {
  Program scaled = base;
  scaled.scenario.model.rule.type = RopeType::linear;
  scaled.scenario.model.rule.factor *= static_cast<double>(kScale);
  scaled.scenario.contract.first_coordinate *= kScale;
  for (Step& step : scaled.scenario.steps) {
    if (auto* gap = std::get_if<Gap>(&step)) gap->coordinates *= kScale;
    if (auto* call = std::get_if<Call>(&step)) {
      for (Append& append : call->appends) append.stride = kScale;
    }
  }
  scaled.placement.positions_given = true;
  return equal_rows(std::move(scaled));
}

}  // namespace

constinit const Law kLinearIsScaledPosition{
    .name = "linear_is_scaled_position",
    .statement = "Positions and linear factor multiplied by the same number change nothing.",
    .formula = "R_linear(s f)(s p) = R_linear(f)(p); linear(1) = default",
    .holds = "for an integer s, where every token comes by a call and no segment continues",
    .catches = kCatches,
    .kind = LawKind::relation,
    .depends_on = "seg pads handed first rows len steps",
    .not_applicable = not_applicable,
    .plan = plan,
};

}  // namespace ropecheck
