// SPDX-License-Identifier: Apache-2.0
#include "reference/rotation_error.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "reference/error.hpp"

namespace ropecheck {
namespace {

double squared(double x) { return x * x; }

/// A rotation made ready for every head of a row.
struct PreparedRotation {
  const RopeTable* table = nullptr;
  double magnitude = 1;
  bool inverse = false;
  std::vector<CosSin> cos_sin;         ///< [num_pairs]
  std::vector<double> phase_variance;  ///< [num_pairs] rad^2; empty where no error is asked for
};

PreparedRotation prepare(const Problem& problem, const Profile& profile, const Rotation& rotation,
                         TensorRole role, bool with_error) {
  PreparedRotation prepared;
  prepared.table = &problem.tables[static_cast<std::size_t>(rotation.table)];
  const RopeTable& table = *prepared.table;
  const double magnitude = role == TensorRole::query ? table.magnitude_q : table.magnitude_k;
  prepared.magnitude = std::pow(magnitude, rotation.magnitude_power);
  prepared.inverse = rotation.inverse;
  prepared.cos_sin.resize(table.inv_freq.size());
  cos_sin_row(table, rotation.coordinate, prepared.cos_sin);
  if (!with_error) return prepared;

  // (phi u_phase)^2, phi = coordinate * inv_freq; a recurrence rounds i+1 times on the way to pair
  // i
  prepared.phase_variance.resize(table.inv_freq.size());
  for (std::size_t i = 0; i < table.inv_freq.size(); ++i) {
    const double phi = static_cast<double>(rotation.coordinate) * table.inv_freq[i].hi;
    const double roundings = profile.phase_recurrence ? static_cast<double>(i + 1) : 1.0;
    prepared.phase_variance[i] = squared(phi * profile.phase) * roundings;
  }
  return prepared;
}

/// Whether the pairs that `first` leaves are the pairs that `second` takes.
bool same_pairs(const RopeTable& first, const RopeTable& second) {
  return first.rotary_offset == second.rotary_offset && first.rotary_dim == second.rotary_dim &&
         pair_stride(first.layout_out, first.rotary_dim) ==
             pair_stride(second.layout_in, second.rotary_dim);
}

/// The error of one head's channels so far. Within a pair the errors go together (a wrong phase
/// moves both), so a further rotation needs the covariance too.
struct HeadError {
  std::span<double> variance;    ///< [head_dim]
  std::span<double> covariance;  ///< [num_pairs] of the last rotation's pairs
  std::span<double> scratch;     ///< [head_dim]
};

/// Turns the error that a head came with, and adds that of this rotation.
/// `rotated` is what the rotation gave.
void add_rotation_error(const PreparedRotation& rotation, const Profile& profile,
                        std::span<const double> rotated, const HeadError& error) {
  const RopeTable& table = *rotation.table;
  const PairStride from = pair_stride(table.layout_in, table.rotary_dim);
  const PairStride to = pair_stride(table.layout_out, table.rotary_dim);
  std::copy(error.variance.begin(), error.variance.end(), error.scratch.begin());
  const double* before = error.scratch.data() + table.rotary_offset;
  const double* value = rotated.data() + table.rotary_offset;
  double* after = error.variance.data() + table.rotary_offset;
  const double pair_noise = 3 * squared(profile.sum) + squared(profile.table) / 3;
  const double value_noise = squared(profile.rotated) / 3;
  const double gain = squared(rotation.magnitude);

  for (std::size_t i = 0; i < table.inv_freq.size(); ++i) {
    const double var_a = before[i * from.step];
    const double var_b = before[i * from.step + from.partner];
    const double cov_ab = error.covariance[i];
    const double c = rotation.cos_sin[i].cos;
    const double s = rotation.inverse ? -rotation.cos_sin[i].sin : rotation.cos_sin[i].sin;
    // f = m (a c - b s), g = m (b c + a s), of inputs with covariance
    const double turned_f = gain * (c * c * var_a + s * s * var_b - 2 * c * s * cov_ab);
    const double turned_g = gain * (s * s * var_a + c * c * var_b + 2 * c * s * cov_ab);
    const double turned_fg = gain * (c * s * (var_a - var_b) + (c * c - s * s) * cov_ab);
    // own error: a phase wrong by e moves (f, g) by e (-g, f) - e^2/2 (f, g), and e^2/2 has the
    // mean square 3/4 (var e)^2; m^2 (a^2 + b^2) = f^2 + g^2
    const double ff = squared(value[i * to.step]);
    const double gg = squared(value[i * to.step + to.partner]);
    const double fg = value[i * to.step] * value[i * to.step + to.partner];
    const double phase = rotation.phase_variance[i];
    const double along = 0.75 * squared(phase);
    const double noise = (ff + gg) * pair_noise;
    after[i * to.step] =
        std::max(turned_f, 0.0) + gg * phase + ff * along + noise + ff * value_noise;
    after[i * to.step + to.partner] =
        std::max(turned_g, 0.0) + ff * phase + gg * along + noise + gg * value_noise;
    error.covariance[i] = turned_fg - fg * phase + fg * along;
  }
}

/// Adds value^2 roundoff^2 / 3 to every channel: one more rounding of a stored number.
void add_rounding(double roundoff, std::span<const double> values, std::span<double> variances) {
  if (roundoff == 0) return;
  const double noise = squared(roundoff) / 3;
  for (std::size_t d = 0; d < values.size(); ++d) variances[d] += squared(values[d]) * noise;
}

/// Rotates all heads of one row by each rotation in turn. Shape: as rotate_key; covariances only
/// with variances.
void rotate_heads(std::span<const PreparedRotation> rotations, const Profile& profile,
                  std::size_t head_dim, std::span<double> rows, std::span<double> variances,
                  std::span<double> covariances) {
  std::fill(variances.begin(), variances.end(), 0.0);
  std::fill(covariances.begin(), covariances.end(), 0.0);
  std::vector<double> covariance;
  std::vector<double> scratch(variances.empty() ? 0 : head_dim);
  for (std::size_t begin = 0; begin < rows.size(); begin += head_dim) {
    const auto head = rows.subspan(begin, head_dim);
    const PreparedRotation* previous = nullptr;
    for (const PreparedRotation& rotation : rotations) {
      rotate_row(*rotation.table, rotation.cos_sin, rotation.magnitude, rotation.inverse, head,
                 head);
      if (variances.empty()) continue;
      if (!previous || !same_pairs(*previous->table, *rotation.table)) {
        covariance.assign(rotation.table->inv_freq.size(), 0.0);
      }
      add_rotation_error(rotation, profile, head,
                         {variances.subspan(begin, head_dim), covariance, scratch});
      previous = &rotation;
    }
    if (!covariances.empty() && previous) {
      const std::size_t first_pair = begin / head_dim * (head_dim / 2);
      std::copy(covariance.begin(), covariance.end(), covariances.subspan(first_pair).begin());
    }
  }
}

/// The row as it is given, all heads side by side.
void load_heads(const Values& values, TensorRole role, ContentId content, int num_heads,
                std::size_t head_dim, std::span<double> rows, std::span<double> variances) {
  ROPECHECK_CHECK(rows.size() == static_cast<std::size_t>(num_heads) * head_dim &&
                      (variances.empty() || variances.size() == rows.size()),
                  "rotated {}, variances {}, {} heads of {}", rows.size(), variances.size(),
                  num_heads, head_dim);
  for (int head = 0; head < num_heads; ++head) {
    values.row(role, content, head,
               rows.subspan(static_cast<std::size_t>(head) * head_dim, head_dim));
  }
}

}  // namespace

void rotate_query(const Problem& problem, const Values& values, const Profile& profile,
                  const QueryRow& query, std::span<double> rotated, std::span<double> variances,
                  std::span<double> covariances) {
  const auto head_dim = static_cast<std::size_t>(problem.shape.head_dim);
  load_heads(values, TensorRole::query, query.content, problem.shape.num_q_heads, head_dim, rotated,
             variances);
  const PreparedRotation rotation =
      prepare(problem, profile, query.rotation, TensorRole::query, !variances.empty());
  rotate_heads({&rotation, 1}, profile, head_dim, rotated, variances, covariances);

  if (query.temperature != 1) {
    for (double& value : rotated) value *= query.temperature;
    for (double& variance : variances) variance *= squared(query.temperature);
    for (double& covariance : covariances) covariance *= squared(query.temperature);
    if (!variances.empty()) add_rounding(profile.rotated, rotated, variances);
  }
  if (!variances.empty()) add_rounding(profile.scaled_query, rotated, variances);
}

void rotate_key(const Problem& problem, const Values& values, const Profile& profile,
                const KeyRow& key, bool cached, std::span<double> rotated,
                std::span<double> variances, std::span<double> covariances) {
  const auto head_dim = static_cast<std::size_t>(problem.shape.head_dim);
  load_heads(values, TensorRole::key, key.content, problem.shape.num_kv_heads, head_dim, rotated,
             variances);
  std::vector<PreparedRotation> rotations;
  for (const Rotation& rotation : problem.rotations_of(key)) {
    rotations.push_back(prepare(problem, profile, rotation, TensorRole::key, !variances.empty()));
  }
  rotate_heads(rotations, profile, head_dim, rotated, variances, covariances);
  if (cached && !variances.empty()) add_rounding(profile.cache_k, rotated, variances);
}

}  // namespace ropecheck
