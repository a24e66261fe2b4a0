// SPDX-License-Identifier: Apache-2.0
#include "reference/tests/plain_attention.hpp"

#include "reference/rotation_error.hpp"

#include <algorithm>
#include <cmath>

namespace ropecheck::testing {
namespace {

using Real = long double;

Real squared(Real x) { return x * x; }

/// What one query row meets: its own numbers and those of the keys that it sees.
struct Seen {
  std::vector<Real> query;
  std::vector<Real> query_variance;
  std::vector<std::vector<Real>> keys;
  std::vector<std::vector<Real>> key_variances;
  std::vector<Real> query_covariance;              ///< by pair
  std::vector<std::vector<Real>> key_covariances;  ///< by pair
  std::vector<std::vector<Real>> values;
};

Seen collect(const Problem& problem, const Values& values, const Profile& profile,
             std::size_t query_index, int q_head) {
  const HeadShape& shape = problem.shape;
  const QueryRow& query = problem.queries[query_index];
  const int kv_head = problem.kv_head(q_head);
  const auto width = static_cast<std::size_t>(shape.head_dim);
  Seen seen;

  std::vector<double> row(width);
  values.row(TensorRole::query, query.content, q_head, row);
  seen.query = plain_rotate(problem, {&query.rotation, 1}, true, row);
  for (Real& x : seen.query) x *= query.temperature;
  std::vector<double> all(width * static_cast<std::size_t>(shape.num_q_heads));
  std::vector<double> variances(all.size());
  const std::size_t num_pairs = width / 2;
  std::vector<double> covariances(num_pairs * static_cast<std::size_t>(shape.num_q_heads));
  rotate_query(problem, values, profile, query, all, variances, covariances);
  const auto pair_begin = covariances.begin() + q_head * (shape.head_dim / 2);
  seen.query_covariance.assign(pair_begin, pair_begin + shape.head_dim / 2);
  const auto q_begin = variances.begin() + q_head * shape.head_dim;
  seen.query_variance.assign(q_begin, q_begin + shape.head_dim);

  all.resize(width * static_cast<std::size_t>(shape.num_kv_heads));
  variances.resize(all.size());
  covariances.resize(num_pairs * static_cast<std::size_t>(shape.num_kv_heads));
  for (const KeyRange& range : problem.visible_to(query)) {
    for (std::int64_t j = range.begin; j < range.end; ++j) {
      const KeyRow& key = problem.keys[static_cast<std::size_t>(j)];
      values.row(TensorRole::key, key.content, kv_head, row);
      seen.keys.push_back(plain_rotate(problem, problem.rotations_of(key), false, row));
      rotate_key(problem, values, profile, key, true, all, variances, covariances);
      const auto first = covariances.begin() + kv_head * (shape.head_dim / 2);
      seen.key_covariances.emplace_back(first, first + shape.head_dim / 2);
      const auto begin = variances.begin() + kv_head * shape.head_dim;
      seen.key_variances.emplace_back(begin, begin + shape.head_dim);
      std::vector<double> value(static_cast<std::size_t>(shape.v_head_dim));
      values.row(TensorRole::value, key.content, kv_head, value);
      seen.values.emplace_back(value.begin(), value.end());
    }
  }
  return seen;
}

/// Logits of a row and their variances: the query's share, and all the rest.
struct Logits {
  std::vector<Real> s;
  std::vector<Real> query_part;
  std::vector<Real> rest;
  Real max = -INFINITY;
};

/// Pairs (f, g) whose errors go together; none where tables differ in them.
std::vector<std::pair<int, int>> common_pairs(const Problem& problem) {
  const RopeTable& first = problem.tables[0];
  for (const RopeTable& table : problem.tables) {
    if (table.layout_out != first.layout_out || table.rotary_dim != first.rotary_dim ||
        table.rotary_offset != first.rotary_offset) {
      return {};
    }
  }
  std::vector<std::pair<int, int>> pairs;
  for (int i = 0; i < first.num_pairs(); ++i) {
    pairs.push_back(pair_channels(first.layout_out, i, first.rotary_dim, first.rotary_offset));
  }
  return pairs;
}

Logits compute_logits(const Problem& problem, const Profile& profile, const Seen& seen,
                      bool with_covariances) {
  const Real alpha = problem.softmax_scale;
  const int D = problem.shape.head_dim;
  const Real chain = profile.dot_chain > 0 ? profile.dot_chain : D;
  const Real drift =
      profile.sum_rounding == SumRounding::toward_zero ? squared(chain * profile.sum) / 2 : 0;
  const auto pairs = with_covariances ? common_pairs(problem) : std::vector<std::pair<int, int>>{};
  Logits logits;
  for (std::size_t j = 0; j < seen.keys.size(); ++j) {
    Real s = 0, query_part = 0, key_part = 0, products = 0;
    for (std::size_t d = 0; d < static_cast<std::size_t>(D); ++d) {
      const Real q = seen.query[d], k = seen.keys[j][d];
      s += alpha * q * k;
      query_part += alpha * alpha * seen.query_variance[d] * k * k;
      key_part += alpha * alpha * q * q * seen.key_variances[j][d];
      products += q * q * k * k;
    }
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const auto f = static_cast<std::size_t>(pairs[i].first);
      const auto g = static_cast<std::size_t>(pairs[i].second);
      query_part +=
          2 * alpha * alpha * seen.query_covariance[i] * seen.keys[j][f] * seen.keys[j][g];
      key_part += 2 * alpha * alpha * seen.query[f] * seen.query[g] * seen.key_covariances[j][i];
    }
    logits.s.push_back(s);
    logits.query_part.push_back(query_part);
    logits.rest.push_back(key_part + alpha * alpha * D * squared(profile.sum) / 3 * products +
                          squared(profile.sum) * chain * s * s / 9 +
                          drift * (alpha * alpha * products + s * s) +
                          s * s * squared(profile.logits) / 3);
    logits.max = std::max(logits.max, s);
  }
  for (std::size_t j = 0; j < logits.s.size(); ++j) {
    logits.rest[j] +=
        squared((logits.s[j] - logits.max) * profile.special) + 4 * squared(profile.special);
  }
  return logits;
}

/// alpha^2 x^T cov(q') x
Real query_error(const Problem& problem, const Seen& seen, const std::vector<Real>& x) {
  Real sum = 0;
  for (std::size_t d = 0; d < x.size(); ++d) sum += seen.query_variance[d] * x[d] * x[d];
  const auto pairs = common_pairs(problem);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    sum += 2 * seen.query_covariance[i] * x[static_cast<std::size_t>(pairs[i].first)] *
           x[static_cast<std::size_t>(pairs[i].second)];
  }
  return sum * problem.softmax_scale * problem.softmax_scale;
}

