// SPDX-License-Identifier: Apache-2.0
#include "cases/laws/registry.hpp"
#include "cases/laws/terms.hpp"

namespace ropecheck {
namespace {

constexpr std::string_view kCatches[] = {
    "backward-rotation",
    "kv-shift-rerotation",
    "low-precision-phase",
};

}  // namespace

constinit const Law kInverse{
    .name = "inverse",
    .statement = "A rotation and the one back change nothing.",
    .formula = "R(-a) R(a) x = x",
    .holds =
        "where the backend has the call rotate and makes cos and sin itself, in prefills of rows",
    .catches = kCatches,
    .kind = LawKind::inverse,
    .depends_on = "handed",
    .not_applicable = applies_to_rotate_call,
    .plan = nullptr,
};

}  // namespace ropecheck
