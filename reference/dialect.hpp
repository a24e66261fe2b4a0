// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/float_format.hpp"
#include "reference/rope.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace ropecheck {

/// The steps in which an implementation computes phases, each rounded to a declared format.
/// float32 is what checkpoints were trained with: inv_freq and angle in float32, cos and sin of the
/// float32 angle correctly rounded to `table`, rotation in `rotation` with the result in `output`.
struct Dialect {
  std::string_view name = "float32";
  FloatFormat inv_freq = FloatFormat::f32;
  FloatFormat angle = FloatFormat::f32;
  FloatFormat table = FloatFormat::f32;
  FloatFormat rotation = FloatFormat::f32;
};

/// inv_freq rounded to dialect.inv_freq. Shape: [num_pairs].
[[nodiscard]] std::vector<double> inv_freq_in(const RopeTable& table, const Dialect& dialect);

/// cos and sin of fl(fl(position) * fl(inv_freq)), magnitude included, rounded to dialect.table.
/// Shape:  out [num_pairs].
/// Errors: throws Error{invalid_argument} for |coordinate| > 2^48.
void cos_sin_row_in(const RopeTable& table, const Dialect& dialect, std::int64_t coordinate,
                    double magnitude, std::span<CosSin> out);

/// Rotates one head's channels with every product and sum rounded to dialect.rotation.
/// Shape: in, out [head_dim]; cos_sin [num_pairs]. in and out may be the same.
void rotate_row_in(const RopeTable& table, const Dialect& dialect, std::span<const CosSin> cos_sin,
                   bool inverse, std::span<const double> in, std::span<double> out);

}  // namespace ropecheck
