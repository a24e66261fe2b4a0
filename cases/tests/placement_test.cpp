// SPDX-License-Identifier: Apache-2.0
#include "cases/placement.hpp"

#include "cases/program.hpp"
#include "cases/suite.hpp"
#include "cases/tests/random_trial.hpp"
#include "cases/tests/tensor_reader.hpp"
#include "harness/tests/catch.hpp"
#include "reference/error.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <vector>

namespace ropecheck {
namespace {

using Cells = std::vector<std::int64_t>;

// ---- what is right, from the resolved problem ----

std::vector<ContentId> visible_contents(const Problem& problem, const QueryRow& query) {
  std::vector<ContentId> contents;
  for (const KeyRange& range : problem.visible_to(query)) {
    for (std::int64_t k = range.begin; k < range.end; ++k) {
      contents.push_back(problem.keys[static_cast<std::size_t>(k)].content);
    }
  }
  return contents;
}

constexpr ContentId kGarbageContent = ~ContentId{0};

std::vector<ContentId> contents_of(const Cells& cells, const ResolvedCall& resolved) {
  std::vector<ContentId> contents;
  for (const std::int64_t key : cells) {
    contents.push_back(key == kNoToken ? kGarbageContent
                                       : resolved.keys[static_cast<std::size_t>(key)].content);
  }
  return contents;
}

// ---- the properties ----

void check_every_token_stands_once(const CallLayout& layout, const ResolvedCall& resolved,
                                   const Placement& placement) {
  Cells queries = layout.query_cells;
  queries.erase(std::remove(queries.begin(), queries.end(), kNoToken), queries.end());
  std::sort(queries.begin(), queries.end());
  Cells expected(resolved.queries.size());
  std::iota(expected.begin(), expected.end(), 0);
  CHECK(queries == expected);

  Cells keys = layout.key_cells;
  keys.erase(std::remove(keys.begin(), keys.end(), kNoToken), keys.end());
  std::sort(keys.begin(), keys.end());
  Cells expected_keys = resolved.own_key;
  if (placement.cache == CacheOwner::none) {
    expected_keys.resize(resolved.keys.size());
    std::iota(expected_keys.begin(), expected_keys.end(), 0);
  }
  std::sort(expected_keys.begin(), expected_keys.end());
  CHECK(keys == expected_keys);
}

void check_offsets(const std::vector<std::int64_t>& offsets, const CallLayout& layout,
                   std::size_t tokens) {
  REQUIRE(offsets.size() == static_cast<std::size_t>(layout.num_rows) + 1);
  CHECK(offsets.front() == 0);
  CHECK(offsets.back() == static_cast<std::int64_t>(tokens));
  CHECK(std::is_sorted(offsets.begin(), offsets.end()));
}

void check_shapes(const CallLayout& layout, const Placement& placement) {
  const auto rows = static_cast<std::size_t>(layout.num_rows);
  const bool padded = layout.form == Form::padded;
  const std::size_t per_row = padded ? rows : 1;
  CHECK(layout.query_cells.size() == per_row * static_cast<std::size_t>(layout.q_columns));
  CHECK(layout.key_cells.size() == per_row * static_cast<std::size_t>(layout.k_columns));
  if (padded) {
    CHECK(layout.cu_seqlens_q.empty());
    CHECK(layout.cu_seqlens_kv.empty());
  } else {
    check_offsets(layout.cu_seqlens_q, layout, layout.query_cells.size());
    check_offsets(layout.cu_seqlens_kv, layout, layout.key_cells.size());
    CHECK(std::count(layout.query_cells.begin(), layout.query_cells.end(), kNoToken) == 0);
    CHECK(std::count(layout.key_cells.begin(), layout.key_cells.end(), kNoToken) == 0);
  }
  const bool masked = padded || placement.cache == CacheOwner::caller;
  CHECK(layout.keep_mask.size() ==
        (masked ? rows * static_cast<std::size_t>(layout.mask_columns) : 0));
}

/// Masks say what the cells say; slots are named once, by tokens, within what is in use.
void check_masks_and_slots(const CallLayout& layout, const Placement& placement) {
  const Cells& masked = placement.cache == CacheOwner::caller ? layout.slot_keys : layout.key_cells;
  for (std::size_t i = 0; i < layout.keep_mask.size(); ++i) {
    REQUIRE((layout.keep_mask[i] != 0) == (masked[i] != kNoToken));
  }
  if (placement.cache != CacheOwner::caller) {
    CHECK(layout.slot_mapping.empty());
    CHECK(layout.seq_lens.empty());
    return;
  }
  REQUIRE(layout.slot_mapping.size() == layout.query_cells.size());
  std::size_t row = 0;
  std::set<std::pair<std::size_t, std::int64_t>> named;
  for (std::size_t cell = 0; cell < layout.slot_mapping.size(); ++cell) {
    if (layout.form == Form::padded) {
      row = cell / static_cast<std::size_t>(layout.q_columns);
    } else {
      while (static_cast<std::int64_t>(cell) >= layout.cu_seqlens_q[row + 1]) ++row;
    }
    const std::int64_t slot = layout.slot_mapping[cell];
    REQUIRE((slot == -1) == (layout.query_cells[cell] == kNoToken));
    if (slot == -1) continue;
    CHECK(slot < layout.seq_lens[row]);
    CHECK(named.insert({row, slot}).second);
    const auto at =
        row * static_cast<std::size_t>(layout.mask_columns) + static_cast<std::size_t>(slot);
    CHECK(layout.slot_keys[at] == layout.key_cells[cell]);
  }
  CHECK(*std::max_element(layout.seq_lens.begin(), layout.seq_lens.end()) == layout.mask_columns);
}

void check_meaning(const std::vector<Derived>& derived, const CallLayout& layout,
                   const ResolvedCall& resolved, bool positions_follow) {
  CHECK(derived.size() == resolved.queries.size());
  for (const Derived& query : derived) {
    const std::int64_t token = layout.query_cells[query.cell];
    REQUIRE(token != kNoToken);
    const QueryRow& right = resolved.problem.queries[static_cast<std::size_t>(token)];
    CHECK(query.visible.back() == right.content);
    CHECK(query.visible == visible_contents(resolved.problem, right));
    if (positions_follow) CHECK(query.position == right.rotation.coordinate);
  }
}

/// Carries the slots of a caller's cache through an edit, as whoever owns the cache does.
void follow_slots_of(const Step& step, const std::vector<SlotMove>& moves, const Placer& placer,
                     const Interpreter& interpreter, Reader& reader) {
  for (const SlotMove& move : moves) reader.copy_slot(move.row, move.from, move.row, move.to);
  if (const auto* copy = std::get_if<Copy>(&step)) {
    const auto tokens = static_cast<std::int64_t>(interpreter.sequence(copy->target).tokens.size());
    for (std::int64_t t = 0; t < tokens; ++t) {
      reader.copy_slot(placer.row_of(copy->source), placer.slot_of(copy->source, t),
                       placer.row_of(copy->target), placer.slot_of(copy->target, t));
    }
  }
}

void follow_edit(const Step& step, Placer& placer, const Interpreter& interpreter, Reader& reader,
                 CacheOwner owner) {
  const std::vector<SlotMove> moves = placer.edit(step, interpreter);
  if (owner == CacheOwner::caller) {
    follow_slots_of(step, moves, placer, interpreter, reader);
    return;
  }
  CHECK(moves.empty());
  if (owner == CacheOwner::none) return;
  std::visit(
      [&reader](const auto& edit) {
        if constexpr (requires { reader.edit(edit); }) reader.edit(edit);
      },
      step);
}

void check_trial(const Trial& trial) {
  Interpreter interpreter(trial.scenario);
  Placer placer(trial.scenario, trial.placement);
  Reader reader(trial.scenario.contract, trial.placement.cache);
  std::int64_t most_slots = 0;
  while (!interpreter.done()) {
    INFO("step " << interpreter.next_index());
    const Step& step = interpreter.next_step();
    const std::optional<ResolvedCall> resolved = interpreter.advance();
    if (!resolved) {
      follow_edit(step, placer, interpreter, reader, trial.placement.cache);
      continue;
    }
    const CallLayout layout = placer.place(std::get<Call>(step), *resolved, interpreter);
    check_shapes(layout, trial.placement);
    check_every_token_stands_once(layout, *resolved, trial.placement);
    check_masks_and_slots(layout, trial.placement);
    check_meaning(reader.step(layout, contents_of(layout.key_cells, *resolved)), layout, *resolved,
                  trial.positions_follow);
    most_slots = std::max(most_slots, layout.mask_columns);
  }
  if (trial.placement.cache == CacheOwner::caller) {
    CHECK(cache_capacity(trial.scenario, trial.placement) ==
          most_slots + trial.placement.spare_slots);
  }
}

TEST_CASE("tensors alone give every query its coordinate and its visible keys") {
  int positions_checked = 0, shared = 0, physical = 0, edits = 0;
  for (std::uint64_t seed = 0; seed < 800; ++seed) {
    INFO("seed " << seed);
    const Trial trial = TrialMaker(seed).make();
    check_trial(trial);
    const Contract& contract = trial.scenario.contract;
    positions_checked += trial.positions_follow ? 1 : 0;
    shared += contract.segment_visibility == SegmentVisibility::shared ? 1 : 0;
    physical += contract.pad_positions == PadPositions::physical_column ? 1 : 0;
    edits += std::any_of(trial.scenario.steps.begin(), trial.scenario.steps.end(),
                         [](const Step& step) { return std::holds_alternative<Remove>(step); });
  }
  // The drawn trials must be about something.
  CHECK(positions_checked > 400);
  CHECK(shared > 30);
  CHECK(physical > 60);
  CHECK(edits > 60);
}

TEST_CASE("every case of the smoke suite can be read off its tensors") {
  int derived = 0;
  for (const CaseSpec& spec : make_suite("smoke")) {
    INFO(to_id(spec));
    const Program program = build_program(spec);
    const bool positions_follow = !program.placement.positions_given;
    derived += positions_follow ? 1 : 0;
    check_trial({program.scenario, program.placement, positions_follow});
  }
  CHECK(derived > 0);
}

// ---- single layouts, as a reader would draw them ----

Scenario two_rows(std::vector<Step> steps, Contract contract = {}) {
  Scenario scenario;
  scenario.contract = contract;
  scenario.num_sequences = 2;
  scenario.steps = std::move(steps);
  return scenario;
}

/// The layout of the last step, which is a call.
CallLayout last_layout(const Scenario& scenario, const Placement& placement) {
  Interpreter interpreter(scenario);
  Placer placer(scenario, placement);
  CallLayout layout;
  while (!interpreter.done()) {
    const Step& step = interpreter.next_step();
    const auto resolved = interpreter.advance();
    if (resolved) {
      layout = placer.place(std::get<Call>(step), *resolved, interpreter);
    } else {
      static_cast<void>(placer.edit(step, interpreter));
    }
  }
  return layout;
}

using Mask = std::vector<std::uint8_t>;

TEST_CASE("pads stand on their side") {
  const Scenario scenario = two_rows({Call{{{0, 3}, {1, 1}}}});
  Placement placement{.pad = PadSide::left, .extra_pads = 2};
  CHECK(last_layout(scenario, placement).keep_mask == Mask{0, 0, 1, 1, 1, 0, 0, 0, 0, 1});
  placement.pad = PadSide::right;
  CHECK(last_layout(scenario, placement).keep_mask == Mask{1, 1, 1, 0, 0, 1, 0, 0, 0, 0});
  placement.pad = PadSide::both;
  CHECK(last_layout(scenario, placement).keep_mask == Mask{0, 1, 1, 1, 0, 0, 0, 1, 0, 0});
}

TEST_CASE("holes stand between tokens wherever there is room") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Placement placement{.pad = PadSide::holes, .seed = seed};
    const Cells columns = token_columns(placement, 0, 0, 3, 4);
    CHECK(columns.back() - columns.front() == 3);
    CHECK(token_columns(placement, 0, 0, 3, 3) == Cells{0, 1, 2});
  }
}

