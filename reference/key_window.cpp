// SPDX-License-Identifier: Apache-2.0
#include "reference/key_window.hpp"

#include "reference/rotation_error.hpp"

#include <algorithm>

namespace ropecheck {
namespace {

constexpr std::int64_t kWindowBytes = std::int64_t{96} << 20;
/// Bounds the scores that a tile holds of one window.
constexpr std::int64_t kMaxWindowKeys = 8192;
constexpr std::int64_t kMinWindowKeys = 256;
/// Keys that one piece of work rotates.
constexpr std::int64_t kRotateKeys = 64;
/// One cache line more than a power of two, so that a column of keys is spread over all cache sets.
constexpr std::int64_t kStridePadding = 8;

}  // namespace

KeyWindow::KeyWindow(const Problem& problem, const Values& values, const Profile& profile)
    : problem_(problem),
      source_(values),
      profile_(profile),
      key_stride_(std::int64_t{problem.shape.num_kv_heads} * problem.shape.head_dim +
                  kStridePadding),
      value_stride_(std::int64_t{problem.shape.num_kv_heads} * problem.shape.v_head_dim +
                    kStridePadding),
      pair_stride_(std::int64_t{problem.shape.num_kv_heads} * (problem.shape.head_dim / 2) +
                   kStridePadding) {}

std::int64_t KeyWindow::max_keys(WindowContent content) const {
  const std::int64_t numbers = key_stride_ * (content.variances ? 2 : 1) +
                               (content.covariances ? pair_stride_ : 0) +
                               (content.values ? value_stride_ : 0);
  const std::int64_t keys = kWindowBytes / (numbers * static_cast<std::int64_t>(sizeof(double)));
  return std::clamp(keys / kRotateKeys * kRotateKeys, kMinWindowKeys, kMaxWindowKeys);
}

void KeyWindow::load(KeyRange range, WindowContent content, const Executor& executor) {
  range_ = range;
  const std::int64_t num_keys = range.end - range.begin;
  keys_.resize(num_keys * key_stride_);
  if (content.variances) variances_.resize(num_keys * key_stride_);
  if (content.covariances) covariances_.resize(num_keys * pair_stride_);
  if (content.values) values_.resize(num_keys * value_stride_);

  const std::int64_t num_pieces = (num_keys + kRotateKeys - 1) / kRotateKeys;
  executor(static_cast<std::size_t>(num_pieces), [&](std::size_t piece) {
    const std::int64_t begin = range.begin + static_cast<std::int64_t>(piece) * kRotateKeys;
    load_rows({begin, std::min(begin + kRotateKeys, range.end)}, content);
  });
}

void KeyWindow::load_rows(KeyRange range, WindowContent content) {
  const auto key_width = static_cast<std::size_t>(key_stride_ - kStridePadding);
  const auto value_width = static_cast<std::size_t>(problem_.shape.v_head_dim);
  for (std::int64_t i = range.begin; i < range.end; ++i) {
    const KeyRow& key = problem_.keys[static_cast<std::size_t>(i)];
    const std::int64_t row = i - range_.begin;
    std::span<double> variances, covariances;
    if (content.variances) variances = {variances_.get() + row * key_stride_, key_width};
    if (content.covariances) {
      covariances = {covariances_.get() + row * pair_stride_,
                     static_cast<std::size_t>(pair_stride_ - kStridePadding)};
    }
    rotate_key(problem_, source_, profile_, key, true,
               {keys_.get() + row * key_stride_, key_width}, variances, covariances);
    if (!content.values) continue;
    for (int head = 0; head < problem_.shape.num_kv_heads; ++head) {
      double* value = values_.get() + row * value_stride_ + head * problem_.shape.v_head_dim;
      source_.row(TensorRole::value, key.content, head, {value, value_width});
    }
  }
}

ConstRowMatrixView KeyWindow::view(const Buffer& buffer, std::int64_t stride, int width,
                                   int kv_head, KeyRange keys) const {
  return {buffer.get() + (keys.begin - range_.begin) * stride + std::int64_t{kv_head} * width,
          keys.end - keys.begin, width, Eigen::OuterStride<>(stride)};
}

ConstRowMatrixView KeyWindow::keys(int kv_head, KeyRange keys) const {
  return view(keys_, key_stride_, problem_.shape.head_dim, kv_head, keys);
}

ConstRowMatrixView KeyWindow::variances(int kv_head, KeyRange keys) const {
  return view(variances_, key_stride_, problem_.shape.head_dim, kv_head, keys);
}

ConstRowMatrixView KeyWindow::covariances(int kv_head, KeyRange keys) const {
  return view(covariances_, pair_stride_, problem_.shape.head_dim / 2, kv_head, keys);
}

ConstRowMatrixView KeyWindow::values(int kv_head, KeyRange keys) const {
  return view(values_, value_stride_, problem_.shape.v_head_dim, kv_head, keys);
}

}  // namespace ropecheck
