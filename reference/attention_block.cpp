// SPDX-License-Identifier: Apache-2.0
#include "reference/attention_block.hpp"

#include "reference/exp_block.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ropecheck {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();
/// Fewer rows than a vector holds: loops over them run along keys instead.
constexpr int kNarrowRows = 8;

}  // namespace

AttentionBlock::AttentionBlock(const AttentionPlan& plan, const RowBlock& rows,
                               const KeyWindow& window, Scratch* scratch)
    : plan_(plan),
      rows_(rows),
      window_(window),
      scratch_(*scratch),
      spans_(find_spans(plan.problem, *rows.tile, window.range())),
      shift_(static_cast<std::size_t>(rows.num_rows)) {
  std::int64_t column = 0;
  std::int64_t num_columns = 0;
  for (const Span& span : spans_) {
    first_column_.push_back(column);
    num_columns = std::max(num_columns, column + span.num_keys());
    // without sigma each span takes the place of the last
    if (plan.options.sigma) column += span.num_keys();
  }
  scratch_.scores.resize(num_columns * rows_.num_rows);
}

AttentionBlock::SpanRows AttentionBlock::rows_of(const Span& span) const {
  return {span.query_begin * rows_.num_heads,
          (span.query_end - span.query_begin) * rows_.num_heads};
}

MatrixView AttentionBlock::scores_of(std::size_t span) {
  const SpanRows rows = rows_of(spans_[span]);
  return {scratch_.scores.get() + first_column_[span] * rows_.num_rows + rows.begin, rows.count,
          spans_[span].num_keys(), Eigen::OuterStride<>(rows_.num_rows)};
}

void AttentionBlock::compute_scores(std::size_t index) {
  const Span& span = spans_[index];
  const SpanRows rows = rows_of(span);
  // s = alpha sum_d q'_d k'_d
  scores_of(index).noalias() = rows_.query.middleRows(rows.begin, rows.count) *
                               window_.keys(rows_.kv_head, span.keys).transpose();
  if (span.partial) mask(index);
}

void AttentionBlock::mask(std::size_t index) {
  const Span& span = spans_[index];
  MatrixView scores = scores_of(index);
  const auto hide = [&](int query, std::int64_t begin, std::int64_t end) {
    if (begin >= end) return;
    scores
        .block((query - span.query_begin) * rows_.num_heads, begin - span.keys.begin,
               rows_.num_heads, end - begin)
        .setConstant(kMinusInfinity);
  };
  for (int query = span.query_begin; query < span.query_end; ++query) {
    const auto& row = plan_.problem.queries[static_cast<std::size_t>(rows_.tile->begin + query)];
    std::int64_t hidden = span.keys.begin;
    const auto ranges = plan_.problem.visible_to(row);
    auto range = std::lower_bound(ranges.begin(), ranges.end(), hidden,
                                  [](const KeyRange& r, std::int64_t key) { return r.end <= key; });
    for (; range != ranges.end() && range->begin < span.keys.end; ++range) {
      hide(query, hidden, range->begin);
      hidden = range->end;
    }
    hide(query, hidden, span.keys.end);
  }
}

void AttentionBlock::find_max(std::size_t index) {
  const SpanRows rows = rows_of(spans_[index]);
  const MatrixView scores = scores_of(index);
  double* __restrict max = rows_.max + rows.begin;
  for (Eigen::Index key = 0; key < scores.cols(); ++key) {
    const double* __restrict score = scores.col(key).data();
    for (int row = 0; row < rows.count; ++row) max[row] = std::max(max[row], score[row]);
  }
}

void AttentionBlock::set_shift() {
  for (int row = 0; row < rows_.num_rows; ++row) {
    shift_[static_cast<std::size_t>(row)] = std::isfinite(rows_.max[row]) ? rows_.max[row] : 0;
  }
}

void AttentionBlock::rescale(const std::vector<double>& old_max, bool with_output) {
  for (int row = 0; row < rows_.num_rows; ++row) {
    const double old = old_max[static_cast<std::size_t>(row)];
    if (!std::isfinite(old) || old == rows_.max[row]) continue;
    const double factor = std::exp(old - rows_.max[row]);
    rows_.sum[row] *= factor;
    if (with_output) rows_.output.row(row) *= factor;
  }
}

