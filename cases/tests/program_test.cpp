// SPDX-License-Identifier: Apache-2.0
#include "cases/program.hpp"

#include "cases/case_id.hpp"
#include "cases/families.hpp"
#include "cases/suite.hpp"
#include "harness/tests/catch.hpp"
#include "reference/error.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace ropecheck {
namespace {

Program program_of(std::string_view id) { return build_program(parse_id(id)); }

/// Coordinates of the queries of every call, call after call.
std::vector<std::vector<std::int64_t>> query_coordinates(const Program& program) {
  std::vector<std::vector<std::int64_t>> calls;
  Interpreter interpreter(program.scenario);
  while (!interpreter.done()) {
    const auto resolved = interpreter.advance();
    if (!resolved) continue;
    auto& coordinates = calls.emplace_back();
    for (const QueryRow& query : resolved->problem.queries) {
      coordinates.push_back(query.rotation.coordinate);
    }
  }
  return calls;
}

/// Kv columns of the queries of every call, from the layouts alone.
std::vector<std::vector<std::int64_t>> query_columns(const Program& program) {
  std::vector<std::vector<std::int64_t>> calls;
  Interpreter interpreter(program.scenario);
  Placer placer(program.scenario, program.placement);
  std::int64_t columns_before = 0;
  while (!interpreter.done()) {
    const Step& step = interpreter.next_step();
    const auto resolved = interpreter.advance();
    if (!resolved) {
      static_cast<void>(placer.edit(step, interpreter));
      continue;
    }
    const CallLayout layout = placer.place(std::get<Call>(step), *resolved, interpreter);
    auto& columns = calls.emplace_back(resolved->queries.size());
    for (std::size_t cell = 0; cell < layout.query_cells.size(); ++cell) {
      if (layout.query_cells[cell] == kNoToken) continue;
      columns[static_cast<std::size_t>(layout.query_cells[cell])] =
          columns_before + static_cast<std::int64_t>(cell) % layout.q_columns;
    }
    columns_before += layout.q_columns;
  }
  return calls;
}

std::string reason_against(std::string_view id) {
  const auto reason = contradiction(parse_id(id));
  if (!reason) return "no contradiction";
  CHECK_THROWS_AS(program_of(id), Error);
  return *reason;
}

template <typename T>
std::size_t count_steps(const Program& program) {
  const auto& steps = program.scenario.steps;
  return static_cast<std::size_t>(std::count_if(steps.begin(), steps.end(), [](const Step& step) {
    return std::holds_alternative<T>(step);
  }));
}

}  // namespace

TEST_CASE("the longest row is the last, and its distribution decides the others") {
  CaseSpec spec = parse_id("mixed/rows=7/len=30.equal");
  CHECK(row_lengths(spec) == std::vector<std::int64_t>(7, 30));
  spec.lengths = Lengths::extreme;
  CHECK(row_lengths(spec) == std::vector<std::int64_t>{1, 15, 2, 30, 1, 15, 30});
  spec.lengths = Lengths::ragged;
  const std::vector<std::int64_t> ragged = row_lengths(spec);
  CHECK(ragged.back() == 30);
  for (std::size_t row = 0; row + 1 < ragged.size(); ++row) {
    CHECK(ragged[row] >= 10);
    CHECK(ragged[row] < 30);
  }
  spec.family = Family::padding;
  const std::vector<std::int64_t> alike = row_lengths(spec);
  CHECK(*std::min_element(alike.begin(), alike.end()) >= 23);
}

TEST_CASE("a seed changes numbers only") {
  const std::string id = "decode/rows=4/len=24.ragged/steps=2/pad=holes/order=shuffled/s=";
  const Program one = program_of(id + "1");
  const Program two = program_of(id + "2");
  CHECK(one.values.seed != two.values.seed);
  CHECK(one.placement.seed == two.placement.seed);
  CHECK(query_coordinates(one) == query_coordinates(two));
  CHECK(query_columns(one) == query_columns(two));
}

TEST_CASE("decoded tokens continue after the tokens of their row, not after its columns") {
  const auto calls =
      query_coordinates(program_of("decode/rows=2/len=9.extreme/pad=left/steps=2/first=5"));
  REQUIRE(calls.size() == 3);
  CHECK(calls[0].size() == 10);
  CHECK(calls[1] == std::vector<std::int64_t>{6, 14});
  CHECK(calls[2] == std::vector<std::int64_t>{7, 15});
}

