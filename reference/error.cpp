// SPDX-License-Identifier: Apache-2.0
#include "reference/error.hpp"

namespace ropecheck {

void fail_check(const char* condition, const std::string& message, std::source_location where) {
  fail(ErrorCode::internal,
       "ropecheck is wrong at {}:{}: '{}' does not hold ({}); please report this",
       where.file_name(), where.line(), condition, message);
}

}  // namespace ropecheck
