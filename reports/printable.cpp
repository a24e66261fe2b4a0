// SPDX-License-Identifier: Apache-2.0
#include "reports/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace ropecheck {

namespace {

unsigned char byte_at(std::string_view text, std::size_t i) {
  return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
}

/// Bytes of the UTF-8 character at `i`, or 0 if there is none (Unicode 15, table 3-7).
std::size_t character_length(std::string_view text, std::size_t i) {
  const unsigned char lead = byte_at(text, i);
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  unsigned char low = 0x80;
  unsigned char high = 0xBF;
  if (lead == 0xE0) low = 0xA0;
  if (lead == 0xED) high = 0x9F;
  if (lead == 0xF0) low = 0x90;
  if (lead == 0xF4) high = 0x8F;
  for (std::size_t k = 1; k < length; ++k) {
    const unsigned char next = byte_at(text, i + k);
    if (next < low || next > high) return 0;
    low = 0x80;
    high = 0xBF;
  }
  return length;
}

/// U+FFFE and U+FFFF, which no XML document may hold.
bool is_noncharacter(std::string_view character) {
  return character == "\xEF\xBF\xBE" || character == "\xEF\xBF\xBF";
}

}  // namespace

std::string printable_text(std::string_view text) {
  std::string printable;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = character_length(text, i);
    const std::string_view character = text.substr(i, std::max<std::size_t>(length, 1));
    if (length == 0 || is_noncharacter(character)) {
      printable += '?';
    } else if (length == 1 && (byte_at(text, i) < 0x20 || byte_at(text, i) == 0x7F)) {
      printable += ' ';
    } else {
      printable += character;
    }
    i += character.size();
  }
  return printable;
}

std::string shell_word(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/=-+,:@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) {
    return std::string(word);
  }
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string short_number(double value) { return fmt::format("{:.3g}", value); }

std::string counted(long long count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace ropecheck
