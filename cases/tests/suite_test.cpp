// SPDX-License-Identifier: Apache-2.0
#include "cases/suite.hpp"

#include "cases/axis_space.hpp"
#include "cases/case_id.hpp"
#include "cases/random.hpp"
#include "harness/tests/catch.hpp"
#include "reference/error.hpp"

#include <fmt/format.h>

#include <map>
#include <set>
#include <string>
#include <vector>

namespace ropecheck {
namespace {

const std::vector<CaseSpec>& suite_of(const std::string& name) {
  static std::map<std::string, std::vector<CaseSpec>> made;
  auto& cases = made[name];
  if (cases.empty()) cases = make_suite(name);
  return cases;
}

std::string all_ids(const std::vector<CaseSpec>& cases) {
  std::string text;
  for (const CaseSpec& spec : cases) text += to_id(spec) + "\n";
  return text;
}

/// Cases without repetition, the seed left out.
std::size_t count_distinct(const std::vector<CaseSpec>& cases) {
  std::set<std::string> ids;
  for (CaseSpec spec : cases) {
    spec.seed = 0;
    ids.insert(to_id(spec));
  }
  return ids.size();
}

/// What the named axes say, with all other values taken from `other`.
CaseSpec mixed_spec(const CaseSpec& spec, const CaseSpec& other, std::string_view keys) {
  CaseSpec mixed = other;
  mixed.family = spec.family;
  std::string padded = fmt::format(" {} ", keys);
  for (const Axis& axis : axes()) {
    if (padded.find(fmt::format(" {} ", axis.key)) == std::string::npos) continue;
    set_axis(mixed, axis, axis.write(spec));
  }
  return mixed;
}

/// Values of a small space: default ones, but for those given.
std::vector<std::vector<std::string>> small_values(
    const std::map<std::string, std::vector<std::string>>& given) {
  std::vector<std::vector<std::string>> values;
  for (const Axis& axis : axes()) {
    const auto found = given.find(std::string(axis.key));
    values.push_back(found == given.end() ? std::vector<std::string>{axis.write(CaseSpec{})}
                                          : found->second);
  }
  return values;
}

/// Pairs of a space that some case without contradiction has, by trying all cases.
std::set<std::string> possible_pairs(const AxisSpace& space) {
  std::set<std::string> pairs;
  Choice choice(axes().size(), 0);
  for (bool more = true; more;) {
    if (!contradiction(space.spec(choice))) {
      for (std::size_t a = 0; a < choice.size(); ++a) {
        for (std::size_t b = a + 1; b < choice.size(); ++b) {
          pairs.insert(fmt::format("{}.{} {}.{}", a, choice[a], b, choice[b]));
        }
      }
    }
    more = false;
    for (std::size_t axis = 0; axis < choice.size() && !more; ++axis) {
      more = ++choice[axis] < static_cast<int>(space.values(axis).size());
      if (!more) choice[axis] = 0;
    }
  }
  return pairs;
}

void check_pairs(const AxisSpace& space) {
  const std::set<std::string> possible = possible_pairs(space);
  REQUIRE(!possible.empty());
  for (std::size_t a = 0; a < axes().size(); ++a) {
    for (std::size_t b = a + 1; b < axes().size(); ++b) {
      for (int i = 0; i < static_cast<int>(space.values(a).size()); ++i) {
        for (int j = 0; j < static_cast<int>(space.values(b).size()); ++j) {
          Choice partial(axes().size(), kOpen);
          partial[a] = i;
          partial[b] = j;
          const std::string pair = fmt::format("{}.{} {}.{}", a, i, b, j);
          INFO(axes()[a].key << "=" << space.values(a)[std::size_t(i)] << " " << axes()[b].key
                             << "=" << space.values(b)[std::size_t(j)]);
          REQUIRE(space.is_possible(partial) == possible.contains(pair));
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("every suite covers every pair of values that go together") {
  for (const std::string_view name : suite_names()) {
    const auto& cases = suite_of(std::string(name));
    std::int64_t pairs = 0;
    for (const CoverageRow& row : coverage(name, {}, cases)) {
      INFO(name << " " << to_string(row.family) << " " << row.axis_a << " " << row.axis_b);
      INFO((row.missing.empty() ? "" : row.missing.front()));
      REQUIRE(row.covered == row.pairs);
      REQUIRE(row.missing.empty());
      pairs += row.pairs;
    }
    CHECK(pairs > 3000);
  }
}

TEST_CASE("coverage is counted from the cases, and names what they miss") {
  std::vector<CaseSpec> cases = suite_of("smoke");
  std::erase_if(cases, [](const CaseSpec& spec) {
    return spec.family == Family::shift && spec.cache == CacheOwner::backend &&
           !spec.positions_given;
  });
  bool found = false;
  for (const CoverageRow& row : coverage("smoke", {}, cases)) {
    if (row.family != Family::shift || row.axis_a != "cache" || row.axis_b != "pos") continue;
    CHECK(row.covered == row.pairs - 1);
    REQUIRE(row.missing.size() == 1);
    CHECK(row.missing[0] == "cache=backend pos=derived");
    found = true;
  }
  CHECK(found);
}

TEST_CASE("suites have as many cases as they promise, in one profile as in three") {
  CHECK(suite_of("smoke").size() >= 100);
  CHECK(suite_of("smoke").size() <= 160);
  CHECK(suite_of("default").size() >= 1500);
  CHECK(suite_of("nightly").size() >= 10000);
  for (const char* profile : {"strict_f32", "eager_bf16"}) {
    const std::vector<CaseSpec> cases = make_suite("default", {{profile}, 1});
    CHECK(cases.size() >= 1500);
    CHECK(count_distinct(cases) == cases.size());
    for (const CaseSpec& spec : cases) REQUIRE(spec.profile == profile);
  }
}

TEST_CASE("cases of a suite contradict nothing, and no two differ in the seed alone") {
  for (const std::string_view name : suite_names()) {
    const auto& cases = suite_of(std::string(name));
    CHECK(count_distinct(cases) == cases.size());
    for (const CaseSpec& spec : cases) {
      INFO(to_id(spec));
      REQUIRE(contradiction(spec).value_or("") == "");
      REQUIRE(parse_id(to_id(spec)) == spec);
    }
  }
}

TEST_CASE("the seed of a suite changes the numbers of every case, and not the cases") {
  std::vector<CaseSpec> other = make_suite("smoke", {{}, 2});
  const auto& cases = suite_of("smoke");
  REQUIRE(other.size() == cases.size());
  int same_numbers = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    same_numbers += other[i].seed == cases[i].seed ? 1 : 0;
    other[i].seed = cases[i].seed;
    REQUIRE(other[i] == cases[i]);
  }
  CHECK(same_numbers == 0);
}

TEST_CASE("a suite is the same cases in the same order, always") {
  CHECK(all_ids(make_suite("smoke")) == all_ids(suite_of("smoke")));
  CHECK(fmt::format("{:016x}", hash_text(all_ids(suite_of("smoke")))) == "ffc7bad60974edc8");
  CHECK(fmt::format("{:016x}", hash_text(all_ids(suite_of("default")))) == "79bb2c846c22997d");
}

TEST_CASE("every law, input kind and rope form stands in smoke") {
  std::set<std::string> seen;
  for (const CaseSpec& spec : suite_of("smoke")) {
    seen.insert(spec.law);
    for (const Axis& axis : axes()) seen.insert(fmt::format("{}={}", axis.key, axis.write(spec)));
  }
  for (const char* value :
       {"handed=rule", "handed=inv_freq", "handed=tables_half", "handed=tables_full",
        "handed=tables_joined", "handed=tables_by_token", "handed=rotated", "in=normal", "in=mean",
        "in=ramp", "in=one_hot", "in=peaked", "in=outlier", "in=tied"}) {
    INFO(value);
    CHECK(seen.contains(value));
  }
  for (const Law& law : laws()) {
    INFO(law.name);
    CHECK(seen.contains(std::string(law.name)));
  }
}

TEST_CASE("an unknown suite is refused by name") {
  CHECK_THROWS_WITH(make_suite("weekly"),
                    Catch::Contains("nightly") && Catch::Contains("'weekly'"));
  CHECK_THROWS_AS(make_suite("smoke", {{"f32"}, 1}), Error);
}

TEST_CASE("rules and laws read the axes that they name, and no other") {
  const auto& cases = suite_of("default");
  Random random(5);
  for (int i = 0; i < 4000; ++i) {
    const CaseSpec& spec = cases[random.below(cases.size())];
    CaseSpec twisted = spec;
    const CaseSpec& other = cases[random.below(cases.size())];
    // Half of the axes of another case: many rules are broken then.
    for (const Axis& axis : axes()) {
      if (random.below(2) == 0) set_axis(twisted, axis, axis.write(other));
    }
    const CaseSpec& rest = cases[random.below(cases.size())];
    for (const Rule& rule : rules()) {
      INFO(rule.keys << "\n" << to_id(twisted));
      REQUIRE(rule.broken(twisted).has_value() ==
              rule.broken(mixed_spec(twisted, rest, rule.keys)).has_value());
    }
    for (const Law& law : laws()) {
      INFO(law.name << "\n" << to_id(twisted));
      REQUIRE(law.not_applicable(twisted).has_value() ==
              law.not_applicable(mixed_spec(twisted, rest, law.depends_on)).has_value());
    }
  }
}

TEST_CASE("the search finds a completion exactly where one exists") {
  check_pairs(AxisSpace(Family::decode, small_values({
                                            {"pads", {"rank", "column"}},
                                            {"len", {"12.equal", "10.ragged"}},
                                            {"pad", {"none", "left", "holes"}},
                                            {"steps", {"1"}},
                                            {"cache", {"none", "caller", "backend"}},
                                            {"slots", {"rank", "column"}},
                                            {"garbage", {"noise", "nan"}},
                                            {"pos", {"given", "derived"}},
                                            {"handed", {"rule", "rotated"}},
                                            {"qkv", {"separate", "fused"}},
                                            {"law", {"none", "padding_removed", "chunking"}},
                                        })));
  check_pairs(AxisSpace(Family::shift, small_values({
                                           {"first", {"0", "19900"}},
                                           {"len", {"12.equal", "12.ragged"}},
                                           {"pad", {"none", "right"}},
                                           {"steps", {"2"}},
                                           {"edit", {"discard.1", "discard.9", "advance.99"}},
                                           {"cache", {"none", "caller", "backend"}},
                                           {"slots", {"rank", "column"}},
                                           {"pos", {"given", "derived"}},
                                           {"handed", {"rule", "tables_half", "rotated"}},
                                           {"law", {"none", "shift_is_encoded", "pad_content"}},
                                       })));
}

}  // namespace ropecheck
