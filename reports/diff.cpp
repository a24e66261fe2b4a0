// SPDX-License-Identifier: Apache-2.0
#include "reports/diff.hpp"

#include "harness/limits.hpp"
#include "reference/error.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <tuple>

namespace ropecheck {

namespace {

void require_same(std::string_view what, const std::string& old_value,
                  const std::string& new_value) {
  if (old_value == new_value) return;
  fail(
      ErrorCode::invalid_argument,
      "diff: the reports cannot be compared: {} '{}' in the old one, '{}' in the new one; run both "
      "with the same {}",
      what, old_value, new_value, what);
}

/// Runs of other cases differ by construction; a difference of theirs says nothing about a kernel.
void require_comparable(const RunResult& old_run, const RunResult& new_run) {
  const RunInfo& a = old_run.info;
  const RunInfo& b = new_run.info;
  require_same("suite", a.suite, b.suite);
  require_same("seed", std::to_string(a.seed), std::to_string(b.seed));
  require_same("profiles", fmt::format("{}", fmt::join(a.profiles, ",")),
               fmt::format("{}", fmt::join(b.profiles, ",")));
  require_same("filter", a.filter, b.filter);
  require_same("shard", a.shard, b.shard);
}

// Keyed by case id, check and point, so in an order that both runs share.
using Key = std::tuple<std::string, std::string, std::string>;
using ChecksByKey = std::map<Key, const CheckResult*>;

ChecksByKey checks_by_key(const RunResult& run) {
  ChecksByKey checks;
  for (const CaseResult& result : run.cases) {
    for (const CheckResult& check : result.checks) {
      checks[{result.id, check.check, std::string(to_string(check.point))}] = &check;
    }
  }
  return checks;
}

std::map<std::string, const CaseResult*> cases_by_id(const RunResult& run) {
  std::map<std::string, const CaseResult*> cases;
  for (const CaseResult& result : run.cases) cases[result.id] = &result;
  return cases;
}

bool served(const CheckResult* check) {
  return check != nullptr && check->verdict != Verdict::unsupported;
}

Change check_change(const Key& key, const CheckResult* old_check, const CheckResult* new_check) {
  Change change;
  std::tie(change.case_id, change.check, change.point) = key;
  if (old_check != nullptr) {
    change.old_verdict = to_string(old_check->verdict);
    change.old_max_z = old_check->max_z;
    change.old_rms_z = old_check->rms_z;
  }
  if (new_check != nullptr) {
    change.new_verdict = to_string(new_check->verdict);
    change.new_max_z = new_check->max_z;
    change.new_rms_z = new_check->rms_z;
    change.message = new_check->message;
  }
  return change;
}

bool error_grew(const CheckResult& old_check, const CheckResult& new_check) {
  const bool max_grew =
      new_check.max_z > kGrownMaxZFloor && new_check.max_z > kGrownMaxZFactor * old_check.max_z;
  const bool rms_grew = new_check.rms_z > kGrownRmsFloor && new_check.rows >= kMinRowsForRms &&
                        new_check.rms_z > kGrownRmsFactor * old_check.rms_z;
  return max_grew || rms_grew;
}

void compare_check(const Key& key, const CheckResult* old_check, const CheckResult* new_check,
                   ReportDiff& diff) {
  const Change change = check_change(key, old_check, new_check);
  const bool fails = new_check != nullptr && is_failure(new_check->verdict);
  const bool failed = old_check != nullptr && is_failure(old_check->verdict);
  if (old_check != nullptr && new_check != nullptr) ++diff.compared;
  if (fails && !failed) {
    diff.newly_failing.push_back(change);
  } else if (served(old_check) && !served(new_check)) {
    diff.missing.push_back(change);
  } else if (!served(old_check) && served(new_check)) {
    diff.added.push_back(change);
  } else if (failed && !fails) {
    diff.newly_passing.push_back(change);
  } else if (served(old_check) && error_grew(*old_check, *new_check)) {
    diff.error_grown.push_back(change);
  } else if (served(old_check) && old_check->bitwise.value_or(false) &&
             !new_check->bitwise.value_or(true)) {
    diff.bitwise_lost.push_back(change);
  }
}

Change case_change(const CaseResult& result, bool is_new) {
  Change change;
  change.case_id = result.id;
  (is_new ? change.new_verdict : change.old_verdict) = to_string(result.verdict);
  change.message = is_new ? result.message : "";
  return change;
}

/// A case whose checks are compared one by one is said once more only if no check tells its
/// verdict.
void compare_cases(const RunResult& old_run, const RunResult& new_run, ReportDiff& diff) {
  const auto old_cases = cases_by_id(old_run);
  const auto new_cases = cases_by_id(new_run);
  bool common = old_cases.empty() || new_cases.empty();
  for (const auto& [id, old_case] : old_cases) {
    const auto found = new_cases.find(id);
    if (found == new_cases.end()) {
      diff.missing.push_back(case_change(*old_case, false));
      continue;
    }
    common = true;
    const CaseResult& new_case = *found->second;
    Change change = case_change(new_case, true);
    change.old_verdict = to_string(old_case->verdict);
    const bool told = std::ranges::any_of(
        new_case.checks, [](const CheckResult& check) { return is_failure(check.verdict); });
    if (is_failure(new_case.verdict) && !is_failure(old_case->verdict) && !told) {
      diff.newly_failing.push_back(change);
    }
  }
  for (const auto& [id, new_case] : new_cases) {
    if (old_cases.contains(id)) continue;
    auto& list = is_failure(new_case->verdict) ? diff.newly_failing : diff.added;
    list.push_back(case_change(*new_case, true));
  }
  if (!common) {
    fail(
        ErrorCode::invalid_argument,
        "diff: the reports cannot be compared: none of the {} cases of the old one is among the {} "
        "of the new one, so they are of another contract or another version of the suite; run both "
        "with the same ropecheck",
        old_cases.size(), new_cases.size());
  }
}

void compare_checks(const RunResult& old_run, const RunResult& new_run, ReportDiff& diff) {
  const ChecksByKey old_checks = checks_by_key(old_run);
  const ChecksByKey new_checks = checks_by_key(new_run);
  const auto old_cases = cases_by_id(old_run);
  const auto new_cases = cases_by_id(new_run);
  std::set<Key> keys;
  for (const auto& [key, check] : old_checks) keys.insert(key);
  for (const auto& [key, check] : new_checks) keys.insert(key);
  for (const Key& key : keys) {
    const std::string& id = std::get<0>(key);
    // A missing or new case is said once, not by each of its checks.
    if (!old_cases.contains(id) || !new_cases.contains(id)) continue;
    const auto old_check = old_checks.find(key);
    const auto new_check = new_checks.find(key);
    compare_check(key, old_check == old_checks.end() ? nullptr : old_check->second,
                  new_check == new_checks.end() ? nullptr : new_check->second, diff);
  }
}

Change pool_change(const PooledResult& old_pool, const PooledResult& new_pool) {
  Change change;
  change.case_id = fmt::format("{} {}", to_string(new_pool.family), new_pool.profile);
  change.check = "pool";
  change.point = to_string(new_pool.point);
  change.old_verdict = to_string(old_pool.verdict);
  change.new_verdict = to_string(new_pool.verdict);
  change.old_max_z = old_pool.max_z;
  change.new_max_z = new_pool.max_z;
  change.old_rms_z = old_pool.rms_z;
  change.new_rms_z = new_pool.rms_z;
  change.message = new_pool.message;
  return change;
}

void compare_pools(const RunSummary& old_summary, const RunSummary& new_summary, ReportDiff& diff) {
  for (const PooledResult& pool : new_summary.pools) {
    const auto old_pool = std::ranges::find_if(old_summary.pools, [&](const PooledResult& other) {
      return other.family == pool.family && other.profile == pool.profile &&
             other.point == pool.point;
    });
    if (old_pool == old_summary.pools.end()) continue;
    const bool fails = is_failure(pool.verdict);
    const bool failed = is_failure(old_pool->verdict);
    if (fails && !failed) {
      diff.newly_failing.push_back(pool_change(*old_pool, pool));
    } else if (failed && !fails) {
      diff.newly_passing.push_back(pool_change(*old_pool, pool));
    } else if (pool.rms_z > kMinPooledRmsZ && pool.rms_z > kGrownPoolFactor * old_pool->rms_z) {
      diff.error_grown.push_back(pool_change(*old_pool, pool));
    }
  }
}

void worst_first(std::vector<Change>& changes) {
  std::ranges::stable_sort(changes, std::greater{}, [](const Change& change) {
    return std::isnan(change.new_max_z) ? std::numeric_limits<double>::infinity()
                                        : change.new_max_z;
  });
}

}  // namespace

int ReportDiff::exit_status() const {
  return newly_failing.empty() && error_grown.empty() && missing.empty() ? 0 : 1;
}

ReportDiff compare_runs(const RunResult& old_run, const RunResult& new_run) {
  require_comparable(old_run, new_run);
  ReportDiff diff;
  diff.old_backend = old_run.info.backend;
  diff.new_backend = new_run.info.backend;
  compare_cases(old_run, new_run, diff);
  compare_checks(old_run, new_run, diff);
  compare_pools(old_run.summary, new_run.summary, diff);
  worst_first(diff.newly_failing);
  worst_first(diff.error_grown);
  return diff;
}

}  // namespace ropecheck
