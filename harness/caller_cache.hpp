// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cases/placement.hpp"
#include "cases/program.hpp"
#include "harness/tensor.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ropecheck {

/// Key and value tensors [rows, capacity, num_kv_heads, dim] that the harness owns and the backend
/// writes, with garbage in every slot that holds no token.
class CallerCache {
 public:
  CallerCache(Arena& arena, const Program& program);

  [[nodiscard]] const ropecheck_tensor* keys() const { return keys_.abi(); }
  [[nodiscard]] const ropecheck_tensor* values() const { return values_.abi(); }

  /// Remembers the bytes, so that untouched_but() can tell what a call changed.
  void remember();
  /// Nothing, or a sentence naming a slot that changed since remember() though the layout does not
  /// name it.
  [[nodiscard]] std::optional<std::string> touched_beyond(const CallLayout& layout) const;

  void move(const SlotMove& move);
  void read_key(std::int64_t row, std::int64_t slot, int head, std::span<double> out) const;
  void read_value(std::int64_t row, std::int64_t slot, int head, std::span<double> out) const;

  /// One slot of all heads, [1, 1, num_kv_heads, head_dim]: what a re-rotation in place works on.
  [[nodiscard]] Tensor key_slot(std::int64_t row, std::int64_t slot) const;
  void write_key(std::int64_t row, std::int64_t slot, int head, std::span<const double> in);

 private:
  void put_garbage(std::int64_t row, std::int64_t slot);
  [[nodiscard]] std::int64_t tensor_row(std::int64_t row, std::int64_t slot, int head) const {
    return (row * capacity_ + slot) * heads_ + head;
  }
  const Program& program_;
  std::int64_t rows_ = 0, capacity_ = 0;
  int heads_ = 0;
  Tensor keys_, values_;
  std::vector<std::byte> before_keys_, before_values_;
};

}  // namespace ropecheck
