// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/executor.hpp"
#include "reference/problem.hpp"
#include "reference/profile.hpp"

#include <Eigen/Core>

#include <memory>
#include <new>

namespace ropecheck {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic>;  // column by column
using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using MatrixView = Eigen::Map<Matrix, 0, Eigen::OuterStride<>>;
using RowMatrixView = Eigen::Map<RowMatrix, 0, Eigen::OuterStride<>>;
using ConstRowMatrixView = Eigen::Map<const RowMatrix, 0, Eigen::OuterStride<>>;

/// Numbers that are written before they are read; grows, and keeps its memory.
/// Always at the start of a cache line: some products sum in an order that depends on alignment,
/// and results must not depend on where memory happens to be.
class Buffer {
 public:
  double* resize(std::int64_t count) {
    if (count > capacity_) {
      const auto bytes = static_cast<std::size_t>(count) * sizeof(double);
      numbers_.reset(static_cast<double*>(::operator new(bytes, kAlignment)));
      capacity_ = count;
    }
    return numbers_.get();
  }
  [[nodiscard]] double* get() const { return numbers_.get(); }

 private:
  static constexpr std::align_val_t kAlignment{64};
  struct Deleter {
    void operator()(double* numbers) const { ::operator delete(numbers, kAlignment); }
  };

  std::unique_ptr<double, Deleter> numbers_;
  std::int64_t capacity_ = 0;
};

/// What a pass needs of the keys that it meets.
struct WindowContent {
  bool values = true;       ///< of the value tensor
  bool variances = true;    ///< of the rotated keys
  bool covariances = true;  ///< within their pairs
};

/// Rows of all heads, those of one head side by side: a product reads one stretch of memory.
class HeadRows {
 public:
  HeadRows(int num_heads, int width) : num_heads_(num_heads), width_(width) {}

  void resize(std::int64_t num_rows) {
    num_rows_ = num_rows;
    numbers_.resize(num_heads_ * num_rows * stride());
  }
  [[nodiscard]] double* row(int head, std::int64_t row) const {
    return numbers_.get() + (head * num_rows_ + row) * stride();
  }
  /// Takes one row of every head. Shape: heads [num_heads * width].
  void set(std::int64_t row, const double* heads) const;
  [[nodiscard]] ConstRowMatrixView view(int head, std::int64_t first, std::int64_t count) const {
    return {row(head, first), count, width_, Eigen::OuterStride<>(stride())};
  }
  /// Numbers of one row of all heads.
  [[nodiscard]] std::int64_t size_of_row() const { return num_heads_ * stride(); }

 private:
  /// One cache line more than a power of two would be, so that a column is spread over cache sets.
  [[nodiscard]] std::int64_t stride() const { return width_ + 8; }

  int num_heads_;
  int width_;
  std::int64_t num_rows_ = 0;
  Buffer numbers_;
};

/// Rotated keys and values of a stretch of keys, all heads: rotated once, used by every query.
class KeyWindow {
 public:
  KeyWindow(const Problem& problem, const Values& values, const Profile& profile);

  /// Most keys of one window, so that it stays within a fixed budget of memory.
  [[nodiscard]] std::int64_t max_keys(WindowContent content) const;

  void load(KeyRange range, WindowContent content, const Executor& executor);

  [[nodiscard]] KeyRange range() const { return range_; }

  /// Shape: [keys, head_dim] or [keys, v_head_dim]; `keys` within range().
  [[nodiscard]] ConstRowMatrixView keys(int kv_head, KeyRange keys) const;
  [[nodiscard]] ConstRowMatrixView variances(int kv_head, KeyRange keys) const;
  /// Shape: [keys, head_dim / 2], by pair.
  [[nodiscard]] ConstRowMatrixView covariances(int kv_head, KeyRange keys) const;
  [[nodiscard]] ConstRowMatrixView values(int kv_head, KeyRange keys) const;

 private:
  void load_rows(KeyRange range, WindowContent content);
  [[nodiscard]] ConstRowMatrixView view(const HeadRows& rows, int kv_head, KeyRange keys) const {
    return rows.view(kv_head, keys.begin - range_.begin, keys.end - keys.begin);
  }

  const Problem& problem_;
  const Values& source_;
  const Profile& profile_;
  KeyRange range_;
  HeadRows keys_;
  HeadRows variances_;
  HeadRows covariances_;
  HeadRows values_;
};

}  // namespace ropecheck
