// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include <cmath>
#include <string>

namespace ropecheck {

/// Keeps keys in the order in which they are set, so that reports read well.
using Json = nlohmann::ordered_json;

/// A number, or null if JSON cannot hold it.
[[nodiscard]] inline Json json_number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

/// Indented text with a line break at its end; bytes that are no UTF-8 are replaced.
[[nodiscard]] inline std::string json_text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace ropecheck
