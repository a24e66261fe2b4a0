// SPDX-License-Identifier: Apache-2.0
#include "reports/diff.hpp"
#include "reports/json_text.hpp"
#include "reports/printable.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ropecheck {

namespace {

constexpr std::size_t kChangesShown = 10;

struct NamedList {
  const char* name;   ///< in JSON
  const char* title;  ///< in text
  const std::vector<Change> ReportDiff::*list;
};
constexpr NamedList kLists[] = {
    {"newly_failing", "newly failing", &ReportDiff::newly_failing},
    {"error_grown", "error grown", &ReportDiff::error_grown},
    {"missing", "missing, or unsupported now", &ReportDiff::missing},
    {"newly_passing", "newly passing", &ReportDiff::newly_passing},
    {"added", "new, or supported now", &ReportDiff::added},
    {"bitwise_lost", "bitwise equality lost", &ReportDiff::bitwise_lost},
};

std::string change_lines(const Change& change) {
  const auto verdict = [](const std::string& word) {
    return word.empty() ? "absent" : word.c_str();
  };
  std::string lines = "  ";
  if (!change.check.empty()) lines += fmt::format("{} of {}: ", change.check, change.point);
  lines += fmt::format("{} -> {}", verdict(change.old_verdict), verdict(change.new_verdict));
  if (!change.check.empty()) {
    lines += fmt::format(", z {} -> {}, rms z {} -> {}", short_number(change.old_max_z),
                         short_number(change.new_max_z), short_number(change.old_rms_z),
                         short_number(change.new_rms_z));
  }
  if (!change.message.empty()) lines += fmt::format("\n    {}", printable_text(change.message));
  return lines + fmt::format("\n    {}\n", change.case_id);
}

Json change_json(const Change& change) {
  const auto word = [](const std::string& text) {
    return text.empty() ? Json(nullptr) : Json(text);
  };
  return {{"id", change.case_id},
          {"check", word(change.check)},
          {"point", word(change.point)},
          {"old_verdict", word(change.old_verdict)},
          {"new_verdict", word(change.new_verdict)},
          {"old_max_z", json_number(change.old_max_z)},
          {"new_max_z", json_number(change.new_max_z)},
          {"old_rms_z", json_number(change.old_rms_z)},
          {"new_rms_z", json_number(change.new_rms_z)},
          {"message", change.message}};
}

}  // namespace

std::string diff_text(const ReportDiff& diff) {
  std::string text = fmt::format("ropecheck diff: {}: {} -> {}, {} in both\n",
                                 diff.exit_status() == 0 ? "no regression" : "REGRESSION",
                                 printable_text(diff.old_backend), printable_text(diff.new_backend),
                                 counted(diff.compared, "check"));
  for (const auto& [name, title, list] : kLists) {
    text += fmt::format("  {:<28} {:>6}\n", title, (diff.*list).size());
  }
  for (const auto& [name, title, list] : kLists) {
    const std::vector<Change>& changes = diff.*list;
    if (changes.empty()) continue;
    text += fmt::format("\n{}\n", title);
    for (std::size_t i = 0; i < std::min(changes.size(), kChangesShown); ++i) {
      text += change_lines(changes[i]);
    }
    if (changes.size() > kChangesShown) {
      text += fmt::format("  and {} (--json FILE lists all)\n",
                          counted(std::ssize(changes) - kChangesShown, "other"));
    }
  }
  return text;
}

std::string diff_json(const ReportDiff& diff) {
  Json json = {{"exit_status", diff.exit_status()},
               {"old_backend", diff.old_backend},
               {"new_backend", diff.new_backend},
               {"compared", diff.compared},
               {"counts", Json::object()}};
  for (const auto& [name, title, list] : kLists) json["counts"][name] = (diff.*list).size();
  for (const auto& [name, title, list] : kLists) {
    json[name] = Json::array();
    for (const Change& change : diff.*list) json[name].push_back(change_json(change));
  }
  return json_text(json);
}

}  // namespace ropecheck