TEST_CASE("holes differ from row to row, from call to call and from seed to seed") {
  const Placement placement{.pad = PadSide::holes, .seed = 1};
  Placement other = placement;
  other.seed = 2;
  const Cells base = token_columns(placement, 0, 0, 20, 40);
  CHECK(base == token_columns(placement, 0, 0, 20, 40));
  CHECK(base != token_columns(placement, 0, 1, 20, 40));
  CHECK(base != token_columns(placement, 1, 0, 20, 40));
  CHECK(base != token_columns(other, 0, 0, 20, 40));
}

TEST_CASE("the placer draws holes anew for every call and row") {
  const Call call{{{0, 20}, {1, 20}}};
  const Scenario scenario = two_rows({call, call});
  const Placement placement{.pad = PadSide::holes, .extra_pads = 20, .seed = 3};
  const CallLayout layout = last_layout(scenario, placement);
  Cells columns;
  for (std::int64_t row = 0; row < 2; ++row) {
    for (const std::int64_t column : token_columns(placement, 1, row, 20, 40)) {
      columns.push_back(row * 40 + column);
    }
  }
  for (std::size_t token = 0; token < columns.size(); ++token) {
    CHECK(layout.query_cells[static_cast<std::size_t>(columns[token])] ==
          static_cast<std::int64_t>(token));
  }
}

