// SPDX-License-Identifier: Apache-2.0
#include "reference/error.hpp"
#include "reference/solve.hpp"

#include <cmath>

namespace ropecheck {
namespace {

template <typename... Args>
void require(bool condition, fmt::format_string<Args...> format, Args&&... args) {
  if (!condition) fail(ErrorCode::invalid_argument, format, std::forward<Args>(args)...);
}

void validate_shape(const Problem& problem) {
  const HeadShape& shape = problem.shape;
  require(shape.num_q_heads > 0 && shape.num_kv_heads > 0,
          "problem, head counts: expected at least 1, got {} query heads and {} key heads",
          shape.num_q_heads, shape.num_kv_heads);
  require(shape.head_dim > 0 && shape.v_head_dim > 0,
          "problem, head widths: expected at least 1, got head_dim {} and v_head_dim {}",
          shape.head_dim, shape.v_head_dim);
  require(std::isfinite(problem.softmax_scale),
          "problem, softmax_scale: expected a finite number, got {}", problem.softmax_scale);
  if (problem.kv_head_of.empty()) {
    require(shape.num_q_heads % shape.num_kv_heads == 0,
            "problem, head counts: {} query heads are not a multiple of {} key heads; give "
            "kv_head_of",
            shape.num_q_heads, shape.num_kv_heads);
    return;
  }
  require(problem.kv_head_of.size() == static_cast<std::size_t>(shape.num_q_heads),
          "problem, kv_head_of: expected {} entries, one for each query head, got {}",
          shape.num_q_heads, problem.kv_head_of.size());
  for (int kv_head : problem.kv_head_of) {
    require(kv_head >= 0 && kv_head < shape.num_kv_heads,
            "problem, kv_head_of: expected a key head in [0, {}), got {}", shape.num_kv_heads,
            kv_head);
  }
}

void validate_tables(const Problem& problem) {
  for (std::size_t i = 0; i < problem.tables.size(); ++i) {
    const RopeTable& table = problem.tables[i];
    require(table.rotary_dim >= 0 && table.rotary_dim % 2 == 0 &&
                table.rotary_dim / 2 == table.num_pairs(),
            "problem, table {}: rotary_dim must be even and twice the {} inverse frequencies, "
            "got {}",
            i, table.num_pairs(), table.rotary_dim);
    require(table.rotary_offset >= 0 &&
                table.rotary_offset + table.rotary_dim <= problem.shape.head_dim,
            "problem, table {}: rotated channels [{}, {}) do not fit into head_dim {}", i,
            table.rotary_offset, table.rotary_offset + table.rotary_dim, problem.shape.head_dim);
    require(std::isfinite(table.magnitude_q) && std::isfinite(table.magnitude_k),
            "problem, table {}: expected finite magnitudes, got {} and {}", i, table.magnitude_q,
            table.magnitude_k);
  }
}

void validate_rotation(const Problem& problem, const Rotation& rotation, const char* owner,
                       std::size_t index) {
  require(rotation.table >= 0 && static_cast<std::size_t>(rotation.table) < problem.tables.size(),
          "problem, {} {}: its table must be one of {}, got index {}", owner, index,
          problem.tables.size(), rotation.table);
}

void validate_keys(const Problem& problem) {
  for (std::size_t i = 0; i < problem.rotations.size(); ++i) {
    validate_rotation(problem, problem.rotations[i], "rotation", i);
  }
  for (std::size_t i = 0; i < problem.keys.size(); ++i) {
    const KeyRow& key = problem.keys[i];
    require(std::size_t{key.first_rotation} + key.num_rotations <= problem.rotations.size(),
            "problem, key {}: rotations [{}, {}) are beyond the pool of {}", i, key.first_rotation,
            std::size_t{key.first_rotation} + key.num_rotations, problem.rotations.size());
  }
}

void validate_queries(const Problem& problem) {
  const auto num_keys = static_cast<std::int64_t>(problem.keys.size());
  for (std::size_t i = 0; i < problem.queries.size(); ++i) {
    const QueryRow& query = problem.queries[i];
    validate_rotation(problem, query.rotation, "query", i);
    require(std::isfinite(query.temperature),
            "problem, query {}: expected a finite temperature, got {}", i, query.temperature);
    require(std::size_t{query.first_range} + query.num_ranges <= problem.ranges.size(),
            "problem, query {}: ranges [{}, {}) are beyond the pool of {}", i, query.first_range,
            std::size_t{query.first_range} + query.num_ranges, problem.ranges.size());
    std::int64_t previous_end = -1;
    for (const KeyRange& range : problem.visible_to(query)) {
      require(range.begin > previous_end && range.begin < range.end && range.end <= num_keys,
              "problem, query {}: ranges of keys must ascend without touching, hold a key each "
              "and stay within {} keys, got [{}, {}) after one that ends at {}",
              i, num_keys, range.begin, range.end, previous_end);
      previous_end = range.end;
    }
  }
}

}  // namespace

void validate(const Problem& problem) {
  validate_shape(problem);
  validate_tables(problem);
  validate_keys(problem);
  validate_queries(problem);
}

}  // namespace ropecheck
