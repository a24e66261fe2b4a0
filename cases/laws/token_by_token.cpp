// SPDX-License-Identifier: Apache-2.0
#include "cases/laws/registry.hpp"
#include "cases/laws/terms.hpp"
#include "cases/rules.hpp"
#include "reference/error.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace ropecheck {
namespace {

constexpr std::string_view kCatches[] = {
    "cache-offset-lost", "shared-batch-positions", "causal-frontier-wrong",
    "stale-positions",   "rotation-count",
};

/// Each token is a call, so that longer rows take long.
constexpr std::int64_t kMaxLength = 64;

std::optional<std::string> not_applicable(const CaseSpec& spec) {
  if (is_packed(spec.family) || spec.family == Family::decode || spec.family == Family::shift) {
    return "the case is more than a prefill of rows";
  }
  if (spec.pad_positions == PadPositions::physical_column) {
    return "by this contract pads of every call consume coordinates";
  }
  if (spec.chunk == 1) return "its tokens come one by one already";
  if (spec.length > kMaxLength)
    return fmt::format("rows of more than {} tokens take long", kMaxLength);
  if (spec.fused_qkv && spec.cache == CacheOwner::none) {
    return "calls without a cache bring more keys than queries, which are no views of one tensor "
           "then";
  }
  return std::nullopt;
}

std::vector<Step> one_by_one(const Call& prefill) {
  std::int64_t longest = 0;
  for (const Append& append : prefill.appends) longest = std::max(longest, append.count);
  std::vector<Step> steps;
  for (std::int64_t token = 0; token < longest; ++token) {
    Call call = prefill;
    for (Append& append : call.appends) append.count = append.count > token ? 1 : 0;
    steps.emplace_back(std::move(call));
  }
  return steps;
}

LawPlan plan(const CaseSpec&, const Program& base) {
  Program decoded = base;
  const std::vector<Step> prefill = merge_calls(base.scenario.steps);
  decoded.scenario.steps = one_by_one(std::get<Call>(prefill.front()));
  decoded.placement.extra_pads = 0;
  decoded.exact_query_error = true;
  return equal_rows(std::move(decoded));
}

}  // namespace

constinit const Law kTokenByToken{
    .name = "token_by_token",
    .statement = "A prefill is the same tokens one by one.",
    .formula = "out(one call) = out(token 1, token 2, ...)",
    .holds = "where nothing else happens, and pads consume no coordinate",
    .catches = kCatches,
    .kind = LawKind::relation,
    .depends_on = "pads len cache qkv chunk",
    .not_applicable = not_applicable,
    .plan = plan,
};

}  // namespace ropecheck
