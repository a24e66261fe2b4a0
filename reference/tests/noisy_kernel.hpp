// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/float_format.hpp"
#include "reference/problem.hpp"

#include <cstdint>
#include <vector>

namespace ropecheck::testing {

/// How an emulated kernel is built; where it rounds follows from that, not from a Profile.
enum class KernelStyle {
  plain,  ///< everything in float32, loops over all keys, probabilities divided before the product
  flash,  ///< blocks of keys with a running maximum, division at the end
  eager,  ///< one operator at a time, each result stored
};

/// An emulated kernel.
struct NoisyKernel {
  KernelStyle style = KernelStyle::plain;
  FloatFormat storage = FloatFormat::f32;  ///< of what is stored between operators, and outputs
  FloatFormat cache = FloatFormat::f64;  ///< keys and values on the way into the cache; f64: exact
  bool scale_query = false;              ///< softmax_scale folded into the query, then rounded
  bool sums_toward_zero = false;
};

/// Output [queries, num_q_heads, v_head_dim] and log-sum-exp [queries, num_q_heads] in double, with
/// every rounding of the kernel replaced by a random one: x -> x + spacing(x)/2 * xi, xi uniform in
/// [-1, 1] (an exponential: twice that; a sum toward zero: xi in [-2, 0] on the magnitude).
struct NoisyOutput {
  std::vector<double> output;
  std::vector<double> lse;
};

/// One draw. Pre: one table with half-split pairs in all channels, one rotation for each key, one
/// range of keys for each query.
[[nodiscard]] NoisyOutput run_noisy_kernel(const NoisyKernel& kernel, const Problem& problem,
                                           const Values& values, std::uint64_t draw);

}  // namespace ropecheck::testing
