// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/backend_choice.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/outputs.hpp"
#include "reference/error.hpp"
#include "reports/text_report.hpp"

#include <fstream>
#include <iostream>
#include <istream>
#include <memory>
#include <set>

namespace ropecheck {

namespace {

struct ReplayCommand {
  BackendChoice backend;
  std::vector<std::string> ids;
  std::string file;
  Outputs outputs;
};

/// One id a line; blank lines and those that begin with '#' say nothing.
void read_ids(std::istream& lines, std::vector<std::string>& ids) {
  constexpr const char* kBlank = " \t\r";
  for (std::string line; std::getline(lines, line);) {
    const std::size_t begin = line.find_first_not_of(kBlank);
    if (begin == std::string::npos || line[begin] == '#') continue;
    ids.push_back(line.substr(begin, line.find_last_not_of(kBlank) + 1 - begin));
  }
}

std::vector<std::string> all_ids(const ReplayCommand& command) {
  std::vector<std::string> ids;
  for (const std::string& id : command.ids) {
    if (id == "-") {
      read_ids(std::cin, ids);
    } else {
      ids.push_back(id);
    }
  }
  if (command.file.empty()) return ids;
  std::ifstream lines(command.file);
  if (!lines.is_open()) {
    fail(ErrorCode::not_found,
         "--file '{}': cannot read it; name a text file with one case id a line", command.file);
  }
  read_ids(lines, ids);
  return ids;
}

std::vector<CaseSpec> parse_ids(const std::vector<std::string>& ids) {
  std::vector<CaseSpec> cases;
  for (const std::string& id : ids) {
    const CaseSpec spec = parse_id(id);
    if (const auto reason = contradiction(spec)) {
      fail(ErrorCode::invalid_argument,
           "case id '{}': its axes do not go together: {}; `ropecheck list` prints ids that can be "
           "run",
           id, *reason);
    }
    cases.push_back(spec);
  }
  return cases;
}

/// A report of hand-picked cases says so, and can be compared with another of the same cases.
void describe_cases(const std::vector<CaseSpec>& cases, RunInfo& info) {
  std::set<std::string> profiles;
  for (const CaseSpec& spec : cases) profiles.insert(spec.profile);
  info.suite = "replay";
  info.seed = cases.front().seed;
  info.profiles.assign(profiles.begin(), profiles.end());
}

int replay(const ReplayCommand& command) {
  if (command.ids.empty() && command.file.empty()) {
    fail(ErrorCode::invalid_argument,
         "replay: no case id given; pass ids as arguments, - to read them from standard input, or "
         "--file FILE");
  }
  const std::vector<CaseSpec> cases = parse_ids(all_ids(command));
  const RunOptions options = run_options(command.backend);
  check_outputs(command.outputs);
  const std::unique_ptr<Kernel> kernel = load(command.backend);
  if (cases.empty()) {
    std::cerr
        << "ropecheck: nothing to run: the list of case ids is empty; `ropecheck list` prints "
           "ids\n";
    return kExitNothingRan;
  }
  RunInfo info = run_info(command.backend);
  describe_cases(cases, info);
  const RunResult result = run_cases(*kernel, cases, info, options, {});
  write_outputs(command.outputs, result, text_details(result));
  warn(result);
  return result.summary.exit_status;
}

}  // namespace

Action setup_replay(CLI::App& app) {
  const auto command = std::make_shared<ReplayCommand>();
  app.add_option("ids", command->ids, "Case ids; - reads them from standard input, one a line")
      ->type_name("ID");
  app.add_option("--file", command->file, "Reads case ids from a file, one a line")
      ->type_name("FILE");
  add_backend_options(app, command->backend);
  add_output_options(app, command->outputs);
  app.footer("Exit status: as that of run");
  return [command] { return replay(*command); };
}

}  // namespace ropecheck
