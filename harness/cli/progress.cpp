// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

namespace ropecheck {

namespace {

/// Often enough to look alive, seldom enough to cost nothing.
constexpr std::chrono::milliseconds kInterval{100};
constexpr const char* kEraseLine = "\r\x1b[K";

}  // namespace

std::string progress_text(std::int64_t done, std::int64_t cases, std::int64_t failed,
                          double seconds) {
  std::string text = fmt::format("{:>6}/{} cases, {} failed", done, cases, failed);
  if (done > 0) {
    const double left = seconds * static_cast<double>(cases - done) / static_cast<double>(done);
    text += fmt::format(", {:.0f} s left", left);
  }
  return text;
}

void ProgressLine::begin(const RunInfo& /*run*/, std::int64_t num_cases) {
  cases_ = num_cases;
  start_ = Clock::now();
  show(start_);
}

void ProgressLine::progress(const CaseResult& result) {
  ++done_;
  if (is_failure(result.verdict)) ++failed_;
  const Clock::time_point now = Clock::now();
  if (now - shown_ >= kInterval) show(now);
}

void ProgressLine::end(const RunResult& /*result*/) { *terminal_ << kEraseLine << std::flush; }

void ProgressLine::show(Clock::time_point now) {
  const double seconds = std::chrono::duration<double>(now - start_).count();
  *terminal_ << kEraseLine << progress_text(done_, cases_, failed_, seconds) << std::flush;
  shown_ = now;
}

bool standard_error_is_terminal() { return ::isatty(STDERR_FILENO) == 1; }

}  // namespace ropecheck
