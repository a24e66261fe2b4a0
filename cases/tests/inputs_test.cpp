// SPDX-License-Identifier: Apache-2.0
#include "cases/inputs.hpp"

#include "cases/random.hpp"
#include "cases/resolve.hpp"
#include "harness/tests/catch.hpp"
#include "reference/error.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <vector>

namespace ropecheck {
namespace {

ValueSpec make_spec(InputKind kind, FloatFormat storage = FloatFormat::f64) {
  ValueSpec spec;
  spec.kind = kind;
  spec.storage = storage;
  spec.seed = 5;
  spec.shape = {.num_q_heads = 4, .num_kv_heads = 2, .head_dim = 64, .v_head_dim = 32};
  return spec;
}

std::vector<double> row_of(const ValueSpec& spec, TensorRole role, ContentId content,
                           int head = 0) {
  const int width = role == TensorRole::value ? spec.shape.v_head_dim : spec.shape.head_dim;
  std::vector<double> out(static_cast<std::size_t>(width));
  GeneratedValues(spec).row(role, content, head, out);
  return out;
}

std::vector<double> garbage_of(Garbage garbage, const ValueSpec& spec, std::uint64_t cell) {
  std::vector<double> out(64);
  garbage_row(garbage, spec, TensorRole::key, cell, 0, out);
  return out;
}

std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }

TEST_CASE("a number of a token has pinned bits") {
  CHECK(bits(normal_value(0, 0, TensorRole::query, 0, 0)) == 0x3ff133fa8ef5be55u);
  CHECK(bits(normal_value(1, token_content(0, 0), TensorRole::query, 0, 0)) == 0xbfc89d88a3e497f0u);
  CHECK(bits(normal_value(1, token_content(3, 17), TensorRole::key, 2, 5)) == 0xbfc3ab61a3cfbd34u);
  CHECK(bits(normal_value(0xfedcba9876543210, token_content(1, 1000), TensorRole::value, 7, 127)) ==
        0xbff34cf6343a29bdu);
}

TEST_CASE("the number of seed 0 follows from the known answer of philox") {
  // 6627e8d5 + e169c58d + bc57ac4c + 9b00dbd8 is the sum; its mean is 2 (2^32 - 1).
  const double sum = 1713891541.0 + 3781805453.0 + 3159862348.0 + 2600524760.0;
  const double expected = (sum - 2 * 4294967295.0) * (1.7320508075688772 / 4294967296.0);
  CHECK(normal_value(0, 0, TensorRole::query, 0, 0) == expected);
}

TEST_CASE("a row holds the numbers of its channels, whatever its width") {
  ValueSpec spec = make_spec(InputKind::normal);
  for (const int width : {1, 31, 32, 33, 80}) {
    spec.shape.head_dim = width;
    const auto row = row_of(spec, TensorRole::query, token_content(4, 9), 3);
    for (int c = 0; c < width; ++c) {
      CHECK(row[static_cast<std::size_t>(c)] ==
            normal_value(spec.seed, token_content(4, 9), TensorRole::query, 3, c));
    }
  }
}

TEST_CASE("numbers have mean 0, variance 1 and no tail beyond 2 sqrt(3)") {
  constexpr int kDraws = 20000;
  double sum = 0, squares = 0, most = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = normal_value(9, token_content(0, i / 64), TensorRole::key, 0, i % 64);
    sum += x;
    squares += x * x;
    most = std::max(most, std::fabs(x));
  }
  CHECK(std::fabs(sum / kDraws) < 4 / std::sqrt(kDraws));
  CHECK(std::fabs(squares / kDraws - 1) < 4 * std::sqrt(1.7 / kDraws));
  CHECK(most <= 2 * std::sqrt(3.0));
  CHECK(most > 2.9);
}

TEST_CASE("every coordinate of a number changes it") {
  const ContentId content = token_content(0, 1);
  const double base = normal_value(1, content, TensorRole::key, 0, 0);
  CHECK(base != normal_value(2, content, TensorRole::key, 0, 0));
  CHECK(base != normal_value(std::uint64_t{1} << 32 | 1, content, TensorRole::key, 0, 0));
  CHECK(base != normal_value(1, token_content(0, 2), TensorRole::key, 0, 0));
  CHECK(base != normal_value(1, token_content(1, 1), TensorRole::key, 0, 0));
  CHECK(base != normal_value(1, content, TensorRole::query, 0, 0));
  CHECK(base != normal_value(1, content, TensorRole::key, 1, 0));
  CHECK(base != normal_value(1, content, TensorRole::key, 0, 1));
}

TEST_CASE("every number is a number of its storage format") {
  for (const auto storage : {FloatFormat::f32, FloatFormat::f16, FloatFormat::bf16}) {
    for (const auto kind : {InputKind::normal, InputKind::mean, InputKind::ramp, InputKind::one_hot,
                            InputKind::peaked, InputKind::outlier, InputKind::tied}) {
      const ValueSpec spec = make_spec(kind, storage);
      for (const auto role : {TensorRole::query, TensorRole::key, TensorRole::value}) {
        for (const double x : row_of(spec, role, token_content(1, 200))) {
          REQUIRE(x == round_to(storage, x));
        }
      }
    }
  }
}

