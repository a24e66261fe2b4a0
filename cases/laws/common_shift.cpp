// SPDX-License-Identifier: Apache-2.0
#include "cases/laws/registry.hpp"
#include "cases/laws/terms.hpp"

#include <utility>

namespace ropecheck {
namespace {

constexpr std::string_view kCatches[] = {
    "user-positions-ignored", "low-precision-phase",   "trig-range",
    "position-out-of-range",  "mixed-frequency-cache",
};

/// Far enough to turn the fast pairs many times, and near enough for tables by position.
constexpr std::int64_t kShift = 1000;

std::optional<std::string> not_applicable(const CaseSpec& spec) {
  if (spec.rope_form == RopeForm::rotated) return "rotated rows are handed over, each rounded once";
  return std::nullopt;
}

LawPlan plan(const CaseSpec&, const Program& base) {
  Program moved = base;
  moved.scenario.contract.first_coordinate += kShift;
  return equal_outputs(std::move(moved));
}

}  // namespace

constinit const Law kCommonShift{
    .name = "common_shift",
    .statement = "One constant added to every coordinate leaves outputs alone.",
    .formula = "(R(p + c) q) . (R(r + c) k) = (R(p) q) . (R(r) k)",
    .holds =
        "everywhere (its rules do not depend on the length); rotated queries and keys do "
        "change",
    .catches = kCatches,
    .kind = LawKind::relation,
    .depends_on = "handed",
    .not_applicable = not_applicable,
    .plan = plan,
};

}  // namespace ropecheck
