// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace ropecheck {

/// What a result may depend on beside backend and case: version, compiler, machine. By key,
/// ascending.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> environment();

/// The command line of this process, as a shell takes it.
[[nodiscard]] std::string command_line();

/// Remembers the command line; called once, by main.
void set_command_line(int argc, const char* const* argv);

}  // namespace ropecheck
