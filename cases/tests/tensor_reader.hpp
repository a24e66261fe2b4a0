// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cases/placement.hpp"

#include <cmath>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace ropecheck {

/// One query as a backend meets it: where it stands, and what follows from the tensors alone.
struct Derived {
  std::size_t cell = 0;
  std::int64_t position = 0;
  std::vector<ContentId> visible;  ///< contents of the keys that it sees, in order
};

/// A sequence in the backend's own cache.
struct BackendSequence {
  std::vector<ContentId> contents;
  std::vector<std::int64_t> positions;
  std::int64_t next_position = 0;
  std::int64_t columns = 0;  ///< of its row in all calls so far

  void move_next(std::int64_t first) {
    next_position = positions.empty() ? first : positions.back() + 1;
  }
};

/// Reads positions and visible keys from the tensors of one call after the other, by the text of
/// the comment above ropecheck_step_args in backend.h and nothing else. Knows the contract, the
/// placement's kind of cache and what the tensors hold, and nothing of tokens or problems.
class Reader {
 public:
  Reader(const Contract& contract, CacheOwner owner) : contract_(contract), owner_(owner) {}

  /// Shape: key_contents as key_cells: the content that stands there.
  std::vector<Derived> step(const CallLayout& call, const std::vector<ContentId>& key_contents) {
    if (owner_ == CacheOwner::caller) return read_caller(call, key_contents);
    if (owner_ == CacheOwner::backend) return read_backend(call, key_contents);
    return call.form == Form::padded ? read_columns(call, key_contents)
                                     : read_tokens(call, key_contents);
  }

  /// A caller's edit of its own cache.
  void copy_slot(std::int64_t from_row, std::int64_t from, std::int64_t to_row, std::int64_t to) {
    cache_[{to_row, to}] = cache_.at({from_row, from});
  }

  void edit(const Shift& edit) {
    BackendSequence& sequence = sequences_.at(edit.sequence);
    for (auto t = edit.range.begin; t < edit.range.end; ++t) {
      sequence.positions[static_cast<std::size_t>(t)] += edit.delta;
    }
    sequence.move_next(contract_.first_coordinate);
  }
  void edit(const Divide& edit) {
    BackendSequence& sequence = sequences_.at(edit.sequence);
    for (auto t = edit.range.begin; t < edit.range.end; ++t) {
      std::int64_t& position = sequence.positions[static_cast<std::size_t>(t)];
      position = static_cast<std::int64_t>(
          std::floor(static_cast<double>(position) / static_cast<double>(edit.divisor)));
    }
    sequence.move_next(contract_.first_coordinate);
  }
  void edit(const Remove& edit) {
    erase(sequences_.at(edit.sequence), edit.range.begin, edit.range.end);
  }
  void edit(const Truncate& edit) {
    BackendSequence& sequence = sequences_.at(edit.sequence);
    erase(sequence, edit.length, static_cast<std::int64_t>(sequence.contents.size()));
  }
  void edit(const Copy& edit) { sequences_[edit.target] = sequences_.at(edit.source); }

 private:
  void erase(BackendSequence& sequence, std::int64_t begin, std::int64_t end) {
    sequence.contents.erase(sequence.contents.begin() + begin, sequence.contents.begin() + end);
    sequence.positions.erase(sequence.positions.begin() + begin, sequence.positions.begin() + end);
    sequence.move_next(contract_.first_coordinate);
  }

  [[nodiscard]] bool by_column() const {
    return contract_.pad_positions == PadPositions::physical_column;
  }

  /// Cache none, padded: query column c stands at kv column kv_len - q_len + c.
  std::vector<Derived> read_columns(const CallLayout& call, const std::vector<ContentId>& keys) {
    std::vector<Derived> derived;
    const std::int64_t kv_len = call.mask_columns, q_len = call.q_columns;
    for (std::int64_t r = 0; r < call.num_rows; ++r) {
      std::vector<ContentId> kept;
      for (std::int64_t column = 0; column < kv_len; ++column) {
        const auto at = static_cast<std::size_t>(r * kv_len + column);
        if (call.keep_mask[at] == 0) continue;
        const auto rank = static_cast<std::int64_t>(kept.size());
        kept.push_back(keys[at]);
        const std::int64_t c = column - (kv_len - q_len);
        if (c < 0) continue;
        derived.push_back({static_cast<std::size_t>(r * q_len + c),
                           contract_.first_coordinate + (by_column() ? column : rank), kept});
      }
    }
    return derived;
  }