TEST_CASE("without a cache, keys of earlier calls stand in the columns of those calls") {
  const Scenario scenario =
      two_rows({Call{{{0, 2}, {1, 1}}}, Truncate{0, 1}, Call{{{0, 1}, {1, 1}}}});
  const CallLayout layout = last_layout(scenario, {.pad = PadSide::right});
  CHECK(layout.q_columns == 1);
  CHECK(layout.k_columns == 3);
  CHECK(layout.keep_mask == Mask{1, 0, 1, 1, 0, 1});
  CHECK(layout.key_cells == Cells{0, kNoToken, 1, 2, kNoToken, 3});
}

TEST_CASE("a caller's slots are columns or ranks, and pads have none") {
  const Scenario scenario = two_rows({Call{{{0, 1}, {1, 3}}}, Call{{{0, 1}, {1, 1}}}});
  Placement placement{.pad = PadSide::left, .cache = CacheOwner::caller};
  placement.slots = SlotOrder::by_column;
  CallLayout layout = last_layout(scenario, placement);
  CHECK(layout.slot_mapping == Cells{3, 3});
  CHECK(layout.seq_lens == Cells{4, 4});
  CHECK(layout.keep_mask == Mask{0, 0, 1, 1, 1, 1, 1, 1});
  placement.slots = SlotOrder::by_rank;
  layout = last_layout(scenario, placement);
  CHECK(layout.slot_mapping == Cells{1, 3});
  CHECK(layout.seq_lens == Cells{2, 4});
  CHECK(layout.keep_mask == Mask{1, 1, 0, 0, 1, 1, 1, 1});
  CHECK(cache_capacity(scenario, placement) == 4 + placement.spare_slots);
}