TEST_CASE("shorter rows run out of chunks earlier") {
  const auto calls =
      query_coordinates(program_of("chunked/rows=3/len=10.extreme/chunk=4/pad=right"));
  REQUIRE(calls.size() == 3);
  CHECK(calls[0] == std::vector<std::int64_t>{0, 0, 1, 2, 3, 0, 1, 2, 3});
  CHECK(calls[1] == std::vector<std::int64_t>{4, 4, 5, 6, 7});
  CHECK(calls[2] == std::vector<std::int64_t>{8, 9});
}

TEST_CASE("segments of a pack restart or continue, and decode each on its own") {
  const std::string id = "packed_decode/form=packed/rows=2/len=3.equal/steps=1/seg=";
  CHECK(query_coordinates(program_of(id + "restart.isolated")) ==
        std::vector<std::vector<std::int64_t>>{{0, 1, 2, 0, 1, 2}, {3, 3}});
  CHECK(query_coordinates(program_of(id + "continued.isolated")) ==
        std::vector<std::vector<std::int64_t>>{{0, 1, 2, 3, 4, 5}, {3, 6}});
}

TEST_CASE("a shift closes the gap of what it discards, or moves the tail on") {
  const std::string id = "shift/rows=1/len=8.equal/steps=1/cache=backend/edit=";
  const Program discard = program_of(id + "discard.3");
  CHECK(count_steps<Remove>(discard) == 1);
  CHECK(query_coordinates(discard).back() == std::vector<std::int64_t>{5});
  const Program advance = program_of(id + "advance.100");
  CHECK(count_steps<Remove>(advance) == 0);
  CHECK(query_coordinates(advance).back() == std::vector<std::int64_t>{108});
  const ResolvedCall last = resolve(advance.scenario, advance.scenario.steps.size() - 1);
  CHECK(last.problem.keys[kKeptTokens - 1].num_rotations == 1);
  CHECK(last.problem.keys[kKeptTokens].num_rotations == 2);
}

TEST_CASE("where pads consume coordinates, a coordinate is the first one plus the column") {
  int checked = 0;
  for (const char* suite : {"smoke", "default"}) {
    for (const CaseSpec& spec : make_suite(suite)) {
      if (spec.pad_positions != PadPositions::physical_column) continue;
      INFO(to_id(spec));
      const Program program = build_program(spec);
      auto columns = query_columns(program);
      for (auto& call : columns) {
        for (std::int64_t& column : call) column += spec.first_coordinate;
      }
      REQUIRE(query_coordinates(program) == columns);
      ++checked;
    }
  }
  CHECK(checked > 30);
}

TEST_CASE("every case of the suites can be placed, call by call, below its coordinate bound") {
  for (const char* suite : {"smoke", "default"}) {
    for (const CaseSpec& spec : make_suite(suite)) {
      INFO(to_id(spec));
      const Program program = build_program(spec);
      static_cast<void>(query_columns(program));
      for (const auto& call : query_coordinates(program)) {
        REQUIRE(*std::max_element(call.begin(), call.end()) < coordinate_bound(spec));
      }
    }
  }
}

TEST_CASE("rows of the family padding have pads even where their lengths are equal") {
  const Program program = program_of("padding/rows=2/len=8.equal/pad=left");
  CHECK(program.placement.extra_pads > 0);
  CHECK(program_of("padding/rows=2/len=8.equal").placement.extra_pads == 0);
}

TEST_CASE("the error of a table that was handed over is not the kernel's") {
  CHECK(program_of("padding").profile.phase == find_profile("strict_f32").phase);
  for (const char* form : {"tables_half", "tables_full", "tables_joined", "tables_by_token"}) {
    const Profile profile = program_of(std::string("padding/handed=") + form).profile;
    CHECK(profile.phase == 0);
    CHECK(profile.table >= 0x1p-24);
  }
  CHECK(program_of("padding/handed=rotated").profile.phase > 0);
}

