// SPDX-License-Identifier: Apache-2.0
#include "cases/laws/registry.hpp"
#include "cases/laws/terms.hpp"
#include "cases/rules.hpp"

#include <utility>

namespace ropecheck {
namespace {

constexpr std::string_view kCatches[] = {
    "pad-keys-attended",
    "masked-softmax-numerics",
    "ring-cache-index",
};

std::optional<std::string> not_applicable(const CaseSpec& spec) {
  if (has_meaningless_cells(spec)) return std::nullopt;
  return "no cell or slot of the case means nothing";
}

LawPlan plan(const CaseSpec&, const Program& base) {
  Program other = base;
  other.placement.garbage = base.placement.garbage == Garbage::nan ? Garbage::huge : Garbage::nan;
  return equal_rows(std::move(other));
}

}  // namespace

constinit const Law kPadContent{
    .name = "pad_content",
    .statement = "What stands in cells and slots that mean nothing changes nothing, be it NaN.",
    .formula = "out(garbage a) = out(garbage b)",
    .holds = "where there are pads or unused slots; a right kernel gives the same bits",
    .catches = kCatches,
    .kind = LawKind::relation,
    .depends_on = "pad cache",
    .not_applicable = not_applicable,
    .plan = plan,
};

}  // namespace ropecheck
