// SPDX-License-Identifier: Apache-2.0
#include "reference/key_window.hpp"

#include "reference/rotation_error.hpp"

#include <algorithm>
#include <vector>

namespace ropecheck {
namespace {

constexpr std::int64_t kWindowBytes = std::int64_t{112} << 20;
/// Bounds the scores that a tile holds of one window.
constexpr std::int64_t kMaxWindowKeys = 8192;
constexpr std::int64_t kMinWindowKeys = 256;
/// Keys that one piece of work rotates.
constexpr std::int64_t kRotateKeys = 64;

}  // namespace

void HeadRows::set(std::int64_t row_index, const double* heads) const {
  for (int head = 0; head < num_heads_; ++head) {
    std::copy_n(heads + std::int64_t{head} * width_, width_, row(head, row_index));
  }
}

KeyWindow::KeyWindow(const Problem& problem, const Values& values, const Profile& profile)
    : problem_(problem),
      source_(values),
      profile_(profile),
      keys_(problem.shape.num_kv_heads, problem.shape.head_dim),
      variances_(problem.shape.num_kv_heads, problem.shape.head_dim),
      covariances_(problem.shape.num_kv_heads, problem.shape.head_dim / 2),
      values_(problem.shape.num_kv_heads, problem.shape.v_head_dim) {}

std::int64_t KeyWindow::max_keys(WindowContent content) const {
  const std::int64_t numbers = keys_.size_of_row() +
                               (content.variances ? variances_.size_of_row() : 0) +
                               (content.covariances ? covariances_.size_of_row() : 0) +
                               (content.values ? values_.size_of_row() : 0);
  const std::int64_t keys = kWindowBytes / (numbers * static_cast<std::int64_t>(sizeof(double)));
  return std::clamp(keys / kRotateKeys * kRotateKeys, kMinWindowKeys, kMaxWindowKeys);
}

void KeyWindow::load(KeyRange range, WindowContent content, const Executor& executor) {
  range_ = range;
  const std::int64_t num_keys = range.end - range.begin;
  keys_.resize(num_keys);
  if (content.variances) variances_.resize(num_keys);
  if (content.covariances) covariances_.resize(num_keys);
  if (content.values) values_.resize(num_keys);

  const std::int64_t num_pieces = (num_keys + kRotateKeys - 1) / kRotateKeys;
  executor(static_cast<std::size_t>(num_pieces), [&](std::size_t piece) {
    const std::int64_t begin = range.begin + static_cast<std::int64_t>(piece) * kRotateKeys;
    load_rows({begin, std::min(begin + kRotateKeys, range.end)}, content);
  });
}

void KeyWindow::load_rows(KeyRange range, WindowContent content) {
  const HeadShape& shape = problem_.shape;
  const auto num_heads = static_cast<std::size_t>(shape.num_kv_heads);
  const std::size_t width = num_heads * static_cast<std::size_t>(shape.head_dim);
  std::vector<double> keys(width);
  std::vector<double> variances(content.variances ? width : 0);
  std::vector<double> covariances(
      content.covariances ? num_heads * static_cast<std::size_t>(shape.head_dim / 2) : 0);
  for (std::int64_t i = range.begin; i < range.end; ++i) {
    const KeyRow& key = problem_.keys[static_cast<std::size_t>(i)];
    const std::int64_t row = i - range_.begin;
    rotate_key(problem_, source_, profile_, key, true, keys, variances, covariances);
    keys_.set(row, keys.data());
    if (content.variances) variances_.set(row, variances.data());
    if (content.covariances) covariances_.set(row, covariances.data());
    for (int head = 0; content.values && head < shape.num_kv_heads; ++head) {
      source_.row(TensorRole::value, key.content, head,
                  {values_.row(head, row), static_cast<std::size_t>(shape.v_head_dim)});
    }
  }
}

ConstRowMatrixView KeyWindow::keys(int kv_head, KeyRange keys) const {
  return view(keys_, kv_head, keys);
}

ConstRowMatrixView KeyWindow::variances(int kv_head, KeyRange keys) const {
  return view(variances_, kv_head, keys);
}

ConstRowMatrixView KeyWindow::covariances(int kv_head, KeyRange keys) const {
  return view(covariances_, kv_head, keys);
}

ConstRowMatrixView KeyWindow::values(int kv_head, KeyRange keys) const {
  return view(values_, kv_head, keys);
}

}  // namespace ropecheck
