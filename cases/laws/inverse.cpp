// SPDX-License-Identifier: Apache-2.0
#include "cases/laws/registry.hpp"
#include "cases/laws/terms.hpp"
#include "cases/rules.hpp"

namespace ropecheck {
namespace {

constexpr std::string_view kCatches[] = {
    "backward-rotation",
    "kv-shift-rerotation",
    "low-precision-phase",
};

std::optional<std::string> not_applicable(const CaseSpec& spec) {
  if (is_packed(spec.family) || !is_one_call(spec.family)) {
    return "shown on prefills of rows, whose tokens are rotated apart from any attention";
  }
  return applies_to_rotation(spec);
}

}  // namespace

constinit const Law kInverse{
    .name = "inverse",
    .statement = "A rotation and the one back change nothing.",
    .formula = "R(-a) R(a) x = x",
    .holds = "where the backend has the call rotate, in prefills of rows",
    .catches = kCatches,
    .kind = LawKind::inverse,
    .depends_on = "handed",
    .not_applicable = not_applicable,
    .plan = nullptr,
};

}  // namespace ropecheck
