// SPDX-License-Identifier: Apache-2.0
#include "cases/laws/registry.hpp"
#include "cases/laws/terms.hpp"

namespace ropecheck {
namespace {

constexpr std::string_view kCatches[] = {
    "kv-shift-rerotation",
    "low-precision-phase",
    "trig-range",
    "pair-layout-mismatch",
};

}  // namespace

constinit const Law kComposition{
    .name = "composition",
    .statement = "A rotation by a and one by b are one by a + b.",
    .formula = "R(b) R(a) x = R(a + b) x",
    .holds =
        "where the backend has the call rotate and makes cos and sin itself, in prefills of rows",
    .catches = kCatches,
    .kind = LawKind::composition,
    .depends_on = "handed",
    .not_applicable = applies_to_rotate_call,
    .plan = nullptr,
};

}  // namespace ropecheck
