// SPDX-License-Identifier: Apache-2.0
#include "cases/placement.hpp"

#include "cases/random.hpp"
#include "reference/error.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <utility>

namespace ropecheck {
namespace {

/// Streams of Placement::seed: row order takes 0, holes one for each call and row.
constexpr std::uint64_t kRowOrderStream = 0;
std::uint64_t holes_stream(std::int64_t call, std::int64_t row) {
  return (static_cast<std::uint64_t>(call + 1) << 32) | static_cast<std::uint64_t>(row);
}

bool slots_are_ranks(const Placement& placement) {
  return placement.cache == CacheOwner::caller && placement.slots == SlotOrder::by_rank;
}

/// [sequences] new tokens of each; a sequence that is not in the call gets none.
std::vector<std::int64_t> new_tokens(const Scenario& scenario, const Call& call) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(scenario.num_sequences));
  for (const Append& append : call.appends) {
    counts[static_cast<std::size_t>(append.sequence)] = append.count;
  }
  return counts;
}

/// Slots (columns) in use by each sequence after one more step.
void follow_slots(const Step& step, const Placement& placement, std::vector<std::int64_t>& used) {
  const bool ranks = slots_are_ranks(placement);
  const auto at = [&used](SequenceId id) -> std::int64_t& {
    return used[static_cast<std::size_t>(id)];
  };
  if (const auto* call = std::get_if<Call>(&step)) {
    if (placement.form == Form::padded && !ranks) {
      for (std::int64_t& slots : used) slots += num_columns(placement, *call);
    } else {
      for (const Append& append : call->appends) at(append.sequence) += append.count;
    }
  } else if (const auto* copy = std::get_if<Copy>(&step)) {
    at(copy->target) = at(copy->source);
  } else if (const auto* remove = std::get_if<Remove>(&step)) {
    if (ranks) at(remove->sequence) -= remove->range.end - remove->range.begin;
  } else if (const auto* truncate = std::get_if<Truncate>(&step)) {
    if (ranks) at(truncate->sequence) = truncate->length;
  }
}

// ---- row order ----

std::vector<SequenceId> packs_first(const Scenario& scenario) {
  std::vector<SequenceId> order;
  const auto add = [&order](SequenceId id) {
    if (std::find(order.begin(), order.end(), id) == order.end()) order.push_back(id);
  };
  for (const Step& step : scenario.steps) {
    if (const auto* pack = std::get_if<Pack>(&step)) {
      for (const SequenceId id : pack->segments) add(id);
    }
  }
  for (SequenceId id = 0; id < scenario.num_sequences; ++id) add(id);
  return order;
}

template <typename Kind>
std::int64_t count_steps(const Scenario& scenario) {
  return std::count_if(scenario.steps.begin(), scenario.steps.end(),
                       [](const Step& step) { return std::holds_alternative<Kind>(step); });
}

bool has_pack(const Scenario& scenario) { return count_steps<Pack>(scenario) > 0; }