TEST_CASE("the exact term of the query's rounding is taken where it is due or cheap") {
  CHECK(program_of("padding/rows=1/len=24.equal").exact_query_error);
  CHECK_FALSE(program_of("padding/rows=1/len=2048.equal/heads=2.1").exact_query_error);
  CHECK(program_of("padding/rows=1/len=2048.equal/heads=2.1/in=ramp").exact_query_error);
  CHECK(program_of("decode/rows=1/len=512.equal/heads=8.8/steps=1").exact_query_error);
}

TEST_CASE("without a cache keys are rotated as they stand, in a cache as they were written") {
  CHECK(program_of("padding").scenario.contract.cached_keys == CachedKeys::unrotated);
  CHECK(program_of("padding/cache=caller").scenario.contract.cached_keys == CachedKeys::rotated);
}

TEST_CASE("axes that do not go together are refused with the reason") {
  using Catch::Contains;
  const std::pair<const char*, const char*> refused[] = {
      {"padding/heads=4.3", "share"},
      {"padding/dim=64.64.33", "even"},
      {"padding/dim=32.32.64", "at most head_dim"},
      {"padding/rope=default.2.10000.4096", "no factor"},
      {"interpolation", "linear"},
      {"padding/seg=continued.isolated", "segments"},
      {"packed/form=packed/seg=restart.shared/cache=caller", "cache keeps rows apart"},
      {"packed_decode/form=packed/steps=1/seg=restart.shared", "share a pack"},
      {"packed/form=packed/rows=1/seg=continued.isolated", "one segment"},
      {"packed", "form=packed"},
      {"padding/form=packed", "form=padded"},
      {"packed/form=packed/pad=left", "no pads"},
      {"padding/pads=column", "before a token"},
      {"padding/pads=column/pad=right", "before a token"},
      {"mixed/pads=column/pad=left/len=8.ragged", "padding and decode"},
      {"decode/pads=column/pad=left/len=8.ragged/steps=1/cache=caller", "slots=column"},
      {"padding/rows=1000/len=100000.equal", "tokens"},
      {"mixed/len=8.equal", "differ in length"},
      {"padding/len=8.extreme/pad=left", "like length"},
      {"padding/rows=1/len=8.ragged/pad=left", "one row"},
      {"padding/len=8.ragged", "need pads"},
      {"decode/len=8.equal/pad=left/steps=1", "no pads outside"},
      {"padding/steps=1", "steps=0"},
      {"decode", "at least 1"},
      {"padding/chunk=4", "chunk=0"},
      {"chunked/len=8.equal/chunk=8", "less than the length"},
      {"padding/edit=advance.1", "only the family shift"},
      {"shift/steps=1", "delta"},
      {"shift/steps=1/len=8.equal/edit=discard.6", "needs 9"},
      {"padding/slots=column", "caller's cache"},
      {"padding/slots=column/cache=caller", "column is a rank"},
      {"padding/garbage=nan", "garbage=noise"},
      {"padding/rows=1/order=shuffled", "one order"},
      {"packed/form=packed/order=shuffled", "order of their pack"},
      {"padding/pos=derived/handed=rotated", "pos=given"},
      {"shift/steps=1/edit=advance.1/pos=derived/cache=caller", "moved on"},
      {"packed_decode/form=packed/steps=1/pos=derived/seg=continued.isolated", "where a continued"},
      {"ladder/first=1048576/handed=tables_half", "tables by position end"},
      {"shift/steps=1/edit=advance.1/cache=backend/handed=rotated", "rotate its cached keys"},
      {"decode/steps=1/qkv=fused", "views of one tensor"},
      {"padding/sample=32", "fewer rows"},
      {"padding/sample=4/law=run_to_run", "all rows"},
      {"decode/steps=1/sample=4", "prefills"},
      {"padding/rows=64/len=8192.equal/in=tied", "exact term"},
      {"padding/law=padding_removed", "law padding_removed says nothing here"},
  };
  for (const auto& [id, reason] : refused) {
    INFO(id);
    CHECK_THAT(reason_against(id), Contains(reason));
  }
}

TEST_CASE("a value that no id can have is a contradiction") {
  CaseSpec spec;
  spec.rows = 0;
  CHECK_THAT(contradiction(spec).value_or(""), Catch::Contains("'rows'"));
  spec = CaseSpec{};
  spec.law = "gravity";
  CHECK_THAT(contradiction(spec).value_or(""), Catch::Contains("'law'"));
}

}  // namespace ropecheck
