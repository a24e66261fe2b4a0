// SPDX-License-Identifier: Apache-2.0
#include "reference/dialect.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "reference/double_double_kernels.hpp"
#include "reference/error.hpp"

namespace ropecheck {
namespace {

/// hi + lo rounded once: hi alone may stand exactly between two numbers of the format.
double round_to(FloatFormat format, DoubleDouble value) {
  if (value.lo == 0 || format == FloatFormat::f64 || !std::isfinite(value.hi)) {
    return round_to(format, value.hi);
  }
  // Round to odd: toward zero, and the last bit says that something was left over. It stands far
  // below any tie of a narrower format, so the second rounding falls on the right side.
  double odd = value.hi;
  if (std::signbit(value.lo) != std::signbit(value.hi)) odd = std::nextafter(odd, 0.0);
  odd = std::bit_cast<double>(std::bit_cast<std::uint64_t>(odd) | 1);
  return round_to(format, odd);
}

double product_in(FloatFormat format, double a, double b) {
  return round_to(format, kernels::two_product(a, b));
}

double sum_in(FloatFormat format, double a, double b) {
  return round_to(format, kernels::two_sum(a, b));
}

}  // namespace

std::vector<double> inv_freq_in(const RopeTable& table, const Dialect& dialect) {
  std::vector<double> rounded;
  rounded.reserve(table.inv_freq.size());
  for (const DoubleDouble& frequency : table.inv_freq) {
    rounded.push_back(round_to(dialect.inv_freq, frequency));
  }
  return rounded;
}

void cos_sin_row_in(const RopeTable& table, const Dialect& dialect, std::int64_t coordinate,
                    double magnitude, std::span<CosSin> out) {
  ROPECHECK_CHECK(out.size() == table.inv_freq.size(), "expected {} pairs, got room for {}",
                  table.inv_freq.size(), out.size());
  kernels::check_position(coordinate);
  const double position = round_to(dialect.angle, static_cast<double>(coordinate));
  const std::vector<double> inv_freq = inv_freq_in(table, dialect);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double angle = product_in(dialect.angle, position, inv_freq[i]);
    const CosSin exact = kernels::cos_sin(1.0, DoubleDouble{angle, 0});
    out[i] = {round_to(dialect.table, magnitude * exact.cos),
              round_to(dialect.table, magnitude * exact.sin)};
  }
}

void rotate_row_in(const RopeTable& table, const Dialect& dialect, std::span<const CosSin> cos_sin,
                   bool inverse, std::span<const double> in, std::span<double> out) {
  const auto num_pairs = static_cast<std::size_t>(table.num_pairs());
  ROPECHECK_CHECK(in.size() == out.size() && cos_sin.size() == num_pairs &&
                      table.rotary_offset + 2 * num_pairs <= in.size(),
                  "in {}, out {}, cos_sin {}, pairs {}", in.size(), out.size(), cos_sin.size(),
                  num_pairs);
  const std::vector<double> source(in.begin(), in.end());
  std::copy(source.begin(), source.end(), out.begin());
  const FloatFormat format = dialect.rotation;
  for (std::size_t i = 0; i < num_pairs; ++i) {
    const auto from =
        pair_channels(table.layout_in, static_cast<int>(i), table.rotary_dim, table.rotary_offset);
    const auto to =
        pair_channels(table.layout_out, static_cast<int>(i), table.rotary_dim, table.rotary_offset);
    const double a = source[static_cast<std::size_t>(from.first)];
    const double b = source[static_cast<std::size_t>(from.second)];
    const double c = cos_sin[i].cos;
    const double s = inverse ? -cos_sin[i].sin : cos_sin[i].sin;
    out[static_cast<std::size_t>(to.first)] =
        sum_in(format, product_in(format, a, c), -product_in(format, b, s));
    out[static_cast<std::size_t>(to.second)] =
        sum_in(format, product_in(format, b, c), product_in(format, a, s));
  }
}

}  // namespace ropecheck
