// SPDX-License-Identifier: Apache-2.0
#include "cases/rules.hpp"

#include "cases/families.hpp"
#include "cases/program.hpp"
#include "reference/error.hpp"
#include "reference/profile.hpp"

#include <algorithm>
#include <array>

namespace ropecheck {
namespace {

using Verdict = std::optional<std::string>;

/// More tokens than these are no case but a mistake: their numbers alone fill the memory.
constexpr std::int64_t kMaxTokens = std::int64_t{1} << 24;
/// Tables by position end here: real ones are as long as a context, not as the coordinates of a
/// ladder.
constexpr std::int64_t kMaxTablePositions = 20000;
/// The exact term of the query's rounding takes minutes beyond these multiply-adds.
constexpr double kMaxExactCost = 2e11;

// ---- model

Verdict heads_divide(const CaseSpec& spec) {
  if (spec.heads.num_q_heads % spec.heads.num_kv_heads == 0) return {};
  return fmt::format("{} query heads cannot share {} kv heads evenly; take a divisor",
                     spec.heads.num_q_heads, spec.heads.num_kv_heads);
}

Verdict rotary_fits(const CaseSpec& spec) {
  const int head_dim = spec.heads.head_dim;
  if (spec.rotary_dim % 2 == 0 && spec.rotary_dim <= head_dim) return {};
  return fmt::format("rotary_dim must be even and at most head_dim ({}), got {}", head_dim,
                     spec.rotary_dim);
}

Verdict rope_of_family(const CaseSpec& spec) {
  if (spec.rule.type == RopeType::default_ && spec.rule.factor != 1) {
    return "the default rope has no factor; write factor 1, or type linear";
  }
  if (spec.family == Family::interpolation && spec.rule.type != RopeType::linear) {
    return "interpolation is about the linear rope; write type linear";
  }
  return {};
}

// ---- contract

Verdict segments_of_family(const CaseSpec& spec) {
  const bool plain = spec.segment_positions == SegmentPositions::restart &&
                     spec.segment_visibility == SegmentVisibility::isolated;
  if (!is_packed(spec.family) && !plain) {
    return "only packed families have segments; write seg=restart.isolated";
  }
  if (spec.segment_visibility == SegmentVisibility::isolated) return {};
  if (spec.family == Family::packed_decode) {
    return "a later call brings tokens of segments that share a pack, and nothing says what those "
           "of "
           "earlier segments see; write isolated segments";
  }
  if (spec.cache != CacheOwner::none) {
    return "a cache keeps rows apart, and segments that share a pack see each other; write "
           "cache=none";
  }
  return {};
}

Verdict segments_apart(const CaseSpec& spec) {
  const bool plain = spec.segment_positions == SegmentPositions::restart &&
                     spec.segment_visibility == SegmentVisibility::isolated;
  if (!is_packed(spec.family) || plain || spec.rows >= 2) return {};
  return "a pack of one segment neither continues nor shares; write rows of at least 2, or "
         "seg=restart.isolated";
}

Verdict pads_consume(const CaseSpec& spec) {
  if (spec.pad_positions == PadPositions::valid_rank) return {};
  const bool left = spec.pad == PadSide::left || spec.pad == PadSide::both;
  if (spec.family == Family::padding && !left) {
    return "in one prefill only pads before a token move it; write pad=left, pad=both or pads=rank";
  }
  if (spec.family == Family::decode && !left && spec.pad != PadSide::right) {
    return "pads consume coordinates in whole blocks; write pad=left, right or both, or pads=rank";
  }
  if (spec.family != Family::padding && spec.family != Family::decode) {
    return "pads consume coordinates in the families padding and decode only; write pads=rank";
  }
  if (spec.cache == CacheOwner::caller && spec.slots == SlotOrder::by_rank) {
    return "slots by rank do not know the columns that pads consume; write slots=column";
  }
  return {};
}

// ---- scenario

Verdict tokens_bounded(const CaseSpec& spec) {
  if (spec.rows * spec.length <= kMaxTokens) return {};
  return fmt::format("rows times length must be at most {} tokens, got {}", kMaxTokens,
                     spec.rows * spec.length);
}

Verdict lengths_differ(const CaseSpec& spec) {
  if (spec.lengths == Lengths::equal) {
    if (spec.family != Family::mixed) return {};
    return "the rows of a mixed batch differ in length; write ragged or extreme";
  }
  if (spec.family == Family::padding && spec.lengths == Lengths::extreme) {
    return "padding has rows of like length; write equal or ragged, or family mixed";
  }
  if (spec.rows < 2) return "one row has nothing to differ from; write an equal length";
  if (spec.length < 4)
    return "rows of less than 4 tokens cannot differ enough; write a longer length";
  return {};
}

Verdict steps_of_family(const CaseSpec& spec) {
  const bool decodes = spec.family == Family::decode || spec.family == Family::packed_decode ||
                       spec.family == Family::shift;
  if (decodes == (spec.steps > 0)) return {};
  return decodes ? "this family decodes; write steps of at least 1"
                 : "only decode, packed_decode and shift decode; write steps=0";
}

Verdict chunk_of_family(const CaseSpec& spec) {
  if (spec.family != Family::chunked) {
    if (spec.chunk == 0) return {};
    return "only the family chunked has chunks; write chunk=0";
  }
  if (spec.chunk >= 1 && spec.chunk < spec.length) return {};
  return fmt::format("a chunk must be from 1 to less than the length ({}), got {}", spec.length,
                     spec.chunk);
}

Verdict edit_of_family(const CaseSpec& spec) {
  if (spec.family != Family::shift) {
    if (spec.edit == Edit::discard && spec.delta == 0) return {};
    return "only the family shift edits; write edit=discard.0";
  }
  if (spec.delta == 0) return "a shift needs a delta of at least 1";
  const std::vector<std::int64_t> lengths = row_lengths(spec);
  const std::int64_t shortest = *std::min_element(lengths.begin(), lengths.end());
  const std::int64_t needed =
      kKeptTokens + 1 + (spec.edit == Edit::discard ? spec.delta : std::int64_t{0});
  if (shortest >= needed) return {};
  return fmt::format(
      "the shortest row has {} tokens, and this edit needs {}; write longer or equal "
      "rows, or a smaller delta",
      shortest, needed);
}

// ---- placement

Verdict form_of_family(const CaseSpec& spec) {
  if (is_packed(spec.family) == (spec.form == Form::packed)) return {};
  return is_packed(spec.family) ? "packed families have packed calls; write form=packed"
                                : "only packed families have packed calls; write form=padded";
}

Verdict pad_of_family(const CaseSpec& spec) {
  if (is_packed(spec.family)) {
    if (spec.pad == PadSide::none) return {};
    return "packed calls have no pads; write pad=none";
  }
  const bool equal = spec.lengths == Lengths::equal;
  if (spec.pad == PadSide::none && !equal)
    return "rows of unequal length need pads; write a pad side";
  if (spec.pad != PadSide::none && equal && spec.family != Family::padding) {
    return "rows of equal length have no pads outside the family padding; write pad=none";
  }
  return {};
}

Verdict slots_of_cache(const CaseSpec& spec) {
  if (spec.slots == SlotOrder::by_rank) return {};
  if (spec.cache != CacheOwner::caller || is_packed(spec.family)) {
    return "slots by column are those of padded calls in a caller's cache; write slots=rank";
  }
  // A discarded range leaves a hole in columns and none in ranks.
  const bool holes = spec.family == Family::shift && spec.edit == Edit::discard;
  if (spec.pad == PadSide::none && !holes) {
    return "without pads a column is a rank; write slots=rank";
  }
  return {};
}

Verdict garbage_somewhere(const CaseSpec& spec) {
  if (spec.garbage == Garbage::noise || has_meaningless_cells(spec)) return {};
  return "no cell of this case means nothing; write garbage=noise";
}

Verdict order_of_rows(const CaseSpec& spec) {
  if (!spec.shuffled_rows) return {};
  if (is_packed(spec.family))
    return "segments stand in the order of their pack; write order=natural";
  if (spec.rows < 2) return "one row has one order; write order=natural";
  return {};
}

Verdict positions_derivable(const CaseSpec& spec) {
  if (spec.positions_given) return {};
  if (spec.rope_form == RopeForm::rotated || spec.rope_form == RopeForm::tables_by_token) {
    return "positions are already in what this rope form hands over; write pos=given";
  }
  if (spec.edit == Edit::advance && spec.cache != CacheOwner::backend) {
    return "only a backend that keeps the cache knows that its tail moved on; write pos=given";
  }
  if (spec.family == Family::packed_decode &&
      spec.segment_positions == SegmentPositions::continued) {
    return "a later call does not tell where a continued segment began; write pos=given";
  }
  return {};
}

Verdict tables_reach(const CaseSpec& spec) {
  if (!is_table_by_position(spec.rope_form)) return {};
  const std::int64_t bound = coordinate_bound(spec);
  if (bound < kMaxTablePositions) return {};
  return fmt::format(
      "tables by position end before {}, and coordinates go up to {}; write "
      "handed=tables_by_token, or smaller coordinates",
      kMaxTablePositions, bound);
}

Verdict rerotation_possible(const CaseSpec& spec) {
  if (spec.family != Family::shift || spec.cache != CacheOwner::backend) return {};
  if (spec.rope_form != RopeForm::rotated && spec.rope_form != RopeForm::tables_by_token) return {};
  return "a backend that never gets the rope cannot rotate its cached keys anew; write another "
         "rope form or another cache";
}

Verdict fused_view_exists(const CaseSpec& spec) {
  if (!spec.fused_qkv || is_one_call(spec.family) || spec.cache != CacheOwner::none) return {};
  return "later calls without a cache bring more keys than queries, so the three are no views of "
         "one "
         "tensor; write qkv=separate";
}

// ---- inputs and checks

Verdict rows_sampled(const CaseSpec& spec) {
  if (spec.sampled_rows == 0) return {};
  if (spec.sampled_rows >= spec.length) {
    return fmt::format("fewer rows than the length ({}) must be sampled, got {}", spec.length,
                       spec.sampled_rows);
  }
  if (!is_one_call(spec.family)) return "rows are sampled in prefills; write sample=0";
  if (spec.law != "none") return "a law compares all rows; write sample=0";
  return {};
}

Verdict exact_term_affordable(const CaseSpec& spec) {
  if (!needs_exact_query_error(spec)) return {};
  const double cost = exact_query_cost(spec);
  if (cost <= kMaxExactCost) return {};
  return fmt::format(
      "limits of this case need the exact term of the query's rounding, which takes "
      "{:.1e} multiply-adds, more than {:.0e}; write fewer or shorter rows, or in=normal "
      "in a prefill",
      cost, kMaxExactCost);
}

constexpr auto kRules = std::to_array<Rule>({
    {"heads", heads_divide},
    {"dim", rotary_fits},
    {"rope", rope_of_family},
    {"seg cache", segments_of_family},
    {"seg rows", segments_apart},
    {"pads pad cache slots", pads_consume},
    {"rows len", tokens_bounded},
    {"rows len", lengths_differ},
    {"steps", steps_of_family},
    {"chunk len", chunk_of_family},
    {"edit rows len", edit_of_family},
    {"form", form_of_family},
    {"pad len", pad_of_family},
    {"slots cache pad edit", slots_of_cache},
    {"garbage pad cache", garbage_somewhere},
    {"order rows", order_of_rows},
    {"pos handed edit cache seg", positions_derivable},
    {"handed first rows len steps edit seg pads", tables_reach},
    {"handed cache", rerotation_possible},
    {"qkv cache", fused_view_exists},
    {"sample len law", rows_sampled},
    {"heads dim rows len seg steps chunk in sample", exact_term_affordable},
});

}  // namespace

std::span<const Rule> rules() { return kRules; }

}  // namespace ropecheck
