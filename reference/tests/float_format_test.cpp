// SPDX-License-Identifier: Apache-2.0
#include "reference/float_format.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "harness/tests/catch.hpp"

namespace ropecheck {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr FloatFormat kNarrow[] = {FloatFormat::f16, FloatFormat::bf16};

/// The value of a 16-bit pattern, by the definition of the interchange formats.
double value_by_definition(FloatFormat format, std::uint32_t bits) {
  const int mantissa_bits = format == FloatFormat::f16 ? 10 : 7;
  const int bias = format == FloatFormat::f16 ? 15 : 127;
  const int all_ones = format == FloatFormat::f16 ? 31 : 255;
  const int mantissa = static_cast<int>(bits) & ((1 << mantissa_bits) - 1);
  const int exponent = static_cast<int>(bits >> mantissa_bits) & all_ones;
  const double sign = bits >> 15 ? -1 : 1;
  if (exponent == all_ones) return mantissa ? kNaN : sign * kInfinity;
  const int significand = exponent == 0 ? mantissa : mantissa + (1 << mantissa_bits);
  return sign * std::ldexp(significand, std::max(exponent, 1) - bias - mantissa_bits);
}

/// Bit pattern of the largest finite number.
std::uint32_t largest_finite(FloatFormat format) {
  return format == FloatFormat::f16 ? 0x7bff : 0x7f7f;
}

TEST_CASE("each 16-bit pattern decodes to its definition and encodes back to itself") {
  for (const FloatFormat format : kNarrow) {
    int wrong = 0;
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
      const double expected = value_by_definition(format, bits);
      const double actual = decode(format, bits);
      if (std::isnan(expected)) {
        const std::uint64_t again = encode(format, actual);
        wrong += !(std::isnan(actual) && std::isnan(decode(format, again)) && again < 0x10000);
        continue;
      }
      wrong += !(actual == expected && std::signbit(actual) == std::signbit(expected));
      wrong += encode(format, actual) != bits;
      wrong += std::bit_cast<std::uint64_t>(round_to(format, actual)) !=
               std::bit_cast<std::uint64_t>(actual);
    }
    CAPTURE(to_string(format));
    REQUIRE(wrong == 0);
  }
}

TEST_CASE("between any two neighbours the nearer wins and a tie goes to the even pattern") {
  for (const FloatFormat format : kNarrow) {
    int wrong = 0;
    for (std::uint32_t bits = 0; bits < largest_finite(format); ++bits) {
      const double below = value_by_definition(format, bits);
      const double above = value_by_definition(format, bits + 1);
      const double middle = below + (above - below) / 2;
      wrong += round_to(format, middle) != (bits % 2 == 0 ? below : above);
      wrong += round_to(format, -middle) != (bits % 2 == 0 ? -below : -above);
      wrong += round_to(format, std::nextafter(middle, 0)) != below;
      wrong += round_to(format, std::nextafter(middle, kInfinity)) != above;
      wrong += spacing_at(format, below) != above - below;
    }
    CAPTURE(to_string(format));
    REQUIRE(wrong == 0);
  }
}

TEST_CASE("rounding goes straight from double, never through float32") {
  // In float32 these are ties, which even rounding then takes down.
  REQUIRE(round_to(FloatFormat::f16, 1 + 0x1p-11 + 0x1p-40) == 1 + 0x1p-10);
  REQUIRE(round_to(FloatFormat::bf16, 1 + 0x1p-8 + 0x1p-40) == 1 + 0x1p-7);
  REQUIRE(round_to(FloatFormat::f16, 0x1p-25 + 0x1p-60) == 0x1p-24);
  REQUIRE(round_to(FloatFormat::f16, static_cast<float>(1 + 0x1p-11 + 0x1p-40)) == 1);
}

