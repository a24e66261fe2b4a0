// SPDX-License-Identifier: Apache-2.0
#include "cases/laws/registry.hpp"
#include "cases/laws/terms.hpp"

#include <utility>

namespace ropecheck {
namespace {

constexpr std::string_view kCatches[] = {
    "cache-offset-lost", "shared-batch-positions", "causal-frontier-wrong",
    "stale-positions",   "rotation-count",         "prefix-reuse-mismatch",
};

std::optional<std::string> not_applicable(const CaseSpec& spec) {
  if (spec.family != Family::chunked && spec.family != Family::decode) {
    return "the prefill is one call already, or something happens after it";
  }
  if (spec.pad_positions == PadPositions::physical_column) {
    return "by this contract pads of every call consume coordinates";
  }
  return std::nullopt;
}

LawPlan plan(const CaseSpec&, const Program& base) {
  Program prefill = base;
  prefill.scenario.steps = merge_calls(base.scenario.steps);
  return equal_rows(std::move(prefill));
}

}  // namespace

constinit const Law kChunking{
    .name = "chunking",
    .statement = "A prefill in chunks, or token by token, is one prefill.",
    .formula = "out(call 1, call 2, ...) = out(one call)",
    .holds = "where nothing happens between the calls, and pads consume no coordinate",
    .catches = kCatches,
    .kind = LawKind::relation,
    .depends_on = "pads",
    .not_applicable = not_applicable,
    .plan = plan,
};

}  // namespace ropecheck
