// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/problem.hpp"
#include "reference/profile.hpp"

#include <vector>

namespace ropecheck::testing {

/// One row of attention by plain loops in long double, and the sigma model read off its formulas.
struct PlainRow {
  std::vector<long double> output;    ///< [v_head_dim]
  std::vector<long double> variance;  ///< [v_head_dim]
  long double lse = 0;
  long double lse_variance = 0;
  long double ill_condition = 0;  ///< max_j min(p_j e^(3 sd s_j), 1) var s_j
};

/// `profile` as it enters the formulas, the reference's own error included.
[[nodiscard]] PlainRow plain_attention_row(const Problem& problem, const Values& values,
                                           const Profile& profile, std::size_t query, int q_head,
                                           bool exact_query_error);

/// A key or query turned by rotations in long double, phases in long double too.
[[nodiscard]] std::vector<long double> plain_rotate(const Problem& problem,
                                                    std::span<const Rotation> rotations,
                                                    bool is_query, std::span<const double> row);

}  // namespace ropecheck::testing
