// SPDX-License-Identifier: Apache-2.0
#include "reports/findings.hpp"

#include "reports/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace ropecheck {

namespace {

constexpr std::array kPoints = {Point::position_ids, Point::rotated_query, Point::rotated_key,
                                Point::cached_key, Point::attention_output};

constexpr std::string_view kReference = "reference";

/// What sorts failures: answers without numbers first.
double badness(Verdict verdict, double max_z) {
  const bool answered = verdict == Verdict::failed || verdict == Verdict::profile_too_loose;
  if (!answered || std::isnan(max_z)) return std::numeric_limits<double>::infinity();
  return max_z;
}

Failure failure_of(const CaseResult& result) {
  Failure failure{&result, nullptr, 0};
  std::int64_t failed = 0;
  for (const CheckResult& check : result.checks) {
    if (!is_failure(check.verdict)) continue;
    ++failed;
    if (failure.worst == nullptr || badness(check.verdict, check.max_z) >
                                        badness(failure.worst->verdict, failure.worst->max_z)) {
      failure.worst = &check;
    }
  }
  failure.other_failed_checks = std::max<std::int64_t>(failed - 1, 0);
  return failure;
}

bool worse(const Failure& a, const Failure& b) {
  const auto answered = [](const Failure& failure) {
    return failure.result->verdict == Verdict::failed ? 1 : 0;
  };
  if (answered(a) != answered(b)) return answered(a) < answered(b);
  const auto z = [](const Failure& failure) {
    return failure.worst == nullptr ? 0 : badness(failure.worst->verdict, failure.worst->max_z);
  };
  return z(a) > z(b);
}

void raise(double& max_z, double z) {
  if (std::isnan(z)) z = std::numeric_limits<double>::infinity();
  max_z = std::max(max_z, z);
}

void add_pools(const RunSummary& summary, FamilyLine& line) {
  double sum_of_squares = 0;
  for (const PooledResult& pool : summary.pools) {
    if (pool.family != line.family || pool.profile != line.profile) continue;
    if (is_failure(pool.verdict) && line.verdict == Verdict::passed) line.verdict = pool.verdict;
    if (pool.point == Point::position_ids) continue;
    sum_of_squares += static_cast<double>(pool.elements) * pool.rms_z * pool.rms_z;
    line.elements += pool.elements;
  }
  if (line.elements > 0) {
    line.pooled_rms_z = std::sqrt(sum_of_squares / static_cast<double>(line.elements));
  }
}

std::string_view consequence(Point point) {
  switch (point) {
    case Point::position_ids:
      return "which coordinate each token gets is seen only through rotations and outputs";
    case Point::rotated_query:
    case Point::rotated_key:
      return "phases, pair layout and rotary_dim are seen only through attention scores, where one "
             "constant added to all coordinates of a sequence, or one rotation common to query and "
             "key, changes nothing";
    case Point::cached_key:
      return "what later steps will meet (a shift left out, a key rotated twice) is seen only "
             "where "
             "a later output depends on it";
    case Point::attention_output: return "visible keys, head map and softmax are not seen";
  }
  return "";
}

}  // namespace

std::span<const Point> all_points() { return kPoints; }

std::vector<Failure> failures(const RunResult& run) {
  std::vector<Failure> found;
  for (const CaseResult& result : run.cases) {
    if (is_failure(result.verdict)) found.push_back(failure_of(result));
  }
  std::ranges::stable_sort(found, worse);
  return found;
}

