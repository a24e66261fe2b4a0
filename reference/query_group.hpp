// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/attention_tile.hpp"
#include "reference/key_window.hpp"
#include "reference/sigma.hpp"
#include "reference/solve.hpp"

#include <span>
#include <vector>

namespace ropecheck {

/// What one tile and key head carry from one window of keys to the next.
/// Rows are (query, query head of this key head), the head running faster.
struct RowBlock {
  const QueryTile* tile = nullptr;
  int kv_head = 0;
  int num_heads = 0;           ///< query heads of this key head
  int num_rows = 0;            ///< num_heads for each query of the tile
  std::int64_t first_row = 0;  ///< in the group

  RowMatrixView query;    ///< [rows, head_dim] alpha q'
  RowMatrixView squares;  ///< [rows, 2 head_dim] alpha^2 var q' | alpha^2 q'^2; if sigma is due
  RowMatrixView pairs;    ///< [rows, 2 pairs] 2 alpha^2 cov(q'_f, q'_g) | 2 alpha^2 q'_f q'_g

  double* max = nullptr;  ///< [rows] largest logit, -inf for an empty row
  double* sum = nullptr;  ///< [rows] sum_j e^(s_j - max)
  MatrixView output;      ///< [rows, v_head_dim] sum_j e^(s_j - max) v_jd

  // Only if sigma is due. Probabilities are normalised here. The key of the largest logit stands
  // apart, so that nothing cancels where it has nearly all the weight.
  double* square_factor = nullptr;  ///< [rows] RowTerms::squares
  double* bias_factor = nullptr;    ///< [rows] RowTerms::bias
  double* weight = nullptr;         ///< [rows] sum_j w_j without the top key
  double* top_weight = nullptr;     ///< [rows] w of the top key
  double* top_key = nullptr;        ///< [rows] its index, -1 before it is met
  double* top_span = nullptr;       ///< [rows] first key of the span that it is in
  double* ill = nullptr;            ///< [rows] 1 where the first order does not hold
  MatrixView first_moment;          ///< sum_j w_j v_jd without the top key
  MatrixView second_moment;         ///< sum_j (w_j + c p_j^2) v_jd^2, w without the top key
  MatrixView bias;                  ///< sum_j (bias + flushed) p_j |v_jd|; if the model has one
  MatrixView top_value;             ///< v of the top key
};

/// What a solution is asked for, and in which numbers.
struct AttentionPlan {
  const Problem& problem;
  const Values& values;
  Profile profile;  ///< with the reference's own error
  SigmaModel model;
  SolveOptions options;
  std::vector<std::vector<int>> q_heads_of;  ///< [kv heads] the query heads that share it
  /// Channels (f, g) of each pair whose errors go together, the same for all rows. Empty where that
  /// is not followed: without the exact query term, or where tables pair channels differently.
  std::vector<std::pair<int, int>> pairs;

  [[nodiscard]] bool exact_query_error() const {
    return options.sigma && options.exact_query_error;
  }
  /// Numbers of the exact query term that one row sums: k' v^T and k'.
  [[nodiscard]] std::int64_t query_error_size() const {
    return std::int64_t{problem.shape.head_dim} * (problem.shape.v_head_dim + 1);
  }
};

/// Rotated queries and accumulators of consecutive tiles, all heads.
class QueryGroup {
 public:
  /// `keep_query_error`: whether the exact query term is summed over several windows.
  QueryGroup(const AttentionPlan& plan, bool keep_query_error);

  /// Takes other tiles, each of which is to be loaded then.
  void reset(std::span<const QueryTile> tiles);

  /// Numbers that one query takes.
  [[nodiscard]] static std::int64_t size_of_query(const AttentionPlan& plan, bool keep_query_error);

  /// Rotates the queries of one tile and clears its accumulators.
  void load(std::size_t tile);

  [[nodiscard]] RowBlock block(std::size_t tile, int kv_head);
  [[nodiscard]] std::span<const QueryTile> tiles() const { return tiles_; }

  /// Sums of the exact query term of one row; none unless kept.
  [[nodiscard]] double* query_error(std::int64_t row) const;

 private:
  void clear(const RowBlock& block);
  void load_query(RowBlock* block, int query, const double* rotated, const double* variances);
  void load_pairs(RowBlock* block, int query, const double* covariances);

  const AttentionPlan& plan_;
  bool keep_query_error_;
  std::span<const QueryTile> tiles_;
  Buffer numbers_;
  Buffer query_error_;
};

}  // namespace ropecheck
