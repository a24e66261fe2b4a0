// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/outputs.hpp"

#include "harness/cli/command.hpp"
#include "reference/error.hpp"
#include "reports/hdf5_report.hpp"
#include "reports/json_report.hpp"
#include "reports/junit_report.hpp"
#include "reports/output_file.hpp"
#include "reports/printable.hpp"

#include <algorithm>
#include <array>
#include <iostream>
#include <span>

namespace ropecheck {

namespace {

constexpr std::string_view kStandardOutput = "-";

}  // namespace

void add_output_options(CLI::App& app, Outputs& outputs) {
  app.add_option("--report", outputs.hdf5, "Write the whole run as HDF5 (reports/README.md)")
      ->type_name("FILE.h5");
  app.add_option("--text", outputs.text, "Write the text report to a file, too")->type_name("FILE");
  app.add_option("--junit", outputs.junit, "Write JUnit XML; - is standard output")
      ->type_name("FILE");
  add_json_option(app, outputs.json);
}

void add_json_option(CLI::App& app, std::string& json) {
  app.add_option("--json", json, "Write JSON for scripts; - is standard output")->type_name("FILE");
}

void check_outputs(const Outputs& outputs) {
  int to_standard_output = 0;
  for (const std::string& path : {outputs.text, outputs.junit, outputs.json}) {
    if (path == kStandardOutput) {
      ++to_standard_output;
    } else if (!path.empty()) {
      check_writable(path);
    }
  }
  const std::array<std::string_view, 4> paths = {outputs.hdf5, outputs.text, outputs.junit,
                                                 outputs.json};
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const auto rest = std::span(paths).subspan(i + 1);
    if (paths[i].empty() || paths[i] == kStandardOutput ||
        std::find(rest.begin(), rest.end(), paths[i]) == rest.end()) {
      continue;
    }
    fail(ErrorCode::invalid_argument, "two reports go to '{}'; name a file for each", paths[i]);
  }
  if (to_standard_output > 1) {
    fail(ErrorCode::invalid_argument,
         "--text, --junit, --json: {} of them are '-', but standard output holds one report; name "
         "files for the others",
         to_standard_output);
  }
  if (outputs.hdf5 == kStandardOutput) {
    fail(ErrorCode::invalid_argument, "--report '-': an HDF5 report needs a file; name one");
  }
  if (!outputs.hdf5.empty()) check_writable(outputs.hdf5);
}

void write_output(const std::string& path, std::string_view text) {
  if (path == kStandardOutput) {
    std::cout << text;
  } else if (!path.empty()) {
    write_text_file(path, text);
  }
}

void write_outputs(const Outputs& outputs, const RunResult& result, const std::string& text) {
  if (!outputs.hdf5.empty()) write_hdf5_report(outputs.hdf5, result);
  if (!outputs.junit.empty()) write_output(outputs.junit, junit_report(result));
  if (!outputs.json.empty()) write_output(outputs.json, json_report(result));
  write_output(outputs.text, text);
  const bool taken = outputs.junit == kStandardOutput || outputs.json == kStandardOutput ||
                     outputs.text == kStandardOutput;
  if (!taken) std::cout << text;
}

void warn(const RunResult& result) {
  const CaseResult* first = nullptr;
  long long wrong = 0;
  for (const CaseResult& run : result.cases) {
    const bool answered = run.verdict == Verdict::passed || run.verdict == Verdict::failed ||
                          run.verdict == Verdict::unsupported || run.verdict == Verdict::blind;
    if (answered) continue;
    ++wrong;
    if (first == nullptr) first = &run;
  }
  if (first != nullptr) {
    std::cerr << fmt::format(
        "ropecheck: backend '{}' gave no answer to judge in {} of {}, first "
        "'{}' in case '{}': {}\n",
        result.info.backend, wrong, counted(result.summary.cases, "case"),
        to_string(first->verdict), first->id, printable_text(first->message));
  }
  if (result.summary.exit_status == kExitNothingRan) {
    std::cerr << fmt::format(
        "ropecheck: nothing ran: backend '{}' supports none of the {}, and that "
        "is no pass; choose cases that it serves, or mend its query_support\n",
        result.info.backend, counted(result.summary.cases, "case"));
  }
}

}  // namespace ropecheck
