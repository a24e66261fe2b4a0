// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/result.hpp"

#include <CLI/CLI.hpp>

#include <string>
#include <string_view>

namespace ropecheck {

/// Where the reports of a run go; empty: nowhere. "-" is standard output, but for HDF5.
struct Outputs {
  std::string hdf5;
  std::string text;
  std::string junit;
  std::string json;
};

/// Declares --report, --text, --junit and --json.
void add_output_options(CLI::App& app, Outputs& outputs);

/// Declares --json alone, for commands that make no report.
void add_json_option(CLI::App& app, std::string& json);

/// Made before a long run, not after it.
/// Errors: throws Error{invalid_argument} if two reports go to standard output, Error{load} for a
/// path that cannot be written.
void check_outputs(const Outputs& outputs);

/// Writes the reports. The text goes to standard output, too, unless another report goes there.
/// Errors: throws Error{load}.
void write_outputs(const Outputs& outputs, const RunResult& result, const std::string& text);

/// Writes to a file, or to standard output for "-"; nothing for "".
void write_output(const std::string& path, std::string_view text);

/// Says on standard error what has to be seen even where reports are not read: a backend that
/// answered errors, or a run in which nothing ran.
void warn(const RunResult& result);

}  // namespace ropecheck
