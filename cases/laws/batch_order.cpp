// SPDX-License-Identifier: Apache-2.0
#include "cases/laws/registry.hpp"
#include "cases/laws/terms.hpp"
#include "cases/placement.hpp"
#include "cases/rules.hpp"

#include <utility>
#include <vector>

namespace ropecheck {
namespace {

constexpr std::string_view kCatches[] = {
    "shared-batch-positions",
    "axis-confusion",
    "stale-positions",
};

std::optional<std::string> not_applicable(const CaseSpec& spec) {
  if (is_packed(spec.family)) return "the order of a pack means something";
  if (spec.rows < 2) return "one row has one order";
  return std::nullopt;
}

std::vector<std::int64_t> row_order(const Program& program) {
  const Placer placer(program.scenario, program.placement);
  std::vector<std::int64_t> order;
  for (SequenceId id = 0; id < program.scenario.num_sequences; ++id)
    order.push_back(placer.row_of(id));
  return order;
}

LawPlan plan(const CaseSpec&, const Program& base) {
  const std::vector<std::int64_t> order = row_order(base);
  Program other = base;
  other.placement.shuffled_rows = true;
  // A drawn order may be that of the base.
  do {
    ++other.placement.seed;
  } while (row_order(other) == order);
  return equal_rows(std::move(other));
}

}  // namespace

constinit const Law kBatchOrder{
    .name = "batch_order",
    .statement = "The order of the rows of a batch changes nothing.",
    .formula = "out(batch[order])[i] = out(batch)[order[i]]",
    .holds = "everywhere but in packs, whose order means something",
    .catches = kCatches,
    .kind = LawKind::relation,
    .depends_on = "rows",
    .not_applicable = not_applicable,
    .plan = plan,
};

}  // namespace ropecheck
