// SPDX-License-Identifier: Apache-2.0
#include "reference/float_format.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace ropecheck {
namespace {

/// A format by its widths; everything else follows.
struct Layout {
  int mantissa_bits;  ///< stored, without the leading one
  int exponent_bits;
  std::string_view name;

  [[nodiscard]] constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  [[nodiscard]] constexpr int min_exponent() const { return 1 - bias(); }
  [[nodiscard]] constexpr int total_bits() const { return 1 + exponent_bits + mantissa_bits; }
  [[nodiscard]] constexpr std::uint64_t max_exponent_field() const {
    return (std::uint64_t{1} << exponent_bits) - 1;
  }
  [[nodiscard]] constexpr std::uint64_t mantissa_mask() const {
    return (std::uint64_t{1} << mantissa_bits) - 1;
  }
};

constexpr Layout kDouble{52, 11, "f64"};

constexpr Layout layout_of(FloatFormat format) {
  switch (format) {
    case FloatFormat::f64: return kDouble;
    case FloatFormat::f32: return {23, 8, "f32"};
    case FloatFormat::f16: return {10, 5, "f16"};
    case FloatFormat::bf16: return {7, 8, "bf16"};
  }
  return kDouble;
}

/// 2^exponent, subnormal results included.
double power_of_two(int exponent) {
  if (exponent >= kDouble.min_exponent()) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + kDouble.bias())
                                 << kDouble.mantissa_bits);
  }
  return std::ldexp(1.0, exponent);
}

/// Exponent of the binade of a finite value in `layout`: that of the smallest normal below it.
int binade(const Layout& layout, double value) {
  const auto field =
      (std::bit_cast<std::uint64_t>(value) >> kDouble.mantissa_bits) & kDouble.max_exponent_field();
  return std::max(static_cast<int>(field) - kDouble.bias(), layout.min_exponent());
}

/// Round to nearest, ties to even, for formats much narrower than double.
double round_narrow(const Layout& layout, double value) {
  const double magnitude = std::fabs(value);
  const double overflow = power_of_two(layout.bias() + 1);
  if (!(magnitude < overflow)) {
    return std::isnan(value) ? value
                             : std::copysign(std::numeric_limits<double>::infinity(), value);
  }
  // Adding 1.5 * 2^52 spacings leaves no bit below the spacing: the addition itself rounds, once.
  const double spacing = power_of_two(binade(layout, value) - layout.mantissa_bits);
  const double shift = 0x1.8p52 * spacing;
  const double rounded = (magnitude + shift) - shift;
  return std::copysign(rounded < overflow ? rounded : std::numeric_limits<double>::infinity(),
                       value);
}

}  // namespace

std::string_view to_string(FloatFormat format) { return layout_of(format).name; }

double unit_roundoff(FloatFormat format) {
  return power_of_two(-layout_of(format).mantissa_bits - 1);
}

double smallest_subnormal(FloatFormat format) {
  return power_of_two(layout_of(format).min_exponent() - layout_of(format).mantissa_bits);
}

double smallest_normal(FloatFormat format) {
  return power_of_two(layout_of(format).min_exponent());
}

int size_bytes(FloatFormat format) { return layout_of(format).total_bits() / 8; }

double round_to(FloatFormat format, double value) {
  switch (format) {
    case FloatFormat::f64: return value;
    case FloatFormat::f32: return static_cast<double>(static_cast<float>(value));
    default: return round_narrow(layout_of(format), value);
  }
}

std::uint64_t encode(FloatFormat format, double value) {
  const double rounded = round_to(format, value);
  const auto bits = std::bit_cast<std::uint64_t>(rounded);
  if (format == FloatFormat::f64) return bits;
  if (format == FloatFormat::f32) return std::bit_cast<std::uint32_t>(static_cast<float>(rounded));

  const Layout layout = layout_of(format);
  const std::uint64_t sign = (bits >> 63) << (layout.total_bits() - 1);
  const double magnitude = std::fabs(rounded);
  if (magnitude < smallest_normal(format)) {
    return sign | static_cast<std::uint64_t>(magnitude / smallest_subnormal(format));
  }
  const std::uint64_t mantissa =
      (bits >> (kDouble.mantissa_bits - layout.mantissa_bits)) & layout.mantissa_mask();
  if (!std::isfinite(rounded)) {
    // The quiet bit keeps a NaN from becoming an infinity when its payload is cut.
    const std::uint64_t quiet =
        std::isnan(rounded) ? std::uint64_t{1} << (layout.mantissa_bits - 1) : 0;
    return sign | (layout.max_exponent_field() << layout.mantissa_bits) | mantissa | quiet;
  }
  const auto exponent = static_cast<std::uint64_t>(binade(layout, rounded) + layout.bias());
  return sign | (exponent << layout.mantissa_bits) | mantissa;
}

double decode(FloatFormat format, std::uint64_t bits) {
  if (format == FloatFormat::f64) return std::bit_cast<double>(bits);
  if (format == FloatFormat::f32) {
    return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }
  const Layout layout = layout_of(format);
  const std::uint64_t sign = (bits >> (layout.total_bits() - 1)) & 1;
  const std::uint64_t field = (bits >> layout.mantissa_bits) & layout.max_exponent_field();
  const std::uint64_t mantissa = bits & layout.mantissa_mask();
  if (field == 0) {
    const double magnitude = static_cast<double>(mantissa) * smallest_subnormal(format);
    return sign ? -magnitude : magnitude;
  }
  const std::uint64_t exponent = field == layout.max_exponent_field()
                                     ? kDouble.max_exponent_field()
                                     : field - layout.bias() + kDouble.bias();
  return std::bit_cast<double>((sign << 63) | (exponent << kDouble.mantissa_bits) |
                               (mantissa << (kDouble.mantissa_bits - layout.mantissa_bits)));
}

double spacing_at(FloatFormat format, double value) {
  if (!std::isfinite(value)) return std::numeric_limits<double>::infinity();
  const Layout layout = layout_of(format);
  return power_of_two(std::min(binade(layout, value), layout.bias()) - layout.mantissa_bits);
}

}  // namespace ropecheck
