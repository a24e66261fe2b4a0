// SPDX-License-Identifier: Apache-2.0
#include "reference/double_double.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "harness/tests/catch.hpp"
#include "reference/error.hpp"
#include "reference/tests/multiprecision.hpp"

namespace ropecheck {
namespace {

using testing::exact;
using testing::phase_error;
using testing::Real;
using testing::relative_error;

/// Reals of both signs over many binades, all 106 bits in use.
class Draw {
 public:
  DoubleDouble signed_value(int min_exponent, int max_exponent) {
    const DoubleDouble value = positive_value(min_exponent, max_exponent);
    return bits_() & 1 ? value : -value;
  }

  DoubleDouble positive_value(int min_exponent, int max_exponent) {
    const auto span = static_cast<std::uint64_t>(max_exponent - min_exponent + 1);
    const int exponent = min_exponent + static_cast<int>(bits_() % span);
    const double hi = std::ldexp(1 + unit(), exponent);
    return {hi, hi * (unit() - 0.5) * 0x1p-53};
  }

  std::int64_t position(std::int64_t limit) {
    return static_cast<std::int64_t>(bits_() % static_cast<std::uint64_t>(limit + 1));
  }

  double unit() { return static_cast<double>(bits_() >> 11) * 0x1p-53; }

 private:
  std::mt19937_64 bits_{7};
};

constexpr std::int64_t kTwoTo31 = std::int64_t{1} << 31;

TEST_CASE("double-double sums, products and quotients are good to 2^-102") {
  Draw draw;
  double worst = 0;
  for (int i = 0; i < 2000; ++i) {
    const DoubleDouble a = draw.signed_value(-40, 40);
    const DoubleDouble b = draw.signed_value(-40, 40);
    worst = std::max({worst, relative_error(a + b, exact(a) + exact(b)),
                      relative_error(a - b, exact(a) - exact(b)),
                      relative_error(a * b, exact(a) * exact(b)),
                      relative_error(a / b, exact(a) / exact(b))});
  }
  CAPTURE(worst);
  REQUIRE(worst <= 0x1p-102);
}

TEST_CASE("a double-double sum keeps a term of another size") {
  const DoubleDouble sum = DoubleDouble{1, 0} + DoubleDouble{0x1p-90, 0};
  REQUIRE(sum.hi == 1);
  REQUIRE(sum.lo == 0x1p-90);
  const DoubleDouble rest = sum - DoubleDouble{1, 0};
  REQUIRE(rest.hi == 0x1p-90);
}

TEST_CASE("the exponential is good to 1e-31 and what its argument's last bit decides") {
  Draw draw;
  double worst = 0;
  for (int i = 0; i < 500; ++i) {
    const DoubleDouble a = draw.signed_value(-30, 8);
    const double limit = 1e-31 * std::max(1.0, std::fabs(a.hi));
    worst = std::max(worst, relative_error(exp(a), exp(exact(a))) / limit);
  }
  CAPTURE(worst);
  REQUIRE(worst <= 1);
  REQUIRE(exp(DoubleDouble{0, 0}).hi == 1);
  REQUIRE(exp(DoubleDouble{0, 0}).lo == 0);
}

TEST_CASE("the logarithm is good to 1e-31 of the larger of 1 and itself") {
  Draw draw;
  double worst = 0;
  for (int i = 0; i < 500; ++i) {
    const DoubleDouble a = draw.positive_value(-60, 60);
    const Real expected = log(exact(a));
    const double error = static_cast<double>(abs(exact(log(a)) - expected));
    worst = std::max(worst, error / std::max(1.0, std::fabs(static_cast<double>(expected))));
  }
  CAPTURE(worst);
  REQUIRE(worst <= 1e-31);
  REQUIRE(log(DoubleDouble{1, 0}).hi == 0);
}

TEST_CASE("a power is good to 1e-30 over the range of inverse frequencies") {
  Draw draw;
  double worst = 0;
  for (int i = 0; i < 500; ++i) {
    const DoubleDouble base = draw.positive_value(1, 26);
    const DoubleDouble exponent{-draw.unit(), 0};
    worst = std::max(worst, relative_error(pow(base, exponent), pow(exact(base), exact(exponent))));
  }
  CAPTURE(worst);
  REQUIRE(worst <= 1e-30);
}

TEST_CASE("every int64 position enters a phase exactly") {
  for (const std::int64_t position :
       {std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min(),
        (std::int64_t{1} << 53) + 1, -(std::int64_t{1} << 62) - 1, std::int64_t{-1},
        std::int64_t{0}}) {
    CAPTURE(position);
    REQUIRE(exact(phase(position, DoubleDouble{1, 0})) == Real(position));
  }
}

TEST_CASE("a phase up to position 2^31 is good to 1e-15 rad") {
  Draw draw;
  double worst = 0;
  for (int i = 0; i < 4000; ++i) {
    const DoubleDouble inv_freq = draw.positive_value(-40, -1);
    const std::int64_t position = i < 100 ? kTwoTo31 - i : draw.position(kTwoTo31);
    worst = std::max(worst, phase_error(cos_sin(position, inv_freq), position * exact(inv_freq)));
  }
  CAPTURE(worst);
  REQUIRE(worst <= 1e-15);
  // What is measured is not the rounding of the position times a rounded frequency.
  REQUIRE(phase_error({std::cos(0.1 * kTwoTo31), std::sin(0.1 * kTwoTo31)},
                      kTwoTo31 * (Real(1) / 10)) > 1e-9);
}

TEST_CASE("a phase beside a multiple of a quarter turn is good to 1e-15 rad") {
  const Real half_pi = acos(Real(0));
  Draw draw;
  double worst = 0;
  for (int i = 1; i < 1000; ++i) {
    // The frequency whose phase at `position` is as near to a quarter turn as it can be.
    const std::int64_t position = draw.position(kTwoTo31) + kTwoTo31 / 2;
    const Real turns = static_cast<double>(draw.position(position / 2));
    const Real target = (turns + (i % 2) * Real(0.5)) * half_pi / position;
    const double hi = static_cast<double>(target);
    const DoubleDouble inv_freq{hi, static_cast<double>(target - Real(hi))};
    worst = std::max(worst, phase_error(cos_sin(position, inv_freq), position * exact(inv_freq)));
  }
  CAPTURE(worst);
  REQUIRE(worst <= 1e-15);
}

TEST_CASE("a phase is good to 1e-15 rad up to the last position that is taken") {
  Draw draw;
  const std::int64_t limit = std::int64_t{1} << 48;
  double worst = 0;
  for (int i = 0; i < 500; ++i) {
    const std::int64_t position = i == 0 ? limit : draw.position(limit);
    const DoubleDouble inv_freq = i < 10 ? DoubleDouble{1, 0} : draw.positive_value(-20, -1);
    worst = std::max(worst, phase_error(cos_sin(position, inv_freq), position * exact(inv_freq)));
  }
  CAPTURE(worst);
  REQUIRE(worst <= 1e-15);
  REQUIRE_THROWS_AS(cos_sin(limit + 1, DoubleDouble{1, 0}), Error);
  REQUIRE_THROWS_AS(cos_sin(std::numeric_limits<std::int64_t>::min(), DoubleDouble{1, 0}), Error);
}

TEST_CASE("the opposite position has the same cosine and the opposite sine, bit for bit") {
  Draw draw;
  for (int i = 0; i < 1000; ++i) {
    const DoubleDouble inv_freq = draw.positive_value(-30, -1);
    const std::int64_t position = draw.position(kTwoTo31);
    const CosSin forward = cos_sin(position, inv_freq);
    const CosSin backward = cos_sin(-position, inv_freq);
    REQUIRE(forward.cos == backward.cos);
    REQUIRE(forward.sin == -backward.sin);
  }
  REQUIRE(cos_sin(0, DoubleDouble{1, 0}).cos == 1);
  REQUIRE(cos_sin(0, DoubleDouble{1, 0}).sin == 0);
}

}  // namespace
}  // namespace ropecheck
