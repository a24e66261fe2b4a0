// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/environment.hpp"

#include "reports/hdf5_report.hpp"
#include "reports/printable.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <fstream>
#include <thread>

namespace ropecheck {

namespace {

std::string& stored_command_line() {
  static std::string line;
  return line;
}

/// The processor, as Linux names it.
std::string cpu_name() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

std::string system_name() {
  utsname names{};
  if (::uname(&names) != 0) return "unknown";
  return fmt::format("{} {} {}", names.sysname, names.release, names.machine);
}

constexpr const char* compiler() {
#if defined(__clang__)
  return "Clang " __clang_version__;
#elif defined(__GNUC__)
  return "GCC " __VERSION__;
#else
  return "unknown";
#endif
}

}  // namespace

std::vector<std::pair<std::string, std::string>> environment() {
  return {{"build_arch", ROPECHECK_BUILD_ARCH},
          {"build_type", ROPECHECK_BUILD_TYPE},
          {"compiler", compiler()},
          {"cores", std::to_string(std::max(1U, std::thread::hardware_concurrency()))},
          {"cpu", cpu_name()},
          {"ropecheck", std::string(ropecheck_version())},
          {"system", system_name()}};
}

std::string command_line() { return stored_command_line(); }

void set_command_line(int argc, const char* const* argv) {
  std::string line;
  for (int i = 0; i < argc; ++i) line += fmt::format("{}{}", i > 0 ? " " : "", shell_word(argv[i]));
  stored_command_line() = line;
}

}  // namespace ropecheck
