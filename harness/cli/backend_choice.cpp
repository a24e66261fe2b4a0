// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/backend_choice.hpp"

#include "harness/cli/environment.hpp"
#include "harness/cli/names.hpp"
#include "reference/error.hpp"

namespace ropecheck {

void add_backend_options(CLI::App& app, BackendChoice& choice) {
  app.add_option("--backend", choice.backend,
                 "A shared library (a path with '/', or ending in .so), or the name of a sample "
                 "backend (`ropecheck backends`)")
      ->type_name("PATH|NAME")
      ->capture_default_str();
  app.add_option("--option", choice.options, "Handed to the backend; may be given more than once")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  app.add_option("--jobs", choice.jobs, "Cases at once; 0: as many as there are cores")
      ->type_name("N")
      ->check(refuse_as_count)
      ->capture_default_str();
  app.add_option("--keep", choice.keep, "Worst failing cases whose tensors the HDF5 report keeps")
      ->type_name("N")
      ->check(refuse_as_count)
      ->capture_default_str();
}

std::unique_ptr<Kernel> load(const BackendChoice& choice) { return load_backend(choice.backend); }

RunOptions run_options(const BackendChoice& choice) {
  RunOptions options;
  options.jobs = choice.jobs;
  options.keep = choice.keep;
  for (const std::string& option : choice.options) {
    const std::size_t equals = option.find('=');
    if (equals == 0 || equals == std::string::npos || option.find('\n') != std::string::npos) {
      fail(ErrorCode::invalid_argument,
           "--option '{}': expected KEY=VALUE on one line, for example --option block=64", option);
    }
    options.backend_options += option + "\n";
  }
  return options;
}

RunInfo run_info(const BackendChoice& choice) {
  RunInfo info;
  info.backend = choice.backend;
  info.options = run_options(choice).backend_options;
  info.environment = environment();
  info.command_line = command_line();
  return info;
}

}  // namespace ropecheck
