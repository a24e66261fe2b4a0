// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/result.hpp"

#include <string>
#include <string_view>

namespace ropecheck {

/// A run as JUnit XML: a testsuite for each family, a testcase for each case, and a testsuite
/// "pools" with the verdicts over whole families. failed and profile_too_loose are failures;
/// crashed, timed_out and invalid are errors; unsupported is skipped.
[[nodiscard]] std::string junit_report(const RunResult& run);

/// `text` with the five characters escaped that XML reserves, and made printable.
[[nodiscard]] std::string xml_escaped(std::string_view text);

}  // namespace ropecheck
