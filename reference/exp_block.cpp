// SPDX-License-Identifier: Apache-2.0
#include "reference/exp_block.hpp"

#include <bit>
#include <cmath>

namespace ropecheck {
namespace {

/// a * b + c, in one rounding where the machine has it.
inline double multiply_add(double a, double b, double c) {
#ifdef __FMA__
  return std::fma(a, b, c);
#else
  return a * b + c;
#endif
}

/// e^x = 2^n e^r with n the integer nearest to x / ln 2, |r| <= ln 2 / 2.
inline double exp_one(double x) {
  constexpr double kLog2E = 0x1.71547652b82fep+0;
  constexpr double kLn2High = 0x1.62e42fefa3800p-1;  // 42 bits: n * kLn2High is exact
  constexpr double kLn2Low = 0x1.ef35793c76730p-45;
  constexpr double kRound = 0x1.8p+52;  // pushes the fraction out; n is left in the low bits

  const double shifted = x * kLog2E + kRound;
  const double n = shifted - kRound;
  const double r = multiply_add(-n, kLn2Low, multiply_add(-n, kLn2High, x));
  double series = 1.0 / 479001600.0;
  series = multiply_add(series, r, 1.0 / 39916800.0);
  series = multiply_add(series, r, 1.0 / 3628800.0);
  series = multiply_add(series, r, 1.0 / 362880.0);
  series = multiply_add(series, r, 1.0 / 40320.0);
  series = multiply_add(series, r, 1.0 / 5040.0);
  series = multiply_add(series, r, 1.0 / 720.0);
  series = multiply_add(series, r, 1.0 / 120.0);
  series = multiply_add(series, r, 1.0 / 24.0);
  series = multiply_add(series, r, 1.0 / 6.0);
  series = multiply_add(series, r, 0.5);
  series = multiply_add(series, r, 1.0);
  series = multiply_add(series, r, 1.0);
  // adds n to the exponent; the bits of kRound above n are shifted away
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(series) +
                               (std::bit_cast<std::uint64_t>(shifted) << 52));
}

}  // namespace

void exp_block(const double* x, const double* shift, double* out, double* sum, std::int64_t count) {
#ifdef __GNUC__
#pragma GCC ivdep
#endif
  for (std::int64_t i = 0; i < count; ++i) {
    const double exponent = x[i] - shift[i];
    const double value = exp_one(exponent > kExpFloor ? exponent : kExpFloor);
    const double kept = exponent < kExpFloor ? 0.0 : value;
    out[i] = kept;
    sum[i] += kept;
  }
}

}  // namespace ropecheck
