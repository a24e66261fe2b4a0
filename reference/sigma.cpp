// SPDX-License-Identifier: Apache-2.0
#include "reference/sigma.hpp"

#include <cmath>

namespace ropecheck {
namespace {

double squared(double x) { return x * x; }

}  // namespace

Profile with_own_error(Profile profile) {
  const auto add = [](double& u, double own) { u = std::hypot(u, own); };
  // table: cos and sin of a phase that is right to 1e-15 rad
  add(profile.table, 0x1p-50);
  add(profile.sum, 0x1p-53);
  add(profile.special, 0x1p-53);
  add(profile.output, 0x1p-53);
  return profile;
}

SigmaModel::SigmaModel(const Profile& profile, const HeadShape& shape) : profile_(profile) {
  const double sum = squared(profile.sum);
  const double dot_chain = profile.dot_chain > 0 ? profile.dot_chain : shape.head_dim;
  key_squares = shape.head_dim * sum / 3;
  logit_squares = sum * dot_chain / 9 + squared(profile.logits) / 3;
  if (profile.sum_rounding == SumRounding::toward_zero) {
    // every addition takes up to 2 u_sum off the sum so far, 0.7 u_sum on average; the sum so far
    // is at most about what it ends as, with a random walk of sum_d q'_d^2 k'_d^2 beside it
    key_squares += squared(dot_chain * profile.sum) / 2;
    logit_squares += squared(dot_chain * profile.sum) / 2;
  }
  special_squares = squared(profile.special);
  flushed_below = profile.probs_min_normal;
  // a number below the last binade is rounded to the spacing of that binade, 2 u 2^e
  spacing_below = profile.probs > 0 ? profile.probs_spacing / (2 * profile.probs) : 0;
  spacing_variance = squared(profile.probs_spacing) / 12;
  lse_squares = squared(profile.output) / 3;
  output_floor = squared(smallest_subnormal(profile.output_format));
  has_bias = profile.sum_rounding == SumRounding::toward_zero || flushed_below > 0;
}

RowTerms SigmaModel::row(double num_keys) const {
  const double sum = squared(profile_.sum);
  const double chain = profile_.row_chain(num_keys);
  RowTerms terms;
  // u_probs^2/3 + u_cache_v^2/3 + u_sum^2 (log2(n+1) + row_chain/6)
  terms.squares = squared(profile_.probs) / 3 + squared(profile_.cache_v) / 3 +
                  sum * (std::log2(num_keys + 1) + chain / 6);
  // u_output^2/3 + 4 u_sum^2 + 2/3 u_sum^2 row_chain
  terms.output = squared(profile_.output) / 3 + sum * (4 + 2 * chain / 3);
  terms.lse = sum * 2 * chain / 3;
  if (profile_.sum_rounding == SumRounding::toward_zero) {
    terms.bias = chain * profile_.sum;
    terms.lse += squared(terms.bias);
  }
  return terms;
}

}  // namespace ropecheck
