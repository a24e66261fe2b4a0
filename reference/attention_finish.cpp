// SPDX-License-Identifier: Apache-2.0
#include "reference/attention_finish.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ropecheck {
namespace {

/// Where a row of a block stands in the answer.
struct Place {
  std::int64_t query;
  int head;
};

Place place_of(const AttentionPlan& plan, const RowBlock& rows, int row) {
  const auto& q_heads = plan.q_heads_of[static_cast<std::size_t>(rows.kv_head)];
  return {rows.tile->begin + row / rows.num_heads,
          q_heads[static_cast<std::size_t>(row % rows.num_heads)]};
}

/// var o_d without the query's exact term; normalised sums.
double output_variance(const RowBlock& rows, int row, int d, double o, const RowTerms& terms) {
  // sum_j w_j (v_jd - o_d)^2, the top key apart; the rest of second_moment is
  // (u_probs^2/3 + ...) sum_j p_j^2 v_jd^2
  const double spread =
      rows.second_moment(row, d) - 2 * o * rows.first_moment(row, d) + o * o * rows.weight[row];
  const double top = rows.top_value(row, d) - o;
  const double bias = rows.bias.cols() > 0 ? rows.bias(row, d) : 0;
  return std::max(spread, 0.0) + rows.top_weight[row] * top * top + o * o * terms.output +
         bias * bias;
}

RowTerms terms_of(const AttentionPlan& plan, const RowBlock& rows, int row) {
  const auto query = static_cast<std::size_t>(rows.tile->begin + row / rows.num_heads);
  return plan.model.row(
      static_cast<double>(count_visible(plan.problem, plan.problem.queries[query])));
}

/// out[c] = alpha^2 ( sum_d var q'_d x_dc^2 + 2 sum_pairs cov(q'_f, q'_g) x_fc x_gc ) with
/// x_dc = sums_dc - mean_d o_c. Shape: sums [head_dim, width]; o, out [width].
void spread_query_error(const AttentionPlan& plan, const RowBlock& rows, int row,
                        const double* sums, const double* mean, const double* o, int width,
                        double* out) {
  std::fill_n(out, width, 0.0);
  for (int d = 0; d < plan.problem.shape.head_dim; ++d) {
    const double variance = rows.squares(row, d);
    const double* x = sums + std::int64_t{d} * width;
    for (int c = 0; c < width; ++c) {
      const double moved = x[c] - mean[d] * o[c];
      out[c] += variance * moved * moved;
    }
  }
  for (std::size_t i = 0; i < plan.pairs.size(); ++i) {
    const auto [f, g] = plan.pairs[i];
    const double covariance = rows.pairs(row, static_cast<Eigen::Index>(i));
    const double* x = sums + std::int64_t{f} * width;
    const double* y = sums + std::int64_t{g} * width;
    for (int c = 0; c < width; ++c) {
      out[c] += covariance * (x[c] - mean[f] * o[c]) * (y[c] - mean[g] * o[c]);
    }
  }
  for (int c = 0; c < width; ++c) out[c] = std::max(out[c], 0.0);
}

}  // namespace

void finish_query_error(const AttentionPlan& plan, const RowBlock& rows, int row,
                        const double* sums, Answer* answer) {
  if (rows.sum[row] <= 0) return;
  const HeadShape& shape = plan.problem.shape;
  const Place place = place_of(plan, rows, row);
  const double* mean = sums + std::int64_t{shape.head_dim} * shape.v_head_dim;
  std::vector<double> o;
  for (int c = 0; c < shape.v_head_dim; ++c) o.push_back(rows.output(row, c) / rows.sum[row]);
  spread_query_error(plan, rows, row, sums, mean, o.data(), shape.v_head_dim,
                     answer->sigma.row(place.query, place.head));
  const double zero = 0;  // the log-sum-exp moves with the mean itself
  spread_query_error(plan, rows, row, mean, mean, &zero, 1,
                     answer->lse_sigma.row(place.query, place.head));
}

void finish_row(const AttentionPlan& plan, const RowBlock& rows, int row, const double* query_error,
                Answer* answer) {
  const Place place = place_of(plan, rows, row);
  double& lse = *answer->lse.row(place.query, place.head);
  if (!(rows.sum[row] > 0)) {  // EmptyRow::zeros, exact
    lse = -std::numeric_limits<double>::infinity();
    return;
  }
  if (query_error) finish_query_error(plan, rows, row, query_error, answer);
  lse = rows.max[row] + std::log(rows.sum[row]);
  double* expected = answer->expected.row(place.query, place.head);
  const int width = plan.problem.shape.v_head_dim;
  for (int d = 0; d < width; ++d) expected[d] = rows.output(row, d) / rows.sum[row];
  if (!plan.options.sigma) return;

  const RowTerms terms = terms_of(plan, rows, row);
  double* sigma = answer->sigma.row(place.query, place.head);
  for (int d = 0; d < width; ++d) {
    sigma[d] = std::sqrt(sigma[d] + output_variance(rows, row, d, expected[d], terms) +
                         plan.model.output_floor);
  }
  // var lse = sum_j w_j + 2/3 u_sum^2 row_chain + lse^2 u_output^2/3
  double& lse_sigma = *answer->lse_sigma.row(place.query, place.head);
  lse_sigma = std::sqrt(lse_sigma + rows.weight[row] + rows.top_weight[row] + terms.lse +
                        lse * lse * plan.model.lse_squares);
  answer->ill_conditioned[static_cast<std::size_t>(place.query * plan.problem.shape.num_q_heads +
                                                   place.head)] = rows.ill[row] > 0;
}

}  // namespace ropecheck
