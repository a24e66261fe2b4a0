// SPDX-License-Identifier: Apache-2.0
#include "cases/laws/registry.hpp"
#include "cases/laws/terms.hpp"

#include <utility>

namespace ropecheck {
namespace {

constexpr std::string_view kCatches[] = {"linear-factor-misapplied", "scaling-config-dropped"};

std::optional<std::string> not_applicable(const CaseSpec& spec) {
  if (spec.rule.factor == 1) return std::nullopt;
  return "the rule has a factor";
}

LawPlan plan(const CaseSpec& spec, const Program& base) {
  Program other = base;
  other.scenario.model.rule.type =
      spec.rule.type == RopeType::linear ? RopeType::default_ : RopeType::linear;
  return equal_rows(std::move(other));
}

}  // namespace

constinit const Law kFactorOne{
    .name = "factor_one",
    .statement = "The linear rule with factor 1 is the default rule.",
    .formula = "R_linear(1)(p) = R_default(p)",
    .holds = "where the rule is one of the two; a right kernel gives the same bits",
    .catches = kCatches,
    .kind = LawKind::relation,
    .depends_on = "rope",
    .not_applicable = not_applicable,
    .plan = plan,
};

}  // namespace ropecheck
