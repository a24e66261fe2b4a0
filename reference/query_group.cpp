// SPDX-License-Identifier: Apache-2.0
#include "reference/query_group.hpp"

#include "reference/rotation_error.hpp"

#include <algorithm>
#include <limits>

namespace ropecheck {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

/// Numbers of one row in a RowBlock.
std::int64_t size_of_row(const AttentionPlan& plan) {
  const std::int64_t key = plan.problem.shape.head_dim;
  const std::int64_t value = plan.problem.shape.v_head_dim;
  if (!plan.options.sigma) return key + value + 2;
  const std::int64_t num_value_rows = plan.model.has_bias ? 5 : 4;
  return 3 * key + num_value_rows * value + 9 + 2 * static_cast<std::int64_t>(plan.pairs.size());
}

/// Cuts one stretch of memory into the parts of a RowBlock.
class Cutter {
 public:
  Cutter(double* numbers, std::int64_t num_rows) : next_(numbers), num_rows_(num_rows) {}

  double* column() { return take(1); }
  MatrixView matrix(std::int64_t width) {
    return {take(width), num_rows_, width, Eigen::OuterStride<>(num_rows_)};
  }
  RowMatrixView row_matrix(std::int64_t width) {
    return {take(width), num_rows_, width, Eigen::OuterStride<>(width)};
  }

 private:
  double* take(std::int64_t width) {
    double* part = next_;
    next_ += width * num_rows_;
    return part;
  }

  double* next_;
  std::int64_t num_rows_;
};

RowBlock make_block(const AttentionPlan& plan, double* numbers, std::int64_t num_rows) {
  const HeadShape& shape = plan.problem.shape;
  const bool sigma = plan.options.sigma;
  Cutter cut(numbers, num_rows);
  const auto key_width = std::int64_t{shape.head_dim};
  const auto sigma_width = std::int64_t{sigma ? shape.v_head_dim : 0};
  const auto bias_width = std::int64_t{sigma && plan.model.has_bias ? shape.v_head_dim : 0};
  const auto column = [&] { return sigma ? cut.column() : nullptr; };
  return {.num_rows = static_cast<int>(num_rows),
          .query = cut.row_matrix(key_width),
          .squares = cut.row_matrix(sigma ? 2 * key_width : 0),
          .pairs = cut.row_matrix(2 * static_cast<std::int64_t>(plan.pairs.size())),
          .max = cut.column(),
          .sum = cut.column(),
          .output = cut.matrix(shape.v_head_dim),
          .square_factor = column(),
          .bias_factor = column(),
          .weight = column(),
          .top_weight = column(),
          .top_key = column(),
          .top_span = column(),
          .ill = column(),
          .first_moment = cut.matrix(sigma_width),
          .second_moment = cut.matrix(sigma_width),
          .bias = cut.matrix(bias_width),
          .top_value = cut.matrix(sigma_width)};
}

}  // namespace

QueryGroup::QueryGroup(const AttentionPlan& plan, bool keep_query_error)
    : plan_(plan), keep_query_error_(keep_query_error) {}

void QueryGroup::reset(std::span<const QueryTile> tiles) {
  tiles_ = tiles;
  const std::int64_t num_rows =
      (tiles.back().end - tiles.front().begin) * plan_.problem.shape.num_q_heads;
  numbers_.resize(num_rows * size_of_row(plan_));
  if (keep_query_error_) query_error_.resize(num_rows * plan_.query_error_size());
}

std::int64_t QueryGroup::size_of_query(const AttentionPlan& plan, bool keep_query_error) {
  const std::int64_t row = size_of_row(plan) + (keep_query_error ? plan.query_error_size() : 0);
  return row * plan.problem.shape.num_q_heads;
}

double* QueryGroup::query_error(std::int64_t row) const {
  return keep_query_error_ ? query_error_.get() + row * plan_.query_error_size() : nullptr;
}

RowBlock QueryGroup::block(std::size_t tile, int kv_head) {
  const QueryTile& queries = tiles_[tile];
  std::int64_t row = (queries.begin - tiles_.front().begin) * plan_.problem.shape.num_q_heads;
  for (int head = 0; head < kv_head; ++head) {
    row += queries.num_queries() *
           static_cast<std::int64_t>(plan_.q_heads_of[static_cast<std::size_t>(head)].size());
  }
  const auto num_heads =
      static_cast<int>(plan_.q_heads_of[static_cast<std::size_t>(kv_head)].size());
  RowBlock block = make_block(plan_, numbers_.get() + row * size_of_row(plan_),
                              std::int64_t{queries.num_queries()} * num_heads);
  block.tile = &queries;
  block.kv_head = kv_head;
  block.num_heads = num_heads;
  block.first_row = row;
  return block;
}

