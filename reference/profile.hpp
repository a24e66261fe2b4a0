// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/float_format.hpp"

#include <span>
#include <string>
#include <string_view>

namespace ropecheck {

/// How sums round.
enum class SumRounding { nearest, toward_zero };

/// Where a kernel is allowed to round, and how coarsely: unit roundoffs u of each stage, 0 = exact.
/// The user declares it; it decides every limit (reference/README.md, "sigma").
struct Profile {
  std::string name;

  FloatFormat storage = FloatFormat::f32;  ///< of q, k, v as given; exact, so no error of its own
  FloatFormat output_format = FloatFormat::f32;  ///< of outputs; its subnormal spacing is a floor

  double phase = 0;         ///< inv_freq and position * inv_freq, relative to the phase
  double table = 0;         ///< cos and sin as stored
  double scaled_query = 0;  ///< softmax_scale folded into the rotated query, and rounded
  double rotated = 0;       ///< rotated queries and keys
  double logits = 0;        ///< q.k before the softmax
  double special = 0;       ///< exp, tanh, sin, cos
  double probs = 0;         ///< probabilities before the product with V
  double sum = 0;           ///< accumulation of every sum
  double output = 0;        ///< attention output
  double cache_k = 0;       ///< further rounding of keys on the way into the cache
  double cache_v = 0;       ///< the same of values

  double dot_chain = 0;  ///< longest chain of dependent additions in q.k; 0: head_dim
  double row_block = 0;  ///< keys of one block of a blocked softmax; 0: one plain loop over the row
  SumRounding sum_rounding = SumRounding::nearest;
  double probs_min_normal = 0;    ///< probabilities below it may be flushed to zero; 0: none are
  double probs_spacing = 0;       ///< spacing of normalised probabilities near zero (2^-24 where
                                  ///< they are stored in float16); 0: none
  bool phase_recurrence = false;  ///< angles by repeated multiplication: u_phase sqrt(i+1)

  /// Longest chain of dependent additions over `num_keys` visible keys:
  /// num_keys, or row_block + num_keys / row_block.
  [[nodiscard]] double row_chain(double num_keys) const;

  [[nodiscard]] bool operator==(const Profile&) const = default;
};

/// All presets: strict_f32, flash_f16, flash_bf16, eager_f16, eager_bf16.
[[nodiscard]] std::span<const Profile> profile_presets();

/// The preset of that name. Errors: throws Error{not_found} that lists the names.
[[nodiscard]] const Profile& find_profile(std::string_view name);

}  // namespace ropecheck
