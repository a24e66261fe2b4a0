// SPDX-License-Identifier: Apache-2.0
#include "harness/compare.hpp"

#include "harness/limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace ropecheck {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t kManyUlps = std::int64_t{1} << 62;

std::int64_t ulps(FloatFormat storage, double actual, double expected) {
  const double distance = std::abs(actual - expected);
  if (distance == 0) return 0;
  const double count = distance / spacing_at(storage, expected);
  return count < 4e18 ? static_cast<std::int64_t>(std::llround(count)) : kManyUlps;
}

}  // namespace

double z_of(double actual, double expected, double sigma) {
  if (actual == expected) return 0;
  const double z = std::abs(actual - expected) / sigma;
  return std::isnan(z) ? kInfinity : z;
}

void Comparison::add_element(double actual, double expected, double sigma, const Location& where, int channel,
                             double& row_squares) {
  const double z = z_of(actual, expected, sigma);
  row_squares += z * z;
  sum_signed_ += std::isfinite(z) ? std::copysign(z, actual - expected) : 0.0;
  ++result_.elements;
  if (!(z <= kMaxZ)) ++result_.bad_elements;
  const double error = std::abs(actual - expected);
  result_.max_abs_error = std::max(result_.max_abs_error, std::isnan(error) ? kInfinity : error);
  result_.max_ulp = std::max(result_.max_ulp, ulps(storage_, actual, expected));
  const bool first = result_.worst.head < 0;
  if (first || z > result_.max_z) {
    result_.max_z = z;
    result_.worst = where;
    result_.worst.channel = channel;
    result_.expected = expected;
    result_.actual = actual;
    result_.sigma = sigma;
  }
}

void Comparison::add_row(std::span<const double> actual, std::span<const double> expected,
                         std::span<const double> sigma, const Location& where) {
  double squares = 0;
  for (std::size_t channel = 0; channel < actual.size(); ++channel) {
    add_element(actual[channel], expected[channel], sigma[channel], where, static_cast<int>(channel), squares);
  }
  ++result_.rows;
  sum_squares_ += squares;
  const auto head = static_cast<std::size_t>(where.head);
  if (head_squares_.size() <= head) {
    head_squares_.resize(head + 1);
    head_elements_.resize(head + 1);
  }
  head_squares_[head] += squares;
  head_elements_[head] += static_cast<std::int64_t>(actual.size());
  if (!actual.empty()) {
    result_.worst_row_rms_z =
        std::max(result_.worst_row_rms_z, std::sqrt(squares / static_cast<double>(actual.size())));
  }
}

CheckResult Comparison::finish(std::string check, Point point) const {
  CheckResult result = result_;
  result.check = std::move(check);
  result.point = point;
  if (result.elements > 0) {
    result.rms_z = std::sqrt(sum_squares_ / static_cast<double>(result.elements));
    result.bias_z = sum_signed_ / static_cast<double>(result.elements);
  }
  for (std::size_t head = 0; head < head_squares_.size(); ++head) {
    if (head_elements_[head] == 0) continue;
    result.worst_head_rms_z =
        std::max(result.worst_head_rms_z, std::sqrt(head_squares_[head] / static_cast<double>(head_elements_[head])));
  }
  if (result.bad_elements > 0) {
    result.verdict = Verdict::failed;
    result.message = fmt::format("{} of {} elements beyond z {}", result.bad_elements, result.elements, kMaxZ);
  } else if (result.rows >= kMinRowsForRms && !(result.rms_z <= kMaxRmsZ)) {
    result.verdict = Verdict::failed;
    result.message = fmt::format("rms z {:.3g} beyond {} over {} rows", result.rms_z, kMaxRmsZ, result.rows);
  }
  return result;
}

}  // namespace ropecheck
