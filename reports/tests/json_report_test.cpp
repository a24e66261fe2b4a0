// SPDX-License-Identifier: Apache-2.0
#include "reports/json_report.hpp"

#include "harness/tests/catch.hpp"
#include "reports/tests/sample_run.hpp"

#include <nlohmann/json.hpp>

namespace ropecheck {

TEST_CASE("JSON has cases, verdicts, max_z and exit_status at its top level") {
  const auto json = nlohmann::json::parse(json_report(sample_run()));
  CHECK(json.at("cases") == 4);
  CHECK(json.at("verdicts").size() == kAllVerdicts.size());
  CHECK(json.at("verdicts").at("crashed") == 1);
  CHECK(json.at("verdicts").at("timed_out") == 0);
  CHECK(json.at("exit_status") == 1);
  CHECK(json.at("max_z").is_null());
}

TEST_CASE("a finite max_z is a number in JSON") {
  RunResult run = sample_run();
  run.summary.max_z = 2.5;
  CHECK(nlohmann::json::parse(json_report(run)).at("max_z") == 2.5);
}

TEST_CASE("JSON lists every failing case with what is needed to run it again") {
  const RunResult run = sample_run();
  const auto failures = nlohmann::json::parse(json_report(run)).at("failures");
  REQUIRE(failures.size() == 2);
  CHECK(failures[0].at("id") == run.cases[3].id);
  CHECK(failures[0].at("check").is_null());
  CHECK(failures[0].at("message") == "signal 11");
  CHECK(failures[1].at("id") == run.cases[1].id);
  CHECK(failures[1].at("check") == "reference");
  CHECK(failures[1].at("point") == "attention_output");
  CHECK(failures[1].at("z").is_null());
  CHECK(failures[1].at("worst").at("channel") == 64);
  CHECK(failures[1].at("replay").get<std::string>().ends_with("'" + run.cases[1].id + "'"));
}

TEST_CASE("a run without cases is JSON, too") {
  const auto json = nlohmann::json::parse(json_report(empty_run()));
  CHECK(json.at("cases") == 0);
  CHECK(json.at("exit_status") == 4);
  CHECK(json.at("failures").empty());
}

}  // namespace ropecheck
