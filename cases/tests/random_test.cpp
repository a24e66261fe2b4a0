// SPDX-License-Identifier: Apache-2.0
#include "cases/random.hpp"

#include "harness/tests/catch.hpp"
#include "reference/error.hpp"

#include <limits>
#include <set>
#include <vector>

namespace ropecheck {
namespace {

using Words = std::array<std::uint32_t, 4>;

// Known answers that Random123 publishes for philox4x32 with 10 rounds.
TEST_CASE("philox gives the published known answers") {
  CHECK(philox({0, 0, 0, 0}, {0, 0}) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) ==
        Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("a random sequence is that of its seed and stream") {
  Random random(0), same(0), other_seed(1), other_stream(0, 1);
  const std::uint64_t first = random.next();
  CHECK(first == 0xe169c58d6627e8d5u);
  CHECK(first == same.next());
  CHECK(first != other_seed.next());
  CHECK(first != other_stream.next());
  CHECK(first != random.next());
}

TEST_CASE("a bounded choice reaches every number of its range, and no other") {
  Random random(7);
  std::set<std::int64_t> seen;
  for (int i = 0; i < 200; ++i) seen.insert(random.between(-2, 3));
  CHECK(seen == std::set<std::int64_t>{-2, -1, 0, 1, 2, 3});
  for (int i = 0; i < 50; ++i) CHECK(random.below(1) == 0);
}

TEST_CASE("a bounded choice has no bias where the bound does not divide 2^64") {
  // Of a bound of 3/4 of 2^64, x mod bound would give the lower third twice as often.
  Random random(11);
  const std::uint64_t bound = std::uint64_t{3} << 62;
  int low = 0;
  constexpr int kDraws = 3000;
  for (int i = 0; i < kDraws; ++i) low += random.below(bound) < bound / 3 ? 1 : 0;
  CHECK(low > kDraws * 0.30);
  CHECK(low < kDraws * 0.37);
}

TEST_CASE("a choice takes the whole range of 64 bits") {
  constexpr auto kLowest = std::numeric_limits<std::int64_t>::min();
  constexpr auto kHighest = std::numeric_limits<std::int64_t>::max();
  Random random(3), raw(3);
  const std::int64_t value = random.between(kLowest, kHighest);
  CHECK(static_cast<std::uint64_t>(value) == raw.next() + (std::uint64_t{1} << 63));
  CHECK_THROWS_AS(random.below(0), Error);
  CHECK_THROWS_AS(random.between(1, 0), Error);
}

TEST_CASE("a hash of text is pinned and tells texts apart") {
  CHECK(hash_text("") == 0xf52a15e9a9b5e89bu);
  CHECK(hash_text("padding/b2") == 0xa69df52998be4deau);
  CHECK(hash_text("ab") != hash_text("ba"));
}

}  // namespace
}  // namespace ropecheck
