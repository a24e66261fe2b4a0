// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/selection.hpp"

#include "cases/suite.hpp"
#include "harness/cli/names.hpp"
#include "reference/error.hpp"
#include "reference/profile.hpp"

#include <algorithm>
#include <charconv>
#include <set>

namespace ropecheck {

namespace {

std::vector<std::string> profile_names() {
  std::vector<std::string> names;
  for (const Profile& profile : profile_presets()) names.push_back(profile.name);
  return names;
}

bool parse_count(std::string_view text, std::int64_t& count) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  return error == std::errc() && end == text.data() + text.size();
}

bool is_selected(const std::vector<std::string>& filters, const CaseSpec& spec) {
  if (filters.empty()) return true;
  const std::string id = to_id(spec);
  return std::ranges::any_of(filters,
                             [&](const std::string& filter) { return glob_match(filter, id); });
}

}  // namespace

void add_selection_options(CLI::App& app, Selection& selection) {
  app.add_option("--suite", selection.suite, "smoke, default or nightly")
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option(
         "--filter", selection.filters,
         "Only cases whose whole id matches: * is any text, ? one character; without either, "
         "cases whose id has the text anywhere. Given more than once: any of them")
      ->type_name("GLOB")
      ->allow_extra_args(false);
  app.add_option("--profile", selection.profiles,
                 "Precision profiles, joined by commas: " +
                     fmt::format("{}", fmt::join(profile_names(), ", ")))
      ->type_name("A,B")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--seed", selection.seed, "Of the numbers in tensors")
      ->type_name("N")
      ->check(refuse_as_count)
      ->capture_default_str();
  app.add_option("--shard", selection.shard, "Part I of N, from 1: every Nth of the selected cases")
      ->type_name("I/N");
}

Shard parse_shard(std::string_view text) {
  if (text.empty()) return {};
  const std::size_t slash = text.find('/');
  std::int64_t index = 0;
  std::int64_t count = 0;
  const bool parsed = slash != std::string_view::npos &&
                      parse_count(text.substr(0, slash), index) &&
                      parse_count(text.substr(slash + 1), count);
  if (!parsed || index < 1 || index > count) {
    fail(ErrorCode::invalid_argument,
         "--shard '{}': expected I/N with I from 1 to N, for example 2/4", text);
  }
  return {index - 1, count};
}

SelectedCases select_cases(const Selection& selection) {
  std::vector<std::string> suites;
  for (const std::string_view name : suite_names()) suites.emplace_back(name);
  require_name("suite", selection.suite, suites);
  for (const std::string& profile : selection.profiles) {
    require_name("profile", profile, profile_names());
  }
  const Shard shard = parse_shard(selection.shard);
  const std::vector<CaseSpec> suite =
      make_suite(selection.suite, {selection.profiles, selection.seed});

  SelectedCases selected;
  selected.suite_cases = std::ssize(suite);
  std::set<std::string> profiles;
  std::int64_t matching = 0;
  for (const CaseSpec& spec : suite) {
    profiles.insert(spec.profile);
    if (!is_selected(selection.filters, spec)) continue;
    if (matching++ % shard.count == shard.index) selected.cases.push_back(spec);
  }
  selected.profiles.assign(profiles.begin(), profiles.end());
  return selected;
}

void describe_selection(const Selection& selection, const SelectedCases& selected, RunInfo& info) {
  info.suite = selection.suite;
  info.seed = selection.seed;
  info.profiles = selected.profiles;
  info.filter = fmt::format("{}", fmt::join(selection.filters, " "));
  info.shard = selection.shard;
}

std::string nothing_selected(const Selection& selection, const SelectedCases& selected) {
  std::string choice;
  for (const std::string& filter : selection.filters) {
    choice += fmt::format("{}--filter '{}'", choice.empty() ? "" : ", ", filter);
  }
  if (!selection.shard.empty()) {
    choice += fmt::format("{}--shard {}", choice.empty() ? "" : " with ", selection.shard);
  }
  return fmt::format(
      "nothing to run: {} selects none of the {} cases of suite '{}'; `ropecheck list "
      "--suite {}` prints their ids",
      choice, selected.suite_cases, selection.suite, selection.suite);
}

}  // namespace ropecheck
