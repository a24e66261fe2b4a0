// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cases/inputs.hpp"
#include "cases/placement.hpp"
#include "cases/scenario.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ropecheck {

/// What a case is about; decides how its axes become a scenario.
enum class Family {
  padding,        ///< one prefill of rows of like length, padded on some side
  mixed,          ///< one prefill of rows of very different length
  packed,         ///< segments in one pack, all four contracts
  decode,         ///< prefill, then tokens one by one
  packed_decode,  ///< packed prefill, then each segment decodes
  chunked,        ///< prefill in chunks
  shift,          ///< cached keys move by +-delta, then decode goes on
  interpolation,  ///< linear rule, positions inside the trained length and far beyond
  ladder,         ///< first coordinate 0, 1, 2, ... 2^20
};

/// How the lengths of the rows differ.
enum class Lengths { equal, ragged, extreme };
/// What a shift does: discard a range and close the gap (delta < 0), or move the tail on (delta > 0).
enum class Edit { discard, advance };

/// A case, by the values of its axes: everything about it follows from these. One field, one key of
/// the case id (case_id.hpp). The defaults are those of keys that an id leaves out.
struct CaseSpec {
  Family family = Family::padding;
  std::string profile = "strict_f32";
  // model
  HeadShape heads;  ///< num_q_heads, num_kv_heads, head_dim, v_head_dim
  int rotary_dim = 64;
  PairLayout layout = PairLayout::half_split;
  RopeRule rule;
  // contract
  PadPositions pad_positions = PadPositions::valid_rank;
  SegmentPositions segment_positions = SegmentPositions::restart;
  SegmentVisibility segment_visibility = SegmentVisibility::isolated;
  std::int64_t first_coordinate = 0;
  // scenario
  int rows = 2;              ///< sequences
  std::int64_t length = 32;  ///< tokens of the longest row before decoding
  Lengths lengths = Lengths::equal;
  std::int64_t steps = 0;  ///< tokens decoded one by one
  std::int64_t chunk = 0;  ///< tokens of a chunk; 0: all at once
  Edit edit = Edit::discard;
  std::int64_t delta = 0;  ///< |delta| of the shift [tokens]
  // placement
  Form form = Form::padded;
  PadSide pad = PadSide::none;
  CacheOwner cache = CacheOwner::none;
  SlotOrder slots = SlotOrder::by_rank;
  Garbage garbage = Garbage::noise;
  bool shuffled_rows = false;
  bool positions_given = true;
  RopeForm rope_form = RopeForm::rule;
  IndexType index_type = IndexType::i64;
  bool fused_qkv = false;
  // inputs and checks
  InputKind input = InputKind::normal;
  std::string law = "none";       ///< name of a law (laws.hpp), or "none"
  std::int64_t sampled_rows = 0;  ///< query rows compared per call; 0: all
  std::uint64_t seed = 1;

  [[nodiscard]] bool operator==(const CaseSpec&) const = default;
};

/// Why the axes of a case do not go together, or nothing. (A default rule with a factor; a shared pack
/// with a cache; derived positions with a gap ...)
[[nodiscard]] std::optional<std::string> contradiction(const CaseSpec& spec);

/// The canonical id: family, then every axis as key=value, joined by '/'. Only [a-z0-9._/=-].
[[nodiscard]] std::string to_id(const CaseSpec& spec);

/// The case of an id; parse_id(to_id(c)) == c. Axes left out take their defaults.
/// Errors: throws Error{invalid_argument} naming the key, what was expected and what was found.
[[nodiscard]] CaseSpec parse_id(std::string_view id);

[[nodiscard]] std::string_view to_string(Family family);

}  // namespace ropecheck
