// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/result.hpp"

#include <string>

namespace ropecheck {

/// A run for scripts. README.md documents it. Numbers that JSON cannot hold (infinite, NaN) are
/// null.
[[nodiscard]] std::string json_report(const RunResult& run);

}  // namespace ropecheck