TEST_CASE("a removal closes the gap of ranks and leaves a hole among columns") {
  const Scenario scenario = two_rows({Call{{{0, 4}, {1, 4}}}, Remove{1, {1, 2}}});
  Placement placement{.cache = CacheOwner::caller, .slots = SlotOrder::by_rank};
  for (const bool ranks : {true, false}) {
    placement.slots = ranks ? SlotOrder::by_rank : SlotOrder::by_column;
    Interpreter interpreter(scenario);
    Placer placer(scenario, placement);
    const auto resolved = interpreter.advance();
    static_cast<void>(placer.place(std::get<Call>(scenario.steps[0]), *resolved, interpreter));
    static_cast<void>(interpreter.advance());
    const auto moves = placer.edit(scenario.steps[1], interpreter);
    REQUIRE(moves.size() == (ranks ? 2 : 0));
    CHECK(placer.slot_of(1, 2) == (ranks ? 2 : 3));
    CHECK(placer.slots_in_use(1) == (ranks ? 3 : 4));
    if (ranks) {
      CHECK((moves[0].row == 1 && moves[0].from == 2 && moves[0].to == 1));
      CHECK((moves[1].row == 1 && moves[1].from == 3 && moves[1].to == 2));
    }
  }
}

TEST_CASE("rows of a pack stand in its order, other rows in a drawn one") {
  Placement placement{.form = Form::packed, .shuffled_rows = true};
  Scenario scenario;
  scenario.num_sequences = 6;
  Call call;
  for (int s = 0; s < 6; ++s) call.appends.push_back({s, s});
  scenario.steps = {Pack{{4, 2, 0, 1, 3, 5}}, call};
  const CallLayout layout = last_layout(scenario, placement);
  CHECK(layout.row_sequence == std::vector<SequenceId>{4, 2, 0, 1, 3, 5});
  CHECK(layout.cu_seqlens_q == Cells{0, 4, 6, 6, 7, 10, 15});

  scenario.steps = {call};
  std::set<std::vector<SequenceId>> orders;
  for (placement.seed = 0; placement.seed < 5; ++placement.seed) {
    orders.insert(last_layout(scenario, placement).row_sequence);
  }
  CHECK(orders.size() == 5);
  placement.shuffled_rows = false;
  CHECK(last_layout(scenario, placement).row_sequence == std::vector<SequenceId>{0, 1, 2, 3, 4, 5});
}

