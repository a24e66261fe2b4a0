// SPDX-License-Identifier: Apache-2.0
#include "cases/suite.hpp"

#include "cases/axis_space.hpp"
#include "cases/case_id.hpp"
#include "cases/pair_cover.hpp"
#include "cases/random.hpp"
#include "cases/suite_axes.hpp"
#include "reference/error.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace ropecheck {
namespace {

constexpr std::string_view kDefaultProfiles[] = {"strict_f32", "flash_f16", "flash_bf16"};
constexpr std::array<std::string_view, 3> kSuiteNames = {"smoke", "default", "nightly"};
/// Seeds of cases are below it: long enough to differ, short enough to read.
constexpr std::uint64_t kCaseSeeds = 1000000;

const SuiteDefinition& find_suite(std::string_view name) {
  for (const SuiteDefinition& suite : suite_definitions()) {
    if (suite.name == name) return suite;
  }
  fail(ErrorCode::not_found, "suite: expected smoke, default or nightly, got '{}'", name);
}

std::vector<std::string> profiles_of(const SuiteOptions& options) {
  if (options.profiles.empty()) return {std::begin(kDefaultProfiles), std::end(kDefaultProfiles)};
  return options.profiles;
}

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t blank = text.find(' ');
    words.emplace_back(text.substr(0, blank));
    text = blank == std::string_view::npos ? std::string_view() : text.substr(blank + 1);
  }
  return words;
}

/// What a later table names replaces what an earlier one does.
AxisSpace make_space(const SuiteDefinition& suite, const FamilyValues& family,
                     const SuiteOptions& options) {
  std::vector<std::vector<std::string>> values;
  for (const Axis& axis : axes()) values.push_back({axis.write(CaseSpec{})});
  for (const auto& table : {suite.common, family.axes}) {
    for (const AxisValues& row : table) values[axis_index(row.key)] = split_words(row.values);
  }
  values[axis_index("profile")] = profiles_of(options);
  return AxisSpace(family.family, std::move(values));
}

/// Every case has numbers of its own; the seed of the suite changes them all.
std::uint64_t case_seed(CaseSpec spec, std::uint64_t suite_seed) {
  spec.seed = suite_seed;
  return hash_text(to_id(spec)) % kCaseSeeds;
}

void append_extras(const SuiteDefinition& suite, const SuiteOptions& options,
                   std::vector<CaseSpec>& cases) {
  for (const std::string_view id : suite.extra_ids) {
    for (const std::string& profile : profiles_of(options)) {
      cases.push_back(parse_id(id));
      cases.back().profile = profile;
    }
  }
}

/// Pairs of two axes of a space: which are covered, and of the others, which could be.
CoverageRow count_pairs(const AxisSpace& space, const PairCover& cover, std::size_t a,
                        std::size_t b) {
  CoverageRow row;
  row.family = space.family();
  row.axis_a = axes()[a].key;
  row.axis_b = axes()[b].key;
  for (std::size_t i = 0; i < space.values(a).size(); ++i) {
    for (std::size_t j = 0; j < space.values(b).size(); ++j) {
      Choice partial(axes().size(), kOpen);
      partial[a] = static_cast<int>(i);
      partial[b] = static_cast<int>(j);
      const bool covered = cover.state(cover.value_index(a, partial[a]),
                                       cover.value_index(b, partial[b])) == PairState::covered;
      if (!covered && !space.is_possible(partial)) {
        ++row.impossible;
        continue;
      }
      ++row.pairs;
      row.covered += covered ? 1 : 0;
      if (covered) continue;
      row.missing.push_back(fmt::format("{}={} {}={}", axes()[a].key, space.values(a)[i],
                                        axes()[b].key, space.values(b)[j]));
    }
  }
  return row;
}

}  // namespace

std::span<const std::string_view> suite_names() { return kSuiteNames; }

std::vector<CaseSpec> make_suite(std::string_view name, const SuiteOptions& options) {
  const SuiteDefinition& suite = find_suite(name);
  const auto num_families = static_cast<std::int64_t>(suite.families.size());
  const std::int64_t share = (suite.num_cases + num_families - 1) / num_families;
  std::vector<CaseSpec> cases;
  for (const FamilyValues& family : suite.families) {
    const AxisSpace space = make_space(suite, family, options);
    const std::uint64_t seed = hash_text(fmt::format("{}/{}", name, to_string(family.family)));
    for (const Choice& choice : cover_pairs(space, share, seed))
      cases.push_back(space.spec(choice));
  }
  append_extras(suite, options, cases);
  for (CaseSpec& spec : cases) spec.seed = case_seed(spec, options.seed);
  return cases;
}

std::vector<CoverageRow> coverage(std::string_view suite_name, const SuiteOptions& options,
                                  std::span<const CaseSpec> cases) {
  const SuiteDefinition& suite = find_suite(suite_name);
  std::vector<CoverageRow> table;
  for (const FamilyValues& family : suite.families) {
    const AxisSpace space = make_space(suite, family, options);
    PairCover cover(space);
    for (const CaseSpec& spec : cases) {
      if (spec.family == family.family) cover.cover(space.choice_of(spec));
    }
    for (std::size_t a = 0; a < axes().size(); ++a) {
      for (std::size_t b = a + 1; b < axes().size(); ++b) {
        if (space.values(a).size() < 2 || space.values(b).size() < 2) continue;
        table.push_back(count_pairs(space, cover, a, b));
      }
    }
  }
  return table;
}

}  // namespace ropecheck
