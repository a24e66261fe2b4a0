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
constexpr double kManyUlps = 0x1p62;

}  // namespace

void Comparison::skip_ill_conditioned(std::span<const double> actual, const Location& where) {
  ++result_.ill_conditioned;
  for (std::size_t channel = 0; channel < actual.size(); ++channel) {
    if (std::isfinite(actual[channel])) continue;
    ++result_.bad_elements;
    result_.max_z = kInfinity;
    result_.worst = where;
    result_.worst.channel = static_cast<int>(channel);
    result_.actual = actual[channel];
  }
}

void Comparison::note_error(double difference, double z, double expected) {
  if (std::isfinite(z)) sum_signed_ += std::copysign(z, difference);
  if (!(z <= kMaxZ)) ++result_.bad_elements;
  const double error = std::isnan(difference) ? kInfinity : std::abs(difference);
  result_.max_abs_error = std::max(result_.max_abs_error, error);
  max_ulps_ = std::max(max_ulps_, std::min(error / spacing_at(storage_, expected), kManyUlps));
}

double z_of(double actual, double expected, double sigma) {
  if (actual == expected) return 0;
  if (std::isinf(sigma)) return kInfinity;  // a limit that nothing could break
  const double z = std::abs(actual - expected) / sigma;
  return std::isnan(z) ? kInfinity : z;
}

void Comparison::add_row(std::span<const double> actual, std::span<const double> expected,
                         std::span<const double> sigma, const Location& where) {
  double squares = 0;
  for (std::size_t channel = 0; channel < actual.size(); ++channel) {
    const double difference = actual[channel] - expected[channel];
    const double z = z_of(actual[channel], expected[channel], sigma[channel]);
    squares += z * z;
    if (z > 0) note_error(difference, z, expected[channel]);
    const bool first = result_.worst.head < 0;
    if (!first && !(z > result_.max_z)) continue;
    result_.max_z = z;
    result_.worst = where;
    result_.worst.channel = static_cast<int>(channel);
    result_.expected = expected[channel];
    result_.actual = actual[channel];
    result_.sigma = sigma[channel];
  }
  result_.elements += static_cast<std::int64_t>(actual.size());
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
  result.max_ulp = std::llround(max_ulps_);
  if (result.elements > 0) {
    result.rms_z = std::sqrt(sum_squares_ / static_cast<double>(result.elements));
    result.bias_z = sum_signed_ / static_cast<double>(result.elements);
  }
  for (std::size_t head = 0; head < head_squares_.size(); ++head) {
    if (head_elements_[head] == 0) continue;
    result.worst_head_rms_z =
        std::max(result.worst_head_rms_z,
                 std::sqrt(head_squares_[head] / static_cast<double>(head_elements_[head])));
  }
  if (result.elements == 0 && result.bad_elements == 0) {
    result.verdict = Verdict::unsupported;
    result.message = result.ill_conditioned > 0
                         ? fmt::format("all {} rows are ill-conditioned", result.ill_conditioned)
                         : "there is nothing to compare";
  } else if (result.bad_elements > 0) {
    result.verdict = Verdict::failed;
    result.message =
        fmt::format("{} of {} elements beyond z {}", result.bad_elements, result.elements, kMaxZ);
  } else if (result.rows >= kMinRowsForRms && !(result.rms_z <= kMaxRmsZ)) {
    result.verdict = Verdict::failed;
    result.message =
        fmt::format("rms z {:.3g} beyond {} over {} rows", result.rms_z, kMaxRmsZ, result.rows);
  }
  return result;
}

}  // namespace ropecheck
