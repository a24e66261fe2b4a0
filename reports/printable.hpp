// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace ropecheck {

/// `text` as valid UTF-8 on one line: control characters and line breaks become spaces, and each
/// byte that belongs to no UTF-8 character becomes '?'. Messages of backends are bytes of any kind.
[[nodiscard]] std::string printable_text(std::string_view text);

/// `word` as one word of a POSIX shell: as it is, or in single quotes.
[[nodiscard]] std::string shell_word(std::string_view word);

/// A figure for people: three significant digits, "inf", "nan".
[[nodiscard]] std::string short_number(double value);

/// "1 case", "3 cases".
[[nodiscard]] std::string counted(long long count, std::string_view noun);

}  // namespace ropecheck
