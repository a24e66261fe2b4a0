// SPDX-License-Identifier: Apache-2.0
#include "cases/laws/registry.hpp"
#include "cases/laws/terms.hpp"

namespace ropecheck {
namespace {

constexpr std::string_view kCatches[] = {"inplace-race", "stale-positions"};

LawPlan plan(const CaseSpec&, const Program& base) { return equal_rows(base); }

}  // namespace

constinit const Law kRunToRun{
    .name = "run_to_run",
    .statement = "The same program run again gives the same rows.",
    .formula = "out(run 1) = out(run 2)",
    .holds = "everywhere; a deterministic kernel gives the same bits",
    .catches = kCatches,
    .kind = LawKind::relation,
    .depends_on = "",
    .not_applicable = applies,
    .plan = plan,
};

}  // namespace ropecheck
