// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace ropecheck {

/// Makes sure that a file can be written at `path`, without touching one that is there.
/// Errors: throws Error{load} naming the path and the reason.
void check_writable(const std::string& path);

/// Writes a file under a temporary name beside it, and renames it: there is never half a file.
/// Errors: throws Error{load} naming the path and the reason.
void write_text_file(const std::string& path, std::string_view text);

}  // namespace ropecheck
