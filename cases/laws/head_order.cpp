// SPDX-License-Identifier: Apache-2.0
#include "cases/laws/registry.hpp"
#include "cases/laws/terms.hpp"

#include <utility>
#include <vector>

namespace ropecheck {
namespace {

constexpr std::string_view kCatches[] = {
    "gqa-head-map",
    "axis-confusion",
    "weight-permutation",
    "per-layer-rope-params",
};

std::optional<std::string> not_applicable(const CaseSpec& spec) {
  if (spec.heads.num_q_heads > 1) return std::nullopt;
  return "one head has one order";
}

std::vector<int> reversed(int count) {
  std::vector<int> order;
  for (int i = count - 1; i >= 0; --i) order.push_back(i);
  return order;
}

LawPlan plan(const CaseSpec& spec, const Program& base) {
  // Reversed, groups stay together, and the way there is the way back.
  const std::vector<int> q_order = reversed(spec.heads.num_q_heads);
  const std::vector<int> kv_order = reversed(spec.heads.num_kv_heads);
  Program other = base;
  other.values.q_head_source = q_order;
  other.values.kv_head_source = kv_order;
  LawPlan plan = equal_rows(std::move(other));
  plan.terms[0].q_head_of = q_order;
  plan.terms[0].kv_head_of = kv_order;
  return plan;
}

}  // namespace

constinit const Law kHeadOrder{
    .name = "head_order",
    .statement = "The order of the heads changes nothing but the order of the heads.",
    .formula = "out(heads[order])[h] = out(heads)[order[h]]",
    .holds = "where there is more than one query head; groups stay together",
    .catches = kCatches,
    .kind = LawKind::relation,
    .depends_on = "heads",
    .not_applicable = not_applicable,
    .plan = plan,
};

}  // namespace ropecheck
