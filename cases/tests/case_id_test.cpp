// SPDX-License-Identifier: Apache-2.0
#include "cases/case_id.hpp"

#include "cases/random.hpp"
#include "cases/suite.hpp"
#include "harness/tests/catch.hpp"
#include "reference/error.hpp"

#include <string>
#include <vector>

namespace ropecheck {
namespace {

constexpr std::string_view kFullId =
    "decode/profile=flash_bf16/heads=4.2/dim=64.64.32/rope=linear.4.10000.4096/layout=half/"
    "pads=rank/"
    "seg=restart.isolated/first=0/rows=3/len=24.ragged/steps=4/chunk=0/edit=discard.0/form=padded/"
    "pad=left/cache=caller/slots=rank/garbage=noise/order=natural/pos=given/handed=rule/index=i64/"
    "qkv=separate/in=normal/law=none/sample=0/s=1";

std::string message_of(std::string_view id) {
  try {
    static_cast<void>(parse_id(id));
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::invalid_argument);
    return error.what();
  }
  return "no error";
}

/// Either an Error or a round trip.
void check_fuzzed(const std::string& id) {
  CaseSpec spec;
  try {
    spec = parse_id(id);
  } catch (const Error&) {
    return;
  }
  const std::string canonical = to_id(spec);
  if (parse_id(canonical) == spec && to_id(parse_id(canonical)) == canonical) return;
  INFO(id);
  FAIL_CHECK("no round trip: " << canonical);
}

std::string mutated(std::string id, Random& random) {
  static constexpr std::string_view kBytes = "0123456789.-=/_abcxyz \n\xff";
  for (std::uint64_t edits = 1 + random.below(3); edits > 0 && !id.empty(); --edits) {
    const std::size_t at = random.below(id.size());
    const char byte = kBytes[random.below(kBytes.size())];
    switch (random.below(4)) {
      case 0: id[at] = byte; break;
      case 1: id.insert(at, 1, byte); break;
      case 2: id.erase(at, 1 + random.below(8)); break;
      default: id.insert(at, id.substr(random.below(id.size()), random.below(20))); break;
    }
  }
  return id;
}

}  // namespace

TEST_CASE("an id with every key is the id of its case") {
  const CaseSpec spec = parse_id(kFullId);
  CHECK(to_id(spec) == kFullId);
  CHECK(spec.family == Family::decode);
  CHECK(spec.heads == HeadShape{4, 2, 64, 64});
  CHECK(spec.rotary_dim == 32);
  CHECK(spec.rule.factor == 4);
  CHECK(spec.lengths == Lengths::ragged);
  CHECK(spec.cache == CacheOwner::caller);
}

TEST_CASE("keys that an id leaves out have their defaults, in any order") {
  CHECK(parse_id("padding") == CaseSpec{});
  CHECK(parse_id("padding/rows=3/heads=4.2") == parse_id("padding/heads=4.2/rows=3"));
  CHECK_FALSE(contradiction(CaseSpec{}).has_value());
}

TEST_CASE("decimals go through an id unchanged") {
  CaseSpec spec;
  spec.rule.type = RopeType::linear;
  Random random(7);
  for (int i = 0; i < 2000; ++i) {
    spec.rule.factor = 0.001 + static_cast<double>(random.below(1U << 30)) / 16384.0 / 3.0;
    spec.rule.rope_theta = 1 + static_cast<double>(random.next() >> 32) / 7.0;
    const std::string id = to_id(spec);
    INFO(id);
    REQUIRE(parse_id(id) == spec);
    REQUIRE(id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789._/=-") == std::string::npos);
  }
  spec.rule.factor = 2.5;
  CHECK(to_id(spec).find("rope=linear.2-5.") != std::string::npos);
}

TEST_CASE("a wrong id is refused with the key, what was expected and what was found") {
  using Catch::Contains;
  CHECK_THAT(message_of(""), Contains("family") && Contains("packed_decode"));
  CHECK_THAT(message_of("padded"), Contains("got 'padded'"));
  CHECK_THAT(message_of("padding/"), Contains("no error"));
  CHECK_THAT(message_of("padding/rows"), Contains("key=value") && Contains("'rows'"));
  CHECK_THAT(message_of("padding/row=2"), Contains("unknown key 'row'") && Contains("rows"));
  CHECK_THAT(message_of("padding/rows=2/rows=2"), Contains("'rows'") && Contains("twice"));
  CHECK_THAT(message_of("padding/rows=0"), Contains("from 1 to 1024") && Contains("got '0'"));
  CHECK_THAT(message_of("padding/rows=1e1"), Contains("got '1e1'"));
  CHECK_THAT(message_of("padding/rows=-2"), Contains("got '-2'"));
  CHECK_THAT(message_of("padding/heads=4"), Contains("QUERY_HEADS.KV_HEADS"));
  CHECK_THAT(message_of("padding/heads=4.2.1"), Contains("got '4.2.1'"));
  CHECK_THAT(message_of("padding/heads=4.1025"), Contains("1024"));
  CHECK_THAT(message_of("padding/len=2097153.equal"), Contains("2097152"));
  CHECK_THAT(message_of("padding/rope=linear.1e3.10000.4096"), Contains("factor"));
  CHECK_THAT(message_of("padding/rope=linear.-5.10000.4096"), Contains("factor"));
  CHECK_THAT(message_of("padding/profile=f32"), Contains("strict_f32") && Contains("got 'f32'"));
  CHECK_THAT(message_of("padding/law=gravity"),
             Contains("padding_removed") && Contains("'gravity'"));
  CHECK_THAT(message_of("padding/s=18446744073709551616"), Contains("2^64"));
  CHECK_THAT(message_of("padding/rows=\n"), Contains("got '?'"));
}

TEST_CASE("random strings are refused or make a round trip") {
  Random random(1);
  for (int i = 0; i < 10000; ++i) {
    std::string id;
    for (std::uint64_t length = random.below(40); length > 0; --length) {
      id += static_cast<char>(random.below(256));
    }
    check_fuzzed(random.below(2) == 0 ? id : "padding/" + id);
  }
}

TEST_CASE("ids with a few changes are refused or make a round trip") {
  Random random(2);
  const std::vector<CaseSpec> cases = make_suite("smoke");
  for (int i = 0; i < 10000; ++i)
    check_fuzzed(mutated(to_id(cases[random.below(cases.size())]), random));
}

TEST_CASE("every axis is read as it is written, and changes nothing else") {
  const CaseSpec full = parse_id(kFullId);
  for (const Axis& axis : axes()) {
    CaseSpec spec;
    set_axis(spec, axis, axis.write(full));
    for (const Axis& other : axes()) {
      const bool same = &other == &axis;
      CHECK(other.write(spec) == other.write(same ? full : CaseSpec{}));
    }
  }
}

}  // namespace ropecheck
