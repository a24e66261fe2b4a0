// SPDX-License-Identifier: Apache-2.0
#pragma once
// Inner operations of double-double arithmetic, for the sources of this room alone: they hold only
// where products and sums are rounded as written (-ffp-contract=off, no fast math).

#ifdef __FAST_MATH__
#error "double-double arithmetic needs IEEE semantics: compile without -ffast-math"
#endif

#include <bit>
#include <cmath>
#include <cstdint>

#include "reference/double_double.hpp"
#include "reference/error.hpp"

namespace ropecheck::kernels {

/// a + b exactly. Pre: |a| >= |b| or a == 0.
/// Source: Dekker 1971.
[[nodiscard]] inline DoubleDouble quick_two_sum(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}

/// a + b exactly. Source: Knuth, TAOCP vol. 2, section 4.2.2, theorem B.
[[nodiscard]] inline DoubleDouble two_sum(double a, double b) {
  const double sum = a + b;
  const double b_part = sum - a;
  return {sum, (a - (sum - b_part)) + (b - b_part)};
}

/// a * b exactly, unless the error underflows.
[[nodiscard]] inline DoubleDouble two_product(double a, double b) {
  const double product = a * b;
  return {product, std::fma(a, b, -product)};
}

/// Any int64, exactly.
[[nodiscard]] inline DoubleDouble to_double_double(std::int64_t value) {
  constexpr double kTwoTo32 = 4294967296.0;
  const auto high = static_cast<double>(value >> 32);
  const auto low = static_cast<double>(static_cast<std::uint32_t>(value));
  return two_sum(high * kTwoTo32, low);
}

/// Largest |position| whose phase is still exact to 1e-15 rad: position * 2^-104 is far below, and
/// the number of quarter turns is found without doubt.
inline constexpr std::int64_t kMaxPosition = std::int64_t{1} << 48;

/// Errors: throws Error{invalid_argument} beyond kMaxPosition.
inline void check_position(std::int64_t position) {
  if (position > kMaxPosition || position < -kMaxPosition) {
    fail(ErrorCode::invalid_argument,
         "rotation: coordinate must be within +-2^48 tokens, got {}; use a smaller position",
         position);
  }
}

/// A reduced angle, and how many quarter turns were taken off, modulo 4 in the two lowest bits.
struct Reduced {
  DoubleDouble angle;
  std::uint64_t quarter_turns = 0;
};

/// phi - n pi/2 for the nearest integer n, so |angle| <= pi/4 and a little. Pre: |phi| < 2^49.
[[nodiscard]] inline Reduced reduce(DoubleDouble phi) {
  // pi/2 in three parts, 160 bits: n pi/2 is good to 2^-110.
  constexpr double kHalfPi[3] = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54,
                                 -0x1.f1976b7ed8fbcp-110};
  constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;
  // At 1.5 * 2^52 the spacing is 1: the addition rounds to an integer, whose bits stand at the end.
  constexpr double kIntegerShift = 0x1.8p52;
  const double shifted = phi.hi * kTwoOverPi + kIntegerShift;
  const double n = shifted - kIntegerShift;
  const DoubleDouble first = two_product(n, kHalfPi[0]);
  const DoubleDouble second = two_product(n, kHalfPi[1]);
  // The leading parts cancel without error; what follows is summed with every error kept.
  const DoubleDouble a = two_sum(phi.hi - first.hi, -first.lo);
  const DoubleDouble b = two_sum(a.hi, phi.lo);
  const DoubleDouble c = two_sum(b.hi, -second.hi);
  const double low = ((a.lo + b.lo) + c.lo) - (second.lo + n * kHalfPi[2]);
  return {quick_two_sum(c.hi, low), std::bit_cast<std::uint64_t>(shifted)};
}

/// cos and sin of r, |r| <= pi/4 and a little.
/// Accuracy: 1.2e-16. Taylor series; the first terms left out are r^19/19! and r^18/18!, < 3e-18.
[[nodiscard]] inline CosSin cos_sin_small(DoubleDouble r) {
  const double x = r.hi;
  const double square = x * x;
  double sin_tail = 1 / 355687428096000.0;  // 1/17!
  sin_tail = std::fma(sin_tail, square, -1 / 1307674368000.0);
  sin_tail = std::fma(sin_tail, square, 1 / 6227020800.0);
  sin_tail = std::fma(sin_tail, square, -1 / 39916800.0);
  sin_tail = std::fma(sin_tail, square, 1 / 362880.0);
  sin_tail = std::fma(sin_tail, square, -1 / 5040.0);
  sin_tail = std::fma(sin_tail, square, 1 / 120.0);
  sin_tail = std::fma(sin_tail, square, -1 / 6.0);
  double cos_tail = 1 / 20922789888000.0;  // 1/16!
  cos_tail = std::fma(cos_tail, square, -1 / 87178291200.0);
  cos_tail = std::fma(cos_tail, square, 1 / 479001600.0);
  cos_tail = std::fma(cos_tail, square, -1 / 3628800.0);
  cos_tail = std::fma(cos_tail, square, 1 / 40320.0);
  cos_tail = std::fma(cos_tail, square, -1 / 720.0);
  cos_tail = std::fma(cos_tail, square, 1 / 24.0);
  // r.lo enters through the derivative: sin' = cos, cos' = -sin.
  const double half_square = 0.5 * square;
  const double sin_rest = std::fma(x * square, sin_tail, r.lo * (1 - half_square));
  const double cos_rest = std::fma(square * square, cos_tail, -x * r.lo);
  return {1 - (half_square - cos_rest), x + sin_rest};
}

/// -value if `bit_one` is 2, value if it is 0.
[[nodiscard]] inline double flip_sign(double value, std::uint64_t bit_one) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) ^ (bit_one << 62));
}

/// Cosine and sine of position * inv_freq, without branches so that loops over pairs vectorise.
/// Negating the position negates the sine and changes no other bit.
/// Pre: |position| <= kMaxPosition, an integer.
[[nodiscard]] inline CosSin cos_sin(double position, DoubleDouble inv_freq) {
  const DoubleDouble product = two_product(position, inv_freq.hi);
  const DoubleDouble phi = quick_two_sum(product.hi, std::fma(position, inv_freq.lo, product.lo));
  const Reduced reduced = reduce(phi);
  const CosSin small = cos_sin_small(reduced.angle);

  // Quarter turns 0, 1, 2, 3 give (c, s), (-s, c), (-c, -s), (s, -c).
  const std::uint64_t turns = reduced.quarter_turns;
  const double cosine = turns & 1 ? small.sin : small.cos;
  const double sine = turns & 1 ? small.cos : small.sin;
  return {flip_sign(cosine, (turns + 1) & 2), flip_sign(sine, turns & 2)};
}

}  // namespace ropecheck::kernels