void add_query_term(const Problem& problem, const Seen& seen, const std::vector<Real>& p,
                    PlainRow* row) {
  const std::size_t width = seen.query.size();
  std::vector<Real> mean(width);
  for (std::size_t d = 0; d < width; ++d) {
    for (std::size_t j = 0; j < p.size(); ++j) mean[d] += p[j] * seen.keys[j][d];
  }
  row->lse_variance += query_error(problem, seen, mean);
  for (std::size_t c = 0; c < row->output.size(); ++c) {
    std::vector<Real> moved(width);
    for (std::size_t d = 0; d < width; ++d) {
      for (std::size_t j = 0; j < p.size(); ++j) {
        moved[d] += p[j] * seen.keys[j][d] * (seen.values[j][c] - row->output[c]);
      }
    }
    row->variance[c] += query_error(problem, seen, moved);
  }
}

void add_sum_terms(const Profile& profile, const Seen& seen, const std::vector<Real>& p,
                   PlainRow* row) {
  const auto n = static_cast<double>(p.size());
  const Real chain = profile.row_block > 0 ? profile.row_block + n / profile.row_block : n;
  const Real u = profile.sum;
  const bool toward_zero = profile.sum_rounding == SumRounding::toward_zero;
  for (std::size_t c = 0; c < row->output.size(); ++c) {
    Real bias = 0;
    for (std::size_t j = 0; j < p.size(); ++j) {
      const Real v = seen.values[j][c];
      row->variance[c] += (squared(profile.probs) / 3 + squared(profile.cache_v) / 3 +
                           u * u * (std::log2(n + 1) + chain / 6)) *
                          p[j] * p[j] * v * v;
      if (p[j] * 2 * profile.probs < profile.probs_spacing) {
        row->variance[c] += std::min(squared(profile.probs_spacing) / 12, p[j] * p[j]) * v * v;
      }
      if (toward_zero) bias += chain * u * p[j] * std::abs(v);
      if (p[j] < profile.probs_min_normal) bias += p[j] * std::abs(v);
    }
    row->variance[c] += bias * bias;
    row->variance[c] +=
        squared(row->output[c]) * (squared(profile.output) / 3 + 4 * u * u + 2 * u * u * chain / 3);
    row->variance[c] += squared(smallest_subnormal(profile.output_format));
  }
  row->lse_variance += 2 * u * u * chain / 3 + squared(row->lse * profile.output) / 3;
  if (toward_zero) row->lse_variance += squared(chain * u);
}

}  // namespace

