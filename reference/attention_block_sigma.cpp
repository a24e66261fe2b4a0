// SPDX-License-Identifier: Apache-2.0
// The half of AttentionBlock that follows rounding (README.md, "sigma").
#include "reference/attention_block.hpp"
#include "reference/exp_block.hpp"

#include <algorithm>
#include <cmath>

namespace ropecheck {
namespace {

/// Above it a logit's error is too large for the first order:
/// max_j min(p_j e^(3 sd s_j), 1) var s_j.
constexpr double kIllConditioned = 0.25;

double squared(double x) { return x * x; }

MatrixView span_matrix(const Buffer& buffer, int rows, int keys) {
  return {buffer.get(), rows, keys, Eigen::OuterStride<>(rows)};
}

}  // namespace

void AttentionBlock::compute_variances(const Span& span) {
  const SpanRows rows = rows_of(span);
  const int width = plan_.problem.shape.head_dim;
  const int num_keys = span.num_keys();
  scratch_.variances.resize(std::int64_t{rows.count} * num_keys);
  RowMatrixView squares(scratch_.key_squares.resize(std::int64_t{2} * width * num_keys), num_keys,
                        2 * width, Eigen::OuterStride<>(2 * width));
  squares.leftCols(width) = window_.keys(rows_.kv_head, span.keys).cwiseAbs2();
  squares.rightCols(width) = window_.variances(rows_.kv_head, span.keys) +
                             plan_.model.key_squares * squares.leftCols(width);

  // var s = alpha^2 sum_d [ var q'_d k'_d^2 + q'_d^2 (var k'_d + D u_sum^2/3 k'_d^2) ]
  MatrixView variances = span_matrix(scratch_.variances, rows.count, num_keys);
  const auto query = rows_.squares.middleRows(rows.begin, rows.count);
  if (!plan_.exact_query_error()) {
    variances.noalias() = query * squares.transpose();
    return;
  }
  scratch_.query_part.resize(std::int64_t{rows.count} * num_keys);
  MatrixView query_part = span_matrix(scratch_.query_part, rows.count, num_keys);
  query_part.noalias() = query.leftCols(width) * squares.leftCols(width).transpose();
  variances.noalias() = query.rightCols(width) * squares.rightCols(width).transpose();
  if (!plan_.pairs.empty()) add_pairs(span);
}

void AttentionBlock::add_pairs(const Span& span) {
  const SpanRows rows = rows_of(span);
  const int num_keys = span.num_keys();
  const auto num_pairs = static_cast<int>(plan_.pairs.size());
  const auto keys = window_.keys(rows_.kv_head, span.keys);
  RowMatrixView products(scratch_.key_pairs.resize(std::int64_t{num_pairs} * num_keys), num_keys,
                         num_pairs, Eigen::OuterStride<>(num_pairs));
  for (int i = 0; i < num_pairs; ++i) {
    const auto [f, g] = plan_.pairs[static_cast<std::size_t>(i)];
    products.col(i) = keys.col(f).cwiseProduct(keys.col(g));
  }
  // var s += 2 alpha^2 sum_pairs [ cov(q'_f, q'_g) k'_f k'_g + q'_f q'_g cov(k'_f, k'_g) ]
  const auto query = rows_.pairs.middleRows(rows.begin, rows.count);
  span_matrix(scratch_.query_part, rows.count, num_keys).noalias() +=
      query.leftCols(num_pairs) * products.transpose();
  span_matrix(scratch_.variances, rows.count, num_keys).noalias() +=
      query.rightCols(num_pairs) *
      window_.covariances(rows_.kv_head, span.keys).leftCols(num_pairs).transpose();
}

void AttentionBlock::compute_weights(std::size_t index) {
  const Span& span = spans_[index];
  const SpanRows rows = rows_of(span);
  const std::int64_t count = std::int64_t{rows.count} * span.num_keys();
  scratch_.weights.resize(count);
  scratch_.square_weights.resize(count);
  std::fill_n(largest_variance_.begin() + rows.begin, rows.count, 0.0);
  set_top_keys_apart(index);
  for (int key = 0; key < span.num_keys(); ++key) {
    weigh_key(index, key);
    if (plan_.exact_query_error()) add_query_part(index, key);
    if (plan_.model.spacing_below > 0) add_spacing(index, key);
  }
  for (const TopKey& top : top_keys_) {
    const std::int64_t at = top.row + std::int64_t{top.key} * rows.count;
    const double prob = top.prob * normalise(rows.begin + top.row);
    scratch_.probs.get()[at] = top.prob;
    scratch_.square_weights.get()[at] =
        rows_.square_factor[rows.begin + top.row] * squared(prob) + spacing_variance(prob);
  }
}

double AttentionBlock::spacing_variance(double prob) const {
  // a probability below half a spacing loses at most itself
  if (prob >= plan_.model.spacing_below) return 0;
  return std::min(plan_.model.spacing_variance, squared(prob));
}

void AttentionBlock::set_top_keys_apart(std::size_t index) {
  const Span& span = spans_[index];
  const SpanRows rows = rows_of(span);
  const MatrixView scores = scores_of(index);
  MatrixView probs = span_matrix(scratch_.probs, rows.count, span.num_keys());
  const MatrixView variances = span_matrix(scratch_.variances, rows.count, span.num_keys());
  top_keys_.clear();
  for (int row = 0; row < rows.count; ++row) {
    const int at = rows.begin + row;
    if (rows_.top_span[at] != static_cast<double>(span.keys.begin)) continue;
    int key = 0;
    while (scores(row, key) < rows_.max[at]) ++key;
    const double variance = std::max(variances(row, key), 0.0) +
                            plan_.model.logit_squares * squared(scores(row, key)) +
                            plan_.model.special_squares * 4;
    rows_.top_key[at] = static_cast<double>(span.keys.begin + key);
    rows_.top_weight[at] = squared(probs(row, key) * normalise(at)) * variance;
    top_keys_.push_back({row, key, probs(row, key)});
    probs(row, key) = 0;  // for the time of weighing
  }
}

void AttentionBlock::weigh_key(std::size_t span, int key) {
  const SpanRows rows = rows_of(spans_[span]);
  const std::int64_t offset = std::int64_t{key} * rows.count;
  const double logit_squares = plan_.model.logit_squares;
  const double special_squares = plan_.model.special_squares;

  const double* __restrict probs = scratch_.probs.get() + offset;
  const double* __restrict score =
      scratch_.scores.get() + (first_column_[span] + key) * rows_.num_rows + rows.begin;
  double* __restrict variances = scratch_.variances.get() + offset;
  double* __restrict weights = scratch_.weights.get() + offset;
  double* __restrict square_weights = scratch_.square_weights.get() + offset;
  const double* __restrict shift = shift_.data() + rows.begin;
  const double* __restrict inverse_sum = inverse_sum_.data() + rows.begin;
  const double* __restrict square_factor = rows_.square_factor + rows.begin;
  double* __restrict largest = largest_variance_.data() + rows.begin;
  double* __restrict weight_sum = rows_.weight + rows.begin;
  for (int row = 0; row < rows.count; ++row) {
    // a hidden key has probability 0; the floor keeps its variance finite
    const double below = score[row] - shift[row];
    const double x = below > kExpFloor ? below : kExpFloor;
    const double s = x + shift[row];
    const double spread = variances[row] > 0 ? variances[row] : 0;
    // var s += u_sum^2 dot_chain s^2/9 + s^2 u_logits^2/3 + ((s - max) u_special)^2 + 4 u_special^2
    const double variance = spread + logit_squares * (s * s) + special_squares * (x * x + 4);
    const double prob = probs[row] * inverse_sum[row];
    const double prob_squared = prob * prob;
    const double weight = prob_squared * variance;  // w_j = p_j^2 var s_j
    weights[row] = weight;
    weight_sum[row] += weight;
    square_weights[row] = weight + square_factor[row] * prob_squared;
    variances[row] = variance;
    largest[row] = largest[row] > variance ? largest[row] : variance;
  }
}

void AttentionBlock::add_query_part(std::size_t span, int key) {
  const SpanRows rows = rows_of(spans_[span]);
  const std::int64_t offset = std::int64_t{key} * rows.count;
  const double* __restrict query_part = scratch_.query_part.get() + offset;
  double* __restrict variances = scratch_.variances.get() + offset;
  double* __restrict largest = largest_variance_.data() + rows.begin;
  for (int row = 0; row < rows.count; ++row) {
    variances[row] += query_part[row];
    largest[row] = largest[row] > variances[row] ? largest[row] : variances[row];
  }
}

void AttentionBlock::add_spacing(std::size_t span, int key) {
  const SpanRows rows = rows_of(spans_[span]);
  const std::int64_t offset = std::int64_t{key} * rows.count;
  const double* __restrict probs = scratch_.probs.get() + offset;
  const double* __restrict inverse_sum = inverse_sum_.data() + rows.begin;
  double* __restrict square_weights = scratch_.square_weights.get() + offset;
  for (int row = 0; row < rows.count; ++row) {
    square_weights[row] += spacing_variance(probs[row] * inverse_sum[row]);
  }
}

void AttentionBlock::find_ill_conditioned(std::size_t index) {
  const Span& span = spans_[index];
  const SpanRows rows = rows_of(span);
  const MatrixView scores = scores_of(index);
  const MatrixView variances = span_matrix(scratch_.variances, rows.count, span.num_keys());
  for (int row = 0; row < rows.count; ++row) {
    const auto at = static_cast<std::size_t>(rows.begin + row);
    if (largest_variance_[at] <= kIllConditioned || rows_.ill[at] > 0 || rows_.sum[at] <= 0) {
      continue;
    }
    const double lse = shift_[at] + std::log(rows_.sum[at]);
    for (int key = 0; key < span.num_keys(); ++key) {
      const double variance = variances(row, key);
      if (variance <= kIllConditioned || std::isinf(scores(row, key))) continue;
      const double exponent = scores(row, key) - lse + 3 * std::sqrt(variance);
      if (std::exp(std::min(exponent, 0.0)) * variance > kIllConditioned) rows_.ill[at] = 1;
    }
  }
}

void AttentionBlock::add_moments(const Span& span) {
  const SpanRows rows = rows_of(span);
  const auto values = window_.values(rows_.kv_head, span.keys);
  RowMatrixView squares(scratch_.value_squares.resize(values.rows() * values.cols()), values.rows(),
                        values.cols(), Eigen::OuterStride<>(values.cols()));
  squares = values.cwiseAbs2();
  rows_.first_moment.middleRows(rows.begin, rows.count).noalias() +=
      span_matrix(scratch_.weights, rows.count, span.num_keys()) * values;
  rows_.second_moment.middleRows(rows.begin, rows.count).noalias() +=
      span_matrix(scratch_.square_weights, rows.count, span.num_keys()) * squares;
}

void AttentionBlock::add_bias(const Span& span) {
  const SpanRows rows = rows_of(span);
  const std::int64_t count = std::int64_t{rows.count} * span.num_keys();
  const double* probs = scratch_.probs.get();
  double* biases = scratch_.biases.resize(count);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto row = static_cast<int>(i % rows.count) + rows.begin;
    const double prob = probs[i] * normalise(row);
    biases[i] = rows_.bias_factor[row] * prob + (prob < plan_.model.flushed_below ? prob : 0);
  }
  const auto values = window_.values(rows_.kv_head, span.keys);
  RowMatrixView magnitudes(scratch_.value_squares.resize(values.rows() * values.cols()),
                           values.rows(), values.cols(), Eigen::OuterStride<>(values.cols()));
  magnitudes = values.cwiseAbs();
  rows_.bias.middleRows(rows.begin, rows.count).noalias() +=
      span_matrix(scratch_.biases, rows.count, span.num_keys()) * magnitudes;
}

