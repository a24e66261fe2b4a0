// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace ropecheck {

/// A binary floating-point storage format. float64 stands for "exact" among storage formats.
enum class FloatFormat { f64, f32, f16, bf16 };

/// "f64", "f32", "f16", "bf16".
[[nodiscard]] std::string_view to_string(FloatFormat format);

/// Half the distance from 1 to the next number: 2^-53, 2^-24, 2^-11, 2^-8.
[[nodiscard]] double unit_roundoff(FloatFormat format);

/// Smallest positive number, subnormals included: 2^-1074, 2^-149, 2^-24, 2^-133.
[[nodiscard]] double smallest_subnormal(FloatFormat format);

/// Smallest positive normal number: 2^-1022, 2^-126, 2^-14, 2^-126.
[[nodiscard]] double smallest_normal(FloatFormat format);

/// Bytes of one number in memory: 8, 4, 2, 2.
[[nodiscard]] int size_bytes(FloatFormat format);

/// Rounds to the nearest number of `format`, ties to even, through subnormals; overflow gives an
/// infinity, NaN stays NaN. One rounding, straight from double (never through float32).
[[nodiscard]] double round_to(FloatFormat format, double value);

/// Bit pattern of `round_to(format, value)`, in the low bits.
[[nodiscard]] std::uint64_t encode(FloatFormat format, double value);

/// Value of a bit pattern of `format`; exact.
[[nodiscard]] double decode(FloatFormat format, std::uint64_t bits);

/// Distance between neighbours at |value|: spacing of the format in that binade (subnormal spacing
/// below the normals, that of the last binade beyond it). NaN or infinite `value` gives infinity.
[[nodiscard]] double spacing_at(FloatFormat format, double value);

}  // namespace ropecheck
