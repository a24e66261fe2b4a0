// SPDX-License-Identifier: Apache-2.0
#include "cases/laws/registry.hpp"
#include "cases/laws/terms.hpp"

namespace ropecheck {
namespace {

constexpr std::string_view kCatches[] = {
    "pad-keys-attended",
    "masked-softmax-numerics",
    "causal-frontier-wrong",
    "segment-bounds-wrong",
};

Program with_parity(const Program& base, int parity) {
  Program half = base;
  half.values.value_parity = parity;
  return half;
}

LawPlan plan(const CaseSpec&, const Program& base) {
  LawPlan plan;
  plan.points = {Point::attention_output};
  plan.terms.push_back(same_heads(with_parity(base, 0)));
  plan.terms.push_back(same_heads(with_parity(base, 1)));
  return plan;
}

}  // namespace

constinit const Law kLinearInValues{
    .name = "linear_in_values",
    .statement = "The output is linear in the values.",
    .formula = "out(V) = out(V of even tokens) + out(V of odd tokens)",
    .holds = "everywhere",
    .catches = kCatches,
    .kind = LawKind::relation,
    .depends_on = "",
    .not_applicable = applies,
    .plan = plan,
};

}  // namespace ropecheck