TEST_CASE("a placement that cannot carry its scenario is refused") {
  const Contract shared{.segment_visibility = SegmentVisibility::shared};
  const Contract continued{.segment_positions = SegmentPositions::continued};
  const Call both{{{0, 2}, {1, 2}}};
  const std::vector<Step> pack = {Pack{{0, 1}}, both};
  const auto refused = [](const Scenario& scenario, const Placement& placement) {
    try {
      Placer placer(scenario, placement);
    } catch (const Error& error) {
      return error.code() == ErrorCode::invalid_argument;
    }
    return false;
  };
  const Placement packed{.form = Form::packed};
  Placement packed_cache = packed, packed_derived = packed, padded_derived;
  packed_cache.cache = CacheOwner::caller;
  packed_derived.positions_given = padded_derived.positions_given = false;

  CHECK(!refused(two_rows(pack, shared), packed));
  CHECK(refused(two_rows(pack, shared), packed_cache));
  CHECK(refused(two_rows(pack, shared), {}));
  CHECK(refused(two_rows({pack[0], pack[1], Truncate{1, 0}, Copy{0, 1}}, shared), packed));
  CHECK(refused(two_rows({both}, shared), packed));
  CHECK(refused(two_rows({Pack{{0}}, both}, shared), packed));
  CHECK(!refused(two_rows(pack, continued), packed_derived));
  CHECK(refused(two_rows({both}, continued), packed_derived));
  CHECK(refused(two_rows(pack, continued), padded_derived));
  CHECK(refused(two_rows({pack[0], pack[1], both}, continued), packed_derived));

  CHECK(!refused(two_rows({both}), {.cache = CacheOwner::caller}));
  CHECK(refused(two_rows({Call{{{0, 2}}}}), {.pad = PadSide::left, .cache = CacheOwner::caller}));
  CHECK(refused(two_rows({Call{{{0, 2}, {1, 1}}}}), {}));
  CHECK(refused(two_rows({both}), {.extra_pads = 1}));
  CHECK(refused(two_rows({both}), {.pad = PadSide::left, .extra_pads = -1}));
  CHECK(refused(two_rows({both}), {.form = Form::packed, .extra_pads = 1}));
}

}  // namespace
}  // namespace ropecheck
