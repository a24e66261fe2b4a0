// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cases/program.hpp"
#include "harness/kernel.hpp"
#include "harness/result.hpp"
#include "reference/solve.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ropecheck {

/// One call, as it is right and as the backend answered it, gathered back to meaning.
struct CallRecord {
  std::int64_t number = 0;               ///< of the call in the scenario
  ResolvedCall resolved;                 ///< with what is handed over in its problem
  std::shared_ptr<const Values> values;  ///< of its rows, as the backend received them
  std::vector<std::int64_t> compared;    ///< rows of resolved.queries that are looked at, ascending
  // What the backend gave, [compared, heads, channels]; nothing: not offered.
  std::optional<Array> position_ids;  ///< [compared, 1, 1]
  std::optional<Array> rotated_query;
  std::optional<Array> rotated_key;  ///< of the compared tokens' own keys
  std::optional<Array> attention_output;
  // After the last call only, [resolved.keys, num_kv_heads, channels]:
  std::optional<Array> cached_key;
  std::optional<Array> cached_value;

  [[nodiscard]] const std::optional<Array>& at(Point point) const;
};

/// What a backend made of a program.
struct Execution {
  Verdict verdict =
      Verdict::passed;  ///< passed: it ran; unsupported; invalid: it answered an error
  std::string message;
  std::vector<CallRecord> calls;
  std::optional<std::string> changed_input;  ///< which call changed something that is not an output
  std::optional<std::string> touched_slot;   ///< which cache slot was written without being named
  double backend_seconds = 0;
};

/// Runs a program on a kernel. What the kernel does wrong is in the result, never thrown.
[[nodiscard]] Execution execute(Kernel& kernel, const Program& program, const std::string& name,
                                const std::string& backend_options);

/// `call` with only the rows that are compared: its queries, and for keys those of the compared tokens.
[[nodiscard]] Problem compared_queries(const CallRecord& call);
[[nodiscard]] Problem compared_keys(const CallRecord& call);

}  // namespace ropecheck
