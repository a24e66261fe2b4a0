// SPDX-License-Identifier: Apache-2.0
#include "cases/laws/registry.hpp"
#include "cases/laws/terms.hpp"

namespace ropecheck {
namespace {

constexpr std::string_view kCatches[] = {"rotation-count", "ring-cache-index"};

std::optional<std::string> not_applicable(const CaseSpec& spec) {
  if (spec.cache != CacheOwner::none) return std::nullopt;
  return "no value is cached";
}

}  // namespace

constinit const Law kValueUntouched{
    .name = "value_untouched",
    .statement = "Cached values are those of the input, bit for bit.",
    .formula = "cached v = v",
    .holds = "where values are cached",
    .catches = kCatches,
    .kind = LawKind::value_untouched,
    .depends_on = "cache",
    .not_applicable = not_applicable,
    .plan = nullptr,
};

}  // namespace ropecheck
