// SPDX-License-Identifier: Apache-2.0
#include "reports/diff.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/outputs.hpp"
#include "reports/hdf5_report.hpp"

#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <string>

namespace ropecheck {

namespace {

struct DiffCommand {
  std::string old_path;
  std::string new_path;
  std::string json;
};

int diff(const DiffCommand& command) {
  check_outputs({.hdf5 = "", .text = "", .junit = "", .json = command.json});
  const RunResult old_run = read_hdf5_report(command.old_path);
  const RunResult new_run = read_hdf5_report(command.new_path);
  const ReportDiff changes = compare_runs(old_run, new_run);
  if (!command.json.empty()) write_output(command.json, diff_json(changes));
  if (command.json != "-") std::cout << diff_text(changes);
  return changes.exit_status();
}

}  // namespace

Action setup_diff(CLI::App& app) {
  const auto command = std::make_shared<DiffCommand>();
  app.add_option("OLD.h5", command->old_path, "The report to compare with")
      ->type_name("")
      ->required();
  app.add_option("NEW.h5", command->new_path, "The report to judge")->type_name("")->required();
  add_json_option(app, command->json);
  app.footer(fmt::format(
      "The error of a check has grown if its max z is {:g} times what it was and above {:g}, or "
      "its "
      "rms z {:g} times\nwhat it was and above {:g}; that of a family, if its pooled rms z is {:g} "
      "times what it was.\n"
      "Exit status: 0 no regression; 1 something newly fails, is missing, or has a grown error; 2 "
      "the "
      "two\nreports are of different cases; 3 a file cannot be read or written",
      kGrownMaxZFactor, kGrownMaxZFloor, kGrownRmsFactor, kGrownRmsFloor, kGrownPoolFactor));
  return [command] { return diff(*command); };
}

}  // namespace ropecheck
