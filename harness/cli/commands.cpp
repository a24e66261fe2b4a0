// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/command.hpp"

#include <array>

namespace ropecheck {

namespace {

constexpr std::array kCommands = {
    Command{"run", "Run a suite on a backend, and report", setup_run},
    Command{"list", "Print the case ids of a suite, or what it covers", setup_list},
    Command{"replay", "Run single cases again, by their ids, and show every check", setup_replay},
    Command{"diff", "Compare two HDF5 reports of the same cases", setup_diff},
    Command{"export", "Write the inputs of cases to a file, for a kernel on another machine",
            setup_export},
    Command{"fill", "Fill an exported bundle with what a backend answers", setup_fill},
    Command{"judge", "Judge an exported bundle by its filled outputs", setup_judge},
    Command{"backends", "Print the names of the sample backends", setup_backends},
    Command{"laws", "Print the laws that cases are checked by", setup_laws},
};

}  // namespace

std::span<const Command> commands() { return kCommands; }

}  // namespace ropecheck
