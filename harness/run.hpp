// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cases/case.hpp"
#include "harness/kernel.hpp"
#include "harness/result.hpp"

#include <span>
#include <string>

namespace ropecheck {

struct RunOptions {
  int jobs = 0;                 ///< cases at once; 0: as many as there are cores
  std::int64_t keep = 20;       ///< worst failing cases whose tensors are kept
  std::string backend_options;  ///< "key=value" lines for the backend
};

/// Runs cases against a kernel and judges them. Results do not depend on `jobs`.
/// `info` is completed by what the kernel says of itself.
/// Errors: what a backend does wrong is in the result, never thrown.
[[nodiscard]] RunResult run_cases(Kernel& kernel, std::span<const CaseSpec> cases, RunInfo info,
                                  const RunOptions& options, std::span<ResultSink* const> sinks);

/// Fills summary.verdicts, pools and exit_status from the cases. Pools are judged here.
[[nodiscard]] RunSummary summarise(std::span<const CaseResult> cases);

}  // namespace ropecheck
