// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace ropecheck {

/// Below it exp_block gives zero: squares of what is left stay normal numbers, and e^-300 is
/// nothing beside a largest probability of at least 1/num_keys.
inline constexpr double kExpFloor = -300;

/// out[i] = e^(x[i] - shift[i]), added to sum[i], for x[i] <= shift[i]. x and out may be the same.
/// Accuracy: 2 ulp. Source: argument reduction by ln 2 in two parts, Taylor series to degree 12.
void exp_block(const double* x, const double* shift, double* out, double* sum, std::int64_t count);

}  // namespace ropecheck
