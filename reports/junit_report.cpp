// SPDX-License-Identifier: Apache-2.0
#include "reports/junit_report.hpp"

#include "reports/findings.hpp"
#include "reports/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace ropecheck {

namespace {

enum class Outcome { passed, failure, error, skipped };

Outcome outcome_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::passed:
    case Verdict::blind: return Outcome::passed;
    case Verdict::failed:
    case Verdict::profile_too_loose: return Outcome::failure;
    case Verdict::unsupported: return Outcome::skipped;
    case Verdict::crashed:
    case Verdict::timed_out:
    case Verdict::invalid: break;
  }
  return Outcome::error;
}

/// One testcase.
struct Entry {
  std::string name;
  Verdict verdict = Verdict::passed;
  double seconds = 0;
  std::string message;
  std::string body;  ///< of a failure or an error
};

std::string testcase(std::string_view suite, const Entry& entry) {
  std::string xml = fmt::format(R"(    <testcase classname="ropecheck.{}" name="{}" time="{:.6f}")",
                                suite, xml_escaped(entry.name), entry.seconds);
  const Outcome outcome = outcome_of(entry.verdict);
  if (outcome == Outcome::passed) return xml + "/>\n";
  const std::string message = xml_escaped(entry.message);
  xml += ">\n";
  if (outcome == Outcome::skipped) {
    xml += fmt::format("      <skipped message=\"{}\"/>\n", message);
  } else {
    const std::string_view element = outcome == Outcome::failure ? "failure" : "error";
    xml += fmt::format("      <{0} type=\"{1}\" message=\"{2}\">{3}</{0}>\n", element,
                       to_string(entry.verdict), message, xml_escaped(entry.body));
  }
  return xml + "    </testcase>\n";
}

std::string testsuite(std::string_view name, const std::vector<Entry>& entries) {
  int failures = 0;
  int errors = 0;
  int skipped = 0;
  double seconds = 0;
  for (const Entry& entry : entries) {
    const Outcome outcome = outcome_of(entry.verdict);
    failures += outcome == Outcome::failure ? 1 : 0;
    errors += outcome == Outcome::error ? 1 : 0;
    skipped += outcome == Outcome::skipped ? 1 : 0;
    seconds += entry.seconds;
  }
  std::string xml = fmt::format(
      R"(  <testsuite name="{}" tests="{}" failures="{}" errors="{}" skipped="{}" time="{:.6f}">)",
      name, entries.size(), failures, errors, skipped, seconds);
  xml += "\n";
  for (const Entry& entry : entries) xml += testcase(name, entry);
  return xml + "  </testsuite>\n";
}

Entry case_entry(const RunInfo& info, const CaseResult& result) {
  Entry entry{result.id, result.verdict, result.total_seconds, result.message, ""};
  for (const CheckResult& check : result.checks) {
    if (!is_failure(check.verdict)) continue;
    const std::string line =
        fmt::format("{} of {}: z {}, rms z {}: {}", check.check, to_string(check.point),
                    short_number(check.max_z), short_number(check.rms_z), check.message);
    if (entry.message.empty()) entry.message = line;
    entry.body += line + "; ";
  }
  entry.body += fmt::format("again: {}", replay_line(info, result.id));
  return entry;
}

Entry pool_entry(const PooledResult& pool) {
  const std::string name =
      fmt::format("{} {} {}", to_string(pool.family), pool.profile, to_string(pool.point));
  const std::string figures =
      fmt::format("rms z {} over {}", short_number(pool.rms_z), counted(pool.elements, "element"));
  return {name, pool.verdict, 0, pool.message, figures};
}

}  // namespace

std::string xml_escaped(std::string_view text) {
  std::string escaped;
  for (const char c : printable_text(text)) {
    switch (c) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '"': escaped += "&quot;"; break;
      case '\'': escaped += "&apos;"; break;
      default: escaped += c;
    }
  }
  return escaped;
}

std::string junit_report(const RunResult& run) {
  std::vector<std::pair<std::string_view, std::vector<Entry>>> suites;
  for (const CaseResult& result : run.cases) {
    const std::string_view family = to_string(result.spec.family);
    auto suite = std::ranges::find(suites, family, &decltype(suites)::value_type::first);
    if (suite == suites.end()) suite = suites.insert(suites.end(), {family, {}});
    suite->second.push_back(case_entry(run.info, result));
  }
  std::vector<Entry> pools;
  for (const PooledResult& pool : run.summary.pools) pools.push_back(pool_entry(pool));
  if (!pools.empty()) suites.emplace_back("pools", std::move(pools));

  std::string xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  xml += fmt::format("<testsuites name=\"{}\" time=\"{:.6f}\">\n",
                     xml_escaped("ropecheck " + run.info.backend), run.summary.seconds);
  for (const auto& [name, entries] : suites) xml += testsuite(name, entries);
  return xml + "</testsuites>\n";
}

}  // namespace ropecheck
