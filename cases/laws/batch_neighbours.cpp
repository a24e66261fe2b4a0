// SPDX-License-Identifier: Apache-2.0
#include "cases/laws/registry.hpp"
#include "cases/laws/terms.hpp"

#include <utility>

namespace ropecheck {
namespace {

constexpr std::string_view kCatches[] = {
    "segment-bounds-wrong",
    "pad-keys-attended",
    "axis-confusion",
    "packed-positions-wrong",
};

/// Any number but 0.
constexpr std::uint64_t kSalt = 1;

std::optional<std::string> not_applicable(const CaseSpec& spec) {
  if (spec.rows < 2) return "one row has no neighbour";
  return std::nullopt;
}

LawPlan plan(const CaseSpec&, const Program& base) {
  Program other = base;
  other.values.neighbour_salt = kSalt;
  LawPlan plan = equal_rows(std::move(other));
  plan.sequences = {0};
  return plan;
}

}  // namespace

constinit const Law kBatchNeighbours{
    .name = "batch_neighbours",
    .statement = "What other rows hold changes nothing in a row.",
    .formula = "out(row | batch) = out(row | other batch)",
    .holds =
        "everywhere; shown on sequence 0, which is the first of a pack, and with other "
        "numbers in all other sequences",
    .catches = kCatches,
    .kind = LawKind::relation,
    .depends_on = "rows",
    .not_applicable = not_applicable,
    .plan = plan,
};

}  // namespace ropecheck
