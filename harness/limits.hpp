// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ropecheck {

// Every limit stands here, with its derivation.

/// An element fails at z = |actual - expected| / sigma above it. Right kernels were seen up to 3.8 over
/// 10^7 elements (5.1 for plain summation of 32768 keys); the mildest of the wrong kernels tried gives 48.
/// For a normal z the chance of 8 is 1e-15 per element: no false alarm in the life of a project.
inline constexpr double kMaxZ = 8;

/// A check fails if the root mean square of z is above it, over at least kMinRowsForRms (query, head) rows.
/// All channels of a row share its logit error, so rows count: for 64 rows the rms of right kernels
/// (true value at most 1.1) stays below 1.1 (1 + 3.1 / sqrt(2 * 64)) = 1.4.
inline constexpr double kMaxRmsZ = 1.5;
inline constexpr std::int64_t kMinRowsForRms = 64;

/// Pooled over a family, an rms z below it says that the declared profile is so loose that its limits
/// show nothing: right kernels that use their profile were seen from 0.15 up.
inline constexpr double kMinPooledRmsZ = 0.1;

/// Rows where the first-order model does not hold may be this part of a run at most.
inline constexpr double kMaxIllConditionedPart = 0.01;

}  // namespace ropecheck
