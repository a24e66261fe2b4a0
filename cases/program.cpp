// SPDX-License-Identifier: Apache-2.0
#include "cases/program.hpp"

#include "cases/families.hpp"
#include "cases/random.hpp"
#include "cases/rules.hpp"
#include "reference/error.hpp"

#include <algorithm>
#include <cmath>

namespace ropecheck {
namespace {

/// The exact term of the query's rounding is taken wherever it costs no more multiply-adds than
/// this.
constexpr double kCheapExactCost = 1e8;
/// Tables are handed over in float32.
constexpr double kTableRoundoff = 0x1p-24;

/// Drawn from what shapes the scenario and from nothing else: cases that differ in another axis
/// have the same rows, so that they can be compared.
std::uint64_t geometry_seed(const CaseSpec& spec) {
  return hash_text(fmt::format("{}/{}/{}/{}", to_string(spec.family), spec.rows, spec.length,
                               static_cast<int>(spec.lengths)));
}

/// Rows of like length (padding) are at least three quarters of the longest, others a third.
std::vector<std::int64_t> ragged_lengths(const CaseSpec& spec) {
  const std::int64_t least = spec.family == Family::padding
                                 ? spec.length - spec.length / 4
                                 : std::max<std::int64_t>(1, spec.length / 3);
  Random random(geometry_seed(spec));
  std::vector<std::int64_t> lengths;
  for (int row = 1; row < spec.rows; ++row) {
    lengths.push_back(random.between(least, spec.length - 1));
  }
  lengths.push_back(spec.length);
  return lengths;
}

std::vector<std::int64_t> extreme_lengths(const CaseSpec& spec) {
  const std::int64_t cycle[] = {1, spec.length / 2, 2, spec.length};
  std::vector<std::int64_t> lengths;
  for (int row = 1; row < spec.rows; ++row) lengths.push_back(cycle[(row - 1) % 4]);
  lengths.push_back(spec.length);
  return lengths;
}

/// Rows of the family padding have more pads than their lengths need; holes want some between
/// tokens.
std::int64_t extra_pads(const CaseSpec& spec) {
  if (spec.family != Family::padding || spec.pad == PadSide::none) return 0;
  const auto drawn = static_cast<std::int64_t>(geometry_seed(spec) % 3);
  return drawn + (spec.pad == PadSide::holes ? 3 : 2);
}

Placement build_placement(const CaseSpec& spec) {
  Placement placement;
  placement.form = spec.form;
  placement.pad = spec.pad;
  placement.extra_pads = extra_pads(spec);
  placement.cache = spec.cache;
  placement.slots = spec.slots;
  placement.garbage = spec.garbage;
  placement.shuffled_rows = spec.shuffled_rows;
  placement.positions_given = spec.positions_given;
  placement.rope_form = spec.rope_form;
  placement.index_type = spec.index_type;
  placement.fused_qkv = spec.fused_qkv;
  placement.seed = geometry_seed(spec);
  return placement;
}

/// What is handed over cannot be the kernel's fault: of given tables only their storage is left.
Profile build_profile(const CaseSpec& spec) {
  Profile profile = find_profile(spec.profile);
  if (is_table_by_position(spec.rope_form) || spec.rope_form == RopeForm::tables_by_token) {
    profile.phase = 0;
    profile.phase_recurrence = false;
    profile.table = std::max(profile.table, kTableRoundoff);
  }
  return profile;
}

bool correlates(InputKind input) {
  return input == InputKind::ramp || input == InputKind::one_hot || input == InputKind::tied;
}

}  // namespace

std::vector<std::int64_t> row_lengths(const CaseSpec& spec) {
  switch (spec.lengths) {
    case Lengths::ragged: return ragged_lengths(spec);
    case Lengths::extreme: return extreme_lengths(spec);
    case Lengths::equal: break;
  }
  return std::vector<std::int64_t>(static_cast<std::size_t>(spec.rows), spec.length);
}

std::int64_t coordinate_bound(const CaseSpec& spec) {
  // Pads that consume coordinates: at most as many as tokens, and the extra ones, in every call.
  const std::int64_t pads =
      spec.pad_positions == PadPositions::physical_column ? spec.length + 8 : 0;
  const std::int64_t rows_in_line =
      spec.segment_positions == SegmentPositions::continued ? spec.rows : 1;
  const std::int64_t moved = spec.edit == Edit::advance ? spec.delta : 0;
  return spec.first_coordinate + rows_in_line * spec.length + spec.steps + moved + pads;
}

double exact_query_cost(const CaseSpec& spec) {
  double pairs = 0;
  for (const std::int64_t tokens : row_lengths(spec)) {
    const auto total = static_cast<double>(tokens + spec.steps);
    pairs += total * (total + 1) / 2;
  }
  if (spec.segment_visibility == SegmentVisibility::shared) pairs *= spec.rows;
  if (spec.sampled_rows > 0) {
    pairs = std::min(pairs, static_cast<double>(spec.sampled_rows * spec.length));
  }
  return pairs * spec.heads.num_q_heads * spec.heads.head_dim * spec.heads.v_head_dim;
}

bool needs_exact_query_error(const CaseSpec& spec) {
  return correlates(spec.input) || spec.steps > 0 || spec.chunk > 0 || spec.sampled_rows > 0;
}

Program build_program(const CaseSpec& spec) {
  if (const auto reason = contradiction(spec)) {
    fail(ErrorCode::invalid_argument, "case '{}': {}", to_id(spec), *reason);
  }
  Program program;
  program.placement = build_placement(spec);
  program.scenario = build_scenario(spec, program.placement);
  program.values.kind = spec.input;
  program.profile = build_profile(spec);
  program.values.storage = program.profile.storage;
  program.values.seed = spec.seed;
  program.values.shape = spec.heads;
  program.exact_query_error =
      needs_exact_query_error(spec) || exact_query_cost(spec) <= kCheapExactCost;
  program.sampled_rows = spec.sampled_rows;
  return program;
}

}  // namespace ropecheck
