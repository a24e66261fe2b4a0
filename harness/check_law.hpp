// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cases/laws.hpp"
#include "harness/check_case.hpp"

#include <string>
#include <vector>

namespace ropecheck {

/// Time spent on the other side of a law [s].
struct LawCost {
  double reference_seconds = 0;
  double backend_seconds = 0;
};

/// Holds a backend to one law on one case. `base` has run. One result for each point of the law.
[[nodiscard]] std::vector<CheckResult> check_law(Kernel& kernel, const Law& law,
                                                 const CaseSpec& spec, Side& base,
                                                 const std::string& backend_options, LawCost& cost);

}  // namespace ropecheck
