// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/solve.hpp"

#include <cmath>
#include <cstdint>
#include <random>

namespace ropecheck::testing {

/// A hash of 64 bits that spreads every input bit over every output bit.
inline std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

/// Uniform in (0, 1), a pure function of `x`.
inline double uniform_of(std::uint64_t x) {
  return (static_cast<double>(mix(x + 0x9E3779B97F4A7C15u) >> 12) + 0.5) * 0x1p-52;
}

/// Normally distributed, a pure function of `x`.
inline double normal_of(std::uint64_t x) {
  const double radius = std::sqrt(-2 * std::log(uniform_of(2 * x)));
  return radius * std::cos(6.283185307179586 * uniform_of(2 * x + 1));
}

/// Standard normal numbers, scaled by tensor.
class NormalValues : public Values {
 public:
  double query_scale = 1;
  double key_scale = 1;
  double value_scale = 1;
  double value_mean = 0;

  void row(TensorRole role, ContentId content, int head, std::span<double> out) const override {
    const double scale = role == TensorRole::query ? query_scale
                         : role == TensorRole::key ? key_scale
                                                   : value_scale;
    const double mean = role == TensorRole::value ? value_mean : 0;
    for (std::size_t d = 0; d < out.size(); ++d) {
      const std::uint64_t address = ((content * 4 + static_cast<std::uint64_t>(role)) * 64 +
                                     static_cast<std::uint64_t>(head)) *
                                        1024 +
                                    d;
      out[d] = mean + scale * normal_of(address);
    }
  }
};

/// Adds a query at `coordinate` that sees `ranges`.
inline void add_query(Problem* problem, std::int64_t coordinate,
                      const std::vector<KeyRange>& ranges) {
  QueryRow query;
  query.content = 1000 + problem->queries.size();
  query.rotation = {.table = 0, .coordinate = coordinate};
  query.first_range = static_cast<std::uint32_t>(problem->ranges.size());
  query.num_ranges = static_cast<std::uint32_t>(ranges.size());
  problem->ranges.insert(problem->ranges.end(), ranges.begin(), ranges.end());
  problem->queries.push_back(query);
}

/// Adds a key that carries `rotations`.
inline void add_key(Problem* problem, const std::vector<Rotation>& rotations) {
  KeyRow key;
  key.content = problem->keys.size();
  key.first_rotation = static_cast<std::uint32_t>(problem->rotations.size());
  key.num_rotations = static_cast<std::uint32_t>(rotations.size());
  problem->rotations.insert(problem->rotations.end(), rotations.begin(), rotations.end());
  problem->keys.push_back(key);
}

/// One table, no keys, no queries.
inline Problem empty_problem(HeadShape shape) {
  Problem problem;
  problem.shape = shape;
  problem.softmax_scale = 1 / std::sqrt(static_cast<double>(shape.head_dim));
  problem.tables = {make_rope_table({}, shape.head_dim, PairLayout::half_split)};
  return problem;
}

/// The last `num_queries` tokens of a sequence of `length` that starts at coordinate `first`.
inline Problem causal_problem(HeadShape shape, std::int64_t length, std::int64_t num_queries,
                              std::int64_t first = 0) {
  Problem problem = empty_problem(shape);
  for (std::int64_t i = 0; i < length; ++i) add_key(&problem, {{.coordinate = first + i}});
  for (std::int64_t i = length - num_queries; i < length; ++i) {
    add_query(&problem, first + i, {{0, i + 1}});
  }
  return problem;
}

}  // namespace ropecheck::testing
