// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cases/laws.hpp"
#include "harness/check_case.hpp"
#include "harness/check_law.hpp"

#include <string>
#include <vector>

namespace ropecheck {

// Laws that need no second program: they look at what one run shows, or call `rotate` themselves.

[[nodiscard]] std::vector<CheckResult> check_pair_norm(const Law& law, Side& base);
[[nodiscard]] std::vector<CheckResult> check_tail_untouched(const Law& law, Side& base);
[[nodiscard]] std::vector<CheckResult> check_value_untouched(const Law& law, Side& base);
[[nodiscard]] std::vector<CheckResult> check_origin_identity(const Law& law, Side& base);

/// LawKind::composition and LawKind::inverse, on the queries of the first call.
[[nodiscard]] std::vector<CheckResult> check_rotation_chain(Kernel& kernel, const Law& law,
                                                            Side& base,
                                                            const std::string& backend_options,
                                                            LawCost& cost);

}  // namespace ropecheck
