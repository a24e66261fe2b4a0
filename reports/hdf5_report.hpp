// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace ropecheck {

/// Version of the format that README.md documents. It grows when a column or an attribute is
/// removed, renamed or changes its meaning; additions leave it.
inline constexpr std::int64_t kReportFormatVersion = 1;

/// Version of ropecheck, "0.1.0".
[[nodiscard]] std::string_view ropecheck_version();

/// Writes a run as README.md documents it, under a temporary name that is renamed at the end.
/// Errors: throws Error{load} naming the path and the reason.
void write_hdf5_report(const std::string& path, const RunResult& result);

/// Reads a run back. Numbers are the same bits; texts are those that were written.
/// Errors: throws Error{load} naming the path, for a file that is no report or of another format
/// version.
[[nodiscard]] RunResult read_hdf5_report(const std::string& path);

}  // namespace ropecheck
