// SPDX-License-Identifier: Apache-2.0
#include "harness/bundle.hpp"

#include "harness/cli/backend_choice.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/environment.hpp"
#include "harness/cli/outputs.hpp"
#include "harness/cli/progress.hpp"
#include "harness/cli/selection.hpp"
#include "harness/run.hpp"
#include "reference/error.hpp"
#include "reports/output_file.hpp"
#include "reports/text_report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <iostream>
#include <memory>

namespace ropecheck {

namespace {

struct ExportCommand {
  Selection selection;
  std::string path;
  std::string json;
};

int export_cases(const ExportCommand& command) {
  const SelectedCases selected = select_cases(command.selection);
  check_writable(command.path);
  if (selected.cases.empty()) {
    std::cerr << "ropecheck: " << nothing_selected(command.selection, selected) << "\n";
    return kExitNothingRan;
  }
  RunInfo info;
  describe_selection(command.selection, selected, info);
  const BundleCount count = export_bundle(command.path, selected.cases, info);
  const nlohmann::json json = {{"cases", count.cases},
                               {"executions", count.executions},
                               {"left_out", count.left_out},
                               {"exit_status", kExitPassed}};
  write_output(command.json, json.dump(2) + "\n");
  if (command.json != "-") {
    std::cout << fmt::format(
        "{}: {} cases, {} executions to fill; left out: {} cases whose cache belongs to the "
        "caller\n"
        "Fill the outputs (see fixtures/offline/fill.py), then: ropecheck judge {} outputs.h5\n",
        command.path, count.cases, count.executions, count.left_out, command.path);
  }
  return count.cases > 0 ? kExitPassed : kExitNothingRan;
}

struct JudgeCommand {
  std::string cases;
  std::string outputs_path;
  int jobs = 0;
  std::int64_t keep = 20;
  Outputs reports;
};

int judge(const JudgeCommand& command) {
  RunInfo info;
  const std::vector<CaseSpec> cases = read_bundle_cases(command.cases, info);
  const std::unique_ptr<Kernel> kernel = open_bundle(command.cases, command.outputs_path);
  check_outputs(command.reports);
  info.backend = command.outputs_path;
  info.environment = environment();
  info.command_line = command_line();
  RunOptions options;
  options.jobs = command.jobs;
  options.keep = command.keep;
  ProgressLine progress(std::cerr);
  std::vector<ResultSink*> sinks;
  if (standard_error_is_terminal()) sinks.push_back(&progress);
  const RunResult result = run_cases(*kernel, cases, info, options, sinks);
  write_outputs(command.reports, result, text_report(result));
  warn(result);
  return result.summary.exit_status;
}

struct FillCommand {
  BackendChoice backend;
  std::string cases;
  std::string outputs;
};

int fill(const FillCommand& command) {
  const RunOptions options = run_options(command.backend);
  const std::unique_ptr<Kernel> kernel = load(command.backend);
  std::error_code ignored;
  if (std::filesystem::equivalent(command.cases, command.outputs, ignored)) {
    fail(ErrorCode::invalid_argument,
         "'{}' is the bundle itself; name another file for the outputs", command.outputs);
  }
  check_writable(command.outputs);
  fill_bundle(*kernel, command.cases, command.outputs, options.backend_options);
  return kExitPassed;
}

}  // namespace

Action setup_export(CLI::App& app) {
  const auto command = std::make_shared<ExportCommand>();
  add_selection_options(app, command->selection);
  add_json_option(app, command->json);
  app.add_option("cases", command->path, "The bundle to write")->type_name("CASES.h5")->required();
  app.footer(
      "Example: ropecheck export --suite smoke cases.h5\n"
      "         python3 fixtures/offline/fill.py cases.h5 outputs.h5\n"
      "         ropecheck judge cases.h5 outputs.h5");
  return [command] { return export_cases(*command); };
}

Action setup_judge(CLI::App& app) {
  const auto command = std::make_shared<JudgeCommand>();
  app.add_option("cases", command->cases, "A bundle that `export` wrote")
      ->type_name("CASES.h5")
      ->required();
  app.add_option("outputs", command->outputs_path, "What a kernel answered to it")
      ->type_name("OUTPUTS.h5")
      ->required();
  app.add_option("--jobs", command->jobs, "Cases at once; 0: as many as there are cores")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--keep", command->keep, "Worst failing cases whose tensors the HDF5 report keeps")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  add_output_options(app, command->reports);
  return [command] { return judge(*command); };
}

Action setup_fill(CLI::App& app) {
  const auto command = std::make_shared<FillCommand>();
  app.add_option("--backend", command->backend.backend, "As for `run`")
      ->type_name("PATH|NAME")
      ->capture_default_str();
  app.add_option("--option", command->backend.options,
                 "Handed to the backend; may be given more than once")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  app.add_option("cases", command->cases, "A bundle that `export` wrote")
      ->type_name("CASES.h5")
      ->required();
  app.add_option("outputs", command->outputs, "Where the answers go")
      ->type_name("OUTPUTS.h5")
      ->required();
  return [command] { return fill(*command); };
}

}  // namespace ropecheck
