// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ropecheck {

/// An unevaluated sum hi + lo with |lo| <= half a spacing of hi: about 106 significant bits.
/// Source: Dekker 1971 (two-sum, product), with the product error from a fused multiply-add.
struct DoubleDouble {
  double hi = 0;
  double lo = 0;

  [[nodiscard]] explicit operator double() const { return hi; }
};

[[nodiscard]] DoubleDouble operator+(DoubleDouble a, DoubleDouble b);
[[nodiscard]] DoubleDouble operator-(DoubleDouble a, DoubleDouble b);
[[nodiscard]] DoubleDouble operator*(DoubleDouble a, DoubleDouble b);
[[nodiscard]] DoubleDouble operator/(DoubleDouble a, DoubleDouble b);
[[nodiscard]] DoubleDouble operator-(DoubleDouble a);

/// exp, log and a^b.
/// Pre:      a > 0 for log and pow; the low part of the result is a normal double too.
/// Accuracy: exp 1e-31 max(1, |a|) relative; log 1e-31 max(1, |log a|) absolute; pow 1e-30 relative
///           for |b log(a)| up to 20 (double_double_test).
[[nodiscard]] DoubleDouble exp(DoubleDouble a);
[[nodiscard]] DoubleDouble log(DoubleDouble a);
[[nodiscard]] DoubleDouble pow(DoubleDouble a, DoubleDouble b);

/// cos and sin of an angle [rad].
struct CosSin {
  double cos = 1;
  double sin = 0;
};

/// Cosine and sine of `position * inv_freq`, reduced modulo 2 pi in double-double first.
/// Units:    position in tokens, inv_freq in rad/token.
/// Accuracy: phase error below 1e-15 rad for |position| <= 2^48 and |inv_freq| <= 1.
/// Errors:   throws Error{invalid_argument} for |position| > 2^48.
[[nodiscard]] CosSin cos_sin(std::int64_t position, DoubleDouble inv_freq);

/// `position * inv_freq` as a double-double, not reduced [rad].
[[nodiscard]] DoubleDouble phase(std::int64_t position, DoubleDouble inv_freq);

}  // namespace ropecheck
