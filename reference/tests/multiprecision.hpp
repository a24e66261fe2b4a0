// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/double_double.hpp"

// GCC 12 warns of overlapping copies in its own std::string, inlined by Boost's printing.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wrestrict"
#endif
#include <boost/multiprecision/mpfr.hpp>

namespace ropecheck::testing {

/// 80 decimal digits: enough for a phase at 2^48 and every figure of a double-double.
using Real = boost::multiprecision::number<boost::multiprecision::mpfr_float_backend<80>,
                                           boost::multiprecision::et_off>;

inline Real exact(DoubleDouble value) { return Real(value.hi) + Real(value.lo); }

inline double relative_error(DoubleDouble actual, const Real& expected) {
  return static_cast<double>(abs(exact(actual) - expected) / abs(expected));
}

/// Distance of (cos, sin) from the point of the unit circle at `angle`: the error of the phase,
/// up to the rounding of the two numbers.
inline double phase_error(CosSin actual, const Real& angle) {
  const Real x = Real(actual.cos) - cos(angle);
  const Real y = Real(actual.sin) - sin(angle);
  return static_cast<double>(sqrt(x * x + y * y));
}

}  // namespace ropecheck::testing
