// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/double_double.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ropecheck {

/// Which two channels form pair i of `rotary_dim / 2` pairs:
/// half_split (i, i + rotary_dim/2), as GPT-NeoX and Hugging Face llama; interleaved (2i, 2i+1), as
/// GPT-J and RoFormer.
enum class PairLayout { half_split, interleaved };

[[nodiscard]] std::string_view to_string(PairLayout layout);  ///< "half", "inter"

/// How inverse frequencies follow from parameters.
enum class RopeType { default_, linear };

[[nodiscard]] std::string_view to_string(RopeType type);  ///< "default", "linear"

/// A rule with its parameters, as a checkpoint's configuration states them.
struct RopeRule {
  RopeType type = RopeType::default_;
  double rope_theta = 10000;                  ///< base of the geometric series
  double factor = 1;                          ///< linear: positions are divided by it
  std::int64_t original_max_position = 4096;  ///< trained length [tokens]; these rules ignore it

  [[nodiscard]] bool operator==(const RopeRule&) const = default;
};

/// Inverse frequencies of RoFormer: rope_theta^(-2i/rotary_dim), i < rotary_dim/2 [rad/token].
/// Source:   RoFormer arXiv:2104.09864 section 3.2.2 (theta_i).
/// Accuracy: 1e-28 relative.
/// Errors:   throws Error{invalid_argument} for rope_theta <= 0 or an odd or negative rotary_dim.
[[nodiscard]] std::vector<DoubleDouble> inv_freq_default(double rope_theta, int rotary_dim);

/// Position interpolation: every default inverse frequency divided by `factor`.
/// Source:   Chen et al. arXiv:2306.15595 Eq. (4), f'(x, m) = f(x, m L / L').
/// Errors:   as inv_freq_default, and for factor <= 0.
[[nodiscard]] std::vector<DoubleDouble> inv_freq_linear(double rope_theta, int rotary_dim,
                                                        double factor);

/// cos and sin [num_pairs] by coordinate, as somebody hands them over. Coordinates are not negative.
using GivenRows = std::unordered_map<std::int64_t, std::vector<CosSin>>;

/// Everything that turns a coordinate into a rotation of one head's channels.
struct RopeTable {
  std::vector<DoubleDouble> inv_freq;  ///< [rotary_dim/2] rad/token
  double magnitude_q = 1;              ///< factor on cos and sin of queries
  double magnitude_k = 1;              ///< the same of keys
  PairLayout layout_in = PairLayout::half_split;
  PairLayout layout_out = PairLayout::half_split;
  int rotary_dim = 0;     ///< number of rotated channels, even
  int rotary_offset = 0;  ///< first rotated channel; the others are copied
  /// In place of cos and sin of inv_freq, where the implementation is handed tables: then these are
  /// what is right. A coordinate without a row is an error; a negative one turns the sign of sin.
  std::shared_ptr<const GivenRows> given;

  [[nodiscard]] int num_pairs() const { return static_cast<int>(inv_freq.size()); }
};

/// The table of a rule. Errors: as the functions above.
[[nodiscard]] RopeTable make_rope_table(const RopeRule& rule, int rotary_dim, PairLayout layout);

/// Where the pairs of a layout stand: pair i is channels (i * step, i * step + partner) of the
/// rotated ones.
struct PairStride {
  int step = 1;
  int partner = 1;

  [[nodiscard]] bool operator==(const PairStride&) const = default;
};

[[nodiscard]] PairStride pair_stride(PairLayout layout, int rotary_dim);

/// Channels (first, second) of pair `pair`, rotary_offset included.
[[nodiscard]] std::pair<int, int> pair_channels(PairLayout layout, int pair, int rotary_dim,
                                                int rotary_offset);

/// One rotation of a row: by which table, to which coordinate, and whether backwards.
struct Rotation {
  int table = 0;                ///< index into Problem::tables
  std::int64_t coordinate = 0;  ///< [tokens]; may be negative (a shift back)
  int magnitude_power = 1;      ///< how often the magnitude is applied (0 for a re-rotation)
  bool inverse = false;         ///< rotate by -coordinate

  [[nodiscard]] bool operator==(const Rotation&) const = default;
};

/// Cosine and sine of every pair at one coordinate, magnitude not included.
/// Shape:    out [num_pairs].
/// Accuracy: as cos_sin, and the same bits.
/// Errors:   throws Error{invalid_argument} for |coordinate| > 2^48.
void cos_sin_row(const RopeTable& table, std::int64_t coordinate, std::span<CosSin> out);

/// Rotates one head's channels: (a, b) -> magnitude (a cos - b sin, b cos + a sin).
/// Source: RoFormer section 3.4.2 Eq. (34).
/// Shape:  in, out [head_dim]; cos_sin [num_pairs]. in and out may be the same.
void rotate_row(const RopeTable& table, std::span<const CosSin> cos_sin, double magnitude,
                bool inverse, std::span<const double> in, std::span<double> out);

}  // namespace ropecheck