  /// Cache none, packed: row r is cu_seqlens_kv[r] .. [r+1], its queries are the last ones.
  std::vector<Derived> read_tokens(const CallLayout& call, const std::vector<ContentId>& keys) {
    std::vector<Derived> derived;
    std::int64_t start = contract_.first_coordinate;
    for (std::size_t r = 0; r < static_cast<std::size_t>(call.num_rows); ++r) {
      const std::int64_t q_begin = call.cu_seqlens_q[r], q_end = call.cu_seqlens_q[r + 1];
      const std::int64_t k_begin = call.cu_seqlens_kv[r], k_end = call.cu_seqlens_kv[r + 1];
      const bool shared = contract_.segment_visibility == SegmentVisibility::shared;
      for (std::int64_t q = q_begin; q < q_end; ++q) {
        const std::int64_t own = k_end - (q_end - q);
        derived.push_back({static_cast<std::size_t>(q),
                           start + own - k_begin,
                           {keys.begin() + (shared ? 0 : k_begin), keys.begin() + own + 1}});
      }
      if (contract_.segment_positions == SegmentPositions::continued) start += k_end - k_begin;
    }
    return derived;
  }

  /// A caller's cache: slots written as mapped; the order of slots is that of the sequence.
  std::vector<Derived> read_caller(const CallLayout& call, const std::vector<ContentId>& keys) {
    const auto row_of_cell = rows_of_cells(call);
    for (std::size_t cell = 0; cell < call.slot_mapping.size(); ++cell) {
      if (call.slot_mapping[cell] < 0) continue;
      cache_[{row_of_cell[cell], call.slot_mapping[cell]}] = keys[cell];
    }
    std::vector<Derived> derived;
    std::int64_t start = contract_.first_coordinate, row = 0;
    for (std::size_t cell = 0; cell < call.slot_mapping.size(); ++cell) {
      const std::int64_t own = call.slot_mapping[cell];
      if (contract_.segment_positions == SegmentPositions::continued && call.form == Form::packed) {
        for (; row < row_of_cell[cell]; ++row)
          start += call.seq_lens[static_cast<std::size_t>(row)];
      }
      if (own < 0) continue;
      const std::int64_t r = row_of_cell[cell];
      std::vector<ContentId> kept;
      for (std::int64_t slot = 0; slot <= own; ++slot) {
        if (call.keep_mask[static_cast<std::size_t>(r * call.mask_columns + slot)] != 0) {
          kept.push_back(cache_.at({r, slot}));
        }
      }
      const auto rank = static_cast<std::int64_t>(kept.size()) - 1;
      derived.push_back({cell, start + (by_column() ? own : rank), kept});
    }
    return derived;
  }

  /// The backend's cache: tokens are appended to the sequence of their row.
  std::vector<Derived> read_backend(const CallLayout& call, const std::vector<ContentId>& keys) {
    std::vector<Derived> derived;
    const auto row_of_cell = rows_of_cells(call);
    std::size_t cell = 0;
    std::int64_t end_of_row_before = contract_.first_coordinate;
    for (std::int64_t r = 0; r < call.num_rows; ++r) {
      const auto [found, is_new] =
          sequences_.try_emplace(call.row_sequence[static_cast<std::size_t>(r)]);
      BackendSequence& sequence = found->second;
      const bool continued =
          contract_.segment_positions == SegmentPositions::continued && call.form == Form::packed;
      if (is_new) {
        sequence.next_position = continued ? end_of_row_before : contract_.first_coordinate;
      }
      std::int64_t column = 0;
      for (; cell < row_of_cell.size() && row_of_cell[cell] == r; ++cell, ++column) {
        if (!call.keep_mask.empty() && call.keep_mask[cell] == 0) continue;
        const std::int64_t position = by_column()
                                          ? contract_.first_coordinate + sequence.columns + column
                                          : sequence.next_position;
        sequence.contents.push_back(keys[cell]);
        sequence.positions.push_back(position);
        sequence.next_position = position + 1;
        derived.push_back({cell, position, sequence.contents});
      }
      sequence.columns += column;
      end_of_row_before = sequence.next_position;
    }
    return derived;
  }

  /// [query cells] row of each.
  static std::vector<std::int64_t> rows_of_cells(const CallLayout& call) {
    std::vector<std::int64_t> rows;
    for (std::int64_t r = 0; r < call.num_rows; ++r) {
      const auto row = static_cast<std::size_t>(r);
      const std::int64_t cells = call.form == Form::padded
                                     ? call.q_columns
                                     : call.cu_seqlens_q[row + 1] - call.cu_seqlens_q[row];
      rows.insert(rows.end(), static_cast<std::size_t>(cells), r);
    }
    return rows;
  }

  Contract contract_;
  CacheOwner owner_;
  std::map<std::pair<std::int64_t, std::int64_t>, ContentId> cache_;  ///< by row and slot
  std::map<SequenceId, BackendSequence> sequences_;
};

}  // namespace ropecheck
