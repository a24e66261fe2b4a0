// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/result.hpp"

#include <chrono>
#include <cstdint>
#include <ostream>
#include <string>

namespace ropecheck {

/// "  120/1520 cases, 2 failed, 14 s left". `seconds` have passed so far; no time left is told
/// before the first case is done.
[[nodiscard]] std::string progress_text(std::int64_t done, std::int64_t cases, std::int64_t failed,
                                        double seconds);

/// One line on a terminal, rewritten while a run goes on and gone at its end.
class ProgressLine final : public ResultSink {
 public:
  explicit ProgressLine(std::ostream& terminal) : terminal_(&terminal) {}
  void begin(const RunInfo& run, std::int64_t num_cases) override;
  void progress(const CaseResult& result) override;
  void end(const RunResult& result) override;

 private:
  using Clock = std::chrono::steady_clock;
  void show(Clock::time_point now);

  std::ostream* terminal_;
  std::int64_t cases_ = 0;
  std::int64_t done_ = 0;
  std::int64_t failed_ = 0;
  Clock::time_point start_;
  Clock::time_point shown_;
};

/// Whether standard error is a terminal.
[[nodiscard]] bool standard_error_is_terminal();

}  // namespace ropecheck