std::vector<SequenceId> draw_row_order(const Scenario& scenario, const Placement& placement) {
  std::vector<SequenceId> order = packs_first(scenario);
  // In a pack, the order is meaning.
  if (!placement.shuffled_rows || has_pack(scenario)) return order;
  Random random(placement.seed, kRowOrderStream);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

// ---- can the placement carry the scenario? ----

[[noreturn]] void refuse(const std::string& why) {
  fail(ErrorCode::invalid_argument, "placement: {}", why);
}

/// Whether one pack holds all sequences.
bool one_pack_of_all(const Scenario& scenario) {
  std::size_t packs = 0, segments = 0;
  for (const Step& step : scenario.steps) {
    const auto* pack = std::get_if<Pack>(&step);
    if (pack == nullptr) continue;
    ++packs;
    segments += pack->segments.size();
  }
  return packs == 1 && segments == static_cast<std::size_t>(scenario.num_sequences);
}

void check_packs(const Scenario& scenario, const Placement& placement) {
  const Contract& contract = scenario.contract;
  const bool packed = placement.form == Form::packed;
  const bool shared = contract.segment_visibility == SegmentVisibility::shared;
  if (shared && has_pack(scenario)) {
    if (!packed)
      refuse("padded rows do not see each other, segments of a shared pack do; use packed");
    if (placement.cache != CacheOwner::none) {
      refuse(
          "a shared pack needs all keys in every call, a cache brings one row's; use cache none");
    }
    if (count_steps<Copy>(scenario) > 0) {
      refuse("a copy would stand at two places of a shared pack, a row has one; leave it out");
    }
  }
  const bool continued_by_backend =
      contract.segment_positions == SegmentPositions::continued && !placement.positions_given;
  if (packed && (shared || continued_by_backend) && !one_pack_of_all(scenario)) {
    refuse(
        "a backend takes all rows of a packed call for one pack where segments are shared or their "
        "derived positions continue; pack all sequences, once");
  }
  if (packed && continued_by_backend && count_steps<Call>(scenario) > 1 &&
      placement.cache != CacheOwner::backend) {
    refuse(
        "after the call of a pack, nothing but the backend's own cache knows where a continued "
        "segment started; give positions");
  }
  if (!packed && continued_by_backend && has_pack(scenario)) {
    refuse(
        "padded rows do not tell where a continued segment starts; give positions or use packed");
  }
}

void check_call(const Scenario& scenario, const Placement& placement, const Call& call,
                std::size_t step) {
  if (placement.cache == CacheOwner::caller &&
      call.appends.size() != static_cast<std::size_t>(scenario.num_sequences)) {
    refuse(fmt::format(
        "scenario step {} leaves out sequences, but a caller's cache has a row for each "
        "in every call; append 0 tokens to them",
        step));
  }
  if (placement.form == Form::padded && placement.pad == PadSide::none) {
    const std::vector<std::int64_t> counts = new_tokens(scenario, call);
    const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
    if (*least != *most) {
      refuse(
          fmt::format("scenario step {} has rows of {} to {} tokens, which do not fit together "
                      "without pads; choose a pad side",
                      step, *least, *most));
    }
  }
}

void check_placement(const Scenario& scenario, const Placement& placement) {
  if (placement.extra_pads < 0 || placement.spare_slots < 0) {
    refuse(fmt::format("extra_pads and spare_slots must not be negative, got {} and {}",
                       placement.extra_pads, placement.spare_slots));
  }
  if (placement.extra_pads > 0 &&
      (placement.form == Form::packed || placement.pad == PadSide::none)) {
    refuse(fmt::format("{} extra pads have no place without a pad side; set extra_pads to 0",
                       placement.extra_pads));
  }
  check_packs(scenario, placement);
  for (std::size_t i = 0; i < scenario.steps.size(); ++i) {
    if (const auto* call = std::get_if<Call>(&scenario.steps[i])) {
      check_call(scenario, placement, *call, i);
    }
  }
}

// ---- holes ----

/// Draws which columns hold tokens: every pad goes to a gap before, between or after the tokens,
/// the first one between two of them if there are two.
std::vector<std::int64_t> draw_holes(Random& random, std::int64_t count, std::int64_t columns) {
  std::vector<std::int64_t> pads_before(static_cast<std::size_t>(count) + 1);
  for (std::int64_t pad = 0; pad < columns - count; ++pad) {
    const bool inside = pad == 0 && count > 1;
    const std::int64_t gap = inside ? random.between(1, count - 1) : random.between(0, count);
    ++pads_before[static_cast<std::size_t>(gap)];
  }
  std::vector<std::int64_t> places;
  std::int64_t column = 0;
  for (std::int64_t token = 0; token < count; ++token) {
    column += pads_before[static_cast<std::size_t>(token)];
    places.push_back(column++);
  }
  return places;
}

// ---- pieces of a layout ----

/// Index of [row, column] in C order.
std::size_t cell(std::int64_t row, std::int64_t columns, std::int64_t column) {
  return static_cast<std::size_t>(row * columns + column);
}

std::vector<std::int64_t> empty_cells(std::int64_t rows, std::int64_t columns) {
  return std::vector<std::int64_t>(static_cast<std::size_t>(rows * columns), kNoToken);
}

std::vector<std::uint8_t> mask_of(std::span<const std::int64_t> cells) {
  std::vector<std::uint8_t> mask(cells.size());
  std::transform(cells.begin(), cells.end(), mask.begin(),
                 [](std::int64_t token) { return token == kNoToken ? 0 : 1; });
  return mask;
}

/// [sequences] row of ResolvedCall::queries of the first new token of each.
std::vector<std::int64_t> first_queries(const Call& call, std::int64_t num_sequences) {
  std::vector<std::int64_t> first(static_cast<std::size_t>(num_sequences));
  std::int64_t query = 0;
  for (const Append& append : call.appends) {
    first[static_cast<std::size_t>(append.sequence)] = query;
    query += append.count;
  }
  return first;
}

/// Cells of the new tokens' keys: where their queries stand.
std::vector<std::int64_t> keys_at_queries(const CallLayout& layout, const ResolvedCall& resolved) {
  std::vector<std::int64_t> keys = layout.query_cells;
  for (std::int64_t& token : keys) {
    if (token != kNoToken) token = resolved.own_key[static_cast<std::size_t>(token)];
  }
  return keys;
}

}  // namespace

