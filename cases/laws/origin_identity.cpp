// SPDX-License-Identifier: Apache-2.0
#include "cases/laws/registry.hpp"
#include "cases/laws/terms.hpp"

namespace ropecheck {
namespace {

constexpr std::string_view kCatches[] = {
    "cache-offset-lost",
    "physical-column-positions",
    "yarn-mscale",
    "user-positions-ignored",
};

std::optional<std::string> not_applicable(const CaseSpec& spec) {
  if (spec.first_coordinate != 0) return "no token stands at coordinate 0";
  return applies_to_rotation(spec);
}

}  // namespace

constinit const Law kOriginIdentity{
    .name = "origin_identity",
    .statement = "A rotation to coordinate 0 changes nothing.",
    .formula = "R(0) x = x",
    .holds = "where a token stands at coordinate 0, the magnitude is 1, and the backend rotates",
    .catches = kCatches,
    .kind = LawKind::origin_identity,
    .depends_on = "handed first",
    .not_applicable = not_applicable,
    .plan = nullptr,
};

}  // namespace ropecheck