std::vector<long double> plain_rotate(const Problem& problem, std::span<const Rotation> rotations,
                                      bool is_query, std::span<const double> row) {
  std::vector<Real> x(row.begin(), row.end());
  for (const Rotation& rotation : rotations) {
    const RopeTable& table = problem.tables[static_cast<std::size_t>(rotation.table)];
    const Real magnitude =
        std::pow(Real{is_query ? table.magnitude_q : table.magnitude_k}, rotation.magnitude_power);
    const std::vector<Real> before = x;
    for (int i = 0; i < table.num_pairs(); ++i) {
      const DoubleDouble inv_freq = table.inv_freq[static_cast<std::size_t>(i)];
      const Real angle =
          static_cast<Real>(rotation.inverse ? -rotation.coordinate : rotation.coordinate) *
          (Real{inv_freq.hi} + Real{inv_freq.lo});
      const auto [a, b] = pair_channels(table.layout_in, i, table.rotary_dim, table.rotary_offset);
      const auto [f, g] = pair_channels(table.layout_out, i, table.rotary_dim, table.rotary_offset);
      const Real first = before[static_cast<std::size_t>(a)];
      const Real second = before[static_cast<std::size_t>(b)];
      x[static_cast<std::size_t>(f)] =
          magnitude * (first * std::cos(angle) - second * std::sin(angle));
      x[static_cast<std::size_t>(g)] =
          magnitude * (second * std::cos(angle) + first * std::sin(angle));
    }
  }
  return x;
}

PlainRow plain_attention_row(const Problem& problem, const Values& values, const Profile& profile,
                             std::size_t query, int q_head, bool exact_query_error) {
  const Seen seen = collect(problem, values, profile, query, q_head);
  const auto width = static_cast<std::size_t>(problem.shape.v_head_dim);
  PlainRow row;
  row.output.assign(width, 0);
  row.variance.assign(width, 0);
  row.lse = -INFINITY;
  if (seen.keys.empty()) return row;

  const Logits logits = compute_logits(problem, profile, seen, exact_query_error);
  Real sum = 0;
  for (Real s : logits.s) sum += std::exp(s - logits.max);
  row.lse = logits.max + std::log(sum);
  std::vector<Real> p;
  for (Real s : logits.s) p.push_back(std::exp(s - row.lse));
  for (std::size_t j = 0; j < p.size(); ++j) {
    for (std::size_t c = 0; c < width; ++c) row.output[c] += p[j] * seen.values[j][c];
  }

  for (std::size_t j = 0; j < p.size(); ++j) {
    const Real all = logits.rest[j] + logits.query_part[j];
    row.ill_condition = std::max(
        row.ill_condition, std::exp(std::min(std::log(p[j]) + 3 * std::sqrt(all), Real{0})) * all);
    const Real w = p[j] * p[j] * (exact_query_error ? logits.rest[j] : all);
    row.lse_variance += w;
    for (std::size_t c = 0; c < width; ++c) {
      row.variance[c] += w * squared(seen.values[j][c] - row.output[c]);
    }
  }
  if (exact_query_error) add_query_term(problem, seen, p, &row);
  add_sum_terms(profile, seen, p, &row);
  return row;
}

}  // namespace ropecheck::testing
