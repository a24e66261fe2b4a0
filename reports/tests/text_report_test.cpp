// SPDX-License-Identifier: Apache-2.0
#include "reports/text_report.hpp"

#include "harness/tests/catch.hpp"
#include "reports/findings.hpp"
#include "reports/tests/sample_run.hpp"

#include <algorithm>

namespace ropecheck {

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

TEST_CASE("the text begins with the verdict and the counts") {
  const std::string text = text_report(sample_run());
  CHECK_THAT(
      text, StartsWith("ropecheck: ./lib mine.so: FAILED (3 of 4 cases checked, 1 unsupported)\n"));
  CHECK_THAT(text, Contains("1 passed, 1 failed, 1 unsupported, 1 crashed"));
  CHECK_THAT(text, Contains("an element fails above z 8"));
}

TEST_CASE("the text of a failing run names place, numbers and the line that replays it") {
  const RunResult run = sample_run();
  const std::string text = text_report(run);
  CHECK_THAT(text, Contains("call 1, sequence 2, token 17 (coordinate 19), head 5, channel 64"));
  CHECK_THAT(text, Contains("expected 0.41015625, actual nan, sigma 0.001"));
  CHECK_THAT(text, Contains("ropecheck replay --backend './lib mine.so' --option block=64 "
                            "--option 'mode=fast one' '" +
                            run.cases[1].id + "'\n"));
  CHECK_THAT(text, Contains("padding strict_f32 attention_output: profile_too_loose: rms z 0.05"));
  CHECK_THAT(text, Contains("only in the run"));
}

TEST_CASE("every failing case has its replay line, the worst first") {
  const RunResult run = sample_run();
  const std::vector<Failure> found = failures(run);
  REQUIRE(found.size() == 2);
  CHECK(found[0].result == &run.cases[3]);
  CHECK(found[0].worst == nullptr);
  CHECK(found[1].worst == &run.cases[1].checks[1]);
  CHECK(found[1].other_failed_checks == 1);
}

TEST_CASE("failures are sorted by z, and NaN counts as infinity") {
  RunResult run;
  for (const double z : {9.0, std::nan(""), 1e6}) {
    run.cases.push_back(sample_case(Family::padding, 32 + std::ssize(run.cases), Verdict::failed));
    run.cases.back().checks = {sample_check("reference", Verdict::failed, z)};
  }
  const std::vector<Failure> found = failures(run);
  REQUIRE(found.size() == 3);
  CHECK(found[0].result == &run.cases[1]);
  CHECK(found[1].result == &run.cases[2]);
  CHECK(found[2].result == &run.cases[0]);
}

TEST_CASE("at most ten failures are shown, and the others are counted") {
  RunResult run;
  for (int i = 0; i < 25; ++i) {
    run.cases.push_back(sample_case(Family::padding, 32 + i, Verdict::failed));
    run.cases.back().checks = {sample_check("reference", Verdict::failed, 100 + i)};
  }
  count(run);
  const std::string text = text_report(run);
  CHECK_THAT(text, Contains("the worst 10 of 25 failing cases"));
  CHECK_THAT(text, Contains(" 10. reference"));
  CHECK_THAT(text, !Contains(" 11. reference"));
  CHECK_THAT(text, Contains("and 15 other cases"));
}

TEST_CASE("what a backend does not offer is said with its consequence") {
  RunResult run = sample_run();
  run.cases[0].checks.push_back(run.cases[2].checks[0]);
  const std::string text = text_report(run);
  CHECK_THAT(text,
             Contains("cached_key: the backend does not offer it: what later steps will meet"));
  CHECK_THAT(text, Contains("position_ids: no case looked at it"));
  CHECK_THAT(text, !Contains("rotated_key: "));
  CHECK_THAT(text, Contains("1  no cache here"));
}

TEST_CASE("a law counts once a case, and is bitwise equal only if it is at every point") {
  RunResult run;
  for (const bool second : {true, false}) {
    run.cases.push_back(sample_case(Family::padding, 32 + second, Verdict::passed));
    run.cases.back().checks = {sample_check("batch_order", Verdict::passed, 1),
                               sample_check("batch_order", Verdict::passed, 1)};
    run.cases.back().checks[0].bitwise = true;
    run.cases.back().checks[1].bitwise = second;
  }
  const std::vector<LawLine> lines = law_lines(run);
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].cases == 2);
  CHECK(lines[0].bitwise_compared == 2);
  CHECK(lines[0].bitwise_equal == 1);
}

TEST_CASE("the rms z of a family pools its points by their elements, without position_ids") {
  RunResult run;
  run.cases = {sample_case(Family::padding, 32, Verdict::passed)};
  run.summary.pools = {
      {Family::padding, "strict_f32", Point::rotated_key, 1, 300, 1.0, 2, {}, ""},
      {Family::padding, "strict_f32", Point::attention_output, 1, 100, 0, 2, {}, ""},
      {Family::padding, "strict_f32", Point::position_ids, 1, 9999, 0, 0, {}, ""},
      {Family::padding, "flash_f16", Point::rotated_key, 1, 300, 9, 2, {}, ""}};
  const std::vector<FamilyLine> lines = family_lines(run);
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].pooled_rms_z == Approx(std::sqrt(0.75)));
}

TEST_CASE("a family whose limits show nothing does not read as passed") {
  const std::vector<FamilyLine> lines = family_lines(sample_run());
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].verdict == Verdict::profile_too_loose);
  CHECK(lines[1].verdict == Verdict::failed);
  CHECK(lines[1].failed == 2);
  CHECK(std::isinf(lines[1].max_z));
  CHECK(lines[2].verdict == Verdict::unsupported);
}

TEST_CASE("a run that passes is short, and a run without cases is no pass") {
  RunResult run;
  run.info = sample_info();
  run.cases = {sample_case(Family::padding, 32, Verdict::passed)};
  for (const Point point : all_points()) {
    run.cases[0].checks.push_back(sample_check("reference", Verdict::passed, 2));
    run.cases[0].checks.back().point = point;
  }
  count(run);
  const std::string text = text_report(run);
  CHECK_THAT(text, StartsWith("ropecheck: ./lib mine.so: passed (1 case)\n"));
  CHECK(std::ranges::count(text, '\n') < 12);
  CHECK_THAT(text, !Contains("replay"));
  CHECK_THAT(text_report(empty_run()),
             StartsWith("ropecheck: ./lib mine.so: nothing ran (0 cases)\n"));
}

TEST_CASE("the text has no control characters but line breaks") {
  for (const std::string& text : {text_report(sample_run()), text_details(sample_run())}) {
    CHECK(
        std::ranges::none_of(text, [](const char c) { return (c >= 0 && c < ' ') && c != '\n'; }));
  }
}

TEST_CASE("the details show every check of every case") {
  const std::string text = text_details(sample_run());
  CHECK_THAT(text, Contains("reference of rotated_key: failed\n"));
  CHECK_THAT(text, Contains("batch_order of attention_output: passed\n"));
  CHECK_THAT(text, Contains("z 812, rms z 203, 3 of 4096 elements bad"));
  CHECK_THAT(text, Contains("bitwise equal"));
}

}  // namespace ropecheck
