// SPDX-License-Identifier: Apache-2.0
#include "reference/solve.hpp"

#include "reference/attention.hpp"
#include "reference/error.hpp"
#include "reference/rotation_error.hpp"
#include "reference/sigma.hpp"

#include <algorithm>
#include <cmath>

namespace ropecheck {
namespace {

/// Rows that one piece of work rotates.
constexpr std::int64_t kRotateRows = 64;

Answer solve_position_ids(const Problem& problem, const SolveOptions& options) {
  const auto num_queries = static_cast<std::int64_t>(problem.queries.size());
  Answer answer;
  answer.expected = Array(num_queries, 1, 1);
  for (std::int64_t i = 0; i < num_queries; ++i) {
    *answer.expected.row(i, 0) =
        static_cast<double>(problem.queries[static_cast<std::size_t>(i)].rotation.coordinate);
  }
  if (options.sigma) answer.sigma = Array(num_queries, 1, 1);  // exact
  return answer;
}

/// Turns variances into deviations. What is exact (a channel that is not rotated, a zero) stays so.
void finish_variances(FloatFormat format, std::span<double> variances) {
  const double floor = smallest_subnormal(format) * smallest_subnormal(format);
  for (double& variance : variances) variance = variance > 0 ? std::sqrt(variance + floor) : 0;
}

/// rotate(row, values, variances) fills one row, all heads.
template <typename Rotate>
Answer solve_rotated(std::int64_t rows, int heads, int channels, FloatFormat format,
                     const SolveOptions& options, const Executor& executor, const Rotate& rotate) {
  Answer answer;
  answer.expected = Array(rows, heads, channels);
  if (options.sigma) answer.sigma = Array(rows, heads, channels);
  const std::size_t width = static_cast<std::size_t>(heads) * static_cast<std::size_t>(channels);
  const auto count = static_cast<std::size_t>((rows + kRotateRows - 1) / kRotateRows);
  executor(count, [&](std::size_t piece) {
    const std::int64_t begin = static_cast<std::int64_t>(piece) * kRotateRows;
    for (std::int64_t row = begin; row < std::min(begin + kRotateRows, rows); ++row) {
      std::span<double> variances;
      if (options.sigma) variances = {answer.sigma.row(row, 0), width};
      rotate(static_cast<std::size_t>(row), std::span<double>(answer.expected.row(row, 0), width),
             variances);
      finish_variances(format, variances);
    }
  });
  return answer;
}

Answer solve_queries(const Problem& problem, const Values& values, Profile profile,
                     const SolveOptions& options, const Executor& executor) {
  profile.scaled_query = 0;  // softmax_scale is folded in after the point of observation
  return solve_rotated(
      static_cast<std::int64_t>(problem.queries.size()), problem.shape.num_q_heads,
      problem.shape.head_dim, profile.storage, options, executor,
      [&](std::size_t row, std::span<double> rotated, std::span<double> variances) {
        rotate_query(problem, values, profile, problem.queries[row], rotated, variances);
      });
}

Answer solve_keys(const Problem& problem, const Values& values, const Profile& profile, bool cached,
                  const SolveOptions& options, const Executor& executor) {
  return solve_rotated(
      static_cast<std::int64_t>(problem.keys.size()), problem.shape.num_kv_heads,
      problem.shape.head_dim, profile.storage, options, executor,
      [&](std::size_t row, std::span<double> rotated, std::span<double> variances) {
        rotate_key(problem, values, profile, problem.keys[row], cached, rotated, variances);
      });
}

}  // namespace

std::string_view to_string(Point point) {
  switch (point) {
    case Point::position_ids: return "position_ids";
    case Point::rotated_query: return "rotated_query";
    case Point::rotated_key: return "rotated_key";
    case Point::cached_key: return "cached_key";
    case Point::attention_output: return "attention_output";
  }
  fail(ErrorCode::internal, "observation point {} has no name", static_cast<int>(point));
}

Answer solve(const Problem& problem, const Values& values, const Profile& profile, Point point,
             const SolveOptions& options, const Executor& executor) {
  validate(problem);
  switch (point) {
    case Point::position_ids: return solve_position_ids(problem, options);
    case Point::rotated_query:
      return solve_queries(problem, values, with_own_error(profile), options, executor);
    case Point::rotated_key:
      return solve_keys(problem, values, with_own_error(profile), false, options, executor);
    case Point::cached_key:
      return solve_keys(problem, values, with_own_error(profile), true, options, executor);
    case Point::attention_output:
      return solve_attention(problem, values, profile, options, executor);
  }
  fail(ErrorCode::internal, "observation point {} is not solved", static_cast<int>(point));
}

}  // namespace ropecheck