TEST_CASE("overflow begins at half a spacing beyond the largest number") {
  struct Row {
    FloatFormat format;
    double largest;
  };
  for (const Row& row : {Row{FloatFormat::f16, 65504}, Row{FloatFormat::bf16, 0x1.fep127},
                         Row{FloatFormat::f32, 0x1.fffffep127}}) {
    CAPTURE(to_string(row.format));
    const double first_overflow = row.largest + spacing_at(row.format, row.largest) / 2;
    REQUIRE(round_to(row.format, std::nextafter(first_overflow, 0)) == row.largest);
    REQUIRE(round_to(row.format, first_overflow) == kInfinity);
    REQUIRE(round_to(row.format, -first_overflow) == -kInfinity);
    REQUIRE(round_to(row.format, std::numeric_limits<double>::max()) == kInfinity);
    REQUIRE(round_to(row.format, -kInfinity) == -kInfinity);
    REQUIRE(std::isnan(round_to(row.format, kNaN)));
    REQUIRE(decode(row.format, encode(row.format, kInfinity)) == kInfinity);
  }
}

TEST_CASE("what is below half the smallest subnormal becomes a zero of the same sign") {
  for (const FloatFormat format : {FloatFormat::f32, FloatFormat::f16, FloatFormat::bf16}) {
    CAPTURE(to_string(format));
    const double smallest = smallest_subnormal(format);
    REQUIRE(round_to(format, smallest) == smallest);
    REQUIRE(round_to(format, smallest / 2) == 0);
    REQUIRE(std::signbit(round_to(format, -smallest / 2)));
    REQUIRE(round_to(format, std::nextafter(smallest / 2, 1)) == smallest);
    REQUIRE(round_to(format, 5e-324) == 0);
    REQUIRE(encode(format, -0.0) == std::uint64_t{1} << (8 * size_bytes(format) - 1));
  }
}

TEST_CASE("float32 and float64 are those of the machine") {
  std::mt19937_64 bits(3);
  int wrong = 0;
  for (int i = 0; i < 10000; ++i) {
    const auto value = std::bit_cast<double>(bits());
    if (!std::isfinite(value)) continue;
    const auto narrow = std::bit_cast<float>(static_cast<std::uint32_t>(bits()));
    wrong += round_to(FloatFormat::f64, value) != value;
    wrong += encode(FloatFormat::f64, value) != std::bit_cast<std::uint64_t>(value);
    wrong += decode(FloatFormat::f64, encode(FloatFormat::f64, value)) != value;
    wrong += round_to(FloatFormat::f32, value) != static_cast<float>(value);
    if (std::isnan(narrow)) continue;
    wrong += encode(FloatFormat::f32, narrow) != std::bit_cast<std::uint32_t>(narrow);
    wrong += decode(FloatFormat::f32, std::bit_cast<std::uint32_t>(narrow)) != narrow;
  }
  REQUIRE(wrong == 0);
}

TEST_CASE("the constants of each format follow from its definition") {
  struct Row {
    FloatFormat format;
    const char* name;
    double unit_roundoff, smallest_subnormal, smallest_normal;
    int size_bytes;
  };
  for (const Row& row : {Row{FloatFormat::f64, "f64", 0x1p-53, 0x1p-1074, 0x1p-1022, 8},
                         Row{FloatFormat::f32, "f32", 0x1p-24, 0x1p-149, 0x1p-126, 4},
                         Row{FloatFormat::f16, "f16", 0x1p-11, 0x1p-24, 0x1p-14, 2},
                         Row{FloatFormat::bf16, "bf16", 0x1p-8, 0x1p-133, 0x1p-126, 2}}) {
    CAPTURE(row.name);
    REQUIRE(to_string(row.format) == row.name);
    REQUIRE(unit_roundoff(row.format) == row.unit_roundoff);
    REQUIRE(smallest_subnormal(row.format) == row.smallest_subnormal);
    REQUIRE(smallest_normal(row.format) == row.smallest_normal);
    REQUIRE(size_bytes(row.format) == row.size_bytes);
    REQUIRE(spacing_at(row.format, 1) == 2 * row.unit_roundoff);
    REQUIRE(spacing_at(row.format, 0) == row.smallest_subnormal);
    REQUIRE(spacing_at(row.format, -row.smallest_normal) == row.smallest_subnormal);
    REQUIRE(spacing_at(row.format, kNaN) == kInfinity);
    REQUIRE(spacing_at(row.format, -kInfinity) == kInfinity);
  }
  REQUIRE(spacing_at(FloatFormat::f16, 1e30) == 32);
}

}  // namespace
}  // namespace ropecheck
