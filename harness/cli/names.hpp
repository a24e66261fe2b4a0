// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ropecheck {

/// The name nearest to a mistyped one, if it is near enough to be meant: at most a third of its
/// letters inserted, removed or replaced.
[[nodiscard]] std::optional<std::string> nearest_name(std::string_view name,
                                                      std::span<const std::string> names);

/// "; did you mean 'x'?", or nothing.
[[nodiscard]] std::string did_you_mean(std::string_view name, std::span<const std::string> names);

/// Errors: throws Error{not_found} if `name` is not among `names`: lists them, and the nearest.
void require_name(std::string_view what, std::string_view name, std::span<const std::string> names);

/// Whether `pattern` stands for the whole of `text`: '*' is any text, '?' any one character. A
/// pattern with neither may stand anywhere in it.
[[nodiscard]] bool glob_match(std::string_view pattern, std::string_view text);

/// Why `text` is no whole number from 0 on, or nothing: a validator of CLI11, which itself would take
/// "-1", or any number too large, for the largest one.
[[nodiscard]] std::string refuse_as_count(const std::string& text);

}  // namespace ropecheck
