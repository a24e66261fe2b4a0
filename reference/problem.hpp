// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/rope.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace ropecheck {

/// Head counts and widths.
struct HeadShape {
  int num_q_heads = 1;
  int num_kv_heads = 1;  ///< num_q_heads % num_kv_heads == 0
  int head_dim = 64;     ///< width of a query or key head [channels]
  int v_head_dim = 64;   ///< width of a value head [channels]

  [[nodiscard]] int group_size() const { return num_q_heads / num_kv_heads; }
  [[nodiscard]] bool operator==(const HeadShape&) const = default;
};

/// What a query that sees no key gives.
enum class EmptyRow { zeros };

/// Names the numbers of a row (see Values); opaque to the reference.
using ContentId = std::uint64_t;

/// Keys [begin, end) of Problem::keys.
struct KeyRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  [[nodiscard]] bool operator==(const KeyRange&) const = default;
};

/// A key (and its value): content, and the rotations that it carries, in order of application.
struct KeyRow {
  ContentId content = 0;
  std::uint32_t first_rotation = 0;  ///< into Problem::rotations
  std::uint32_t num_rotations = 0;
};

/// A query: content, rotation, and the keys that it sees.
struct QueryRow {
  ContentId content = 0;
  Rotation rotation;
  double temperature = 1;         ///< factor on the rotated query
  std::uint32_t first_range = 0;  ///< into Problem::ranges; ranges ascend and do not touch
  std::uint32_t num_ranges = 0;
};

/// An attention, fully resolved: no batch rows, no columns, no slots, no pads.
/// Several sequences of one call stand side by side; visibility keeps them apart.
struct Problem {
  HeadShape shape;
  double softmax_scale = 1;
  EmptyRow empty_row = EmptyRow::zeros;
  std::vector<int> kv_head_of;  ///< [num_q_heads] kv head of each query head; empty: h / group_size
  std::vector<RopeTable> tables;
  std::vector<Rotation> rotations;  ///< pool for keys
  std::vector<KeyRange> ranges;     ///< pool for queries
  std::vector<KeyRow> keys;
  std::vector<QueryRow> queries;

  [[nodiscard]] std::span<const Rotation> rotations_of(const KeyRow& key) const {
    return std::span(rotations).subspan(key.first_rotation, key.num_rotations);
  }
  [[nodiscard]] std::span<const KeyRange> visible_to(const QueryRow& query) const {
    return std::span(ranges).subspan(query.first_range, query.num_ranges);
  }
  [[nodiscard]] int kv_head(int q_head) const {
    return kv_head_of.empty() ? q_head / shape.group_size() : kv_head_of[std::size_t(q_head)];
  }
};

/// Which tensor a row belongs to.
enum class TensorRole { query, key, value };

/// The numbers of every row, as the backend receives them: already rounded to the storage format.
/// Implementations are pure: the same arguments give the same bits, on any thread.
class Values {
 public:
  virtual ~Values() = default;

  /// Shape: out [head_dim] (query, key) or [v_head_dim] (value).
  virtual void row(TensorRole role, ContentId content, int head, std::span<double> out) const = 0;
};

}  // namespace ropecheck
