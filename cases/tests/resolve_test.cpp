// SPDX-License-Identifier: Apache-2.0
#include "cases/resolve.hpp"

#include "cases/random.hpp"
#include "harness/tests/catch.hpp"
#include "reference/error.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace ropecheck {
namespace {

using Coordinates = std::vector<std::int64_t>;
using Ranges = std::vector<KeyRange>;

Scenario make_scenario(int sequences, std::vector<Step> steps, Contract contract = {}) {
  Scenario scenario;
  scenario.contract = contract;
  scenario.num_sequences = sequences;
  scenario.steps = std::move(steps);
  return scenario;
}

Coordinates query_coordinates(const ResolvedCall& call) {
  Coordinates coordinates;
  for (const QueryRow& query : call.problem.queries) {
    coordinates.push_back(query.rotation.coordinate);
  }
  return coordinates;
}

Ranges ranges_of(const ResolvedCall& call, std::size_t query) {
  const auto ranges = call.problem.visible_to(call.problem.queries[query]);
  return {ranges.begin(), ranges.end()};
}

Coordinates token_coordinates(const Interpreter& interpreter, SequenceId id) {
  Coordinates coordinates;
  for (const Token& token : interpreter.sequence(id).tokens) {
    coordinates.push_back(token.coordinate);
  }
  return coordinates;
}

/// The state after all steps.
Interpreter run_all(const Scenario& scenario) {
  Interpreter interpreter(scenario);
  while (!interpreter.done()) static_cast<void>(interpreter.advance());
  return interpreter;
}

std::string refusal(const Scenario& scenario) {
  try {
    Interpreter interpreter(scenario);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::invalid_argument);
    return error.what();
  }
  return "";
}

TEST_CASE("content names sequence and ordinal") {
  const ContentId content = token_content(3, (std::int64_t{1} << 40) - 1);
  CHECK(sequence_of(content) == 3);
  CHECK(ordinal_of(content) == (std::int64_t{1} << 40) - 1);
  CHECK(token_content(0, 0) != 0);
}

TEST_CASE("a query sees the keys of its sequence up to and including its own") {
  const Scenario scenario = make_scenario(2, {Call{{{0, 2}, {1, 3}}}, Call{{{1, 1}, {0, 1}}}});
  const ResolvedCall prefill = resolve(scenario, 0);
  CHECK(query_coordinates(prefill) == Coordinates{0, 1, 0, 1, 2});
  CHECK(ranges_of(prefill, 1) == Ranges{{0, 2}});
  CHECK(ranges_of(prefill, 2) == Ranges{{2, 3}});
  CHECK(ranges_of(prefill, 4) == Ranges{{2, 5}});

  const ResolvedCall decode = resolve(scenario, 1);
  CHECK(query_coordinates(decode) == Coordinates{3, 2});
  CHECK(decode.problem.keys.size() == 7);
  CHECK(decode.own_key == Coordinates{3, 6});
  CHECK(ranges_of(decode, 0) == Ranges{{0, 4}});
  CHECK(ranges_of(decode, 1) == Ranges{{4, 7}});
  CHECK(decode.queries[0].content == token_content(1, 3));
  CHECK(decode.problem.keys[3].content == decode.queries[0].content);
}

TEST_CASE("only sequences of the call are keys") {
  const Scenario scenario = make_scenario(2, {Call{{{0, 2}, {1, 3}}}, Call{{{1, 1}}}});
  const ResolvedCall decode = resolve(scenario, 1);
  CHECK(decode.problem.keys.size() == 4);
  for (const TokenRef& key : decode.keys) CHECK(key.sequence == 1);
}

