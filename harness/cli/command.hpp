// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <span>

namespace ropecheck {

// Exit statuses of every command.
inline constexpr int kExitPassed = 0;
inline constexpr int kExitFailed = 1;   ///< something failed, or differs for the worse
inline constexpr int kExitUsage = 2;    ///< unknown option, name or id
inline constexpr int kExitHarness = 3;  ///< a backend or a file cannot be loaded or written; a bug
inline constexpr int kExitNothingRan = 4;  ///< no case, or none that the backend supports

/// What a command does once its options are parsed; gives the exit status.
/// Errors: throws Error, which main reports.
using Action = std::function<int()>;

/// A command of the program: `setup` declares its options and gives its action.
struct Command {
  const char* name;
  const char* summary;  ///< one line, for --help
  Action (*setup)(CLI::App& app);
};

/// All commands, in the order of --help.
[[nodiscard]] std::span<const Command> commands();

Action setup_run(CLI::App& app);
Action setup_list(CLI::App& app);
Action setup_replay(CLI::App& app);
Action setup_diff(CLI::App& app);
Action setup_export(CLI::App& app);
Action setup_fill(CLI::App& app);
Action setup_judge(CLI::App& app);
Action setup_backends(CLI::App& app);
Action setup_laws(CLI::App& app);

}  // namespace ropecheck
