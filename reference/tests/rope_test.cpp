// SPDX-License-Identifier: Apache-2.0
#include "reference/rope.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "harness/tests/catch.hpp"
#include "reference/error.hpp"
#include "reference/tests/multiprecision.hpp"
#include "reference/tests/property.hpp"

namespace ropecheck {
namespace {

using testing::exact;
using testing::holds;
using testing::phase_error;
using testing::Real;
using testing::relative_error;

constexpr PairLayout kLayouts[] = {PairLayout::half_split, PairLayout::interleaved};
constexpr std::int64_t kTwoTo31 = std::int64_t{1} << 31;

std::vector<double> rotate(const RopeTable& table, std::int64_t coordinate,
                           const std::vector<double>& in, bool inverse = false,
                           double magnitude = 1) {
  std::vector<CosSin> row(table.inv_freq.size());
  cos_sin_row(table, coordinate, row);
  std::vector<double> out(in.size(), std::numeric_limits<double>::quiet_NaN());
  rotate_row(table, row, magnitude, inverse, in, out);
  return out;
}

double max_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double worst = 0;
  for (std::size_t d = 0; d < a.size(); ++d) worst = std::max(worst, std::fabs(a[d] - b[d]));
  return worst;
}

/// inv_freq by definition. Source: RoFormer arXiv:2104.09864 section 3.2.2.
Real exact_inv_freq(double rope_theta, int rotary_dim, int pair) {
  return pow(Real(rope_theta), Real(-2 * pair) / rotary_dim);
}

RopeTable draw_table() {
  RopeRule rule;
  rule.rope_theta = *rc::gen::element(1e4, 5e5, 1e6, 3.0);
  const int rotary_dim = 2 * *rc::gen::inRange(1, 17);
  RopeTable table = make_rope_table(rule, rotary_dim, *rc::gen::element(kLayouts[0], kLayouts[1]));
  table.rotary_offset = *rc::gen::inRange(0, 5);
  return table;
}

std::vector<double> draw_row(const RopeTable& table) {
  const int tail = *rc::gen::inRange(0, 4);
  const auto head_dim = static_cast<std::size_t>(table.rotary_offset + table.rotary_dim + tail);
  const auto numbers =
      *rc::gen::container<std::vector<int>>(head_dim, rc::gen::inRange(-1000000, 1000001));
  std::vector<double> row;
  for (const int number : numbers) row.push_back(number * 1e-6);
  return row;
}

std::int64_t draw_position() { return *rc::gen::inRange<std::int64_t>(-kTwoTo31, kTwoTo31); }

TEST_CASE("default inverse frequencies have their published values") {
  const auto inv_freq = inv_freq_default(1e4, 128);
  REQUIRE(inv_freq.size() == 64);
  REQUIRE(inv_freq[0].hi == 1);
  REQUIRE(inv_freq[1].hi == Approx(0.8659643233600653).epsilon(1e-15));
  REQUIRE(inv_freq[31].hi == Approx(0.011547819846894581).epsilon(1e-15));
  REQUIRE(inv_freq[63].hi == Approx(1.1547819846894582e-4).epsilon(1e-15));
  // These two are not scaled by the rule they are quoted from.
  REQUIRE(inv_freq_default(5e5, 128)[28].hi == Approx(3.211445994752591e-3).epsilon(1e-15));
  REQUIRE(inv_freq_default(5e5, 64)[14].hi == Approx(3.211445994752591e-3).epsilon(1e-15));
}

TEST_CASE("inverse frequencies are good to 1e-28") {
  double worst = 0;
  for (const double rope_theta : {1e4, 5e5, 1e6, 8e6, 1000042.0, 11158839.92507748, 2.0, 0.5}) {
    for (const int rotary_dim : {2, 20, 64, 128, 512}) {
      const auto inv_freq = inv_freq_default(rope_theta, rotary_dim);
      const auto scaled = inv_freq_linear(rope_theta, rotary_dim, 2.5);
      for (int i = 0; i < rotary_dim / 2; i += i < 4 ? 1 : 13) {
        const Real expected = exact_inv_freq(rope_theta, rotary_dim, i);
        const auto pair = static_cast<std::size_t>(i);
        worst = std::max({worst, relative_error(inv_freq[pair], expected),
                          relative_error(scaled[pair], expected / Real(2.5))});
      }
    }
  }
  CAPTURE(worst);
  REQUIRE(worst <= 1e-28);
}

TEST_CASE("the phase of every pair is good to 1e-15 rad up to position 2^31, scaled or not") {
  double worst = 0;
  for (const double factor : {1.0, 2.5, 3.0, 8.0}) {
    const RopeRule rule{RopeType::linear, 5e5, factor};
    const RopeTable table = make_rope_table(rule, 64, PairLayout::half_split);
    std::vector<CosSin> row(32);
    for (const std::int64_t position :
         {std::int64_t{0}, std::int64_t{1}, std::int64_t{4095}, std::int64_t{131071},
          (std::int64_t{1} << 24) + 1, std::int64_t{987654321}, -kTwoTo31, kTwoTo31}) {
      cos_sin_row(table, position, row);
      for (int i = 0; i < 32; ++i) {
        const Real angle = position * exact_inv_freq(5e5, 64, i) / Real(factor);
        worst = std::max(worst, phase_error(row[static_cast<std::size_t>(i)], angle));
      }
    }
  }
  CAPTURE(worst);
  REQUIRE(worst <= 1e-15);
}

TEST_CASE("a row of phases has the bits of its pairs taken alone, for any number of pairs") {
  for (const int rotary_dim : {2, 6, 14, 22, 64, 128}) {
    const RopeTable table = make_rope_table({}, rotary_dim, PairLayout::half_split);
    std::vector<CosSin> row(table.inv_freq.size());
    cos_sin_row(table, 123456789, row);
    for (std::size_t i = 0; i < row.size(); ++i) {
      const CosSin alone = cos_sin(123456789, table.inv_freq[i]);
      REQUIRE(row[i].cos == alone.cos);
      REQUIRE(row[i].sin == alone.sin);
    }
  }
}

TEST_CASE("a rotation is the matrix of the paper on consecutive pairs") {
  // R = diag of [[cos, -sin], [sin, cos]]: RoFormer Eq. (15), in multi-precision.
  const RopeTable table = make_rope_table({}, 8, PairLayout::interleaved);
  std::vector<double> in(8);
  std::iota(in.begin(), in.end(), -2.5);
  const std::int64_t position = 54321;
  const auto out = rotate(table, position, in);
  for (std::size_t i = 0; i < 4; ++i) {
    const Real angle = position * exact_inv_freq(1e4, 8, static_cast<int>(i));
    const Real a(in[2 * i]);
    const Real b(in[2 * i + 1]);
    REQUIRE(static_cast<double>(abs(cos(angle) * a - sin(angle) * b - out[2 * i])) <= 2e-15);
    REQUIRE(static_cast<double>(abs(sin(angle) * a + cos(angle) * b - out[2 * i + 1])) <= 2e-15);
  }
}

TEST_CASE("a pair is half a width apart or side by side") {
  REQUIRE(pair_channels(PairLayout::half_split, 3, 16, 0) == std::pair(3, 11));
  REQUIRE(pair_channels(PairLayout::interleaved, 3, 16, 0) == std::pair(6, 7));
  REQUIRE(pair_channels(PairLayout::half_split, 3, 16, 5) == std::pair(8, 16));
  REQUIRE(pair_channels(PairLayout::interleaved, 3, 16, 5) == std::pair(11, 12));
  REQUIRE(to_string(PairLayout::half_split) == "half");
  REQUIRE(to_string(PairLayout::interleaved) == "inter");
  REQUIRE(to_string(RopeType::default_) == "default");
  REQUIRE(to_string(RopeType::linear) == "linear");
}

TEST_CASE("rotation by position 0 is the identity") {
  REQUIRE(holds("R(0) = 1", [] {
    const RopeTable table = draw_table();
    const auto row = draw_row(table);
    RC_ASSERT(rotate(table, 0, row) == row);
  }));
}

TEST_CASE("rotations add: R(a) R(b) = R(a + b)") {
  REQUIRE(holds("R(a) R(b) = R(a + b)", [] {
    const RopeTable table = draw_table();
    const auto row = draw_row(table);
    const auto a = draw_position();
    const auto b = draw_position();
    RC_ASSERT(max_difference(rotate(table, a, rotate(table, b, row)), rotate(table, a + b, row)) <=
              4e-15);
  }));
}

TEST_CASE("a score depends on the difference of the positions alone") {
  REQUIRE(holds("<R(m+c)q, R(n+c)k> = <R(m)q, R(n)k>", [] {
    const RopeTable table = draw_table();
    const auto query = draw_row(table);
    const auto key = query;
    const auto m = draw_position();
    const auto n = draw_position();
    const auto c = draw_position();
    const auto score = [&](std::int64_t shift) {
      const auto q = rotate(table, m + shift, query);
      const auto k = rotate(table, n + shift, key);
      return std::inner_product(q.begin(), q.end(), k.begin(), 0.0);
    };
    RC_ASSERT(std::fabs(score(c) - score(0)) <= 1e-14 * static_cast<double>(query.size()));
  }));
}

TEST_CASE("a rotation keeps the norm of every pair, times the magnitude") {
  REQUIRE(holds("|R(p) (a, b)| = m |(a, b)|", [] {
    const RopeTable table = draw_table();
    const auto in = draw_row(table);
    const double magnitude = *rc::gen::element(1.0, 1.25, 0.5);
    const auto out = rotate(table, draw_position(), in, false, magnitude);
    for (int i = 0; i < table.num_pairs(); ++i) {
      const auto [first, second] =
          pair_channels(table.layout_in, i, table.rotary_dim, table.rotary_offset);
      const auto f = static_cast<std::size_t>(first);
      const auto s = static_cast<std::size_t>(second);
      RC_ASSERT(std::fabs(std::hypot(out[f], out[s]) - magnitude * std::hypot(in[f], in[s])) <=
                1e-15);
    }
  }));
}

TEST_CASE("the inverse undoes a rotation and is the rotation by the opposite position") {
  REQUIRE(holds("R(p)^-1 = R(-p)", [] {
    const RopeTable table = draw_table();
    const auto row = draw_row(table);
    const auto position = draw_position();
    RC_ASSERT(max_difference(rotate(table, position, rotate(table, position, row), true), row) <=
              2e-15);
    RC_ASSERT(rotate(table, position, row, true) == rotate(table, -position, row));
  }));
}

TEST_CASE("channels outside the rotary window are copied bit for bit") {
  REQUIRE(holds("outside channels", [] {
    const RopeTable table = draw_table();
    auto in = draw_row(table);
    if (table.rotary_offset > 0) in[0] = -0.0;
    const auto out = rotate(table, draw_position(), in, false, 3.0);
    for (std::size_t d = 0; d < in.size(); ++d) {
      const auto channel = static_cast<int>(d);
      const bool inside =
          channel >= table.rotary_offset && channel < table.rotary_offset + table.rotary_dim;
      if (inside) continue;
      RC_ASSERT(out[d] == in[d]);
      RC_ASSERT(std::signbit(out[d]) == std::signbit(in[d]));
    }
  }));
}

TEST_CASE("the layouts are channel permutations of each other") {
  REQUIRE(holds("inter(P x) = P half(x)", [] {
    RopeTable half = draw_table();
    half.layout_in = half.layout_out = PairLayout::half_split;
    RopeTable inter = half;
    inter.layout_in = inter.layout_out = PairLayout::interleaved;
    const auto permute = [&](std::vector<double> row) {
      const auto source = row;
      for (int i = 0; i < half.num_pairs(); ++i) {
        const auto begin = static_cast<std::size_t>(half.rotary_offset);
        const auto pair = static_cast<std::size_t>(i);
        const auto width = static_cast<std::size_t>(half.rotary_dim / 2);
        row[begin + 2 * pair] = source[begin + pair];
        row[begin + 2 * pair + 1] = source[begin + pair + width];
      }
      return row;
    };
    const auto row = draw_row(half);
    const auto position = draw_position();
    RC_ASSERT(rotate(inter, position, permute(row)) == permute(rotate(half, position, row)));
    RopeTable mixed = half;
    mixed.layout_out = PairLayout::interleaved;
    RC_ASSERT(rotate(mixed, position, row) == permute(rotate(half, position, row)));
  }));
}

TEST_CASE("a rotation in place gives the bits of one from place to place") {
  REQUIRE(holds("in place", [] {
    RopeTable table = draw_table();
    table.layout_out = *rc::gen::element(kLayouts[0], kLayouts[1]);
    auto row = draw_row(table);
    const auto expected = rotate(table, 777, row);
    std::vector<CosSin> cos_sin(table.inv_freq.size());
    cos_sin_row(table, 777, cos_sin);
    rotate_row(table, cos_sin, 1, false, row, row);
    RC_ASSERT(row == expected);
  }));
}

TEST_CASE("linear scaling by s at position s p is the default rule at p") {
  REQUIRE(holds("linear(s) at s p = default at p", [] {
    const RopeTable plain = draw_table();
    const int factor = *rc::gen::inRange(1, 9);
    RopeTable scaled = plain;
    for (auto& w : scaled.inv_freq) w = w / DoubleDouble{static_cast<double>(factor), 0};
    const auto row = draw_row(plain);
    const auto position = *rc::gen::inRange<std::int64_t>(0, kTwoTo31);
    RC_ASSERT(max_difference(rotate(scaled, position * factor, row),
                             rotate(plain, position, row)) <= 2e-15);
  }));
  const auto scaled = inv_freq_linear(1e4, 64, 4);
  const auto plain = inv_freq_default(1e4, 64);
  for (std::size_t i = 0; i < plain.size(); ++i) REQUIRE(scaled[i].hi == plain[i].hi / 4);
}

TEST_CASE("no rotated channel is a rule too: the row is copied") {
  const RopeTable table = make_rope_table({}, 0, PairLayout::half_split);
  REQUIRE(table.num_pairs() == 0);
  REQUIRE(rotate(table, 99, {1, 2, 3}) == std::vector<double>{1, 2, 3});
}

TEST_CASE("a wrong parameter of a rule is named with its value") {
  using Catch::Contains;
  const auto make = [](double rope_theta, int rotary_dim, double factor) {
    return make_rope_table({RopeType::linear, rope_theta, factor}, rotary_dim,
                           PairLayout::half_split);
  };
  REQUIRE_THROWS_WITH(make(0, 64, 1), Contains("rope_theta") && Contains("got 0"));
  REQUIRE_THROWS_WITH(make(std::nan(""), 64, 1), Contains("rope_theta"));
  REQUIRE_THROWS_WITH(make(1e4, 63, 1), Contains("rotary_dim") && Contains("63"));
  REQUIRE_THROWS_WITH(make(1e4, -2, 1), Contains("rotary_dim") && Contains("-2"));
  REQUIRE_THROWS_WITH(make(1e4, 64, -4), Contains("factor") && Contains("-4"));
  REQUIRE_THROWS_AS(make(1e4, 64, 0), Error);
}

}  // namespace
}  // namespace ropecheck