TEST_CASE("a problem carries the rule, the shape and the scale of its model") {
  Scenario scenario = make_scenario(1, {Call{{{0, 1}}}});
  scenario.model.rule = {.type = RopeType::linear, .rope_theta = 100, .factor = 2};
  scenario.model.rotary_dim = 8;
  scenario.model.layout = PairLayout::interleaved;
  scenario.model.softmax_scale = 0.5;
  scenario.model.shape.num_q_heads = 3;
  const Problem problem = resolve(scenario, 0).problem;
  REQUIRE(problem.tables.size() == 1);
  CHECK(problem.tables[0].rotary_dim == 8);
  CHECK(problem.tables[0].layout_in == PairLayout::interleaved);
  CHECK(problem.tables[0].inv_freq[0].hi == 0.5);
  CHECK(problem.softmax_scale == 0.5);
  CHECK(problem.shape == scenario.model.shape);
}

TEST_CASE("a gap and a stride consume coordinates, not tokens") {
  const Scenario scenario = make_scenario(
      1, {Gap{0, 3}, Call{{{0, 2, 4}}}, Gap{0, 1}, Call{{{0, 1}}}}, {.first_coordinate = 10});
  CHECK(query_coordinates(resolve(scenario, 1)) == Coordinates{13, 17});
  const ResolvedCall decode = resolve(scenario, 3);
  CHECK(query_coordinates(decode) == Coordinates{22});
  CHECK(ranges_of(decode, 0) == Ranges{{0, 3}});
}

TEST_CASE("segments restart or continue, over empty ones and gaps, too") {
  const std::vector<Step> steps = {Pack{{2, 0, 1, 3}}, Call{{{0, 0}, {1, 2}, {2, 3}, {3, 1}}},
                                   Call{{{0, 1}, {1, 1}, {2, 1}, {3, 1}}}};
  Contract contract{.first_coordinate = 5};
  CHECK(query_coordinates(resolve(make_scenario(4, steps, contract), 1)) ==
        Coordinates{5, 6, 5, 6, 7, 5});
  contract.segment_positions = SegmentPositions::continued;
  const Scenario continued = make_scenario(4, steps, contract);
  CHECK(query_coordinates(resolve(continued, 1)) == Coordinates{8, 9, 5, 6, 7, 10});
  CHECK(query_coordinates(resolve(continued, 2)) == Coordinates{8, 10, 8, 11});

  const Scenario gap =
      make_scenario(3, {Pack{{0, 1, 2}}, Gap{1, 10}, Call{{{0, 2}, {1, 2}, {2, 1}}}}, contract);
  CHECK(query_coordinates(resolve(gap, 2)) == Coordinates{5, 6, 17, 18, 19});
}

TEST_CASE(
    "a continued segment starts one after the last coordinate, whatever that token consumed") {
  const Contract contract{.segment_positions = SegmentPositions::continued};
  const Scenario scenario =
      make_scenario(2, {Pack{{0, 1}}, Call{{{0, 2, 5}, {1, 1}}}, Call{{{0, 1}}}}, contract);
  CHECK(query_coordinates(resolve(scenario, 1)) == Coordinates{0, 5, 6});
  CHECK(query_coordinates(resolve(scenario, 2)) == Coordinates{10});
}

TEST_CASE("a shared pack shows earlier segments whole, as one range") {
  const Contract contract{.segment_visibility = SegmentVisibility::shared};
  const Scenario scenario =
      make_scenario(3, {Pack{{1, 2, 0}}, Call{{{0, 1}, {1, 2}, {2, 2}}}, Call{{{2, 1}}}}, contract);
  const ResolvedCall call = resolve(scenario, 1);
  const std::vector<SequenceId> order = {1, 1, 2, 2, 0};
  for (std::size_t k = 0; k < order.size(); ++k) CHECK(call.keys[k].sequence == order[k]);
  CHECK(ranges_of(call, 0) == Ranges{{0, 5}});  // the last segment of the pack
  CHECK(ranges_of(call, 1) == Ranges{{0, 1}});
  CHECK(ranges_of(call, 3) == Ranges{{0, 3}});

  const ResolvedCall decode = resolve(scenario, 2);
  CHECK(decode.problem.keys.size() == 5);
  CHECK(ranges_of(decode, 0) == Ranges{{0, 5}});
}

TEST_CASE("an isolated pack shows each segment itself alone") {
  const Scenario scenario = make_scenario(2, {Pack{{0, 1}}, Call{{{0, 2}, {1, 2}}}});
  const ResolvedCall call = resolve(scenario, 1);
  CHECK(ranges_of(call, 3) == Ranges{{2, 4}});
}

