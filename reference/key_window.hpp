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
/// Always at the start of a cache line: some products sum in an order that depends on alignment, and
/// results must not depend on where memory happens to be.
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
  bool values = true;     ///< of the value tensor
  bool variances = true;  ///< of the rotated keys
  bool covariances = true;  ///< within their pairs
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
  [[nodiscard]] ConstRowMatrixView view(const Buffer& buffer, std::int64_t stride, int width,
                                        int kv_head, KeyRange keys) const;

  const Problem& problem_;
  const Values& source_;
  const Profile& profile_;
  std::int64_t key_stride_;    ///< numbers from one key to the next, all heads
  std::int64_t value_stride_;
  std::int64_t pair_stride_;
  KeyRange range_;
  Buffer keys_;
  Buffer variances_;
  Buffer covariances_;
  Buffer values_;
};

}  // namespace ropecheck
