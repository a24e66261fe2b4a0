// SPDX-License-Identifier: Apache-2.0
#include "harness/tensor.hpp"

#include "reference/error.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string_view>

namespace ropecheck {
namespace {

constexpr std::size_t kAlignment = 64;

std::size_t element_size(std::int32_t dtype) {
  switch (dtype) {
    case ROPECHECK_DTYPE_F64:
    case ROPECHECK_DTYPE_I64: return 8;
    case ROPECHECK_DTYPE_F32:
    case ROPECHECK_DTYPE_I32: return 4;
    case ROPECHECK_DTYPE_F16:
    case ROPECHECK_DTYPE_BF16: return 2;
    default: return 1;
  }
}

FloatFormat float_format(std::int32_t dtype) {
  switch (dtype) {
    case ROPECHECK_DTYPE_F64: return FloatFormat::f64;
    case ROPECHECK_DTYPE_F32: return FloatFormat::f32;
    case ROPECHECK_DTYPE_F16: return FloatFormat::f16;
    case ROPECHECK_DTYPE_BF16: return FloatFormat::bf16;
    default: break;
  }
  ROPECHECK_CHECK(false, "dtype {} is no floating-point type of ours", dtype);
  return FloatFormat::f64;
}

bool is_integer(std::int32_t dtype) {
  return dtype == ROPECHECK_DTYPE_I32 || dtype == ROPECHECK_DTYPE_I64 ||
         dtype == ROPECHECK_DTYPE_U8;
}

template <typename T>
T load(const std::byte* place) {
  T value;
  std::memcpy(&value, place, sizeof value);
  return value;
}

template <typename T>
void store(std::byte* place, T value) {
  std::memcpy(place, &value, sizeof value);
}

/// The values of all bit patterns of a 16-bit format.
using DecodeTable = std::array<double, 1 << 16>;

const DecodeTable& decode_table(FloatFormat format) {
  const auto make = [](FloatFormat of) {
    auto table = std::make_unique<DecodeTable>();
    for (std::size_t bits = 0; bits < table->size(); ++bits) (*table)[bits] = decode(of, bits);
    return table;
  };
  static const std::unique_ptr<DecodeTable> f16 = make(FloatFormat::f16);
  static const std::unique_ptr<DecodeTable> bf16 = make(FloatFormat::bf16);
  return format == FloatFormat::f16 ? *f16 : *bf16;
}

/// encode(), fast for the numbers that are written by the million: those of the format itself.
std::uint16_t encode_16_bit(FloatFormat format, double value) {
  const int mantissa_bits = format == FloatFormat::f16 ? 10 : 7;
  const int exponent_bits = 15 - mantissa_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto exponent = static_cast<int>((bits >> 52) & 0x7ff) - 1023 + bias;
  const int dropped = 52 - mantissa_bits;
  const bool is_exact = (bits & ((std::uint64_t{1} << dropped) - 1)) == 0;
  if (!is_exact || exponent < 1 || exponent > 2 * bias) {
    return static_cast<std::uint16_t>(encode(format, value));
  }
  const std::uint64_t mantissa = (bits >> dropped) & ((std::uint64_t{1} << mantissa_bits) - 1);
  return static_cast<std::uint16_t>(
      (bits >> 63 << 15) | (static_cast<std::uint64_t>(exponent) << mantissa_bits) | mantissa);
}

/// A strided row of one type.
template <typename Number, typename Load>
void load_row(const std::byte* place, std::size_t step, std::span<double> values, Load&& convert) {
  for (double& value : values) {
    value = convert(load<Number>(place));
    place += step;
  }
}
template <typename Number, typename Store>
void store_row(std::byte* place, std::size_t step, std::span<const double> values,
               Store&& convert) {
  for (const double value : values) {
    store<Number>(place, convert(value));
    place += step;
  }
}

}  // namespace

std::int32_t dtype_of(FloatFormat format) {
  switch (format) {
    case FloatFormat::f64: return ROPECHECK_DTYPE_F64;
    case FloatFormat::f32: return ROPECHECK_DTYPE_F32;
    case FloatFormat::f16: return ROPECHECK_DTYPE_F16;
    case FloatFormat::bf16: return ROPECHECK_DTYPE_BF16;
  }
  return ROPECHECK_DTYPE_F64;
}

std::int32_t dtype_of(IndexType type) {
  return type == IndexType::i32 ? ROPECHECK_DTYPE_I32 : ROPECHECK_DTYPE_I64;
}

void Arena::Free::operator()(std::byte* block) const { std::free(block); }

std::byte* Arena::allocate(std::size_t size_bytes) {
  const std::size_t rounded =
      (std::max<std::size_t>(size_bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  auto* block = static_cast<std::byte*>(std::aligned_alloc(kAlignment, rounded));
  if (block == nullptr) {
    fail(ErrorCode::load,
         "out of memory: {} bytes for one tensor; run fewer --jobs or a smaller suite", size_bytes);
  }
  blocks_.emplace_back(block);
  return block;
}

Tensor::Tensor(Arena& arena, std::int32_t dtype, std::vector<std::int64_t> shape)
    : shape_(std::move(shape)) {
  ROPECHECK_CHECK(!shape_.empty() && shape_.size() <= ROPECHECK_MAX_RANK, "rank {}", shape_.size());
  abi_.struct_size = sizeof abi_;
  abi_.dtype = dtype;
  abi_.rank = static_cast<std::int32_t>(shape_.size());
  std::int64_t stride = 1;
  for (std::size_t axis = shape_.size(); axis-- > 0;) {
    abi_.shape[axis] = shape_[axis];
    abi_.stride_elems[axis] = stride;
    stride *= shape_[axis];
  }
  abi_.data = arena.allocate(static_cast<std::size_t>(stride) * element_size(dtype));
  fill_unwritten();
}

Tensor Tensor::view_of(const ropecheck_tensor& tensor) {
  Tensor view;
  view.abi_ = tensor;
  view.shape_.assign(tensor.shape, tensor.shape + tensor.rank);
  return view;
}

Tensor Tensor::slice(int axis, std::int64_t begin, std::int64_t count) const {
  ROPECHECK_CHECK(axis < abi_.rank && begin >= 0 && count >= 0 && begin + count <= abi_.shape[axis],
                  "slice [{}, {}) of axis {}", begin, begin + count, axis);
  Tensor view = *this;
  view.abi_.data =
      static_cast<std::byte*>(abi_.data) +
      static_cast<std::size_t>(begin * abi_.stride_elems[axis]) * element_size(abi_.dtype);
  view.abi_.shape[axis] = count;
  view.shape_[static_cast<std::size_t>(axis)] = count;
  return view;
}

std::int64_t Tensor::size() const {
  std::int64_t product = given() ? 1 : 0;
  for (const std::int64_t extent : shape_) product *= extent;
  return product;
}

std::byte* Tensor::at(std::int64_t element) const {
  std::int64_t offset = 0;
  for (std::size_t axis = shape_.size(); axis-- > 0;) {
    offset += element % shape_[axis] * abi_.stride_elems[axis];
    element /= shape_[axis];
  }
  return static_cast<std::byte*>(abi_.data) +
         static_cast<std::size_t>(offset) * element_size(abi_.dtype);
}

void Tensor::fill_unwritten() {
  const bool integer = is_integer(abi_.dtype);
  const std::size_t width = element_size(abi_.dtype);
  // All ones is a NaN in every floating-point format; 0x80.. is an integer that no position is.
  std::memset(abi_.data, integer ? 0x80 : 0xff, static_cast<std::size_t>(size()) * width);
}

void Tensor::write_row(std::int64_t row, std::span<const double> values) {
  ROPECHECK_CHECK(static_cast<std::int64_t>(values.size()) == shape_.back(), "row of {}",
                  values.size());
  std::byte* place = at(row * shape_.back());
  const auto step =
      static_cast<std::size_t>(abi_.stride_elems[abi_.rank - 1]) * element_size(abi_.dtype);
  switch (abi_.dtype) {
    case ROPECHECK_DTYPE_F64:
      return store_row<double>(place, step, values, [](double x) { return x; });
    case ROPECHECK_DTYPE_F32:
      return store_row<float>(place, step, values, [](double x) { return static_cast<float>(x); });
    default:
      return store_row<std::uint16_t>(
          place, step, values,
          [format = float_format(abi_.dtype)](double x) { return encode_16_bit(format, x); });
  }
}

void Tensor::read_row(std::int64_t row, std::span<double> values) const {
  ROPECHECK_CHECK(static_cast<std::int64_t>(values.size()) == shape_.back(), "row of {}",
                  values.size());
  const std::byte* place = at(row * shape_.back());
  const auto step =
      static_cast<std::size_t>(abi_.stride_elems[abi_.rank - 1]) * element_size(abi_.dtype);
  switch (abi_.dtype) {
    case ROPECHECK_DTYPE_F64:
      return load_row<double>(place, step, values, [](double x) { return x; });
    case ROPECHECK_DTYPE_F32:
      return load_row<float>(place, step, values, [](float x) { return static_cast<double>(x); });
    default:
      return load_row<std::uint16_t>(place, step, values,
                                     [&table = decode_table(float_format(abi_.dtype))](
                                         std::uint16_t bits) { return table[bits]; });
  }
}

void Tensor::write_int(std::int64_t element, std::int64_t value) {
  std::byte* place = at(element);
  switch (abi_.dtype) {
    case ROPECHECK_DTYPE_I64: return store(place, value);
    case ROPECHECK_DTYPE_I32: return store(place, static_cast<std::int32_t>(value));
    default: return store(place, static_cast<std::uint8_t>(value));
  }
}

std::int64_t Tensor::read_int(std::int64_t element) const {
  const std::byte* place = at(element);
  switch (abi_.dtype) {
    case ROPECHECK_DTYPE_I64: return load<std::int64_t>(place);
    case ROPECHECK_DTYPE_I32: return load<std::int32_t>(place);
    default: return load<std::uint8_t>(place);
  }
}

std::vector<double> Tensor::read_all() const {
  std::vector<double> values(static_cast<std::size_t>(size()));
  if (values.empty()) return values;
  const auto width = static_cast<std::size_t>(shape_.back());
  for (std::size_t row = 0; row * width < values.size(); ++row) {
    read_row(static_cast<std::int64_t>(row), std::span(values).subspan(row * width, width));
  }
  return values;
}

std::vector<std::byte> Tensor::bytes() const {
  const auto* begin = static_cast<const std::byte*>(abi_.data);
  return {begin, begin + static_cast<std::size_t>(size()) * element_size(abi_.dtype)};
}

std::vector<std::int64_t> Tensor::read_ints() const {
  std::vector<std::int64_t> values(static_cast<std::size_t>(size()));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = read_int(static_cast<std::int64_t>(i));
  return values;
}

std::size_t Tensor::digest() const {
  const auto bytes = static_cast<std::size_t>(size()) * element_size(abi_.dtype);
  return std::hash<std::string_view>{}({static_cast<const char*>(abi_.data), bytes});
}

Tensor index_tensor(Arena& arena, std::int32_t dtype, std::vector<std::int64_t> shape,
                    std::span<const std::int64_t> values) {
  Tensor tensor(arena, dtype, std::move(shape));
  ROPECHECK_CHECK(tensor.size() == static_cast<std::int64_t>(values.size()), "{} index values",
                  values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    tensor.write_int(static_cast<std::int64_t>(i), values[i]);
  }
  return tensor;
}

}  // namespace ropecheck