std::int64_t num_columns(const Placement& placement, const Call& call) {
  std::int64_t longest = 0;
  for (const Append& append : call.appends) longest = std::max(longest, append.count);
  return longest + placement.extra_pads;
}

std::vector<std::int64_t> token_columns(const Placement& placement, std::int64_t call,
                                        std::int64_t row, std::int64_t count,
                                        std::int64_t columns) {
  ROPECHECK_CHECK(count <= columns, "{} tokens in {} columns", count, columns);
  if (placement.pad == PadSide::holes) {
    Random random(placement.seed, holes_stream(call, row));
    return draw_holes(random, count, columns);
  }
  const std::int64_t pads = columns - count;
  const std::int64_t begin = placement.pad == PadSide::left   ? pads
                             : placement.pad == PadSide::both ? pads / 2
                                                              : 0;
  std::vector<std::int64_t> places(static_cast<std::size_t>(count));
  std::iota(places.begin(), places.end(), begin);
  return places;
}

Placer::Placer(const Scenario& scenario, const Placement& placement)
    : scenario_(&scenario), placement_(placement) {
  check_placement(scenario, placement);
  const auto sequences = static_cast<std::size_t>(scenario.num_sequences);
  row_sequence_ = draw_row_order(scenario, placement);
  row_of_.resize(sequences);
  for (std::size_t row = 0; row < sequences; ++row) {
    row_of_[static_cast<std::size_t>(row_sequence_[row])] = static_cast<std::int64_t>(row);
  }
  slots_.resize(sequences);
  used_.resize(sequences);
}

std::int64_t Placer::new_slot(SequenceId sequence, std::int64_t column) const {
  const auto s = static_cast<std::size_t>(sequence);
  return slots_are_ranks(placement_) ? static_cast<std::int64_t>(slots_[s].size())
                                     : used_[s] + column;
}

