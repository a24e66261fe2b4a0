// SPDX-License-Identifier: Apache-2.0
#include "cases/laws/registry.hpp"
#include "cases/laws/terms.hpp"

#include <utility>

namespace ropecheck {
namespace {

constexpr std::string_view kCatches[] = {"gqa-head-map", "axis-confusion", "weight-permutation"};

std::optional<std::string> not_applicable(const CaseSpec& spec) {
  if (spec.heads.group_size() > 1) return std::nullopt;
  return "every query head has a kv head of its own";
}

LawPlan plan(const CaseSpec& spec, const Program& base) {
  Program expanded = base;
  const int group_size = spec.heads.group_size();
  expanded.scenario.model.shape.num_kv_heads = spec.heads.num_q_heads;
  expanded.values.shape = expanded.scenario.model.shape;
  for (int head = 0; head < spec.heads.num_q_heads; ++head) {
    expanded.values.kv_head_source.push_back(head / group_size);
  }
  LawPlan plan = equal_rows(std::move(expanded));
  for (int head = 0; head < spec.heads.num_kv_heads; ++head) {
    plan.terms[0].kv_head_of.push_back(head * group_size);
  }
  return plan;
}

}  // namespace

constinit const Law kGqaIsMha{
    .name = "gqa_is_mha",
    .statement = "Shared kv heads are kv heads copied for every query head.",
    .formula = "out(q_h, kv_(h / group)) = out(q_h, kv'_h), kv'_h = kv_(h / group)",
    .holds = "where query heads share kv heads",
    .catches = kCatches,
    .kind = LawKind::relation,
    .depends_on = "heads",
    .not_applicable = not_applicable,
    .plan = plan,
};

}  // namespace ropecheck