TEST_CASE("every kind but one-hot values keeps a random part in every tensor") {
  for (const auto kind : {InputKind::normal, InputKind::mean, InputKind::ramp, InputKind::peaked,
                          InputKind::outlier, InputKind::tied}) {
    for (const auto role : {TensorRole::query, TensorRole::key, TensorRole::value}) {
      const auto row = row_of(make_spec(kind), role, token_content(0, 3));
      CHECK(std::adjacent_find(row.begin(), row.end()) == row.end());
      CHECK(row != row_of(make_spec(kind), role, token_content(0, 3), 1));
    }
  }
}

TEST_CASE("one-hot values name the token") {
  for (const std::int64_t ordinal : {0, 5, 31, 32, 70}) {
    const auto row =
        row_of(make_spec(InputKind::one_hot), TensorRole::value, token_content(2, ordinal));
    for (std::size_t c = 0; c < row.size(); ++c) {
      CHECK(row[c] == (static_cast<std::int64_t>(c) == ordinal % 32 ? 1.0 : 0.0));
    }
  }
}

TEST_CASE("ramp values rise by an eighth from token to token, mean values stay around one") {
  const auto average = [](InputKind kind, std::int64_t ordinal) {
    const auto row = row_of(make_spec(kind), TensorRole::value, token_content(0, ordinal));
    return std::accumulate(row.begin(), row.end(), 0.0) / static_cast<double>(row.size());
  };
  CHECK(average(InputKind::ramp, 16) == Approx(0).margin(0.05));
  CHECK(average(InputKind::ramp, 0) == Approx(-2).margin(0.05));
  CHECK(average(InputKind::ramp, 416) == Approx(50).margin(0.05));
  CHECK(average(InputKind::mean, 3) == Approx(1).margin(0.2));
}

TEST_CASE("peaked queries are four times the normal ones, and nothing else changes") {
  const ContentId content = token_content(0, 4);
  auto normal = row_of(make_spec(InputKind::normal), TensorRole::query, content);
  for (double& x : normal) x *= 4;
  CHECK(row_of(make_spec(InputKind::peaked), TensorRole::query, content) == normal);
  CHECK(row_of(make_spec(InputKind::peaked), TensorRole::key, content) ==
        row_of(make_spec(InputKind::normal), TensorRole::key, content));
}

TEST_CASE("outliers are the same three channels of query and key, and scores stay moderate") {
  const auto loud = [](TensorRole role, double factor, std::int64_t ordinal) {
    const auto normal = row_of(make_spec(InputKind::normal), role, token_content(0, ordinal));
    const auto outlier = row_of(make_spec(InputKind::outlier), role, token_content(0, ordinal));
    std::vector<std::size_t> channels;
    for (std::size_t c = 0; c < normal.size(); ++c) {
      if (outlier[c] == normal[c]) continue;
      CHECK(outlier[c] == normal[c] * factor);
      channels.push_back(c);
    }
    return channels;
  };
  const auto channels = loud(TensorRole::key, 12, 1);
  CHECK(channels.size() == 3);
  CHECK(loud(TensorRole::key, 12, 2) == channels);
  CHECK(loud(TensorRole::query, 1.5, 3) == channels);

  double squares = 0;
  constexpr int kPairs = 600;
  for (int i = 0; i < kPairs; ++i) {
    const auto q = row_of(make_spec(InputKind::outlier), TensorRole::query, token_content(0, i));
    const auto k = row_of(make_spec(InputKind::outlier), TensorRole::key, token_content(1, i));
    const double score = std::inner_product(q.begin(), q.end(), k.begin(), 0.0) / 8;
    squares += score * score;
  }
  CHECK(std::sqrt(squares / kPairs) < 4.8);
  CHECK(std::sqrt(squares / kPairs) > 3.2);
}

TEST_CASE("outliers fit a head of fewer channels than there are outliers") {
  ValueSpec spec = make_spec(InputKind::outlier);
  spec.shape.head_dim = 2;
  CHECK(row_of(spec, TensorRole::key, token_content(0, 0)).size() == 2);
}

TEST_CASE("tied values are the keys, and a channel permutation of keys leaves them alone") {
  ValueSpec spec = make_spec(InputKind::tied);
  const ContentId content = token_content(1, 9);
  auto key = row_of(spec, TensorRole::key, content, 1);
  const auto value = row_of(spec, TensorRole::value, content, 1);
  key.resize(value.size());
  CHECK(value == key);

  for (int c = 0; c < 64; ++c) spec.channel_source.push_back(63 - c);
  CHECK(row_of(spec, TensorRole::value, content, 1) == value);

  spec.shape.v_head_dim = 96;  // wider than a key: the rest is drawn
  const auto wide = row_of(spec, TensorRole::value, content, 1);
  CHECK(std::equal(value.begin(), value.end(), wide.begin()));
  CHECK(std::count(wide.begin(), wide.end(), 0.0) == 0);
}