CallLayout Placer::place(const Call& call, const ResolvedCall& resolved,
                         const Interpreter& interpreter) {
  CallLayout layout;
  layout.form = placement_.form;
  layout.num_rows = static_cast<std::int64_t>(row_sequence_.size());
  layout.row_sequence = row_sequence_;
  const bool padded = placement_.form == Form::padded;
  padded ? place_padded(call, resolved, layout) : place_packed(call, resolved, layout);
  follow_slots(call, placement_, used_);
  ++num_calls_;
  for (const TokenRef& key : resolved.keys) {
    ROPECHECK_CHECK(slots_[static_cast<std::size_t>(key.sequence)].size() ==
                        interpreter.sequence(key.sequence).tokens.size(),
                    "the placer missed a step of sequence {}", key.sequence);
  }

  if (placement_.cache == CacheOwner::none) {
    padded ? place_kv_columns(resolved, layout) : place_kv_tokens(resolved, layout);
    return layout;
  }
  layout.key_cells = keys_at_queries(layout, resolved);
  layout.k_columns = layout.q_columns;
  layout.cu_seqlens_kv = layout.cu_seqlens_q;
  if (placement_.cache == CacheOwner::caller) {
    place_slots(resolved, layout);
  } else if (padded) {
    layout.mask_columns = layout.q_columns;
    layout.keep_mask = mask_of(layout.query_cells);
  }
  return layout;
}

void Placer::place_padded(const Call& call, const ResolvedCall& resolved, CallLayout& layout) {
  const std::int64_t columns = num_columns(placement_, call);
  const std::vector<std::int64_t> counts = new_tokens(*scenario_, call);
  const std::vector<std::int64_t> first = first_queries(call, layout.num_rows);
  layout.q_columns = columns;
  layout.query_cells = empty_cells(layout.num_rows, columns);
  std::vector<std::int64_t> slot_mapping = empty_cells(layout.num_rows, columns);
  std::int64_t placed = 0;
  for (std::int64_t row = 0; row < layout.num_rows; ++row) {
    const auto s = static_cast<std::size_t>(row_sequence_[static_cast<std::size_t>(row)]);
    std::int64_t query = first[s];
    for (const std::int64_t column :
         token_columns(placement_, num_calls_, row, counts[s], columns)) {
      const std::int64_t slot = new_slot(static_cast<SequenceId>(s), column);
      slots_[s].push_back(slot);
      slot_mapping[cell(row, columns, column)] = slot;
      layout.query_cells[cell(row, columns, column)] = query++;
      ++placed;
    }
  }
  ROPECHECK_CHECK(placed == static_cast<std::int64_t>(resolved.queries.size()),
                  "placed {} of {} queries", placed, resolved.queries.size());
  if (placement_.cache == CacheOwner::caller) layout.slot_mapping = std::move(slot_mapping);
}

void Placer::place_packed(const Call& call, const ResolvedCall& resolved, CallLayout& layout) {
  const std::vector<std::int64_t> counts = new_tokens(*scenario_, call);
  const std::vector<std::int64_t> first = first_queries(call, layout.num_rows);
  layout.cu_seqlens_q = {0};
  for (const SequenceId sequence : row_sequence_) {
    const auto s = static_cast<std::size_t>(sequence);
    for (std::int64_t t = 0; t < counts[s]; ++t) {
      const std::int64_t slot = new_slot(sequence, t);
      slots_[s].push_back(slot);
      layout.query_cells.push_back(first[s] + t);
      if (placement_.cache == CacheOwner::caller) layout.slot_mapping.push_back(slot);
    }
    layout.cu_seqlens_q.push_back(static_cast<std::int64_t>(layout.query_cells.size()));
  }
  layout.q_columns = layout.cu_seqlens_q.back();
  ROPECHECK_CHECK(layout.query_cells.size() == resolved.queries.size(), "placed {} of {} queries",
                  layout.query_cells.size(), resolved.queries.size());
}

void Placer::place_kv_columns(const ResolvedCall& resolved, CallLayout& layout) const {
  layout.k_columns = used_.front();
  layout.key_cells = empty_cells(layout.num_rows, layout.k_columns);
  for (std::size_t k = 0; k < resolved.keys.size(); ++k) {
    const TokenRef& key = resolved.keys[k];
    const std::int64_t column = slot_of(key.sequence, key.index);
    layout.key_cells[cell(row_of(key.sequence), layout.k_columns, column)] =
        static_cast<std::int64_t>(k);
  }
  layout.mask_columns = layout.k_columns;
  layout.keep_mask = mask_of(layout.key_cells);
}