std::vector<FamilyLine> family_lines(const RunResult& run) {
  std::vector<FamilyLine> lines;
  for (const CaseResult& result : run.cases) {
    auto line = std::ranges::find_if(lines, [&](const FamilyLine& known) {
      return known.family == result.spec.family && known.profile == result.spec.profile;
    });
    if (line == lines.end()) {
      lines.push_back({result.spec.family, result.spec.profile});
      line = std::prev(lines.end());
    }
    ++line->cases;
    if (is_failure(result.verdict)) ++line->failed;
    if (result.verdict == Verdict::unsupported) ++line->unsupported;
    for (const CheckResult& check : result.checks) {
      if (check.check == kReference) raise(line->max_z, check.max_z);
    }
  }
  for (FamilyLine& line : lines) {
    if (line.failed > 0) {
      line.verdict = Verdict::failed;
    } else if (line.unsupported == line.cases) {
      line.verdict = Verdict::unsupported;
    }
    add_pools(run.summary, line);
  }
  std::ranges::stable_sort(lines, {}, [](const FamilyLine& line) { return line.family; });
  return lines;
}

std::vector<LawLine> law_lines(const RunResult& run) {
  std::map<std::string, LawLine> lines;
  for (const CaseResult& result : run.cases) {
    // A law is checked at several points of a case, but the case counts once.
    std::map<std::string, LawLine> of_case;
    for (const CheckResult& check : result.checks) {
      if (check.check == kReference) continue;
      LawLine& line = of_case[check.check];
      ++line.cases;
      line.failed += is_failure(check.verdict) ? 1 : 0;
      line.unsupported += check.verdict == Verdict::unsupported ? 1 : 0;
      line.bitwise_compared += check.bitwise.has_value() ? 1 : 0;
      line.bitwise_equal += check.bitwise.value_or(false) ? 1 : 0;
    }
    for (const auto& [name, counts] : of_case) {
      LawLine& line = lines[name];
      line.check = name;
      ++line.cases;
      line.failed += counts.failed > 0 ? 1 : 0;
      line.unsupported += counts.unsupported == counts.cases ? 1 : 0;
      line.bitwise_compared += counts.bitwise_compared > 0 ? 1 : 0;
      line.bitwise_equal +=
          counts.bitwise_compared > 0 && counts.bitwise_equal == counts.bitwise_compared ? 1 : 0;
    }
  }
  std::vector<LawLine> sorted;
  for (auto& [name, line] : lines) sorted.push_back(std::move(line));
  return sorted;
}

std::vector<UnseenPoint> unseen_points(const RunResult& run) {
  std::vector<UnseenPoint> unseen;
  const bool all_unsupported = std::ranges::all_of(
      run.cases, [](const CaseResult& result) { return result.verdict == Verdict::unsupported; });
  for (const Point point : kPoints) {
    UnseenPoint counts{point, 0, 0, std::string(consequence(point))};
    for (const CaseResult& result : run.cases) {
      // Cases that were not served at all are counted as such; here it is about points of the others.
      if (result.verdict == Verdict::unsupported && !all_unsupported) continue;
      for (const CheckResult& check : result.checks) {
        if (check.check != kReference || check.point != point) continue;
        ++counts.checks;
        counts.unsupported += check.verdict == Verdict::unsupported ? 1 : 0;
      }
    }
    if (counts.checks == 0 || counts.unsupported > 0) unseen.push_back(std::move(counts));
  }
  return unseen;
}

std::string replay_line(const RunInfo& info, const std::string& case_id) {
  std::string line = fmt::format("ropecheck replay --backend {}", shell_word(info.backend));
  for (std::string_view rest = info.options; !rest.empty();) {
    const std::string_view option = rest.substr(0, rest.find('\n'));
    if (!option.empty()) line += fmt::format(" --option {}", shell_word(option));
    rest.remove_prefix(std::min(option.size() + 1, rest.size()));
  }
  return line + fmt::format(" '{}'", case_id);
}

std::string describe(const Location& location) {
  std::vector<std::string> parts;
  if (location.call >= 0) parts.push_back(fmt::format("call {}", location.call));
  if (location.sequence >= 0) parts.push_back(fmt::format("sequence {}", location.sequence));
  if (location.token >= 0) {
    parts.push_back(fmt::format("token {} (coordinate {})", location.token, location.coordinate));
  }
  if (location.head >= 0) parts.push_back(fmt::format("head {}", location.head));
  if (location.channel >= 0) parts.push_back(fmt::format("channel {}", location.channel));
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace ropecheck
