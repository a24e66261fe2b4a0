// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>

namespace ropecheck {

/// Runs body(0) .. body(count-1) in any order, perhaps at once, and returns when all are done.
/// Work is cut into the same pieces whatever the number of threads, so results are the same bits.
using Executor =
    std::function<void(std::size_t count, const std::function<void(std::size_t)>& body)>;

/// One after the other on the calling thread.
[[nodiscard]] inline Executor serial_executor() {
  return [](std::size_t count, const std::function<void(std::size_t)>& body) {
    for (std::size_t i = 0; i < count; ++i) body(i);
  };
}

}  // namespace ropecheck
