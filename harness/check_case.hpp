// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/execute.hpp"
#include "harness/kernel.hpp"
#include "harness/result.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ropecheck {

/// Reference answers of an execution's calls, solved when first asked for.
class Answers {
 public:
  Answers(const Program& program, const Execution& execution)
      : program_(program), execution_(execution) {}

  /// At rotated_key: rows of the compared tokens' keys. At cached_key: all keys of the call.
  [[nodiscard]] const Answer& of(std::size_t call, Point point);
  [[nodiscard]] double seconds() const { return seconds_; }

 private:
  const Program& program_;
  const Execution& execution_;
  std::map<std::pair<std::size_t, Point>, Answer> solved_;
  double seconds_ = 0;
};

/// A program with what a backend made of it and what is right.
struct Side {
  Side(Kernel& kernel, Program the_program, const std::string& name,
       const std::string& backend_options)
      : program(std::move(the_program)),
        execution(execute(kernel, program, name, backend_options)),
        answers(program, execution) {}
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  Program program;
  Execution execution;
  Answers answers;
};

/// Token and place of row `row` of what a call shows at a point.
[[nodiscard]] const TokenRef& token_at(const CallRecord& call, Point point, std::int64_t row);
[[nodiscard]] Location location_at(const CallRecord& call, Point point, std::int64_t row, int head);

/// A check that nothing happened which must not; `what` says what did.
[[nodiscard]] CheckResult must_not(const char* check, const std::optional<std::string>& what);

/// Runs one case and judges it: every observation point against the reference, inputs and unnamed
/// slots unchanged, and the case's law. With `keep`, the tensors go into the result.
[[nodiscard]] CaseResult check_case(Kernel& kernel, const CaseSpec& spec,
                                    const std::string& backend_options, bool keep);

}  // namespace ropecheck