void AttentionBlock::add_plain() {
  for (std::size_t i = 0; i < spans_.size(); ++i) {
    const std::vector<double> old_max(rows_.max, rows_.max + rows_.num_rows);
    compute_scores(i);
    find_max(i);
    set_shift();
    rescale(old_max, /*with_output=*/true);
    exponentiate(i, scores_of(i), rows_.sum);
    add_output(spans_[i], scores_of(i));
  }
}

void AttentionBlock::measure() {
  const std::vector<double> old_max(rows_.max, rows_.max + rows_.num_rows);
  std::vector<double> span_max = old_max;
  for (std::size_t i = 0; i < spans_.size(); ++i) {
    compute_scores(i);
    find_max(i);
    for (int row = 0; row < rows_.num_rows; ++row) {
      double& max = span_max[static_cast<std::size_t>(row)];
      if (rows_.max[row] > max) rows_.top_span[row] = static_cast<double>(spans_[i].keys.begin);
      max = rows_.max[row];
    }
  }
  has_scores_ = true;
  set_shift();
  rescale(old_max, /*with_output=*/false);
  for (std::size_t i = 0; i < spans_.size(); ++i) exponentiate(i, probs_of(spans_[i]), rows_.sum);
}

void AttentionBlock::exponentiate(std::size_t index, MatrixView probs, double* sums) {
  const SpanRows rows = rows_of(spans_[index]);
  // summed by span first: the error grows with the square root of spans, not of keys
  span_sum_.assign(static_cast<std::size_t>(rows.count), 0.0);
  if (rows.count < kNarrowRows) {
    exponentiate_narrow(index, probs);
  } else {
    const MatrixView scores = scores_of(index);
    for (Eigen::Index key = 0; key < scores.cols(); ++key) {
      exp_block(scores.col(key).data(), shift_.data() + rows.begin, probs.col(key).data(),
                span_sum_.data(), rows.count);
    }
  }
  for (int row = 0; row < rows.count; ++row) {
    sums[rows.begin + row] += span_sum_[static_cast<std::size_t>(row)];
  }
}

void AttentionBlock::exponentiate_narrow(std::size_t index, MatrixView probs) {
  const SpanRows rows = rows_of(spans_[index]);
  const MatrixView scores = scores_of(index);
  const std::int64_t count = scores.size();
  double* score = scratch_.narrow.resize(3 * count);
  double* shift = score + count;
  double* sum = shift + count;
  for (Eigen::Index key = 0, i = 0; key < scores.cols(); ++key) {
    for (int row = 0; row < rows.count; ++row, ++i) {
      score[i] = scores(row, key);
      shift[i] = shift_[static_cast<std::size_t>(rows.begin + row)];
      sum[i] = 0;
    }
  }
  exp_block(score, shift, score, sum, count);
  for (Eigen::Index key = 0, i = 0; key < scores.cols(); ++key) {
    for (int row = 0; row < rows.count; ++row, ++i) {
      probs(row, key) = score[i];
      span_sum_[static_cast<std::size_t>(row)] += score[i];
    }
  }
}

void AttentionBlock::accumulate() {
  set_shift();
  std::vector<double> sums_again(shift_.size());  // measure() has them
  inverse_sum_.resize(shift_.size());
  largest_variance_.resize(shift_.size());
  for (std::size_t row = 0; row < shift_.size(); ++row) {
    inverse_sum_[row] = rows_.sum[row] > 0 ? 1 / rows_.sum[row] : 0;
  }
  for (std::size_t i = 0; i < spans_.size(); ++i) {
    if (!has_scores_) compute_scores(i);
    exponentiate(i, probs_of(spans_[i]), sums_again.data());
    add_output(spans_[i], probs_of(spans_[i]));
    compute_variances(spans_[i]);
    compute_weights(i);
    find_ill_conditioned(i);
    add_moments(spans_[i]);
    if (plan_.model.has_bias) add_bias(spans_[i]);
  }
  keep_top_values();
}

MatrixView AttentionBlock::probs_of(const Span& span) {
  const SpanRows rows = rows_of(span);
  return {scratch_.probs.resize(std::int64_t{rows.count} * span.num_keys()), rows.count,
          span.num_keys(), Eigen::OuterStride<>(rows.count)};
}

void AttentionBlock::add_output(const Span& span, const MatrixView& probs) {
  const SpanRows rows = rows_of(span);
  // o_d = sum_j p_j v_jd
  rows_.output.middleRows(rows.begin, rows.count).noalias() +=
      probs * window_.values(rows_.kv_head, span.keys);
}

}  // namespace ropecheck
