// SPDX-License-Identifier: Apache-2.0
#include "harness/compare.hpp"

#include "harness/limits.hpp"
#include "harness/tests/catch.hpp"

#include <cmath>
#include <limits>
#include <vector>

using namespace ropecheck;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Location place(std::int64_t token, int head) {
  Location where;
  where.call = 0;
  where.sequence = 0;
  where.token = token;
  where.head = head;
  return where;
}

/// One row of one number.
CheckResult compare(double actual, double expected, double sigma) {
  Comparison comparison(FloatFormat::f32);
  comparison.add_row({&actual, 1}, {&expected, 1}, {&sigma, 1}, place(0, 0));
  return comparison.finish("reference", Point::attention_output);
}

}  // namespace

TEST_CASE("wrong numbers fail whatever they look like") {
  CHECK(compare(kNaN, 1, 0.1).verdict == Verdict::failed);
  CHECK(compare(1, kNaN, 0.1).verdict == Verdict::failed);
  CHECK(compare(kNaN, 0, 0).verdict == Verdict::failed);
  CHECK(compare(kInfinity, 1, 0.1).verdict == Verdict::failed);
  CHECK(compare(-kInfinity, 1, 0.1).verdict == Verdict::failed);
  CHECK(compare(kInfinity, -kInfinity, 0.1).verdict == Verdict::failed);
  CHECK(compare(0, 1, 0.1).verdict == Verdict::failed);     // all zeros
  CHECK(compare(-1, 1, 0.1).verdict == Verdict::failed);    // sign
  CHECK(compare(0.1, -1, 0.1).verdict == Verdict::failed);  // negative reference
  CHECK(compare(1, 0, 0.1).verdict == Verdict::failed);     // zero reference
  CHECK(compare(1e-30, 0, 0).verdict == Verdict::failed);   // exact zero is due
  CHECK(compare(1, 2, kNaN).verdict ==
        Verdict::failed);  // a sigma that is no number judges nothing as right
}

TEST_CASE("right numbers pass up to the bound and no further") {
  CHECK(compare(-0.0, 0.0, 0).verdict == Verdict::passed);
  CHECK(compare(1, 1, 0).verdict == Verdict::passed);
  CHECK(compare(1 + kMaxZ * 0.125, 1, 0.125).verdict == Verdict::passed);
  CHECK(compare(1 + kMaxZ * 0.125 + 1e-9, 1, 0.125).verdict == Verdict::failed);
  CHECK(compare(1 - kMaxZ * 0.125, 1, 0.125).verdict == Verdict::passed);
  CHECK(compare(kInfinity, kInfinity, 1).verdict == Verdict::passed);
}

TEST_CASE("one bad element in a large tensor is found and named") {
  Comparison comparison(FloatFormat::f32);
  const std::vector<double> expected(64, 0.5), sigma(64, 1e-3);
  for (int token = 0; token < 500; ++token) {
    std::vector<double> actual = expected;
    if (token == 321) actual[17] = 0.6;
    comparison.add_row(actual, expected, sigma, place(token, token % 4));
  }
  const CheckResult result = comparison.finish("reference", Point::attention_output);
  CHECK(result.verdict == Verdict::failed);
  CHECK(result.bad_elements == 1);
  CHECK(result.elements == 500 * 64);
  CHECK(result.worst.token == 321);
  CHECK(result.worst.head == 321 % 4);
  CHECK(result.worst.channel == 17);
  CHECK(result.max_z == Approx(100).epsilon(1e-9));
  CHECK(result.actual == 0.6);
  CHECK(result.expected == 0.5);
}

TEST_CASE("many small errors fail by their root mean square, once there are rows enough") {
  const auto run = [](int rows, double z) {
    Comparison comparison(FloatFormat::f32);
    for (int row = 0; row < rows; ++row) {
      const double actual = (row % 2 == 0 ? z : -z), expected = 0, sigma = 1;
      comparison.add_row({&actual, 1}, {&expected, 1}, {&sigma, 1}, place(row, 0));
    }
    return comparison.finish("reference", Point::attention_output);
  };
  CHECK(run(64, 1.6).verdict == Verdict::failed);
  CHECK(run(63, 1.6).verdict == Verdict::passed);
  CHECK(run(64, 1.4).verdict == Verdict::passed);
  CHECK(run(64, 1.4).rms_z == Approx(1.4));
  CHECK(std::abs(run(64, 1.4).bias_z) < 1e-12);
}

TEST_CASE("a bias below the bound shows in the signed mean") {
  Comparison comparison(FloatFormat::f32);
  for (int row = 0; row < 10; ++row) {
    const double actual = 2, expected = 1, sigma = 1;
    comparison.add_row({&actual, 1}, {&expected, 1}, {&sigma, 1}, place(row, 0));
  }
  CHECK(comparison.finish("reference", Point::attention_output).bias_z == Approx(1));
}

TEST_CASE("the worst row and the worst head are those with the greatest root mean square") {
  Comparison comparison(FloatFormat::f32);
  const std::vector<double> expected(4, 0.0), sigma(4, 1.0), calm(4, 0.5), wild(4, 3.0);
  for (int token = 0; token < 8; ++token) {
    for (int head = 0; head < 2; ++head) {
      comparison.add_row(head == 1 && token == 5 ? wild : calm, expected, sigma,
                         place(token, head));
    }
  }
  const CheckResult result = comparison.finish("reference", Point::attention_output);
  CHECK(result.worst_row_rms_z == Approx(3));
  CHECK(result.worst_head_rms_z == Approx(std::sqrt((7 * 0.25 + 9) / 8)));
}

TEST_CASE("distances in units of the last place are those of the storage format") {
  CHECK(compare(1 + std::ldexp(1.0, -23), 1, 1).max_ulp == 1);
  CHECK(compare(-1 - std::ldexp(3.0, -23), -1, 1).max_ulp == 3);
}

TEST_CASE("nothing compared is no pass, and a NaN fails in rows that are not judged, too") {
  Comparison nothing(FloatFormat::f32);
  CHECK(nothing.finish("reference", Point::attention_output).verdict == Verdict::unsupported);

  const double fine = 1;
  Comparison skipped(FloatFormat::f32);
  skipped.skip_ill_conditioned({&fine, 1}, place(0, 0));
  const CheckResult result = skipped.finish("reference", Point::attention_output);
  CHECK(result.verdict == Verdict::unsupported);
  CHECK(result.ill_conditioned == 1);

  Comparison broken(FloatFormat::f32);
  broken.skip_ill_conditioned({&kNaN, 1}, place(0, 0));
  CHECK(broken.finish("reference", Point::attention_output).verdict == Verdict::failed);
}

TEST_CASE("an infinite sigma judges nothing as right") {
  CHECK(compare(1, 2, kInfinity).verdict == Verdict::failed);
}
