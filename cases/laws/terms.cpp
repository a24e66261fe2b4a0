// SPDX-License-Identifier: Apache-2.0
#include "cases/laws/terms.hpp"

#include "cases/rules.hpp"

#include <algorithm>
#include <utility>

namespace ropecheck {
namespace {

/// Without a cache every call shows all keys; one that moved between calls shows more than one
/// rotation.
bool shows_moved_keys(const Program& program) {
  const auto& steps = program.scenario.steps;
  return program.placement.cache == CacheOwner::none &&
         std::any_of(steps.begin(), steps.end(),
                     [](const Step& step) { return std::holds_alternative<Shift>(step); });
}

}  // namespace

LawTerm same_heads(Program program) {
  LawTerm term;
  term.program = std::move(program);
  return term;
}

LawPlan equal_rows(Program other) {
  LawPlan plan;
  plan.points = {Point::rotated_query, Point::attention_output};
  if (!shows_moved_keys(other)) plan.points.push_back(Point::rotated_key);
  plan.terms.push_back(same_heads(std::move(other)));
  return plan;
}

LawPlan equal_outputs(Program other) {
  LawPlan plan;
  plan.points = {Point::attention_output};
  plan.terms.push_back(same_heads(std::move(other)));
  return plan;
}

std::vector<Step> merge_calls(const std::vector<Step>& steps) {
  Call merged;
  for (const Step& step : steps) {
    const auto* call = std::get_if<Call>(&step);
    if (call == nullptr) continue;
    if (merged.appends.empty()) {
      merged = *call;
      continue;
    }
    // Every call of a case names all sequences, in one order.
    for (std::size_t i = 0; i < call->appends.size(); ++i) {
      merged.appends[i].count += call->appends[i].count;
    }
  }
  return {merged};
}

std::optional<std::string> applies_to_rotate_call(const CaseSpec& spec) {
  if (is_packed(spec.family) || !is_one_call(spec.family)) {
    return "shown on prefills of rows, whose tokens are rotated apart from any attention";
  }
  if (spec.rope_form == RopeForm::rule || spec.rope_form == RopeForm::inv_freq) return std::nullopt;
  return "tables hold rows for the positions of the case, and the law needs others";
}

}  // namespace ropecheck
