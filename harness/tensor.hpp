// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cases/placement.hpp"
#include "reference/float_format.hpp"
#include "ropecheck/backend.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace ropecheck {

/// Where all memory that a backend sees comes from; freed at once, at its end.
class Arena {
 public:
  /// Bytes of no value yet, aligned to 64.
  [[nodiscard]] std::byte* allocate(std::size_t size_bytes);

 private:
  struct Free {
    void operator()(std::byte* block) const;
  };
  std::vector<std::unique_ptr<std::byte, Free>> blocks_;
};

/// The ABI's name of a storage format or index type.
[[nodiscard]] std::int32_t dtype_of(FloatFormat format);
[[nodiscard]] std::int32_t dtype_of(IndexType type);

/// A typed tensor in an arena (or a view of one), as the ABI has it. Copies are views of the same
/// memory. Floating-point elements are exchanged as double, integers as int64.
class Tensor {
 public:
  Tensor() = default;  ///< not given: abi() is null

  /// Contiguous, C order. Outputs start as "unwritten": NaN, or the least integer.
  Tensor(Arena& arena, std::int32_t dtype, std::vector<std::int64_t> shape);

  /// A view of a tensor that somebody else described.
  [[nodiscard]] static Tensor view_of(const ropecheck_tensor& tensor);

  /// Elements [begin, begin + count) of dimension `axis` of this tensor: a strided view.
  [[nodiscard]] Tensor slice(int axis, std::int64_t begin, std::int64_t count) const;

  [[nodiscard]] bool given() const { return !shape_.empty(); }
  [[nodiscard]] const std::vector<std::int64_t>& shape() const { return shape_; }
  [[nodiscard]] std::int64_t size() const;
  [[nodiscard]] std::int32_t dtype() const { return abi_.dtype; }

  /// For the backend: lives as long as this object stands where it is.
  [[nodiscard]] const ropecheck_tensor* abi() const { return given() ? &abi_ : nullptr; }

  void fill_unwritten();
  /// A row of the last dimension, by its number in C order over the others.
  void write_row(std::int64_t row, std::span<const double> values);
  void read_row(std::int64_t row, std::span<double> values) const;
  void write_int(std::int64_t element, std::int64_t value);
  [[nodiscard]] std::int64_t read_int(std::int64_t element) const;
  [[nodiscard]] std::vector<double> read_all() const;  ///< floating point, C order
  [[nodiscard]] std::vector<std::int64_t> read_ints() const;
  [[nodiscard]] std::vector<std::byte> bytes() const;  ///< of a contiguous tensor

  /// A digest of the bytes of a contiguous tensor, to see whether they changed.
  [[nodiscard]] std::size_t digest() const;

 private:
  [[nodiscard]] std::byte* at(std::int64_t element) const;
  ropecheck_tensor abi_{};
  std::vector<std::int64_t> shape_;
};

/// A 1-d or 2-d index tensor with these values. Shape: product = values.size().
[[nodiscard]] Tensor index_tensor(Arena& arena, std::int32_t dtype, std::vector<std::int64_t> shape,
                                  std::span<const std::int64_t> values);

}  // namespace ropecheck
