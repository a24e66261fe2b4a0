// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/backend_choice.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/outputs.hpp"
#include "harness/cli/progress.hpp"
#include "harness/cli/selection.hpp"
#include "reports/text_report.hpp"

#include <iostream>
#include <memory>

namespace ropecheck {

namespace {

struct RunCommand {
  BackendChoice backend;
  Selection selection;
  Outputs outputs;
};

int run(const RunCommand& command) {
  const SelectedCases selected = select_cases(command.selection);
  const RunOptions options = run_options(command.backend);
  check_outputs(command.outputs);
  const std::unique_ptr<Kernel> kernel = load(command.backend);
  if (selected.cases.empty()) {
    std::cerr << "ropecheck: " << nothing_selected(command.selection, selected) << "\n";
    return kExitNothingRan;
  }
  RunInfo info = run_info(command.backend);
  describe_selection(command.selection, selected, info);

  ProgressLine progress(std::cerr);
  std::vector<ResultSink*> sinks;
  if (standard_error_is_terminal()) sinks.push_back(&progress);
  const RunResult result = run_cases(*kernel, selected.cases, info, options, sinks);
  write_outputs(command.outputs, result, text_report(result));
  warn(result);
  return result.summary.exit_status;
}

}  // namespace

Action setup_run(CLI::App& app) {
  const auto command = std::make_shared<RunCommand>();
  add_backend_options(app, command->backend);
  add_selection_options(app, command->selection);
  add_output_options(app, command->outputs);
  app.footer(
      "Examples:\n"
      "  ropecheck run --backend ./libmine.so --suite smoke\n"
      "  ropecheck run --backend ./libmine.so --filter 'decode/*' --report run.h5 --junit run.xml\n"
      "Exit status: 0 all passed, 1 something failed, 2 usage, 3 backend or file cannot be used, "
      "4 nothing ran");
  return [command] { return run(*command); };
}

}  // namespace ropecheck
