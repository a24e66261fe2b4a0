// SPDX-License-Identifier: Apache-2.0
#include "cases/laws/registry.hpp"
#include "cases/laws/terms.hpp"

#include <utility>

namespace ropecheck {
namespace {

constexpr std::string_view kCatches[] = {
    "kv-shift-rerotation",
    "mixed-frequency-cache",
    "rotation-count",
    "cache-offset-lost",
};

std::optional<std::string> not_applicable(const CaseSpec& spec) {
  if (spec.family != Family::shift) return "nothing is shifted";
  if (spec.rope_form == RopeForm::rotated) return "rotated rows are handed over, each rounded once";
  if (spec.cache == CacheOwner::none) return "without a cache no key is rotated twice";
  if (spec.fused_qkv) {
    return "calls without a cache bring more keys than queries, which are no views of one tensor "
           "then";
  }
  return std::nullopt;
}

LawPlan plan(const CaseSpec&, const Program& base) {
  Program encoded = base;
  encoded.scenario.contract.cached_keys = CachedKeys::unrotated;
  encoded.placement.cache = CacheOwner::none;
  encoded.placement.slots = SlotOrder::by_rank;
  encoded.placement.positions_given = true;
  return equal_outputs(std::move(encoded));
}

}  // namespace

constinit const Law kShiftIsEncoded{
    .name = "shift_is_encoded",
    .statement = "Keys that moved are keys that were written where they are now.",
    .formula = "R(delta) R(p) k = R(p + delta) k",
    .holds =
        "where keys are cached; the other side has no cache, and rotates every key where it "
        "stands",
    .catches = kCatches,
    .kind = LawKind::relation,
    .depends_on = "cache handed qkv",
    .not_applicable = not_applicable,
    .plan = plan,
};

}  // namespace ropecheck
