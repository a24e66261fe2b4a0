// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/query_group.hpp"

namespace ropecheck {

/// Variance that the query's own rounding, common to all keys, gives an output row and its lse:
///   var_q o_c = alpha^2 sum_d var q'_d ( sum_j p_j k'_jd (v_jc - o_c) )^2
///   var_q lse = alpha^2 sum_d var q'_d ( sum_j p_j k'_jd )^2
/// each with its covariances within pairs.
/// `sums` as AttentionBlock::add_query_error leaves them. Written to the answer's sigma and
/// lse_sigma, as variances, where finish_row finds them.
void finish_query_error(const AttentionPlan& plan, const RowBlock& rows, int row,
                        const double* sums, Answer* answer);

/// Writes one row of the answer. `query_error`: sums not finished yet, or null.
void finish_row(const AttentionPlan& plan, const RowBlock& rows, int row, const double* query_error,
                Answer* answer);

}  // namespace ropecheck