void QueryGroup::load(std::size_t tile) {
  const HeadShape& shape = plan_.problem.shape;
  const QueryTile& queries = tiles_[tile];
  std::vector<RowBlock> blocks;
  for (int head = 0; head < shape.num_kv_heads; ++head) {
    blocks.push_back(block(tile, head));
    clear(blocks.back());
  }

  const auto width = static_cast<std::size_t>(shape.num_q_heads) * shape.head_dim;
  std::vector<double> rotated(width);
  std::vector<double> variances(plan_.options.sigma ? width : 0);
  std::vector<double> covariances(plan_.pairs.empty()
                                      ? 0
                                      : static_cast<std::size_t>(shape.num_q_heads) *
                                            static_cast<std::size_t>(shape.head_dim / 2));
  for (int query = 0; query < queries.num_queries(); ++query) {
    const auto& row = plan_.problem.queries[static_cast<std::size_t>(queries.begin + query)];
    rotate_query(plan_.problem, plan_.values, plan_.profile, row, rotated, variances, covariances);
    for (RowBlock& block : blocks) {
      load_query(&block, query, rotated.data(), variances.data());
      if (!plan_.pairs.empty()) load_pairs(&block, query, covariances.data());
    }
  }
}

void QueryGroup::clear(const RowBlock& block) {
  // all that comes after the queries
  double* end = numbers_.get() + (block.first_row + block.num_rows) * size_of_row(plan_);
  std::fill(block.max, end, 0.0);
  if (!keep_query_error_) return;
  std::fill_n(query_error(block.first_row), block.num_rows * plan_.query_error_size(), 0.0);
}

void QueryGroup::load_query(RowBlock* block, int query, const double* rotated,
                            const double* variances) {
  const Problem& problem = plan_.problem;
  const int width = problem.shape.head_dim;
  const double alpha = problem.softmax_scale;
  const auto& q_heads = plan_.q_heads_of[static_cast<std::size_t>(block->kv_head)];
  RowTerms terms;
  if (plan_.options.sigma) {
    const auto index = static_cast<std::size_t>(block->tile->begin + query);
    const std::int64_t num_keys = count_visible(problem, problem.queries[index]);
    terms = plan_.model.row(static_cast<double>(num_keys));
  }
  for (int head = 0; head < block->num_heads; ++head) {
    const int row = query * block->num_heads + head;
    const std::int64_t source = std::int64_t{q_heads[static_cast<std::size_t>(head)]} * width;
    const Eigen::Map<const Eigen::RowVectorXd> value(rotated + source, width);
    block->query.row(row) = alpha * value;
    block->max[row] = kMinusInfinity;
    if (!plan_.options.sigma) continue;
    const Eigen::Map<const Eigen::RowVectorXd> variance(variances + source, width);
    block->squares.row(row).head(width) = alpha * alpha * variance;
    block->squares.row(row).tail(width) = block->query.row(row).cwiseAbs2();
    block->square_factor[row] = terms.squares;
    block->bias_factor[row] = terms.bias;
    block->top_key[row] = -1;
    block->top_span[row] = -1;
  }
}

void QueryGroup::load_pairs(RowBlock* block, int query, const double* covariances) {
  const int width = plan_.problem.shape.head_dim / 2;
  const double factor = 2 * plan_.problem.softmax_scale * plan_.problem.softmax_scale;
  const auto num_pairs = static_cast<Eigen::Index>(plan_.pairs.size());
  for (int head = 0; head < block->num_heads; ++head) {
    const int row = query * block->num_heads + head;
    const int q_head =
        plan_.q_heads_of[static_cast<std::size_t>(block->kv_head)][static_cast<std::size_t>(head)];
    const double* covariance = covariances + std::int64_t{q_head} * width;
    for (Eigen::Index i = 0; i < num_pairs; ++i) {
      const auto [f, g] = plan_.pairs[static_cast<std::size_t>(i)];
      block->pairs(row, i) = factor * covariance[i];
      // `query` holds alpha q'
      block->pairs(row, num_pairs + i) = 2 * block->query(row, f) * block->query(row, g);
    }
  }
}

}  // namespace ropecheck