void AttentionBlock::keep_top_values() {
  const KeyRange range = window_.range();
  for (int row = 0; row < rows_.num_rows; ++row) {
    const auto key = static_cast<std::int64_t>(rows_.top_key[row]);
    if (key < range.begin || key >= range.end) continue;
    rows_.top_value.row(row) = window_.values(rows_.kv_head, {key, key + 1}).row(0);
  }
}

void AttentionBlock::add_query_error(int row, double* sums) {
  const HeadShape& shape = plan_.problem.shape;
  RowMatrixView products(sums, shape.head_dim, shape.v_head_dim,
                         Eigen::OuterStride<>(shape.v_head_dim));
  Eigen::Map<Eigen::VectorXd> mean(sums + std::int64_t{shape.head_dim} * shape.v_head_dim,
                                   shape.head_dim);
  const auto at = static_cast<std::size_t>(row);
  for (std::size_t i = 0; i < spans_.size(); ++i) {
    const Span& span = spans_[i];
    const SpanRows rows = rows_of(span);
    if (row < rows.begin || row >= rows.begin + rows.count) continue;
    const int num_keys = span.num_keys();
    RowMatrixView scaled(scratch_.scaled_keys.resize(std::int64_t{num_keys} * shape.head_dim),
                         num_keys, shape.head_dim, Eigen::OuterStride<>(shape.head_dim));
    const auto keys = window_.keys(rows_.kv_head, span.keys);
    const MatrixView scores = scores_of(i);
    for (int key = 0; key < num_keys; ++key) {
      const double prob = std::exp(scores(row - rows.begin, key) - shift_[at]) * inverse_sum_[at];
      scaled.row(key) = prob * keys.row(key);
    }
    products.noalias() += scaled.transpose() * window_.values(rows_.kv_head, span.keys);
    mean += scaled.colwise().sum().transpose();
  }
}

}  // namespace ropecheck