TEST_CASE("a shift moves keys by one re-rotation without magnitude, and what comes next") {
  const Scenario scenario =
      make_scenario(1, {Call{{{0, 4}}}, Remove{0, {0, 2}}, Shift{0, {0, 2}, -2}, Call{{{0, 1}}}});
  const ResolvedCall call = resolve(scenario, 3);
  CHECK(query_coordinates(call) == Coordinates{2});
  const auto rotations = call.problem.rotations_of(call.problem.keys[0]);
  REQUIRE(rotations.size() == 2);
  CHECK(rotations[0] == Rotation{.table = 0, .coordinate = 2, .magnitude_power = 1});
  CHECK(rotations[1] == Rotation{.table = 0, .coordinate = -2, .magnitude_power = 0});
  CHECK(call.problem.rotations_of(call.problem.keys[2]).size() == 1);
}

TEST_CASE("an unrotated key is rotated once, at its present coordinate") {
  const Contract contract{.cached_keys = CachedKeys::unrotated};
  const Scenario scenario =
      make_scenario(1, {Call{{{0, 4}}}, Shift{0, {1, 4}, 7}, Call{{{0, 1}}}}, contract);
  const ResolvedCall call = resolve(scenario, 2);
  CHECK(query_coordinates(call) == Coordinates{11});
  for (const KeyRow& key : call.problem.keys) CHECK(key.num_rotations == 1);
  CHECK(call.problem.rotations_of(call.problem.keys[3])[0] == Rotation{.coordinate = 10});
}

TEST_CASE("a shift of the head leaves what comes next one after the last token") {
  const Interpreter after = run_all(make_scenario(1, {Call{{{0, 4}}}, Shift{0, {0, 2}, -3}}));
  CHECK(token_coordinates(after, 0) == Coordinates{-3, -2, 2, 3});
  CHECK(after.sequence(0).next_coordinate == 4);
}

TEST_CASE("a shift by zero and an empty range add no rotation") {
  const Interpreter after = run_all(make_scenario(
      1, {Call{{{0, 3}}}, Shift{0, {0, 3}, 0}, Shift{0, {2, 2}, 5}, Divide{0, {0, 1}, 2}}));
  for (const Token& token : after.sequence(0).tokens) CHECK(token.rotations.size() == 1);
  CHECK(after.sequence(0).next_coordinate == 3);
}

TEST_CASE("division rounds toward minus infinity") {
  const Interpreter after =
      run_all(make_scenario(1, {Call{{{0, 6}}}, Shift{0, {0, 6}, -3}, Divide{0, {0, 6}, 2}}));
  CHECK(token_coordinates(after, 0) == Coordinates{-2, -1, -1, 0, 0, 1});
  CHECK(after.sequence(0).next_coordinate == 2);
}

TEST_CASE("removed tokens leave the coordinates of the others") {
  const Interpreter after = run_all(make_scenario(
      2, {Call{{{0, 5}, {1, 5}}}, Remove{0, {1, 3}}, Remove{1, {0, 5}}}, {.first_coordinate = 1}));
  CHECK(token_coordinates(after, 0) == Coordinates{1, 4, 5});
  CHECK(after.sequence(0).next_coordinate == 6);
  CHECK(after.sequence(1).tokens.empty());
  CHECK(after.sequence(1).next_coordinate == 1);
}

TEST_CASE("tokens after a truncation are new ones at the old coordinates") {
  const Interpreter after =
      run_all(make_scenario(1, {Call{{{0, 4}}}, Truncate{0, 2}, Call{{{0, 2}}}}));
  CHECK(token_coordinates(after, 0) == Coordinates{0, 1, 2, 3});
  CHECK(after.sequence(0).tokens[1].content == token_content(0, 1));
  CHECK(after.sequence(0).tokens[2].content == token_content(0, 4));
}