TEST_CASE("source lists redirect heads and channels, outliers included") {
  for (const auto kind : {InputKind::normal, InputKind::outlier}) {
    const ValueSpec plain = make_spec(kind);
    ValueSpec spec = plain;
    spec.q_head_source = {2, 3, 0, 1};
    spec.kv_head_source = {1, 0};
    for (int c = 0; c < 64; ++c) spec.channel_source.push_back((c + 7) % 64);
    const ContentId content = token_content(0, 2);
    const auto moved = [](std::vector<double> row) {
      std::rotate(row.begin(), row.begin() + 7, row.end());
      return row;
    };
    CHECK(row_of(spec, TensorRole::query, content, 1) ==
          moved(row_of(plain, TensorRole::query, content, 3)));
    CHECK(row_of(spec, TensorRole::key, content, 0) ==
          moved(row_of(plain, TensorRole::key, content, 1)));
    CHECK(row_of(spec, TensorRole::value, content, 0) ==
          row_of(plain, TensorRole::value, content, 1));
  }
}

TEST_CASE("a source list of another length than its axis is refused") {
  ValueSpec spec = make_spec(InputKind::normal);
  spec.q_head_source = {0};
  CHECK_THROWS_AS(GeneratedValues(spec), Error);
}

TEST_CASE("values of the two parities add up to the values") {
  for (const auto kind : {InputKind::normal, InputKind::ramp, InputKind::one_hot}) {
    ValueSpec even = make_spec(kind), odd = make_spec(kind);
    even.value_parity = 0;
    odd.value_parity = 1;
    const std::vector<double> zeros(32, 0.0);
    for (const std::int64_t ordinal : {6, 7}) {
      const ContentId content = token_content(0, ordinal);
      const auto all = row_of(make_spec(kind), TensorRole::value, content);
      CHECK(row_of(even, TensorRole::value, content) == (ordinal == 6 ? all : zeros));
      CHECK(row_of(odd, TensorRole::value, content) == (ordinal == 7 ? all : zeros));
      CHECK(row_of(odd, TensorRole::key, content) ==
            row_of(make_spec(kind), TensorRole::key, content));
    }
  }
}

TEST_CASE("a neighbour salt changes every sequence but the first") {
  const ValueSpec plain = make_spec(InputKind::normal);
  ValueSpec salted = plain, other = plain;
  salted.neighbour_salt = 1;
  other.neighbour_salt = 2;
  for (const auto role : {TensorRole::query, TensorRole::key, TensorRole::value}) {
    CHECK(row_of(salted, role, token_content(0, 3)) == row_of(plain, role, token_content(0, 3)));
    CHECK(row_of(salted, role, token_content(1, 3)) != row_of(plain, role, token_content(1, 3)));
    CHECK(row_of(salted, role, token_content(1, 3)) != row_of(other, role, token_content(1, 3)));
  }
}

TEST_CASE("garbage is what its name says, in every storage format") {
  for (const auto storage : {FloatFormat::f32, FloatFormat::f16, FloatFormat::bf16}) {
    const ValueSpec spec = make_spec(InputKind::normal, storage);
    for (const double x : garbage_of(Garbage::zeros, spec, 1)) CHECK(bits(x) == 0);
    for (const double x : garbage_of(Garbage::nan, spec, 1)) CHECK(std::isnan(x));
    for (const double x : garbage_of(Garbage::inf, spec, 1)) CHECK(std::isinf(x));
    for (const double x : garbage_of(Garbage::huge, spec, 1)) {
      CHECK(std::isfinite(x));
      CHECK(std::fabs(x) > 5e4);
    }
    for (const double x : garbage_of(Garbage::noise, spec, 1)) CHECK(x == round_to(storage, x));
  }
}

TEST_CASE("noise differs from cell to cell and from every token") {
  const ValueSpec spec = make_spec(InputKind::normal);
  CHECK(garbage_of(Garbage::noise, spec, 1) != garbage_of(Garbage::noise, spec, 2));
  CHECK(garbage_of(Garbage::noise, spec, token_content(0, 0)) !=
        row_of(spec, TensorRole::key, token_content(0, 0)));
}

TEST_CASE("garbage of another token is a token's own numbers") {
  const ValueSpec spec = make_spec(InputKind::outlier, FloatFormat::f16);
  const auto garbage = garbage_of(Garbage::other_token, spec, 7);
  CHECK(garbage == row_of(spec, TensorRole::key, token_content(1, 3)));
  CHECK(garbage != garbage_of(Garbage::other_token, spec, 8));
}

}  // namespace
}  // namespace ropecheck
