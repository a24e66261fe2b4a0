// SPDX-License-Identifier: Apache-2.0
#include "harness/tensor.hpp"

#include "harness/tests/catch.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

using namespace ropecheck;

TEST_CASE("a fresh tensor is unwritten: NaN, or an integer that no position is") {
  Arena arena;
  for (const std::int32_t dtype :
       {ROPECHECK_DTYPE_F64, ROPECHECK_DTYPE_F32, ROPECHECK_DTYPE_F16, ROPECHECK_DTYPE_BF16}) {
    for (const double value : Tensor(arena, dtype, {2, 3}).read_all()) CHECK(std::isnan(value));
  }
  for (const std::int32_t dtype : {ROPECHECK_DTYPE_I32, ROPECHECK_DTYPE_I64}) {
    for (const std::int64_t value : Tensor(arena, dtype, {4}).read_ints())
      CHECK(value < -(1 << 30));
  }
}

TEST_CASE("rows come back as written, rounded to the element type, through any view") {
  Arena arena;
  Tensor whole(arena, ROPECHECK_DTYPE_BF16, {3, 4, 5});
  const std::vector<double> row = {1, -2.5, 1.0 + std::ldexp(1.0, -9), 0.0, 3e38};
  Tensor view = whole.slice(1, 2, 2).slice(0, 1, 2);
  view.write_row(2, row);  // [1][0] of the view is [2][2] of the whole
  std::vector<double> back(5);
  whole.read_row(2 * 4 + 2, back);
  CHECK(back[0] == 1);
  CHECK(back[1] == -2.5);
  CHECK(back[2] == 1);  // a tie, to even
  CHECK(back[4] == round_to(FloatFormat::bf16, 3e38));
  CHECK(view.shape() == std::vector<std::int64_t>{2, 2, 5});
  const std::vector<double> all = whole.read_all();
  CHECK(std::count_if(all.begin(), all.end(), [](double x) { return !std::isnan(x); }) == 5);
}

TEST_CASE("a slice of the last dimension has a stride that the ABI sees") {
  Arena arena;
  Tensor whole(arena, ROPECHECK_DTYPE_F32, {2, 6});
  Tensor part = whole.slice(1, 3, 2);
  CHECK(part.abi()->stride_elems[0] == 6);
  CHECK(part.abi()->shape[1] == 2);
  part.write_row(1, std::vector<double>{7, 8});
  float value = 0;
  std::memcpy(&value, static_cast<const float*>(whole.abi()->data) + 6 + 4, sizeof value);
  CHECK(value == 8);
}

TEST_CASE("a digest changes with any byte") {
  Arena arena;
  Tensor tensor(arena, ROPECHECK_DTYPE_F32, {8, 8});
  for (int row = 0; row < 8; ++row) tensor.write_row(row, std::vector<double>(8, 1.0));
  const std::size_t before = tensor.digest();
  CHECK(before == tensor.digest());
  std::vector<double> row(8, 1.0);
  row[7] = std::nextafter(1.0f, 2.0f);
  tensor.write_row(7, row);
  CHECK(before != tensor.digest());
}

TEST_CASE("index tensors hold their values in either width") {
  Arena arena;
  const std::vector<std::int64_t> values = {0, -1, 1 << 20, 7};
  CHECK(index_tensor(arena, ROPECHECK_DTYPE_I32, {2, 2}, values).read_ints() == values);
  CHECK(index_tensor(arena, ROPECHECK_DTYPE_I64, {4}, values).read_ints() == values);
}

TEST_CASE("every number of a 16-bit format is stored as its own bits, and others are rounded") {
  Arena arena;
  for (const FloatFormat format : {FloatFormat::f16, FloatFormat::bf16}) {
    Tensor tensor(arena, dtype_of(format), {1});
    std::uint16_t stored = 0;
    for (std::uint32_t bits = 0; bits < 1 << 16; ++bits) {
      const double value = decode(format, bits);
      if (std::isnan(value)) continue;
      tensor.write_row(0, std::vector<double>{value});
      std::memcpy(&stored, tensor.abi()->data, sizeof stored);
      REQUIRE(stored == bits);
    }
    for (const double value : {1.0 / 3, -1e-3, 1e5, 1e-8, 7e4, 3.4e38, 1e39}) {
      tensor.write_row(0, std::vector<double>{value});
      CHECK(tensor.read_all()[0] == round_to(format, value));
    }
  }
}