void Placer::place_kv_tokens(const ResolvedCall& resolved, CallLayout& layout) const {
  std::vector<std::int64_t> row_end(static_cast<std::size_t>(layout.num_rows) + 1);
  for (const TokenRef& key : resolved.keys) {
    ++row_end[static_cast<std::size_t>(row_of(key.sequence)) + 1];
  }
  std::partial_sum(row_end.begin(), row_end.end(), row_end.begin());
  layout.cu_seqlens_kv = std::move(row_end);
  layout.k_columns = layout.cu_seqlens_kv.back();
  layout.key_cells = empty_cells(1, layout.k_columns);
  for (std::size_t k = 0; k < resolved.keys.size(); ++k) {
    const TokenRef& key = resolved.keys[k];
    const std::int64_t begin = layout.cu_seqlens_kv[static_cast<std::size_t>(row_of(key.sequence))];
    layout.key_cells[static_cast<std::size_t>(begin + key.index)] = static_cast<std::int64_t>(k);
  }
}

void Placer::place_slots(const ResolvedCall& resolved, CallLayout& layout) const {
  for (const SequenceId sequence : row_sequence_) {
    layout.seq_lens.push_back(slots_in_use(sequence));
  }
  layout.mask_columns = *std::max_element(used_.begin(), used_.end());
  layout.slot_keys = empty_cells(layout.num_rows, layout.mask_columns);
  for (std::size_t k = 0; k < resolved.keys.size(); ++k) {
    const TokenRef& key = resolved.keys[k];
    const std::int64_t slot = slot_of(key.sequence, key.index);
    layout.slot_keys[cell(row_of(key.sequence), layout.mask_columns, slot)] =
        static_cast<std::int64_t>(k);
  }
  layout.keep_mask = mask_of(layout.slot_keys);
}

std::vector<SlotMove> Placer::edit(const Step& step, const Interpreter& interpreter) {
  ROPECHECK_CHECK(!std::holds_alternative<Call>(step), "a call is placed, not followed");
  follow_slots(step, placement_, used_);
  std::vector<SlotMove> moves;
  if (const auto* copy = std::get_if<Copy>(&step)) {
    slots_[static_cast<std::size_t>(copy->target)] = slots_[static_cast<std::size_t>(copy->source)];
  } else if (const auto* truncate = std::get_if<Truncate>(&step)) {
    slots_[static_cast<std::size_t>(truncate->sequence)].resize(
        static_cast<std::size_t>(truncate->length));
  } else if (const auto* remove = std::get_if<Remove>(&step)) {
    std::vector<std::int64_t>& slots = slots_[static_cast<std::size_t>(remove->sequence)];
    slots.erase(slots.begin() + remove->range.begin, slots.begin() + remove->range.end);
    if (slots_are_ranks(placement_)) {
      for (auto rank = static_cast<std::size_t>(remove->range.begin); rank < slots.size(); ++rank) {
        const auto slot = static_cast<std::int64_t>(rank);
        if (slots[rank] != slot) moves.push_back({row_of(remove->sequence), slots[rank], slot});
        slots[rank] = slot;
      }
    }
  }
  for (std::size_t s = 0; s < slots_.size(); ++s) {
    ROPECHECK_CHECK(
        slots_[s].size() == interpreter.sequence(static_cast<SequenceId>(s)).tokens.size(),
        "the placer missed a step of sequence {}", s);
  }
  return moves;
}

std::int64_t cache_capacity(const Scenario& scenario, const Placement& placement) {
  std::vector<std::int64_t> used(static_cast<std::size_t>(scenario.num_sequences));
  std::int64_t most = 0;
  for (const Step& step : scenario.steps) {
    follow_slots(step, placement, used);
    for (const std::int64_t slots : used) most = std::max(most, slots);
  }
  return most + placement.spare_slots;
}

}  // namespace ropecheck
