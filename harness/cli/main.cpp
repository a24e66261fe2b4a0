// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/command.hpp"
#include "harness/cli/environment.hpp"
#include "harness/cli/names.hpp"
#include "reference/error.hpp"
#include "reports/hdf5_report.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <exception>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include <iostream>
#include <map>
#include <new>
#include <string>
#include <vector>

namespace ropecheck {

namespace {

int exit_status(ErrorCode code) {
  return code == ErrorCode::invalid_argument || code == ErrorCode::not_found ? kExitUsage
                                                                             : kExitHarness;
}

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const Command& command : commands()) names.emplace_back(command.name);
  return names;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// What CLI11 could not make sense of.
void refuse_leftovers(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  if (const std::vector<std::string> words = app.remaining(); !words.empty()) {
    const std::string& word = words.front();
    if (word.starts_with('-')) {
      fail(ErrorCode::invalid_argument,
           "unknown option '{}' before the command{} (see `ropecheck --help`)", word,
           did_you_mean(word, option_names(app)));
    }
    require_name("command", word, command_names());
  }
  if (chosen.empty()) {
    fail(ErrorCode::invalid_argument,
         "no command given: expected one of {} (see `ropecheck --help`)",
         fmt::join(command_names(), ", "));
  }
  const CLI::App& command = *chosen.front();
  if (const std::vector<std::string> words = command.remaining(); !words.empty()) {
    const std::string word = words.front().substr(0, words.front().find('='));
    fail(ErrorCode::invalid_argument, "{}: unknown {} '{}'{} (see `ropecheck {} --help`)",
         command.get_name(), word.starts_with('-') ? "option" : "argument", word,
         did_you_mean(word, option_names(command)), command.get_name());
  }
}

int run_command(int argc, const char* const* argv) {
  CLI::App app{
      "Tells whether RoPE attention is right: runs a backend over generated scenarios, and "
      "compares it with a double-precision reference."};
  app.name("ropecheck");
  app.set_version_flag("--version", fmt::format("ropecheck {}", ropecheck_version()));
  app.allow_extras();
  app.footer("`ropecheck COMMAND --help` explains a command.");
  std::map<const CLI::App*, Action> actions;
  for (const Command& command : commands()) {
    CLI::App* subcommand = app.add_subcommand(command.name, command.summary);
    subcommand->allow_extras();
    actions[subcommand] = command.setup(*subcommand);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    const auto chosen = app.get_subcommands();
    const std::string command = chosen.empty() ? "" : chosen.front()->get_name() + " ";
    fail(ErrorCode::invalid_argument, "{} (see `ropecheck {}--help`)", error.what(), command);
  }
  refuse_leftovers(app);
  return actions.at(app.get_subcommands().front())();
}

/// One sentence on standard error.
int report(int status, const std::string& sentence) {
  std::cerr << "ropecheck: " << sentence << "\n";
  return status;
}

int guarded_main(int argc, const char* const* argv) {
  try {
    set_command_line(argc, argv);
    const int status = run_command(argc, argv);
    if (!std::cout.flush()) {
      return report(kExitHarness,
                    "standard output cannot be written; is the disk full or the pipe "
                    "closed?");
    }
    return status;
  } catch (const Error& error) {
    return report(exit_status(error.code()), error.what());
  } catch (const std::bad_alloc&) {
    return report(kExitHarness, "out of memory; run fewer cases at once (--jobs 1)");
  } catch (const std::exception& error) {
    return report(kExitHarness,
                  fmt::format("unexpected error, a bug of ropecheck: {}", error.what()));
  }
}

/// Thousands of cases take and free the same large blocks: keep them, instead of giving them back to
/// the system each time.
void keep_freed_memory() {
#if defined(__GLIBC__)
  constexpr int kLargeBlock = 64 << 20;
  mallopt(M_MMAP_THRESHOLD, kLargeBlock);
  mallopt(M_TRIM_THRESHOLD, 4 * kLargeBlock);
#endif
}

}  // namespace

}  // namespace ropecheck

int main(int argc, char** argv) {
  ropecheck::keep_freed_memory();
  return ropecheck::guarded_main(argc, argv);
}
