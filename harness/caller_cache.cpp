// SPDX-License-Identifier: Apache-2.0
#include "harness/caller_cache.hpp"

#include "cases/inputs.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstring>

namespace ropecheck {
namespace {

/// Garbage of the cache is named apart from that of the calls, which count from 0.
constexpr std::uint64_t kCacheGarbage = 0xcac4e00000000000u;

/// Whether part `index` of `parts` equal parts is the same in both.
bool same_part(const std::vector<std::byte>& a, const std::vector<std::byte>& b, std::size_t index,
               std::size_t parts) {
  const std::size_t width = a.size() / parts;
  return std::memcmp(a.data() + index * width, b.data() + index * width, width) == 0;
}

}  // namespace

CallerCache::CallerCache(Arena& arena, const Program& program)
    : program_(program),
      rows_(program.scenario.num_sequences),
      capacity_(cache_capacity(program.scenario, program.placement)),
      heads_(program.scenario.model.shape.num_kv_heads) {
  const HeadShape& shape = program.scenario.model.shape;
  const std::int32_t dtype = dtype_of(program.values.storage);
  keys_ = Tensor(arena, dtype, {rows_, capacity_, heads_, shape.head_dim});
  values_ = Tensor(arena, dtype, {rows_, capacity_, heads_, shape.v_head_dim});
  for (std::int64_t row = 0; row < rows_; ++row) {
    for (std::int64_t slot = 0; slot < capacity_; ++slot) put_garbage(row, slot);
  }
}

void CallerCache::put_garbage(std::int64_t row, std::int64_t slot) {
  const HeadShape& shape = program_.scenario.model.shape;
  std::vector<double> key(static_cast<std::size_t>(shape.head_dim));
  std::vector<double> value(static_cast<std::size_t>(shape.v_head_dim));
  const std::uint64_t cell = kCacheGarbage + static_cast<std::uint64_t>(row * capacity_ + slot);
  for (int head = 0; head < heads_; ++head) {
    garbage_row(program_.placement.garbage, program_.values, TensorRole::key, cell, head, key);
    garbage_row(program_.placement.garbage, program_.values, TensorRole::value, cell, head, value);
    keys_.write_row(tensor_row(row, slot, head), key);
    values_.write_row(tensor_row(row, slot, head), value);
  }
}

void CallerCache::remember() {
  before_keys_ = keys_.bytes();
  before_values_ = values_.bytes();
}

std::optional<std::string> CallerCache::touched_beyond(const CallLayout& layout) const {
  std::vector<bool> named(static_cast<std::size_t>(rows_ * capacity_));
  for (std::size_t cell = 0; cell < layout.slot_mapping.size(); ++cell) {
    if (layout.slot_mapping[cell] < 0) continue;
    std::int64_t row = 0;
    const auto place = static_cast<std::int64_t>(cell);
    if (layout.form == Form::padded) {
      row = place / layout.q_columns;
    } else {
      while (layout.cu_seqlens_q[static_cast<std::size_t>(row) + 1] <= place) ++row;
    }
    named[static_cast<std::size_t>(row * capacity_ + layout.slot_mapping[cell])] = true;
  }
  const std::vector<std::byte> now_keys = keys_.bytes();
  const std::vector<std::byte> now_values = values_.bytes();
  for (std::size_t slot = 0; slot < named.size(); ++slot) {
    if (named[slot]) continue;
    const bool same = same_part(now_keys, before_keys_, slot, named.size()) &&
                      same_part(now_values, before_values_, slot, named.size());
    if (same) continue;
    return fmt::format(
        "row {} slot {} of the cache was written though slot_mapping does not name it",
        static_cast<std::int64_t>(slot) / capacity_, static_cast<std::int64_t>(slot) % capacity_);
  }
  return std::nullopt;
}

void CallerCache::move(const SlotMove& move) {
  const HeadShape& shape = program_.scenario.model.shape;
  std::vector<double> key(static_cast<std::size_t>(shape.head_dim));
  std::vector<double> value(static_cast<std::size_t>(shape.v_head_dim));
  for (int head = 0; head < heads_; ++head) {
    keys_.read_row(tensor_row(move.row, move.from, head), key);
    values_.read_row(tensor_row(move.row, move.from, head), value);
    keys_.write_row(tensor_row(move.row, move.to, head), key);
    values_.write_row(tensor_row(move.row, move.to, head), value);
  }
  put_garbage(move.row, move.from);
}

void CallerCache::read_key(std::int64_t row, std::int64_t slot, int head,
                           std::span<double> out) const {
  keys_.read_row(tensor_row(row, slot, head), out);
}

void CallerCache::read_value(std::int64_t row, std::int64_t slot, int head,
                             std::span<double> out) const {
  values_.read_row(tensor_row(row, slot, head), out);
}

Tensor CallerCache::key_slot(std::int64_t row, std::int64_t slot) const {
  return keys_.slice(0, row, 1).slice(1, slot, 1);
}

void CallerCache::write_key(std::int64_t row, std::int64_t slot, int head,
                            std::span<const double> in) {
  keys_.write_row(tensor_row(row, slot, head), in);
}

}  // namespace ropecheck
