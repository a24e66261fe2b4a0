// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/kernel.hpp"
#include "harness/result.hpp"
#include "harness/run.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ropecheck {

/// Which backend is run, and how, as options say.
struct BackendChoice {
  std::string backend = "tiled";
  std::vector<std::string> options;  ///< "key=value"
  int jobs = 0;
  std::int64_t keep = 20;
};

/// Declares --backend, --option, --jobs and --keep.
void add_backend_options(CLI::App& app, BackendChoice& choice);

/// Loads the backend. Errors: as load_backend.
[[nodiscard]] std::unique_ptr<Kernel> load(const BackendChoice& choice);

/// How to run it. Errors: throws Error{invalid_argument} for an option that is not "key=value".
[[nodiscard]] RunOptions run_options(const BackendChoice& choice);

/// What a report says about the backend, the machine and the command line.
[[nodiscard]] RunInfo run_info(const BackendChoice& choice);

}  // namespace ropecheck
