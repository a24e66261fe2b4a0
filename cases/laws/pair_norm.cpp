// SPDX-License-Identifier: Apache-2.0
#include "cases/laws/registry.hpp"
#include "cases/laws/terms.hpp"

namespace ropecheck {
namespace {

constexpr std::string_view kCatches[] = {
    "pair-layout-mismatch", "low-precision-phase", "yarn-mscale",
    "inplace-race",         "rotary-dim-wrong",
};

}  // namespace

constinit const Law kPairNorm{
    .name = "pair_norm",
    .statement = "A rotation keeps the norm of every pair, up to the magnitude.",
    .formula = "|R(p) (a, b)| = magnitude |(a, b)|",
    .holds = "where the backend rotates",
    .catches = kCatches,
    .kind = LawKind::pair_norm,
    .depends_on = "handed",
    .not_applicable = applies_to_rotation,
    .plan = nullptr,
};

}  // namespace ropecheck
