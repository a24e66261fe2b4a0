// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace ropecheck {

inline constexpr int kPhiloxRounds = 10;
inline constexpr std::uint64_t kPhiloxMultiplier0 = 0xD2511F53u;
inline constexpr std::uint64_t kPhiloxMultiplier1 = 0xCD9E8D57u;
inline constexpr std::uint32_t kPhiloxWeyl0 = 0x9E3779B9u;
inline constexpr std::uint32_t kPhiloxWeyl1 = 0xBB67AE85u;

/// Philox4x32-10, a counter-based generator: four words from a counter and a key, the same on every
/// machine.
/// Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
[[nodiscard]] constexpr std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                                            std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < kPhiloxRounds; ++round) {
    const std::uint64_t product0 = kPhiloxMultiplier0 * counter[0];
    const std::uint64_t product1 = kPhiloxMultiplier1 * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key[0],
               static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key[1],
               static_cast<std::uint32_t>(product0)};
    key = {key[0] + kPhiloxWeyl0, key[1] + kPhiloxWeyl1};
  }
  return counter;
}

/// A small sequential generator over Philox for choices (suites, holes, orders). Not for tensors.
class Random {
 public:
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0) : seed_(seed), stream_(stream) {}
  std::uint64_t next();
  /// Uniform in [0, bound), bound > 0, without bias.
  std::uint64_t below(std::uint64_t bound);
  /// Uniform in [low, high].
  std::int64_t between(std::int64_t low, std::int64_t high);

 private:
  std::uint64_t seed_, stream_, counter_ = 0;
};

/// A 64-bit hash of text (FNV-1a, then mixed), the same on every machine.
[[nodiscard]] std::uint64_t hash_text(std::string_view text);

}  // namespace ropecheck
