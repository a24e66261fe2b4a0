// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/problem.hpp"
#include "reference/profile.hpp"

namespace ropecheck {

/// `profile` with the reference's own roundings in every stage where it has any, so that sigma
/// never falls below what double itself leaves: each u becomes sqrt(u^2 + u_double^2).
[[nodiscard]] Profile with_own_error(Profile profile);

/// Share of a row's sums in its variance: depends on the number of visible keys alone.
struct RowTerms {
  double squares = 0;  ///< factor of sum_j p_j^2 v_jd^2
  double output = 0;   ///< factor of o_d^2
  double bias = 0;     ///< factor of sum_j p_j |v_jd|, a deviation; sums toward zero only
  double lse = 0;      ///< variance of the log-sum-exp from its sum
};

/// The sigma model with the numbers of one profile and head shape (README.md, "sigma").
/// It expects a profile that has been through with_own_error.
class SigmaModel {
 public:
  SigmaModel(const Profile& profile, const HeadShape& shape);

  [[nodiscard]] RowTerms row(double num_keys) const;

  double key_squares = 0;       ///< factor of q'_d^2 k'_d^2 in var s
  double logit_squares = 0;     ///< factor of s^2
  double special_squares = 0;   ///< u_special^2, factor of (s - max)^2 + 4
  double flushed_below = 0;     ///< probabilities below it may be lost whole
  double spacing_below = 0;     ///< probabilities below it have a fixed spacing ...
  double spacing_variance = 0;  ///< ... and this variance
  double lse_squares = 0;       ///< factor of lse^2
  double output_floor = 0;      ///< variance: square of the output's subnormal spacing
  bool has_bias = false;        ///< whether sum_j p_j |v_jd| is due

 private:
  Profile profile_;
};

}  // namespace ropecheck
