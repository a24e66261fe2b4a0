// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <source_location>
#include <stdexcept>
#include <string>
#include <utility>

namespace ropecheck {

/// What kind of mistake an Error reports; the command line maps it to an exit status.
enum class ErrorCode {
  invalid_argument,  ///< a caller's value is wrong: option, id, field (exit status 2)
  not_found,         ///< a named thing does not exist: suite, file, symbol (exit status 2)
  load,              ///< a backend or a file cannot be loaded or written (exit status 3)
  internal,          ///< a bug of ropecheck itself (exit status 3)
};

/// A mistake of the caller, or a bug of ours. Never thrown for what a backend does: that is data.
/// The message is one sentence: where, what, expected, actual, remedy.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  [[nodiscard]] ErrorCode code() const { return code_; }

 private:
  ErrorCode code_;
};

/// Throws Error{code} with an fmt-formatted message.
template <typename... Args>
[[noreturn]] void fail(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(code, fmt::format(format, std::forward<Args>(args)...));
}

/// Throws Error{internal} naming the failed condition and its place. Used by ROPECHECK_CHECK.
[[noreturn]] void fail_check(const char* condition, const std::string& message,
                             std::source_location where = std::source_location::current());

}  // namespace ropecheck

/// Guards an invariant of ours, in every build type. A failure is a bug of ropecheck and is loud.
#define ROPECHECK_CHECK(condition, ...)                                              \
  do {                                                                               \
    if (!(condition)) ::ropecheck::fail_check(#condition, fmt::format(__VA_ARGS__)); \
  } while (false)
