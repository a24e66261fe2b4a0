// SPDX-License-Identifier: Apache-2.0
#include "reports/text_report.hpp"

#include "harness/limits.hpp"
#include "reports/findings.hpp"
#include "reports/printable.hpp"
#include "reports/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace ropecheck {

namespace {

/// "35 of 156 cases, 121 unsupported": how much the headline stands for.
std::string checked_cases(const RunSummary& summary) {
  const std::int64_t unsupported = summary.verdicts.at("unsupported");
  if (unsupported == 0) return counted(summary.cases, "case");
  return fmt::format("{} of {} checked, {} unsupported", summary.cases - unsupported,
                     counted(summary.cases, "case"), unsupported);
}

constexpr std::size_t kReasonsShown = 5;

std::string counts(const std::map<std::string, std::int64_t>& verdicts) {
  std::vector<std::string> parts;
  for (const Verdict verdict : kAllVerdicts) {
    const auto found = verdicts.find(std::string(to_string(verdict)));
    if (found != verdicts.end() && found->second > 0) {
      parts.push_back(fmt::format("{} {}", found->second, found->first));
    }
  }
  return parts.empty() ? "none" : fmt::format("{}", fmt::join(parts, ", "));
}

std::string heading(const RunResult& run) {
  const RunInfo& info = run.info;
  const RunSummary& summary = run.summary;
  std::string text = fmt::format("ropecheck: {}: {} ({})\n", printable_text(info.backend),
                                 headline(summary.exit_status), checked_cases(summary));
  text += fmt::format("  cases      {}\n", counts(summary.verdicts));
  text += fmt::format("  checks     {}\n", counts(summary.check_verdicts));
  text += fmt::format(
      "  largest z  {}  (error / sigma; an element fails above z {:g}, a check above "
      "rms z {:g} over {} rows or more)\n",
      short_number(summary.max_z), kMaxZ, kMaxRmsZ, kMinRowsForRms);
  text += fmt::format("  run        suite {}, seed {}, profiles {}", info.suite, info.seed,
                      fmt::join(info.profiles, ", "));
  if (!info.filter.empty()) text += fmt::format(", filter {}", info.filter);
  if (!info.shard.empty()) text += fmt::format(", shard {}", info.shard);
  text += fmt::format("\n  backend    {} {} {}\n", printable_text(info.backend_name),
                      printable_text(info.backend_version), printable_text(info.backend_path));
  text += fmt::format(
      "  seconds    {:.2f} (summed over threads: reference {:.2f}, backend {:.2f}, "
      "harness {:.2f})\n",
      summary.seconds, summary.reference_seconds, summary.backend_seconds, summary.harness_seconds);
  return text;
}

/// Distinct reasons why cases were not served, the most frequent first.
std::string unsupported_reasons(const RunResult& run) {
  std::map<std::string, std::int64_t> by_reason;
  for (const CaseResult& result : run.cases) {
    if (result.verdict == Verdict::unsupported) ++by_reason[printable_text(result.message)];
  }
  if (by_reason.empty()) return "";
  std::vector<std::pair<std::string, std::int64_t>> reasons(by_reason.begin(), by_reason.end());
  std::ranges::stable_sort(reasons, std::greater{},
                           [](const auto& reason) { return reason.second; });
  std::string text = "\nunsupported cases (not checked; no failure)\n";
  for (std::size_t i = 0; i < std::min(reasons.size(), kReasonsShown); ++i) {
    text += fmt::format("  {:>5}  {}\n", reasons[i].second,
                        reasons[i].first.empty() ? "no reason given" : reasons[i].first);
  }
  if (reasons.size() > kReasonsShown) {
    text += fmt::format("  and {}\n", counted(std::ssize(reasons) - kReasonsShown, "other reason"));
  }
  return text;
}

std::string how_unseen(const UnseenPoint& point) {
  if (point.checks == 0) return "no case looked at it";
  if (point.unsupported == point.checks) return "the backend does not offer it";
  return fmt::format("not offered in {} of {}; there", point.unsupported,
                     counted(point.checks, "check"));
}

std::string unseen(const RunResult& run) {
  std::string text;
  for (const UnseenPoint& point : unseen_points(run)) {
    text +=
        fmt::format("  {}: {}: {}\n", to_string(point.point), how_unseen(point), point.consequence);
  }
  return text.empty() ? "" : fmt::format("\nobservation points not seen\n{}", text);
}

std::string families(const RunResult& run) {
  TextTable table;
  table.add_column("family", TextTable::Align::left);
  table.add_column("profile", TextTable::Align::left);
  table.add_column("cases");
  table.add_column("failed");
  table.add_column("unsupported");
  table.add_column("max z");
  table.add_column("pooled rms z");
  table.add_column("verdict", TextTable::Align::left);
  for (const FamilyLine& line : family_lines(run)) {
    table.add_row({std::string(to_string(line.family)), line.profile, std::to_string(line.cases),
                   std::to_string(line.failed), std::to_string(line.unsupported),
                   line.unsupported == line.cases ? "-" : short_number(line.max_z),
                   line.elements == 0 ? "-" : short_number(line.pooled_rms_z),
                   std::string(to_string(line.verdict))});
  }
  return table.empty() ? "" : fmt::format("\n{}", table.to_string());
}

std::string failing_pools(const RunResult& run) {
  std::string text;
  for (const PooledResult& pool : run.summary.pools) {
    if (!is_failure(pool.verdict)) continue;
    text +=
        fmt::format("  {} {} {}: {}: rms z {} over {}: {}\n", to_string(pool.family), pool.profile,
                    to_string(pool.point), to_string(pool.verdict), short_number(pool.rms_z),
                    counted(pool.elements, "element"), printable_text(pool.message));
  }
  return text.empty()
             ? ""
             : fmt::format("\nfailing pools (all elements of a family, profile and point)\n{}",
                           text);
}

std::string laws_table(const RunResult& run) {
  TextTable table;
  table.add_column("law or other check", TextTable::Align::left);
  table.add_column("cases");
  table.add_column("failed");
  table.add_column("unsupported");
  table.add_column("bitwise equal");
  for (const LawLine& line : law_lines(run)) {
    const std::string share =
        line.bitwise_compared == 0
            ? "-"
            : fmt::format("{} of {}", line.bitwise_equal, line.bitwise_compared);
    table.add_row({line.check, std::to_string(line.cases), std::to_string(line.failed),
                   std::to_string(line.unsupported), share});
  }
  return table.empty() ? "" : fmt::format("\n{}", table.to_string());
}

/// Beyond a million spacings only that is worth a word.
std::string ulps(std::int64_t count) {
  return count > 1'000'000 ? "over 10^6 ulps" : counted(count, "ulp");
}

/// The numbers of a check, and where its worst element is.
std::string check_lines(const CheckResult& check, const std::string& indent) {
  std::string text;
  if (check.elements > 0) {
    text += fmt::format("{}z {}, rms z {}, {} of {} bad, largest error {} ({})", indent,
                        short_number(check.max_z), short_number(check.rms_z), check.bad_elements,
                        counted(check.elements, "element"), short_number(check.max_abs_error),
                        ulps(check.max_ulp));
    if (check.ill_conditioned > 0) {
      text +=
          fmt::format(", {} left out as ill-conditioned", counted(check.ill_conditioned, "row"));
    }
    if (check.bitwise) text += *check.bitwise ? ", bitwise equal" : ", not bitwise equal";
    text += "\n";
    const std::string where = describe(check.worst);
    if (!where.empty() && check.max_z != 0) {
      text += fmt::format("{}worst at {}: expected {:.9g}, actual {:.9g}, sigma {}\n", indent,
                          where, check.expected, check.actual, short_number(check.sigma));
    }
  }
  if (!check.message.empty()) text += fmt::format("{}{}\n", indent, printable_text(check.message));
  return text;
}

std::string failure_lines(int number, const Failure& failure) {
  const CaseResult& result = *failure.result;
  std::string text = fmt::format("{:>3}. ", number);
  if (failure.worst != nullptr) {
    text += fmt::format("{} of {}: {}", failure.worst->check, to_string(failure.worst->point),
                        to_string(failure.worst->verdict));
  } else {
    text += to_string(result.verdict);
  }
  if (failure.other_failed_checks > 0) {
    text +=
        fmt::format(" (and {} of this case)", counted(failure.other_failed_checks, "other check"));
  }
  if (result.only_after) text += " (only in the run: it passes when it is run again alone)";
  text += "\n";
  const std::string indent(5, ' ');
  if (failure.worst != nullptr) text += check_lines(*failure.worst, indent);
  const bool said = failure.worst != nullptr && failure.worst->message == result.message;
  if (!result.message.empty() && !said) {
    text += fmt::format("{}{}\n", indent, printable_text(result.message));
  }
  return text + indent + result.id + "\n";
}

std::string worst_failures(const RunResult& run) {
  const std::vector<Failure> all = failures(run);
  if (all.empty()) return "";
  const std::size_t shown = std::min<std::size_t>(all.size(), kWorstShown);
  std::string text = fmt::format("\nthe worst {} of {}, each by its worst check\n", shown,
                                 counted(std::ssize(all), "failing case"));
  for (std::size_t i = 0; i < shown; ++i) {
    text += failure_lines(static_cast<int>(i) + 1, all[i]);
  }
  text += "\nto run them again with the same bits\n";
  for (std::size_t i = 0; i < std::min<std::size_t>(all.size(), kReplayLinesShown); ++i) {
    text += fmt::format("  {}\n", replay_line(run.info, all[i].result->id));
  }
  if (all.size() > kReplayLinesShown) {
    text += fmt::format("  and {} (--json FILE lists all)\n",
                        counted(std::ssize(all) - kReplayLinesShown, "other case"));
  }
  return text;
}

}  // namespace

std::string_view headline(int exit_status) {
  switch (exit_status) {
    case 0: return "passed";
    case 1: return "FAILED";
    default: return "nothing ran";
  }
}

std::string text_report(const RunResult& run) {
  return heading(run) + families(run) + failing_pools(run) + laws_table(run) + unseen(run) +
         unsupported_reasons(run) + worst_failures(run);
}

std::string text_details(const RunResult& run) {
  std::string text;
  for (const CaseResult& result : run.cases) {
    text += fmt::format("{}: {}\n", result.id, to_string(result.verdict));
    if (!result.message.empty()) text += fmt::format("  {}\n", printable_text(result.message));
    for (const CheckResult& check : result.checks) {
      text += fmt::format("  {} of {}: {}\n", check.check, to_string(check.point),
                          to_string(check.verdict));
      text += check_lines(check, std::string(4, ' '));
    }
  }
  return text + fmt::format("{}: {} ({})\n", printable_text(run.info.backend),
                            headline(run.summary.exit_status), counts(run.summary.verdicts));
}

}  // namespace ropecheck