TEST_CASE("a copy has the same tokens, and new ones of its own") {
  const Interpreter after = run_all(make_scenario(
      2, {Call{{{1, 5}}}, Truncate{1, 0}, Call{{{0, 2}}}, Copy{0, 1}, Call{{{0, 1}, {1, 1}}}}));
  const auto& source = after.sequence(0).tokens;
  const auto& target = after.sequence(1).tokens;
  REQUIRE(target.size() == 3);
  CHECK(target[1].content == source[1].content);
  CHECK(target[2].coordinate == source[2].coordinate);
  CHECK(target[2].content == token_content(1, 5));
}

TEST_CASE("a copy onto a segment that its source saw does not see itself twice") {
  const Contract contract{.segment_visibility = SegmentVisibility::shared};
  const Scenario scenario = make_scenario(
      2, {Pack{{0, 1}}, Call{{{0, 2}, {1, 2}}}, Truncate{0, 0}, Copy{1, 0}, Call{{{0, 1}}}},
      contract);
  const ResolvedCall call = resolve(scenario, 4);
  CHECK(call.problem.keys.size() == 3);
  CHECK(ranges_of(call, 0) == Ranges{{0, 3}});
}

TEST_CASE("a step that makes no sense is refused by its number") {
  const Step prefill = Call{{{0, 3}}};
  CHECK(refusal(make_scenario(1, {prefill, Call{{{1, 1}}}})).find("step 1 (call)") !=
        std::string::npos);
  CHECK(refusal(make_scenario(1, {prefill})).empty());
  const std::vector<Step> wrong = {
      Call{{{0, -1}}},
      Call{{{0, 1, 0}}},
      Call{{{0, 1}, {0, 1}}},
      Call{{{-1, 1}}},
      Gap{0, -1},
      Gap{7, 1},
      Pack{{0}},
      Pack{{}},
      Pack{{1, 1}},
      Shift{0, {0, 4}, 1},
      Shift{0, {2, 1}, 1},
      Remove{0, {-1, 1}},
      Remove{5, {0, 0}},
      Copy{1, 0},
      Copy{1, 1},
      Truncate{0, 4},
      Truncate{0, -1},
      Divide{0, {0, 1}, 0},
      Divide{0, {3, 4}, 2},
      Copy{0, 9},
  };
  for (const Step& step : wrong) {
    INFO("kind " << step.index());
    CHECK(refusal(make_scenario(2, {prefill, step})).find("step 1") != std::string::npos);
  }
  CHECK(!refusal(make_scenario(2, {Pack{{0}}})).empty());
  CHECK(!refusal(make_scenario(2, {Pack{{0}}, Pack{{1}}, prefill})).empty());
  CHECK(!refusal(make_scenario(2, {prefill, Pack{{1}}, Copy{0, 1}, Call{{{1, 1}}}})).empty());
  CHECK(!refusal(make_scenario(0, {})).empty());
  CHECK_THROWS_AS(resolve(make_scenario(1, {Gap{0, 1}}), 0), Error);
  CHECK_THROWS_AS(resolve(make_scenario(1, {prefill}), 1), Error);
}

TEST_CASE("rotations of a key always add up to its coordinate and apply the magnitude once") {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    INFO("seed " << seed);
    Random random(seed);
    std::vector<Step> steps = {Call{{{0, 8}}}};
    for (int i = 0; i < 6; ++i) {
      const std::int64_t begin = random.between(0, 7);
      const TokenRange range{begin, random.between(begin, 8)};
      if (random.below(2) == 0) {
        steps.push_back(Shift{0, range, random.between(-9, 9)});
      } else {
        steps.push_back(Divide{0, range, random.between(1, 3)});
      }
    }
    const Interpreter after = run_all(make_scenario(1, steps));
    for (const Token& token : after.sequence(0).tokens) {
      std::int64_t sum = 0;
      int power = 0;
      for (const Rotation& rotation : token.rotations) {
        sum += rotation.coordinate;
        power += rotation.magnitude_power;
      }
      CHECK(sum == token.coordinate);
      CHECK(power == 1);
    }
  }
}

}  // namespace
}  // namespace ropecheck
