// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cases/case.hpp"
#include "harness/kernel.hpp"
#include "harness/result.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace ropecheck {

// Offline judging: `export_bundle` writes the inputs of cases to an HDF5 file, anyone fills in the
// outputs in any language on any machine, and `open_bundle` answers calls from that file, so that
// run_cases judges it as it judges a live backend. harness/README.md has the layout.

/// What an exported bundle holds.
struct BundleCount {
  std::int64_t cases = 0;       ///< that a filler can answer
  std::int64_t executions = 0;  ///< of these cases and of the other sides of their laws
  std::int64_t left_out = 0;    ///< cases that need a cache of the caller's: no file can hold it
};

/// Writes the cases' inputs. `info` (suite, seed, profiles, filter, shard) goes along.
/// Errors: throws Error{load} if the file cannot be written.
[[nodiscard]] BundleCount export_bundle(const std::string& path, std::span<const CaseSpec> cases,
                                        const RunInfo& info);

/// The cases of a bundle, and what it was exported with.
/// Errors: throws Error{load} for a file that is no bundle or of another version.
[[nodiscard]] std::vector<CaseSpec> read_bundle_cases(const std::string& path, RunInfo& info);

/// Answers calls with the outputs of `outputs_path` for the inputs of `cases_path`. An execution or an
/// observation without outputs is unsupported; outputs of another shape are invalid.
/// Errors: throws Error{load} as above; and while it runs, if the bundle's inputs are not those that
///         its case ids stand for.
[[nodiscard]] std::unique_ptr<Kernel> open_bundle(const std::string& cases_path,
                                                  const std::string& outputs_path);

/// Fills a bundle with what a live backend answers.
void fill_bundle(Kernel& kernel, const std::string& cases_path, const std::string& outputs_path,
                 const std::string& backend_options);

}  // namespace ropecheck
