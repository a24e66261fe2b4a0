// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/result.hpp"
#include "reference/float_format.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace ropecheck {

/// Collects |actual - expected| / sigma over one check, row by row, and judges it.
class Comparison {
 public:
  explicit Comparison(FloatFormat storage) : storage_(storage) {}

  /// One (token, head) row. Where sigma is 0 the numbers must be equal; a NaN or infinity where a
  /// finite number is due is an infinite z.
  /// Shape: actual, expected, sigma [channels]. `where` is completed by the channel.
  void add_row(std::span<const double> actual, std::span<const double> expected,
               std::span<const double> sigma, const Location& where);
  /// A row that is left out since the model of its sigma does not hold.
  /// Only its z is not judged: a NaN or an infinity there still fails.
  void skip_ill_conditioned(std::span<const double> actual, const Location& where);

  /// Sum of z^2 and count, for pooling over cases.
  [[nodiscard]] double sum_squares() const { return sum_squares_; }

  /// The verdict by kMaxZ and kMaxRmsZ, with the message.
  [[nodiscard]] CheckResult finish(std::string check, Point point) const;

 private:
  void note_error(double difference, double z, double expected);
  FloatFormat storage_;
  CheckResult result_;
  double sum_squares_ = 0;
  double sum_signed_ = 0;
  double max_ulps_ = 0;
  std::vector<double> head_squares_;
  std::vector<std::int64_t> head_elements_;
};

/// z of one element: 0 for equal numbers (equal infinities included), infinity where sigma is 0 or a
/// number is missing.
[[nodiscard]] double z_of(double actual, double expected, double sigma);

}  // namespace ropecheck
