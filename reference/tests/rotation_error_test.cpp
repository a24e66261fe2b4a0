// SPDX-License-Identifier: Apache-2.0
#include "reference/rotation_error.hpp"

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "harness/tests/catch.hpp"

namespace ropecheck {
namespace {

constexpr double kUnit = 0x1p-24;
constexpr TensorRole kQuery = TensorRole::query;

double squared(double x) { return x * x; }

/// Float32 numbers in (-1, 1) that follow from the arguments alone.
class HashedValues : public Values {
 public:
  void row(TensorRole role, ContentId content, int head, std::span<double> out) const override {
    std::mt19937_64 bits(content * 64 + static_cast<std::uint64_t>(head) * 4 +
                         static_cast<std::uint64_t>(role));
    for (double& value : out) {
      value = static_cast<float>(static_cast<double>(bits() >> 11) * 0x1p-52 - 1);
    }
  }

  std::vector<double> head_row(TensorRole role, ContentId content, int head, int width) const {
    std::vector<double> out(static_cast<std::size_t>(width));
    row(role, content, head, out);
    return out;
  }
};

Profile float32_profile() {
  Profile profile;
  profile.phase = profile.table = profile.rotated = profile.sum = kUnit;
  return profile;
}

/// One table, two query heads, one key head.
Problem small_problem(int rotary_dim = 8, int rotary_offset = 0, int head_dim = 8) {
  Problem problem;
  problem.shape = {2, 1, head_dim, head_dim};
  problem.tables = {make_rope_table({}, rotary_dim, PairLayout::half_split)};
  problem.tables[0].rotary_offset = rotary_offset;
  return problem;
}

struct Row {
  std::vector<double> values;
  std::vector<double> variances;
};

Row query_row(const Problem& problem, const Profile& profile, const QueryRow& query) {
  const auto size = static_cast<std::size_t>(problem.shape.num_q_heads * problem.shape.head_dim);
  Row row{std::vector<double>(size), std::vector<double>(size, -1)};
  rotate_query(problem, HashedValues(), profile, query, row.values, row.variances);
  return row;
}

Row key_row(Problem problem, const Profile& profile, const std::vector<Rotation>& rotations,
            bool cached = false) {
  const auto size = static_cast<std::size_t>(problem.shape.num_kv_heads * problem.shape.head_dim);
  problem.rotations = rotations;
  const KeyRow key{5, 0, static_cast<std::uint32_t>(rotations.size())};
  Row row{std::vector<double>(size), std::vector<double>(size, -1)};
  rotate_key(problem, HashedValues(), profile, key, cached, row.values, row.variances);
  return row;
}

QueryRow query_at(std::int64_t coordinate) {
  QueryRow query;
  query.content = 5;
  query.rotation.coordinate = coordinate;
  return query;
}

TEST_CASE("the variance of a rotated query is the formula, head by head") {
  const Problem problem = small_problem();
  const Profile profile{.name = "p",
                        .phase = 3e-2,
                        .table = 1e-3,
                        .scaled_query = 5e-3,
                        .rotated = 2e-3,
                        .sum = 1e-4};
  const std::int64_t coordinate = 9;
  const Row row = query_row(problem, profile, query_at(coordinate));
  for (int head = 0; head < 2; ++head) {
    const auto in = HashedValues().head_row(kQuery, 5, head, 8);
    for (std::size_t i = 0; i < 4; ++i) {
      const double inv_freq = std::pow(1e4, -2.0 * static_cast<double>(i) / 8);
      const double phi = static_cast<double>(coordinate) * inv_freq;
      const double a = in[i], b = in[i + 4];
      const double f = a * std::cos(phi) - b * std::sin(phi);
      const double g = b * std::cos(phi) + a * std::sin(phi);
      const double pair = (a * a + b * b) * (3 * squared(1e-4) + squared(1e-3) / 3);
      const double store = (squared(2e-3) + squared(5e-3)) / 3 + 0.75 * std::pow(phi * 3e-2, 4);
      const std::size_t at = static_cast<std::size_t>(head) * 8 + i;
      REQUIRE(row.values[at] == Approx(f).margin(1e-14));
      REQUIRE(row.values[at + 4] == Approx(g).margin(1e-14));
      REQUIRE(row.variances[at] == Approx(g * g * squared(phi * 3e-2) + pair + f * f * store));
      REQUIRE(row.variances[at + 4] == Approx(f * f * squared(phi * 3e-2) + pair + g * g * store));
    }
  }
}

TEST_CASE("an angle by recurrence is less sure at every further pair") {
  Profile profile;
  profile.phase = 1e-6;
  const Row direct = query_row(small_problem(), profile, query_at(3));
  profile.phase_recurrence = true;
  const Row recurrence = query_row(small_problem(), profile, query_at(3));
  for (std::size_t i = 0; i < 4; ++i) {
    REQUIRE(recurrence.variances[i] == Approx(direct.variances[i] * static_cast<double>(i + 1)));
  }
}

TEST_CASE("a rotation by coordinate 0 still multiplies, adds and rounds") {
  const Problem problem = small_problem();
  const Row row = key_row(problem, float32_profile(), {Rotation{}});
  const auto in = HashedValues().head_row(TensorRole::key, 5, 0, 8);
  REQUIRE(row.values == in);
  for (std::size_t i = 0; i < 4; ++i) {
    const double norm = squared(in[i]) + squared(in[i + 4]);
    const double expected = squared(kUnit) * (norm * (3 + 1.0 / 3) + squared(in[i]) / 3);
    REQUIRE(row.variances[i] == Approx(expected));
  }
}

TEST_CASE("channels outside the rotary window are exact, unless something else rounds them") {
  const Problem problem = small_problem(4, 2, 8);
  Profile profile = float32_profile();
  const QueryRow query = query_at(100);
  const Row row = query_row(problem, profile, query);
  for (std::size_t d = 0; d < 8; ++d) {
    CAPTURE(d);
    const bool inside = d >= 2 && d < 6;
    REQUIRE((row.variances[d] > 0) == inside);
  }
  profile.scaled_query = kUnit;
  const Row scaled = query_row(problem, profile, query);
  const double rounding = squared(kUnit) / 3;
  REQUIRE(scaled.variances[7] == Approx(squared(row.values[7]) * rounding));

  profile.cache_k = 2 * kUnit;
  const Row fresh = key_row(problem, profile, {Rotation{0, 100}}, false);
  const Row cached = key_row(problem, profile, {Rotation{0, 100}}, true);
  for (std::size_t d = 0; d < 8; ++d) {
    REQUIRE(cached.values[d] == fresh.values[d]);
    REQUIRE(cached.variances[d] - fresh.variances[d] ==
            Approx(squared(fresh.values[d]) * 4 * rounding));
  }
}

TEST_CASE("a key without a rotation is as it was given, and exact") {
  const Row row = key_row(small_problem(), float32_profile(), {});
  REQUIRE(row.values == HashedValues().head_row(TensorRole::key, 5, 0, 8));
  REQUIRE(row.variances == std::vector<double>(8, 0.0));
}

TEST_CASE("a chain of rotations gives the value of their sum, and more variance") {
  const Problem problem = small_problem();
  const Profile profile = float32_profile();
  const Row once = key_row(problem, profile, {Rotation{0, 60}});
  const Row chain = key_row(problem, profile, {Rotation{0, 100}, Rotation{0, 40, 1, true}});
  const Row negative = key_row(problem, profile, {Rotation{0, 100}, Rotation{0, -40}});
  double sum_once = 0, sum_chain = 0;
  for (std::size_t d = 0; d < 8; ++d) {
    REQUIRE(chain.values[d] == Approx(once.values[d]).margin(1e-15));
    REQUIRE(negative.values[d] == chain.values[d]);
    REQUIRE(negative.variances[d] == Approx(chain.variances[d]));
    sum_once += once.variances[d];
    sum_chain += chain.variances[d];
  }
  REQUIRE(sum_chain > sum_once);
}

TEST_CASE("phase errors of a chain add up as one error of the final pair") {
  Profile profile;
  profile.phase = 1e-6;
  const Row chain = key_row(small_problem(), profile, {Rotation{0, 7}, Rotation{0, -3}});
  for (std::size_t i = 0; i < 4; ++i) {
    const double inv_freq = std::pow(1e4, -2.0 * static_cast<double>(i) / 8);
    const double phase = (squared(7 * inv_freq) + squared(3 * inv_freq)) * 1e-12;
    REQUIRE(chain.variances[i] == Approx(squared(chain.values[i + 4]) * phase));
    REQUIRE(chain.variances[i + 4] == Approx(squared(chain.values[i]) * phase));
  }
}

TEST_CASE("a second rotation turns the rounding of the first") {
  Profile profile;
  profile.rotated = 1e-3;
  const Row first = key_row(small_problem(), profile, {Rotation{0, 2}});
  const Row chain = key_row(small_problem(), profile, {Rotation{0, 2}, Rotation{0, 3}});
  for (std::size_t i = 0; i < 4; ++i) {
    const double phi = 3 * std::pow(1e4, -2.0 * static_cast<double>(i) / 8);
    const double c = squared(std::cos(phi)), s = squared(std::sin(phi));
    const double own = squared(1e-3) / 3;
    REQUIRE(chain.variances[i] == Approx(c * first.variances[i] + s * first.variances[i + 4] +
                                         squared(chain.values[i]) * own));
    REQUIRE(chain.variances[i + 4] == Approx(s * first.variances[i] + c * first.variances[i + 4] +
                                             squared(chain.values[i + 4]) * own));
  }
}

TEST_CASE("the magnitude scales value and deviation as often as it is applied") {
  Problem problem = small_problem();
  const Row plain = key_row(problem, float32_profile(), {Rotation{0, 50}});
  problem.tables[0].magnitude_k = 2;
  problem.tables[0].magnitude_q = 4;
  for (const int power : {0, 1, 2}) {
    const Row scaled = key_row(problem, float32_profile(), {Rotation{0, 50, power}});
    const double gain = std::pow(2.0, power);
    for (std::size_t d = 0; d < 8; ++d) {
      REQUIRE(scaled.values[d] == gain * plain.values[d]);
      REQUIRE(scaled.variances[d] == Approx(gain * gain * plain.variances[d]));
    }
  }
  const Row query = query_row(problem, float32_profile(), query_at(50));
  const Row unscaled = query_row(small_problem(), float32_profile(), query_at(50));
  REQUIRE(query.values[3] == 4 * unscaled.values[3]);
}

TEST_CASE("a temperature scales the rotated query, and is one rounding more") {
  const Problem problem = small_problem(4, 0, 8);
  QueryRow query = query_at(50);
  const Row plain = query_row(problem, float32_profile(), query);
  query.temperature = 1.5;
  const Row scaled = query_row(problem, float32_profile(), query);
  for (std::size_t d = 0; d < 16; ++d) {
    REQUIRE(scaled.values[d] == 1.5 * plain.values[d]);
    REQUIRE(scaled.variances[d] ==
            Approx(2.25 * plain.variances[d] + squared(scaled.values[d] * kUnit) / 3));
  }
}

TEST_CASE("a chain through another layout ends where the direct rotation does") {
  Problem problem = small_problem(8, 0, 8);
  problem.tables.push_back(problem.tables[0]);
  problem.tables[0].layout_out = PairLayout::interleaved;
  problem.tables[1].layout_in = PairLayout::interleaved;
  const Row there_and_back =
      key_row(problem, float32_profile(), {Rotation{0, 30}, Rotation{1, 12}});
  const Row same_layout =
      key_row(small_problem(), float32_profile(), {Rotation{0, 30}, Rotation{0, 12}});
  for (std::size_t d = 0; d < 8; ++d) {
    REQUIRE(there_and_back.values[d] == same_layout.values[d]);
    REQUIRE(there_and_back.variances[d] == Approx(same_layout.variances[d]));
  }
}

TEST_CASE("rows without variances have the same values") {
  const Problem problem = small_problem();
  const Row with = query_row(problem, float32_profile(), query_at(77));
  std::vector<double> without(16);
  rotate_query(problem, HashedValues(), float32_profile(), query_at(77), without, {});
  REQUIRE(without == with.values);
}

/// RoPE in float32 as kernels write it: angle, cos and sin, rotation, all in float.
std::vector<float> rotate_in_float(const std::vector<double>& in, std::int64_t position) {
  const std::size_t half = in.size() / 2;
  std::vector<float> out(in.size());
  for (std::size_t i = 0; i < half; ++i) {
    const auto inv_freq =
        static_cast<float>(std::pow(1e4, -static_cast<double>(i) / static_cast<double>(half)));
    const float angle = static_cast<float>(position) * inv_freq;
    const auto a = static_cast<float>(in[i]);
    const auto b = static_cast<float>(in[i + half]);
    out[i] = a * std::cos(angle) - b * std::sin(angle);
    out[i + half] = b * std::cos(angle) + a * std::sin(angle);
  }
  return out;
}

/// Largest and root mean square z of float32 rotations at `position`, off by `position_error`.
std::pair<double, double> score_float_rotations(std::int64_t position, int position_error) {
  constexpr int kHeadDim = 128;
  const Problem problem = small_problem(kHeadDim, 0, kHeadDim);
  double worst = 0, sum = 0;
  int count = 0;
  for (ContentId content = 0; content < 40; ++content) {
    QueryRow query = query_at(position + static_cast<std::int64_t>(content));
    query.content = content;
    const Row row = query_row(problem, float32_profile(), query);
    for (int head = 0; head < 2; ++head) {
      const auto actual = rotate_in_float(HashedValues().head_row(kQuery, content, head, kHeadDim),
                                          query.rotation.coordinate + position_error);
      for (std::size_t d = 0; d < kHeadDim; ++d) {
        const std::size_t at = static_cast<std::size_t>(head) * kHeadDim + d;
        const double z = (actual[d] - row.values[at]) / std::sqrt(row.variances[at]);
        worst = std::max(worst, std::fabs(z));
        sum += z * z;
        ++count;
      }
    }
  }
  return {worst, std::sqrt(sum / count)};
}

TEST_CASE("real float32 rotations stay within the deviation that is foretold") {
  for (const std::int64_t position : {0, 50, 4000, 120000, 1000000, 1 << 24}) {
    CAPTURE(position);
    const auto [worst, rms] = score_float_rotations(position, 0);
    CAPTURE(worst, rms);
    REQUIRE(worst <= 6);
    REQUIRE(rms >= 0.15);
    REQUIRE(rms <= 1.1);
    if (position <= 120000) REQUIRE(score_float_rotations(position, 1).first > 80);
  }
}

}  // namespace
}  // namespace ropecheck
