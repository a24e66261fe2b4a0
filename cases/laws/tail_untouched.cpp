// SPDX-License-Identifier: Apache-2.0
#include "cases/laws/registry.hpp"
#include "cases/laws/terms.hpp"

namespace ropecheck {
namespace {

constexpr std::string_view kCatches[] = {"rotary-dim-wrong", "frequency-exponent"};

std::optional<std::string> not_applicable(const CaseSpec& spec) {
  if (spec.rotary_dim == spec.heads.head_dim) return "all channels are rotated";
  return applies_to_rotation(spec);
}

}  // namespace

constinit const Law kTailUntouched{
    .name = "tail_untouched",
    .statement = "Channels that are not rotated are those of the input, bit for bit.",
    .formula = "(R(p) x)[d] = x[d], d >= rotary_dim",
    .holds = "where rotary_dim is less than head_dim and the backend rotates",
    .catches = kCatches,
    .kind = LawKind::tail_untouched,
    .depends_on = "handed dim",
    .not_applicable = not_applicable,
    .plan = nullptr,
};

}  // namespace ropecheck
