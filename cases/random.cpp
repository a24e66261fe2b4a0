// SPDX-License-Identifier: Apache-2.0
#include "cases/random.hpp"

#include "reference/error.hpp"

namespace ropecheck {
namespace {

constexpr std::uint32_t low_word(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
constexpr std::uint32_t high_word(std::uint64_t value) {
  return static_cast<std::uint32_t>(value >> 32);
}

/// A bijection of 64 bits in which every input bit reaches every output bit.
/// Source: Stafford's variant 13 of the finalizer of MurmurHash3.
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace

std::uint64_t Random::next() {
  const auto words =
      philox({low_word(counter_), high_word(counter_), low_word(stream_), high_word(stream_)},
             {low_word(seed_), high_word(seed_)});
  ++counter_;
  return (static_cast<std::uint64_t>(words[1]) << 32) | words[0];
}

std::uint64_t Random::below(std::uint64_t bound) {
  ROPECHECK_CHECK(bound > 0, "a choice among nothing");
  // 2^64 mod bound: below it, x would make the small remainders one more likely than the others.
  const std::uint64_t excess = (~bound + 1) % bound;
  std::uint64_t x = next();
  while (x < excess) x = next();
  return x % bound;
}

std::int64_t Random::between(std::int64_t low, std::int64_t high) {
  ROPECHECK_CHECK(low <= high, "the range [{}, {}] is empty", low, high);
  const auto width = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
  // A width of 2^64 wraps to 0: every 64-bit number is in range.
  const std::uint64_t offset = width == 0 ? next() : below(width);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + offset);
}

std::uint64_t hash_text(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }
  return mix(hash);
}

}  // namespace ropecheck
