// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cases/resolve.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace ropecheck {

/// How the rows of a call become tensors.
enum class Form { padded, packed };
/// Where a padded row has its pads. `holes`: between tokens, too.
enum class PadSide { none, left, right, both, holes };
/// Who keeps earlier keys.
enum class CacheOwner { none, caller, backend };
/// Which slot of a caller's cache a token gets: the column of its call after those of earlier calls
/// (pads take slots, too), or its rank among the tokens.
enum class SlotOrder { by_column, by_rank };
/// What stands in every cell and slot that means nothing. other_token: a token of another sequence.
enum class Garbage { zeros, noise, nan, inf, huge, other_token };
/// How the backend is handed the rope.
enum class RopeForm {
  rule,
  inv_freq,
  tables_half,
  tables_full,
  tables_joined,
  tables_by_token,
  rotated
};
/// Integer type of every index tensor.
enum class IndexType { i32, i64 };

/// Realises calls as tensors; adds only what means nothing.
struct Placement {
  Form form = Form::padded;
  PadSide pad = PadSide::none;
  std::int64_t extra_pads = 0;  ///< pad columns beyond those that unequal rows need
  CacheOwner cache = CacheOwner::none;
  SlotOrder slots = SlotOrder::by_rank;
  Garbage garbage = Garbage::noise;
  bool shuffled_rows = false;  ///< rows stand in a drawn order instead of that of the sequences
  bool positions_given = true;
  RopeForm rope_form = RopeForm::rule;
  IndexType index_type = IndexType::i64;
  bool fused_qkv = false;        ///< query, key and value are views of one tensor
  std::int64_t spare_slots = 3;  ///< capacity of a caller's cache beyond what is used
  std::uint64_t seed = 0;        ///< draws holes and row order
};

/// A cell that holds no token.
inline constexpr std::int64_t kNoToken = -1;

/// Where everything of one call stands. A cell is [row, column] of a padded call (C order), or one
/// token of a packed call.
struct CallLayout {
  Form form = Form::padded;
  std::int64_t num_rows = 0;
  std::int64_t q_columns = 0;  ///< columns of query; packed: tokens
  std::int64_t k_columns = 0;  ///< columns of key and value as handed over; packed: tokens
  std::vector<SequenceId> row_sequence;   ///< [num_rows]
  std::vector<std::int64_t> query_cells;  ///< row of ResolvedCall::queries, or kNoToken
  std::vector<std::int64_t> key_cells;    ///< row of ResolvedCall::keys, or kNoToken
  std::int64_t mask_columns = 0;
  /// [num_rows, mask_columns]; empty for packed calls without a caller's cache.
  std::vector<std::uint8_t> keep_mask;
  std::vector<std::int64_t> cu_seqlens_q;   ///< [num_rows + 1], packed only
  std::vector<std::int64_t> cu_seqlens_kv;  ///< [num_rows + 1], packed only
  // A caller's cache only:
  std::vector<std::int64_t> slot_mapping;  ///< as query_cells; -1: not written
  std::vector<std::int64_t> seq_lens;      ///< [num_rows] slots in use after the call
  /// [num_rows, mask_columns] row of ResolvedCall::keys, or kNoToken.
  std::vector<std::int64_t> slot_keys;
};

/// Columns of `count` tokens of row `row` in a padded call of `columns` columns, ascending. `call`
/// counts the calls of the scenario from 0; it and the row matter to drawn holes alone.
[[nodiscard]] std::vector<std::int64_t> token_columns(const Placement& placement, std::int64_t call,
                                                      std::int64_t row, std::int64_t count,
                                                      std::int64_t columns);

/// Columns of a padded call: tokens of its longest row, and the extra pads.
[[nodiscard]] std::int64_t num_columns(const Placement& placement, const Call& call);

/// Moves token contents between slots of a caller's cache: row `row`, from slot `from` to slot
/// `to`.
struct SlotMove {
  std::int64_t row = 0;
  std::int64_t from = 0;
  std::int64_t to = 0;
};

/// Places the calls of one scenario, one after the other.
/// Every sequence of the scenario has a row in every call, always the same; one that gets no token
/// is a row of pads, or an empty segment.
class Placer {
 public:
  /// Errors: throws Error{invalid_argument} for a placement that cannot carry the scenario (a
  ///         shared pack with a cache, a call that leaves sequences out together with a caller's
  ///         cache, unequal rows without pads, derived positions that no tensor conveys).
  Placer(const Scenario& scenario, const Placement& placement);

  /// The layout of a call whose resolution is given. `interpreter` stands right after it.
  [[nodiscard]] CallLayout place(const Call& call, const ResolvedCall& resolved,
                                 const Interpreter& interpreter);

  /// Follows an edit of sequences (any step but a call); for a caller's cache, the moves to make,
  /// in order. `interpreter` stands right after it. A copy goes from row to row and gives no moves:
  /// token i of the target takes slot_of(source, i), too, and its content is to be copied there.
  [[nodiscard]] std::vector<SlotMove> edit(const Step& step, const Interpreter& interpreter);

  /// Row of a sequence in every tensor and in a caller's cache.
  [[nodiscard]] std::int64_t row_of(SequenceId sequence) const {
    return row_of_[static_cast<std::size_t>(sequence)];
  }
  /// Slot of token `index` of a sequence in a caller's cache.
  [[nodiscard]] std::int64_t slot_of(SequenceId sequence, std::int64_t index) const {
    return slots_[static_cast<std::size_t>(sequence)][static_cast<std::size_t>(index)];
  }
  /// Slots in use by a sequence, pads and holes included. Without a caller's cache: columns of its
  /// row (packed: tokens) in all calls so far.
  [[nodiscard]] std::int64_t slots_in_use(SequenceId sequence) const {
    return used_[static_cast<std::size_t>(sequence)];
  }

 private:
  void place_padded(const Call& call, const ResolvedCall& resolved, CallLayout& layout);
  void place_packed(const Call& call, const ResolvedCall& resolved, CallLayout& layout);
  void place_kv_columns(const ResolvedCall& resolved, CallLayout& layout) const;
  void place_kv_tokens(const ResolvedCall& resolved, CallLayout& layout) const;
  void place_slots(const ResolvedCall& resolved, CallLayout& layout) const;
  /// Slot of the token number `rank` of its sequence, in column `column` of the next call.
  [[nodiscard]] std::int64_t new_slot(SequenceId sequence, std::int64_t column) const;

  const Scenario* scenario_;
  Placement placement_;
  std::int64_t num_calls_ = 0;            ///< placed so far
  std::vector<SequenceId> row_sequence_;  ///< [rows]
  std::vector<std::int64_t> row_of_;      ///< [sequences]
  /// [sequences][tokens] slot (cache none: kv column).
  std::vector<std::vector<std::int64_t>> slots_;
  std::vector<std::int64_t> used_;  ///< [sequences]
};

/// How many slots a caller's cache needs for this scenario (spare slots included).
[[nodiscard]] std::int64_t cache_capacity(const Scenario& scenario, const Placement& placement);

}  // namespace ropecheck
