// SPDX-License-Identifier: Apache-2.0
#include "reference/dialect.hpp"

#include <cmath>
#include <cstdint>
#include <random>

#include "harness/tests/catch.hpp"

namespace ropecheck {
namespace {

constexpr int kRotaryDim = 64;
constexpr std::size_t kPairs = kRotaryDim / 2;
constexpr std::int64_t kPositions[] = {0, 1, 7, 4095, 131071, 1000000, (1 << 24) + 1, -12345};

RopeTable plain_table() { return make_rope_table({}, kRotaryDim, PairLayout::half_split); }

std::vector<double> float_row(std::size_t size) {
  std::mt19937_64 bits(11);
  std::vector<double> row(size);
  for (double& value : row) {
    value = static_cast<float>(static_cast<double>(bits() >> 11) * 0x1p-52 - 1);
  }
  return row;
}

TEST_CASE("the float32 dialect computes phases as plain float code does, bit for bit") {
  const RopeTable table = plain_table();
  const Dialect dialect;
  const auto inv_freq = inv_freq_in(table, dialect);
  std::vector<CosSin> row(kPairs);
  for (const std::int64_t position : kPositions) {
    CAPTURE(position);
    cos_sin_row_in(table, dialect, position, 1, row);
    for (std::size_t i = 0; i < kPairs; ++i) {
      REQUIRE(inv_freq[i] == static_cast<float>(table.inv_freq[i].hi));
      const float angle = static_cast<float>(position) * static_cast<float>(inv_freq[i]);
      REQUIRE(row[i].cos == static_cast<float>(std::cos(static_cast<double>(angle))));
      REQUIRE(row[i].sin == static_cast<float>(std::sin(static_cast<double>(angle))));
    }
  }
}

TEST_CASE("the float32 dialect rotates as plain float code does, bit for bit") {
  const RopeTable table = plain_table();
  const Dialect dialect;
  const auto in = float_row(kRotaryDim + 6);
  std::vector<double> out(in.size());
  std::vector<CosSin> row(kPairs);
  cos_sin_row_in(table, dialect, 4095, 1, row);
  for (const bool inverse : {false, true}) {
    rotate_row_in(table, dialect, row, inverse, in, out);
    for (std::size_t i = 0; i < kPairs; ++i) {
      const auto a = static_cast<float>(in[i]);
      const auto b = static_cast<float>(in[i + kPairs]);
      const auto c = static_cast<float>(row[i].cos);
      const auto s = static_cast<float>(inverse ? -row[i].sin : row[i].sin);
      // A volatile product cannot be fused into the sum.
      volatile float ac = a * c, bs = b * s, bc = b * c, as = a * s;
      REQUIRE(out[i] == ac - bs);
      REQUIRE(out[i + kPairs] == bc + as);
    }
    for (std::size_t d = kRotaryDim; d < in.size(); ++d) REQUIRE(out[d] == in[d]);
  }
}

TEST_CASE("each step of a dialect rounds to its own format") {
  const RopeTable table = plain_table();
  std::vector<CosSin> row(kPairs);

  Dialect coarse_freq{"coarse_freq", FloatFormat::bf16, FloatFormat::f64, FloatFormat::f64,
                      FloatFormat::f64};
  const auto inv_freq = inv_freq_in(table, coarse_freq);
  cos_sin_row_in(table, coarse_freq, 100, 1, row);
  for (std::size_t i = 0; i < kPairs; ++i) {
    REQUIRE(inv_freq[i] == round_to(FloatFormat::bf16, table.inv_freq[i].hi));
    REQUIRE(row[i].cos == Approx(std::cos(100 * inv_freq[i])).margin(1e-15));
  }

  Dialect coarse_angle{"coarse_angle", FloatFormat::f64, FloatFormat::bf16, FloatFormat::f64,
                       FloatFormat::f64};
  cos_sin_row_in(table, coarse_angle, 257, 1, row);  // bfloat16 has no 257
  for (std::size_t i = 0; i < kPairs; ++i) {
    const double angle = round_to(FloatFormat::bf16, 256 * table.inv_freq[i].hi);
    REQUIRE(row[i].sin == Approx(std::sin(angle)).margin(1e-15));
  }

  Dialect coarse_table{"coarse_table", FloatFormat::f64, FloatFormat::f64, FloatFormat::bf16,
                       FloatFormat::f64};
  std::vector<CosSin> fine(kPairs);
  cos_sin_row(table, 100, fine);
  cos_sin_row_in(table, coarse_table, 100, 1.25, row);
  for (std::size_t i = 0; i < kPairs; ++i) {
    REQUIRE(row[i].cos == round_to(FloatFormat::bf16, 1.25 * fine[i].cos));
    REQUIRE(row[i].sin == round_to(FloatFormat::bf16, 1.25 * fine[i].sin));
  }

  Dialect coarse_rotation{"coarse_rotation", FloatFormat::f64, FloatFormat::f64, FloatFormat::f64,
                          FloatFormat::f16};
  const auto in = float_row(kRotaryDim);
  std::vector<double> out(in.size());
  rotate_row_in(table, coarse_rotation, fine, false, in, out);
  for (std::size_t i = 0; i < kPairs; ++i) {
    const double ac = round_to(FloatFormat::f16, in[i] * fine[i].cos);
    const double bs = round_to(FloatFormat::f16, in[i + kPairs] * fine[i].sin);
    REQUIRE(out[i] == round_to(FloatFormat::f16, ac - bs));
  }
}

TEST_CASE("a dialect of float64 throughout is the truth") {
  const RopeTable table = plain_table();
  const Dialect dialect{"f64", FloatFormat::f64, FloatFormat::f64, FloatFormat::f64,
                        FloatFormat::f64};
  const auto in = float_row(kRotaryDim);
  std::vector<CosSin> truth(kPairs);
  std::vector<CosSin> row(kPairs);
  std::vector<double> expected(in.size());
  std::vector<double> out(in.size());
  cos_sin_row(table, 4095, truth);
  cos_sin_row_in(table, dialect, 4095, 1, row);
  rotate_row(table, truth, 1, false, in, expected);
  rotate_row_in(table, dialect, row, false, in, out);
  for (std::size_t d = 0; d < in.size(); ++d) {
    // position * inv_freq is now rounded to double: 4095 * 2^-53 rad at most, twice.
    REQUIRE(out[d] == Approx(expected[d]).margin(2e-12));
  }
}

TEST_CASE("what double-double leaves beyond a double decides a tie of a narrower format") {
  RopeTable table;
  table.rotary_dim = 6;
  table.inv_freq = {{1 + 0x1p-24, 0x1p-80}, {1 + 0x1p-24, -0x1p-80}, {1 + 0x1p-24, 0}};
  const auto inv_freq = inv_freq_in(table, Dialect{});
  REQUIRE(inv_freq[0] == 1 + 0x1p-23);
  REQUIRE(inv_freq[1] == 1);
  REQUIRE(inv_freq[2] == 1);
}

TEST_CASE("a dialect rotates between layouts and in place") {
  RopeTable table = plain_table();
  table.layout_out = PairLayout::interleaved;
  table.rotary_offset = 2;
  auto in = float_row(kRotaryDim + 4);
  std::vector<CosSin> row(kPairs);
  cos_sin_row_in(table, Dialect{}, 100, 1, row);
  std::vector<double> mixed(in.size());
  rotate_row_in(table, Dialect{}, row, false, in, mixed);
  table.layout_out = PairLayout::half_split;
  std::vector<double> half(in.size());
  rotate_row_in(table, Dialect{}, row, false, in, half);
  for (std::size_t i = 0; i < kPairs; ++i) {
    REQUIRE(mixed[2 + 2 * i] == half[2 + i]);
    REQUIRE(mixed[2 + 2 * i + 1] == half[2 + i + kPairs]);
  }
  table.layout_out = PairLayout::interleaved;
  rotate_row_in(table, Dialect{}, row, false, in, in);
  REQUIRE(in == mixed);
}

}  // namespace
}  // namespace ropecheck
