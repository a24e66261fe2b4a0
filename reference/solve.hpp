// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/executor.hpp"
#include "reference/problem.hpp"
#include "reference/profile.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace ropecheck {

/// Where a backend is observed.
enum class Point { position_ids, rotated_query, rotated_key, cached_key, attention_output };

[[nodiscard]] std::string_view to_string(Point point);  ///< "position_ids", ...

/// Numbers [rows, heads, channels], C order.
struct Array {
  std::int64_t rows = 0;
  int heads = 0;
  int channels = 0;
  std::vector<double> values;

  Array() = default;
  Array(std::int64_t num_rows, int num_heads, int num_channels)
      : rows(num_rows),
        heads(num_heads),
        channels(num_channels),
        values(static_cast<std::size_t>(num_rows) * static_cast<std::size_t>(num_heads) *
               static_cast<std::size_t>(num_channels)) {}
  [[nodiscard]] double* row(std::int64_t row, int head) {
    return values.data() + (row * heads + head) * channels;
  }
  [[nodiscard]] const double* row(std::int64_t row, int head) const {
    return values.data() + (row * heads + head) * channels;
  }
};

/// What is right at one point, and the standard deviation that rounding gives it.
struct Answer {
  Array expected;
  Array sigma;  ///< empty if not asked for; zero where the value is exact
  /// [rows * heads], 1 where the first-order model does not hold (README.md, "sigma");
  /// attention_output only, else empty.
  std::vector<std::uint8_t> ill_conditioned;
  /// [queries, num_q_heads, 1] natural log-sum-exp; -inf for empty rows; attention_output only.
  Array lse;
  Array lse_sigma;  ///< its deviation; empty if sigma was not asked for
};

struct SolveOptions {
  bool sigma = true;
  /// Use the exact term for the query's rounding (common to all keys) instead of taking logit
  /// errors as independent over keys, and let the phase error move both values of a pair: due for
  /// V = K, ramp or one-hot V, and wherever rows are few.
  /// Costs head_dim * v_head_dim per (query, key) pair.
  bool exact_query_error = true;
};

/// Solves `problem` at `point`, exactly, in double.
/// Shape:    rotated_query [queries, num_q_heads, head_dim];
///           rotated_key, cached_key [keys, num_kv_heads, head_dim];
///           attention_output [queries, num_q_heads, v_head_dim];
///           position_ids [queries, 1, 1], the coordinate, sigma 0.
/// Accuracy: 1e-14 relative to the scale of each tensor.
/// Errors:   throws Error{invalid_argument} for a problem whose shapes contradict each other.
[[nodiscard]] Answer solve(const Problem& problem, const Values& values, const Profile& profile,
                           Point point, const SolveOptions& options = {},
                           const Executor& executor = serial_executor());

/// Checks every index and shape of a problem. Errors: throws Error{invalid_argument}.
void validate(const Problem& problem);

}  // namespace ropecheck
