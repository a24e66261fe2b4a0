// SPDX-License-Identifier: Apache-2.0
#include "reference/solve.hpp"

#include "harness/tests/catch.hpp"
#include "reference/attention_tile.hpp"
#include "reference/error.hpp"
#include "reference/exp_block.hpp"
#include "reference/rotation_error.hpp"
#include "reference/sigma.hpp"
#include "reference/tests/plain_attention.hpp"
#include "reference/tests/random_problem.hpp"

#include <atomic>
#include <limits>
#include <thread>

namespace ropecheck {
namespace {

using namespace ropecheck::testing;

/// Grouped heads by an uneven map, a partial rotation, keys with none, one and two rotations, holes
/// in what queries see, a row that sees nothing, a temperature; two sequences side by side.
Problem mixed_problem() {
  Problem problem =
      empty_problem({.num_q_heads = 5, .num_kv_heads = 2, .head_dim = 12, .v_head_dim = 7});
  problem.kv_head_of = {1, 0, 1, 1, 0};
  problem.tables = {
      make_rope_table({.rope_theta = 500}, 8, PairLayout::interleaved),
      make_rope_table({.type = RopeType::linear, .factor = 4}, 12, PairLayout::half_split)};
  problem.tables[0].rotary_offset = 2;
  problem.tables[0].layout_out = PairLayout::half_split;
  problem.tables[1].magnitude_k = 1.25;
  for (int i = 0; i < 150; ++i) {
    if (i % 3 == 0) add_key(&problem, {});
    if (i % 3 == 1) add_key(&problem, {{.table = 1, .coordinate = i}});
    if (i % 3 == 2) {
      add_key(&problem, {{.table = 0, .coordinate = 7 * i},
                         {.table = 0, .coordinate = 5, .magnitude_power = 0, .inverse = true}});
    }
  }
  for (int i = 0; i < 60; ++i) add_query(&problem, 10 * i, {{0, 30 + i}});
  add_query(&problem, 3, {});
  add_query(&problem, 4, {{0, 1}, {5, 40}, {45, 46}, {90, 150}});
  add_query(&problem, 4, {{149, 150}});
  for (int i = 0; i < 20; ++i) add_query(&problem, i, {{100 + i, 130 + i}});
  problem.queries[3].temperature = 1.5;
  problem.queries[61].rotation.table = 1;
  return problem;
}

Executor thread_executor(int num_threads) {
  return [num_threads](std::size_t count, const std::function<void(std::size_t)>& body) {
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
      for (std::size_t i = next++; i < count; i = next++) body(i);
    };
    std::vector<std::jthread> threads;
    for (int i = 0; i < num_threads; ++i) threads.emplace_back(work);
  };
}

/// Largest relative error of outputs and sigmas against the plain loops, and whether the rows that
/// are ill-conditioned are the same.
struct Distance {
  double output = 0;
  double sigma = 0;
  double lse = 0;
  double lse_sigma = 0;
  bool same_ill_rows = true;
};

Distance distance_to_plain_loops(const Problem& problem, const Values& values,
                                 const Profile& profile, bool exact_query_error) {
  const Answer answer = solve(problem, values, profile, Point::attention_output,
                              {.sigma = true, .exact_query_error = exact_query_error});
  const Profile own = with_own_error(profile);
  Distance worst;
  for (std::size_t i = 0; i < problem.queries.size(); ++i) {
    for (int head = 0; head < problem.shape.num_q_heads; ++head) {
      const PlainRow row = plain_attention_row(problem, values, own, i, head, exact_query_error);
      const auto at = static_cast<std::int64_t>(i);
      if (std::isinf(row.lse)) continue;
      for (std::size_t d = 0; d < row.output.size(); ++d) {
        const auto sigma = static_cast<double>(std::sqrt(row.variance[d]));
        worst.output = std::max(worst.output, std::abs(answer.expected.row(at, head)[d] -
                                                       static_cast<double>(row.output[d])));
        worst.sigma = std::max(worst.sigma, std::abs(answer.sigma.row(at, head)[d] / sigma - 1));
      }
      const auto lse_sigma = static_cast<double>(std::sqrt(row.lse_variance));
      worst.lse =
          std::max(worst.lse, std::abs(*answer.lse.row(at, head) - static_cast<double>(row.lse)));
      worst.lse_sigma =
          std::max(worst.lse_sigma, std::abs(*answer.lse_sigma.row(at, head) / lse_sigma - 1));
      const std::size_t row_index =
          i * static_cast<std::size_t>(problem.shape.num_q_heads) + static_cast<std::size_t>(head);
      worst.same_ill_rows &=
          (answer.ill_conditioned[row_index] != 0) == (row.ill_condition > 0.25L);
    }
  }
  return worst;
}

TEST_CASE("attention equals plain loops in long double") {
  const NormalValues values;
  for (bool exact : {false, true}) {
    const Distance distance =
        distance_to_plain_loops(mixed_problem(), values, find_profile("flash_bf16"), exact);
    CHECK(distance.output < 1e-14 * 4);  // values reach 4
    CHECK(distance.lse < 1e-13);
    CHECK(distance.sigma < 1e-10);
    CHECK(distance.lse_sigma < 1e-10);
    CHECK(distance.same_ill_rows);
  }
}

TEST_CASE("attention does not depend on whether sigma is asked for") {
  const NormalValues values;
  const Problem problem = mixed_problem();
  const Profile& profile = find_profile("strict_f32");
  const Answer with = solve(problem, values, profile, Point::attention_output);
  const Answer without = solve(problem, values, profile, Point::attention_output, {.sigma = false});
  CHECK(without.sigma.values.empty());
  CHECK(without.lse_sigma.values.empty());
  for (std::size_t i = 0; i < with.expected.values.size(); ++i) {
    REQUIRE(std::abs(with.expected.values[i] - without.expected.values[i]) < 4e-15);
  }
}

/// One field of a profile, alone or with what it needs to matter.
struct FieldCase {
  const char* name;
  void (*set)(Profile*);
};

const FieldCase kFields[] = {
    {"none", [](Profile*) {}},
    {"phase", [](Profile* p) { p->phase = 0x1p-12; }},
    {"phase_recurrence",
     [](Profile* p) {
       p->phase = 0x1p-12;
       p->phase_recurrence = true;
     }},
    {"table", [](Profile* p) { p->table = 0x1p-8; }},
    {"scaled_query", [](Profile* p) { p->scaled_query = 0x1p-8; }},
    {"rotated", [](Profile* p) { p->rotated = 0x1p-8; }},
    {"logits", [](Profile* p) { p->logits = 0x1p-8; }},
    {"special", [](Profile* p) { p->special = 0x1p-8; }},
    {"probs", [](Profile* p) { p->probs = 0x1p-8; }},
    {"probs_spacing",
     [](Profile* p) {
       p->probs = 0x1p-8;
       p->probs_spacing = 0x1p-12;
     }},
    {"probs_min_normal", [](Profile* p) { p->probs_min_normal = 0x1p-7; }},
    {"sum", [](Profile* p) { p->sum = 0x1p-12; }},
    {"dot_chain",
     [](Profile* p) {
       p->sum = 0x1p-12;
       p->dot_chain = 400;
     }},
    {"row_block",
     [](Profile* p) {
       p->sum = 0x1p-12;
       p->row_block = 4;
     }},
    {"sum_rounding",
     [](Profile* p) {
       p->sum = 0x1p-12;
       p->sum_rounding = SumRounding::toward_zero;
     }},
    {"output", [](Profile* p) { p->output = 0x1p-8; }},
    {"output_format", [](Profile* p) { p->output_format = FloatFormat::f16; }},
    {"cache_k", [](Profile* p) { p->cache_k = 0x1p-8; }},
    {"cache_v", [](Profile* p) { p->cache_v = 0x1p-8; }},
};

Profile exact_profile() {
  Profile profile;
  profile.output_format = profile.storage = FloatFormat::f64;
  return profile;
}

TEST_CASE("sigma follows its formula in every field of the profile") {
  const NormalValues values;
  const Problem problem =
      causal_problem({.num_q_heads = 2, .num_kv_heads = 1, .head_dim = 8, .v_head_dim = 6}, 45, 9);
  const Answer bare = solve(problem, values, exact_profile(), Point::attention_output);
  for (const FieldCase& field : kFields) {
    INFO(field.name);
    Profile profile = exact_profile();
    field.set(&profile);
    for (bool exact : {false, true}) {
      const Distance distance = distance_to_plain_loops(problem, values, profile, exact);
      CHECK(distance.sigma < 1e-9);
      CHECK(distance.lse_sigma < 1e-9);
      CHECK(distance.same_ill_rows);
    }
    if (std::string_view(field.name) == "none") continue;
    const Answer answer = solve(problem, values, profile, Point::attention_output);
    CHECK(answer.sigma.values[3] > 1000 * bare.sigma.values[3]);
  }
}

TEST_CASE("sigma keeps its digits where one key has nearly all the weight") {
  // logits are up to 60 apart: 1 - p falls to 1e-26, where sum w v^2 - 2 o sum w v + o^2 sum w is
  // noise; what is left is the rounding of o itself
  NormalValues values;
  values.query_scale = 10;
  values.key_scale = 3;
  values.value_mean = 5;
  Profile profile = exact_profile();
  profile.logits = 0x1p-20;
  const Problem problem = causal_problem({.head_dim = 16, .v_head_dim = 8}, 40, 40);
  const Distance distance = distance_to_plain_loops(problem, values, profile, false);
  CHECK(distance.sigma < 1e-4);
  CHECK(distance_to_plain_loops(problem, values, profile, true).sigma < 1e-4);
}

TEST_CASE("a row with one visible key gives its value, with sigma of storage alone") {
  const NormalValues values;
  const Problem problem = causal_problem({.head_dim = 16, .v_head_dim = 4}, 1, 1);
  const Profile& profile = find_profile("strict_f32");
  const Answer answer = solve(problem, values, profile, Point::attention_output);
  double value[4];
  values.row(TensorRole::value, 0, 0, value);
  for (int d = 0; d < 4; ++d) {
    CHECK(answer.expected.row(0, 0)[d] == value[d]);
    CHECK(answer.sigma.row(0, 0)[d] < 4 * 0x1p-24 * std::abs(value[d]));
  }
}

TEST_CASE("a row that sees no key is zero, exact, with a log-sum-exp of minus infinity") {
  const NormalValues values;
  const Answer answer =
      solve(mixed_problem(), values, find_profile("flash_bf16"), Point::attention_output);
  for (int head = 0; head < 5; ++head) {
    for (int d = 0; d < 7; ++d) {
      CHECK(answer.expected.row(60, head)[d] == 0);
      CHECK(answer.sigma.row(60, head)[d] == 0);
    }
    CHECK(*answer.lse.row(60, head) == -std::numeric_limits<double>::infinity());
    CHECK(*answer.lse_sigma.row(60, head) == 0);
    CHECK(answer.ill_conditioned[60 * 5 + static_cast<std::size_t>(head)] == 0);
  }
}

TEST_CASE("equal logits at the top of a row are all counted") {
  NormalValues values;
  values.query_scale = 0;
  const Problem problem = causal_problem({.head_dim = 8, .v_head_dim = 6}, 300, 3);
  const Distance distance =
      distance_to_plain_loops(problem, values, find_profile("eager_f16"), true);
  CHECK(distance.output < 1e-14);
  CHECK(distance.sigma < 1e-9);
}

TEST_CASE("probabilities of a long even row have the sigma of their spacing near zero") {
  NormalValues values;
  values.query_scale = 0;
  Profile profile = exact_profile();
  profile.probs = 0x1p-11;
  profile.probs_spacing = 0x1p-18;  // of those below 2^-8: all, at 1/300
  const Problem problem = causal_problem({.head_dim = 8, .v_head_dim = 6}, 300, 1);
  CHECK(distance_to_plain_loops(problem, values, profile, true).sigma < 1e-9);
}

TEST_CASE("queries beyond one group are solved like those of the first") {
  const NormalValues values;
  Problem problem =
      empty_problem({.num_q_heads = 8, .num_kv_heads = 8, .head_dim = 32, .v_head_dim = 32});
  for (int i = 0; i < 6; ++i) add_key(&problem, {{.coordinate = i}});
  for (int i = 0; i < 1500; ++i) add_query(&problem, 2, {{0, 6}});
  const Profile& profile = find_profile("strict_f32");
  const Answer answer = solve(problem, values, profile, Point::attention_output,
                              {.sigma = true, .exact_query_error = false});
  for (std::size_t query : {std::size_t{0}, std::size_t{1499}}) {
    const PlainRow row =
        plain_attention_row(problem, values, with_own_error(profile), query, 7, false);
    for (std::size_t d = 0; d < 32; ++d) {
      const auto at = static_cast<std::int64_t>(query);
      CHECK(std::abs(answer.expected.row(at, 7)[d] - static_cast<double>(row.output[d])) < 1e-14);
      CHECK(answer.sigma.row(at, 7)[d] ==
            Approx(static_cast<double>(std::sqrt(row.variance[d]))).epsilon(1e-9));
    }
  }
}

TEST_CASE("a problem of many short sequences is cut where the next sees none of the keys before") {
  Problem problem = empty_problem({.head_dim = 8, .v_head_dim = 8});
  for (int i = 0; i < 300; ++i) add_key(&problem, {});
  for (int i = 0; i < 300; ++i) add_query(&problem, 0, {{i / 10 * 10, i + 1}});
  const std::vector<QueryTile> tiles = cut_tiles(problem, 128);
  REQUIRE(tiles.size() == 30);
  for (const QueryTile& tile : tiles) {
    CHECK(tile.num_queries() == 10);
    CHECK(tile.hull == KeyRange{tile.begin, tile.end});
  }
}

TEST_CASE("spans cover what queries see and nothing that nobody sees") {
  const Problem problem = mixed_problem();
  for (const QueryTile& tile : cut_tiles(problem, 100)) {
    for (std::int64_t query = tile.begin; query < tile.end; ++query) {
      std::int64_t num_covered = 0;
      for (const Span& span : find_spans(problem, tile, {0, 150})) {
        CHECK(span.num_keys() > 0);
        CHECK(span.num_keys() <= kSpanKeys);
        if (query - tile.begin < span.query_begin || query - tile.begin >= span.query_end) continue;
        const auto& row = problem.queries[static_cast<std::size_t>(query)];
        for (const KeyRange& range : problem.visible_to(row)) {
          const std::int64_t seen =
              std::min(range.end, span.keys.end) - std::max(range.begin, span.keys.begin);
          num_covered += std::max<std::int64_t>(0, seen);
          if (!span.partial) CHECK(seen <= span.num_keys());
        }
      }
      CHECK(num_covered ==
            count_visible(problem, problem.queries[static_cast<std::size_t>(query)]));
    }
  }
}

TEST_CASE("many threads give the same bits as one") {
  const NormalValues values;
  const Problem mixed = mixed_problem();
  const Problem causal = causal_problem(
      {.num_q_heads = 4, .num_kv_heads = 2, .head_dim = 16, .v_head_dim = 16}, 300, 300);
  for (const Problem* problem : {&mixed, &causal}) {
    for (Point point : {Point::attention_output, Point::rotated_query, Point::cached_key}) {
      const Profile& profile = find_profile("flash_f16");
      const Answer one = solve(*problem, values, profile, point);
      const Answer many = solve(*problem, values, profile, point, {}, thread_executor(5));
      CHECK((one.expected.values == many.expected.values));
      CHECK((one.sigma.values == many.sigma.values));
      CHECK((one.lse.values == many.lse.values));
      CHECK((one.lse_sigma.values == many.lse_sigma.values));
      CHECK((one.ill_conditioned == many.ill_conditioned));
    }
  }
}

TEST_CASE("a row does not depend on what else the problem holds") {
  // rows past the first windows of keys and groups of queries equal the same rows alone
  const NormalValues values;
  const HeadShape shape{.num_q_heads = 2, .num_kv_heads = 1, .head_dim = 8, .v_head_dim = 4};
  const std::int64_t length = 20000;
  Problem few = causal_problem(shape, length, 3);
  few.ranges[0] = {0, 5000};
  few.ranges[1] = {9000, 17000};
  for (bool exact : {false, true}) {
    const Distance distance =
        distance_to_plain_loops(few, values, find_profile("flash_f16"), exact);
    CHECK(distance.output < 1e-14 * 4);
    CHECK(distance.lse < 1e-13);
    CHECK(distance.sigma < 1e-9);
    CHECK(distance.lse_sigma < 1e-9);
    CHECK(distance.same_ill_rows);
  }
}

TEST_CASE("a row is ill-conditioned where the error of a logit that counts is large") {
  NormalValues values;
  values.query_scale = 150;
  const Problem problem = causal_problem({.head_dim = 32, .v_head_dim = 4}, 60, 30);
  const Answer coarse = solve(problem, values, find_profile("eager_bf16"), Point::attention_output);
  const Answer fine = solve(problem, values, find_profile("strict_f32"), Point::attention_output);
  CHECK(std::count(coarse.ill_conditioned.begin(), coarse.ill_conditioned.end(), 1) > 0);
  CHECK(std::count(fine.ill_conditioned.begin(), fine.ill_conditioned.end(), 1) == 0);
  for (bool exact : {false, true}) {
    CHECK(
        distance_to_plain_loops(problem, values, find_profile("eager_bf16"), exact).same_ill_rows);
  }
}

TEST_CASE("rotated rows are the rotations, exact where nothing is rotated") {
  const NormalValues values;
  const Problem problem = mixed_problem();
  const Profile& profile = find_profile("flash_f16");
  const Answer queries = solve(problem, values, profile, Point::rotated_query);
  const Answer keys = solve(problem, values, profile, Point::rotated_key);
  std::vector<double> row(12);
  values.row(TensorRole::query, problem.queries[7].content, 2, row);
  const auto turned = plain_rotate(problem, {&problem.queries[7].rotation, 1}, true, row);
  for (int d = 0; d < 12; ++d) {
    const bool rotated = d >= 2 && d < 10;
    CHECK(queries.expected.row(7, 2)[d] ==
          Approx(static_cast<double>(turned[static_cast<std::size_t>(d)])).epsilon(1e-14));
    CHECK((queries.sigma.row(7, 2)[d] > 0) == rotated);
  }
  values.row(TensorRole::key, problem.keys[5].content, 1, row);
  const auto twice = plain_rotate(problem, problem.rotations_of(problem.keys[5]), false, row);
  for (int d = 0; d < 12; ++d) {
    CHECK(keys.expected.row(5, 1)[d] ==
          Approx(static_cast<double>(twice[static_cast<std::size_t>(d)])).epsilon(1e-13));
    CHECK(keys.expected.row(6, 1)[d] == [&] {
      std::vector<double> plain(12);
      values.row(TensorRole::key, problem.keys[6].content, 1, plain);
      return plain[static_cast<std::size_t>(d)];
    }());
    CHECK(keys.sigma.row(6, 1)[d] == 0);
  }
}

TEST_CASE("a wrong phase moves both values of a pair along the circle") {
  const NormalValues values;
  const Problem problem = causal_problem({.head_dim = 8, .v_head_dim = 8}, 9, 1, 50);
  Profile profile = exact_profile();
  profile.phase = 0x1p-24;
  std::vector<double> row(8), variances(8), covariances(4);
  const auto check = [&] {
    for (std::size_t i = 0; i < 4; ++i) {
      const double f = row[i], g = row[i + 4];
      CHECK(covariances[i] * f * g < 0);
      CHECK(covariances[i] * covariances[i] ==
            Approx(variances[i] * variances[i + 4]).epsilon(1e-9));
    }
  };
  rotate_query(problem, values, profile, problem.queries[0], row, variances, covariances);
  check();
  rotate_key(problem, values, profile, problem.keys[3], true, row, variances, covariances);
  check();
}

TEST_CASE(
    "cached keys alone carry the rounding of the cache, attention alone that of a scaled query") {
  const NormalValues values;
  const Problem problem = mixed_problem();
  Profile profile = find_profile("strict_f32");
  const Answer before = solve(problem, values, profile, Point::rotated_query);
  profile.cache_k = 0x1p-8;
  profile.scaled_query = 0x1p-8;
  CHECK(
      (solve(problem, values, profile, Point::rotated_query).sigma.values == before.sigma.values));
  const Answer rotated = solve(problem, values, profile, Point::rotated_key);
  const Answer cached = solve(problem, values, profile, Point::cached_key);
  CHECK((rotated.expected.values == cached.expected.values));
  CHECK(cached.sigma.row(1, 0)[3] > 1000 * rotated.sigma.row(1, 0)[3]);
}

TEST_CASE("position ids are the coordinates, exact") {
  const NormalValues values;
  const Answer answer =
      solve(mixed_problem(), values, find_profile("flash_f16"), Point::position_ids);
  REQUIRE(answer.expected.rows == 83);
  CHECK(*answer.expected.row(59, 0) == 590);
  CHECK(*answer.sigma.row(59, 0) == 0);
}

TEST_CASE("a problem without queries or without keys is solved") {
  const NormalValues values;
  Problem problem = empty_problem({.head_dim = 8, .v_head_dim = 4});
  CHECK(solve(problem, values, exact_profile(), Point::attention_output).expected.values.empty());
  add_query(&problem, 0, {});
  const Answer answer = solve(problem, values, exact_profile(), Point::attention_output);
  CHECK(answer.expected.values == std::vector<double>(4, 0.0));
}

TEST_CASE("a problem that contradicts itself is refused with the field") {
  const NormalValues values;
  const auto message = [&](void (*spoil)(Problem*)) {
    Problem problem = mixed_problem();
    spoil(&problem);
    try {
      validate(problem);
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::invalid_argument);
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  using Catch::Matchers::Contains;
  CHECK(message([](Problem*) {}) == "accepted");
  CHECK_THAT(message([](Problem* p) { p->kv_head_of.pop_back(); }), Contains("kv_head_of"));
  CHECK_THAT(message([](Problem* p) { p->kv_head_of[0] = 2; }), Contains("kv_head_of"));
  CHECK_THAT(message([](Problem* p) { p->kv_head_of.clear(); }), Contains("not a multiple"));
  CHECK_THAT(message([](Problem* p) { p->shape.head_dim = 0; }), Contains("head_dim"));
  CHECK_THAT(message([](Problem* p) { p->shape.num_kv_heads = 0; }), Contains("head counts"));
  CHECK_THAT(message([](Problem* p) { p->softmax_scale = NAN; }), Contains("softmax_scale"));
  CHECK_THAT(message([](Problem* p) { p->tables[0].rotary_dim = 6; }), Contains("rotary_dim"));
  CHECK_THAT(message([](Problem* p) { p->tables[0].rotary_offset = 6; }), Contains("fit"));
  CHECK_THAT(message([](Problem* p) { p->tables[1].magnitude_k = INFINITY; }),
             Contains("magnitudes"));
  CHECK_THAT(message([](Problem* p) { p->queries[2].rotation.table = 2; }), Contains("query 2"));
  CHECK_THAT(message([](Problem* p) { p->rotations[0].table = -1; }), Contains("rotation 0"));
  CHECK_THAT(message([](Problem* p) { p->keys[149].num_rotations = 3; }), Contains("key 149"));
  CHECK_THAT(message([](Problem* p) { p->queries[2].temperature = NAN; }), Contains("temperature"));
  CHECK_THAT(message([](Problem* p) { p->queries[82].num_ranges = 2; }), Contains("pool"));
  CHECK_THAT(message([](Problem* p) { p->ranges[0].end = 151; }), Contains("ranges of keys"));
  CHECK_THAT(message([](Problem* p) { p->ranges[0].end = 0; }), Contains("ranges of keys"));
  CHECK_THAT(message([](Problem* p) { p->ranges[61].begin = 1; }), Contains("ranges of keys"));
}

TEST_CASE("the vectorised exponential is right to two ulp and zero below its floor") {
  std::vector<double> x;
  for (int i = 0; i <= 60000; ++i) x.push_back(-i * 0.005);
  x.push_back(-300.5);
  x.push_back(-1e300);
  x.push_back(-INFINITY);
  std::vector<double> y(x.size());
  std::vector<double> sum(x.size());
  const std::vector<double> shift(x.size());
  exp_block(x.data(), shift.data(), y.data(), sum.data(), static_cast<std::int64_t>(x.size()));
  CHECK((sum == y));
  double worst = 0;
  for (std::size_t i = 0; i + 3 < x.size(); ++i) {
    const long double exact = std::exp(static_cast<long double>(x[i]));
    worst = std::max(worst, static_cast<double>(std::abs((y[i] - exact) / exact)));
  }
  CHECK(worst < 0x1p-51);
  CHECK(y[0] == 1);
  for (std::size_t i = y.size() - 3; i < y.size(); ++i) CHECK(y[i] == 0);
}

TEST_CASE("presets are found by name, and an unknown name is answered with the list") {
  CHECK(profile_presets().size() == 5);
  CHECK(find_profile("flash_bf16").row_chain(2048) == 128 + 16);
  CHECK(find_profile("strict_f32").row_chain(2048) == 2048);
  CHECK_THROWS_WITH(find_profile("exact"), Catch::Matchers::Contains("eager_bf16"));
}

}  // namespace
}  // namespace ropecheck
