// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/query_group.hpp"

#include <vector>

namespace ropecheck {

/// Memory of one piece of work, used again by the next.
struct Scratch {
  Buffer scores;          ///< [rows, visible keys of the window] logits; of a span without sigma
  Buffer probs;           ///< [rows, keys of a span] e^(s - max)
  Buffer variances;       ///< var s
  Buffer query_part;      ///< share of the query in var s, where it is not in `variances`
  Buffer weights;         ///< p^2 var s
  Buffer square_weights;  ///< w + c p^2
  Buffer biases;          ///< weights of |v|
  Buffer key_squares;     ///< [keys of a span, 2 head_dim] k'^2 | var k' + c k'^2
  Buffer key_pairs;       ///< [keys of a span, pairs] k'_f k'_g
  Buffer value_squares;   ///< [keys of a span, v_head_dim] v^2 or |v|
  Buffer narrow;          ///< s, max and sum of a span with few rows, in one stretch
  Buffer query_error;     ///< sums of the exact query term of one row
  Buffer scaled_keys;     ///< [keys of a span, head_dim] p k'
};

/// One tile and key head against one window of keys.
/// Without sigma: add_plain() over all windows, one pass with a running maximum.
/// With sigma, which needs the final maximum and sum in the variance of every logit: measure() over
/// all windows, then accumulate() over all windows; a block that does both has its logits once.
class AttentionBlock {
 public:
  AttentionBlock(const AttentionPlan& plan, const RowBlock& rows, const KeyWindow& window,
                 Scratch* scratch);

  void add_plain();
  void measure();
  void accumulate();

  /// Sums of the exact query term over the window, added for one row to `sums`:
  /// sum_j p_j k'_jd v_jc [head_dim, v_head_dim], then sum_j p_j k'_jd [head_dim].
  void add_query_error(int row, double* sums);

 private:
  struct SpanRows {
    int begin;
    int count;
  };
  struct TopKey {
    int row;  ///< of the span
    int key;  ///< of the span
    double prob;
  };
  [[nodiscard]] SpanRows rows_of(const Span& span) const;
  [[nodiscard]] MatrixView scores_of(std::size_t span);
  void compute_scores(std::size_t span);
  void find_max(std::size_t span);
  void mask(std::size_t span);
  void set_shift();
  /// Brings sums of exponentials, and outputs, from the old maximum to the one of now.
  void rescale(const std::vector<double>& old_max, bool with_output);
  [[nodiscard]] MatrixView probs_of(const Span& span);
  /// e^(s - max) of a span into `probs`, which may be its scores; added to `sums` [rows].
  void exponentiate(std::size_t span, MatrixView probs, double* sums);
  void exponentiate_narrow(std::size_t span, MatrixView probs);
  void add_output(const Span& span, const MatrixView& probs);
  void compute_variances(const Span& span);
  void add_pairs(const Span& span);
  void compute_weights(std::size_t span);
  /// The key of a row's largest logit is weighed alone: its probability is zero meanwhile.
  void set_top_keys_apart(std::size_t span);
  void weigh_key(std::size_t span, int key);
  void add_query_part(std::size_t span, int key);
  void add_spacing(std::size_t span, int key);
  /// Share of the fixed spacing near zero in the variance of a probability.
  [[nodiscard]] double spacing_variance(double prob) const;
  [[nodiscard]] double normalise(int row) const {
    return inverse_sum_[static_cast<std::size_t>(row)];
  }
  void find_ill_conditioned(std::size_t span);
  void add_moments(const Span& span);
  void add_bias(const Span& span);
  void keep_top_values();

  const AttentionPlan& plan_;
  RowBlock rows_;
  const KeyWindow& window_;
  Scratch& scratch_;
  std::vector<Span> spans_;
  std::vector<std::int64_t> first_column_;  ///< [spans] of the scores
  bool has_scores_ = false;
  std::vector<double> span_sum_;          ///< [rows]
  std::vector<TopKey> top_keys_;          ///< of the span at hand
  std::vector<double> shift_;             ///< [rows] max, 0 for an empty row
  std::vector<double> inverse_sum_;       ///< [rows] 0 for an empty row
  std::vector<double> largest_variance_;  ///< [rows] of var s in the span at hand
};

}  // namespace ropecheck
