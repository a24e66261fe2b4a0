// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/problem.hpp"
#include "reference/profile.hpp"

#include <span>

namespace ropecheck {

/// One query row, rotated, all heads, with the variance that rounding gives it.
/// Phases are computed once and used for every head.
/// With a, b a pair, f, g its rotated values and phi = coordinate * inv_freq:
///   var f = g^2 (phi u_phase)^2 + 3/4 f^2 (phi u_phase)^4
///         + (a^2+b^2) (3 u_sum^2 + u_table^2/3) + f^2 u_rotated^2/3
/// (g likewise, f and g swapped; u_phase times sqrt(i+1) for a recurrence). The second term is of
/// second order: where g is near zero, at long positions, it is all there is. Channels that are not
/// rotated have variance 0, and f^2 u_scaled_query^2/3 is added to all if declared.
/// A temperature other than 1 scales all channels and adds f^2 u_rotated^2/3 to each.
/// A rotation by coordinate 0 still counts as a rotation: cos 1 and sin 0, but all terms stand.
/// A wrong phase moves both values of a pair:
///   cov(f, g) = -f g ((phi u_phase)^2 - 3/4 (phi u_phase)^4)
/// Shape: rotated, variances [num_q_heads * head_dim]; variances may be empty. covariances
///        [num_q_heads * (head_dim / 2)], pair by pair, the rest zero; may be empty.
void rotate_query(const Problem& problem, const Values& values, const Profile& profile,
                  const QueryRow& query, std::span<double> rotated, std::span<double> variances,
                  std::span<double> covariances = {});

/// One key row, all its rotations in order, all heads. Each rotation turns the variances of the one
/// before and adds its own: var f = cos^2 var a + sin^2 var b - 2 cos sin cov(a, b) + ... The
/// covariance of a pair is kept, so that phase errors of a chain add up as one error of the final
/// pair; it is dropped between two rotations whose pairs differ.
/// With `cached`, the profile's cache_k rounding is added: f^2 u_cache_k^2/3.
/// Shape: rotated, variances [num_kv_heads * head_dim]; variances may be empty. covariances
///        [num_kv_heads * (head_dim / 2)], of the pairs of the last rotation; may be empty.
void rotate_key(const Problem& problem, const Values& values, const Profile& profile,
                const KeyRow& key, bool cached, std::span<double> rotated,
                std::span<double> variances, std::span<double> covariances = {});

}  // namespace ropecheck
