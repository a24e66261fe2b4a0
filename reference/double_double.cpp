// SPDX-License-Identifier: Apache-2.0
#include "reference/double_double.hpp"

#include <cmath>

#include "reference/double_double_kernels.hpp"

namespace ropecheck {

using kernels::quick_two_sum;
using kernels::two_product;
using kernels::two_sum;

DoubleDouble operator-(DoubleDouble a) { return {-a.hi, -a.lo}; }

DoubleDouble operator+(DoubleDouble a, DoubleDouble b) {
  DoubleDouble sum = two_sum(a.hi, b.hi);
  const DoubleDouble low = two_sum(a.lo, b.lo);
  sum = quick_two_sum(sum.hi, sum.lo + low.hi);
  return quick_two_sum(sum.hi, sum.lo + low.lo);
}

DoubleDouble operator-(DoubleDouble a, DoubleDouble b) { return a + -b; }

DoubleDouble operator*(DoubleDouble a, DoubleDouble b) {
  const DoubleDouble product = two_product(a.hi, b.hi);
  const double cross = std::fma(a.hi, b.lo, a.lo * b.hi);
  return quick_two_sum(product.hi, product.lo + cross);
}

DoubleDouble operator/(DoubleDouble a, DoubleDouble b) {
  // Long division, a double at a time; the third digit rounds the second.
  const double first = a.hi / b.hi;
  DoubleDouble rest = a - b * DoubleDouble{first, 0};
  const double second = rest.hi / b.hi;
  rest = rest - b * DoubleDouble{second, 0};
  const double third = rest.hi / b.hi;
  return quick_two_sum(first, second) + DoubleDouble{third, 0};
}

DoubleDouble exp(DoubleDouble a) {
  // ln 2 in three parts, so that many multiples of it can be taken off a.
  constexpr double kLn2[3] = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56, 0x1.7b57a079a1934p-111};
  // exp(a) = 2^n exp(r), |r| <= ln(2)/2.
  const double n = std::rint(a.hi / kLn2[0]);
  DoubleDouble r = a - two_product(n, kLn2[0]);
  r = r - two_product(n, kLn2[1]);
  r = r - DoubleDouble{n * kLn2[2], 0};

  // exp(r) = 1 + r/1 (1 + r/2 (1 + ...)); the first term left out is r^26/26! < 3e-39. What stands
  // beyond r^14/14! < 5e-18 needs no more than a double.
  constexpr int kTerms = 25;
  constexpr int kExactTerms = 14;
  constexpr DoubleDouble kOne{1, 0};
  double tail = 1;
  for (int term = kTerms; term > kExactTerms; --term) tail = 1 + r.hi * tail / term;
  DoubleDouble series{tail, 0};
  for (int term = kExactTerms; term >= 1; --term) {
    series = kOne + r * series / DoubleDouble{static_cast<double>(term), 0};
  }
  // An exponent beyond the doubles must saturate, not wrap.
  const int exponent = n > 4096 ? 4096 : n < -4096 ? -4096 : static_cast<int>(n);
  return {std::ldexp(series.hi, exponent), std::ldexp(series.lo, exponent)};
}

DoubleDouble log(DoubleDouble a) {
  // With y near log(a) and t = a exp(-y) near 1: log(a) = y + log(t), and
  // log(t) = 2 atanh((t-1)/(t+1)) = 2 (t-1)/(t+1) up to the cube of |t-1| (about 1e-44).
  constexpr DoubleDouble kOne{1, 0};
  const DoubleDouble y{std::log(a.hi), 0};
  const DoubleDouble t = a * exp(-y);
  const DoubleDouble half = (t - kOne) / (t + kOne);
  return y + DoubleDouble{2 * half.hi, 2 * half.lo};
}

DoubleDouble pow(DoubleDouble a, DoubleDouble b) { return exp(b * log(a)); }

DoubleDouble phase(std::int64_t position, DoubleDouble inv_freq) {
  return kernels::to_double_double(position) * inv_freq;
}

CosSin cos_sin(std::int64_t position, DoubleDouble inv_freq) {
  kernels::check_position(position);
  return kernels::cos_sin(static_cast<double>(position), inv_freq);
}

}  // namespace ropecheck
