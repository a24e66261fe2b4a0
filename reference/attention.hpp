// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/solve.hpp"

namespace ropecheck {

/// solve() at Point::attention_output; the problem has been validated.
/// Time: O(visible pairs), memory beyond the answer: a fixed budget, whatever the lengths.
[[nodiscard]] Answer solve_attention(const Problem& problem, const Values& values,
                                     const Profile& profile, const SolveOptions& options,
                                     const Executor& executor);

}  // namespace ropecheck
