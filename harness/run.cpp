// SPDX-License-Identifier: Apache-2.0
#include "harness/run.hpp"

#include "cases/program.hpp"
#include "harness/check_case.hpp"
#include "harness/limits.hpp"
#include "reference/error.hpp"

#include <fmt/format.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <exception>
#include <mutex>
#include <numeric>
#include <tuple>

namespace ropecheck {
namespace {

/// Hands results to the sinks in suite order, however the cases end.
class InOrder {
 public:
  InOrder(std::vector<CaseResult>& results, std::span<ResultSink* const> sinks)
      : results_(results), sinks_(sinks), done_(results.size()) {}

  void finished(std::size_t index) {
    const std::lock_guard lock(mutex_);
    done_[index] = true;
    for (ResultSink* sink : sinks_) sink->progress(results_[index]);
    for (; next_ < done_.size() && done_[next_]; ++next_) {
      for (ResultSink* sink : sinks_) sink->add(results_[next_]);
    }
  }

 private:
  std::vector<CaseResult>& results_;
  std::span<ResultSink* const> sinks_;
  std::vector<bool> done_;
  std::size_t next_ = 0;
  std::mutex mutex_;
};

/// A rough measure of a case's work, to start the long ones first: (query, key) pairs.
double work(const CaseSpec& spec) {
  const auto tokens = static_cast<double>(spec.length + spec.steps);
  const double rows = spec.sampled_rows > 0 ? static_cast<double>(spec.sampled_rows) : tokens;
  return static_cast<double>(spec.rows) * rows * tokens * spec.heads.num_q_heads *
         (spec.heads.head_dim + spec.heads.v_head_dim);
}

std::vector<std::size_t> longest_first(std::span<const CaseSpec> cases) {
  std::vector<std::size_t> order(cases.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return work(cases[a]) > work(cases[b]); });
  return order;
}

void run_all(Kernel& kernel, std::span<const CaseSpec> cases, const RunOptions& options,
             std::span<ResultSink* const> sinks, std::vector<CaseResult>& results) {
  const std::vector<std::size_t> order = longest_first(cases);
  InOrder in_order(results, sinks);
  std::atomic<std::size_t> next = 0;
  const auto worker = [&](std::size_t) {
    for (std::size_t i = next++; i < order.size(); i = next++) {
      results[order[i]] = check_case(kernel, cases[order[i]], options.backend_options, false);
      in_order.finished(order[i]);
    }
  };
  const int jobs = options.jobs > 0 ? options.jobs : tbb::this_task_arena::max_concurrency();
  const tbb::global_control control(tbb::global_control::max_allowed_parallelism,
                                    static_cast<std::size_t>(jobs));
  tbb::task_arena arena(jobs);
  arena.execute([&] {
    tbb::parallel_for(std::size_t{0}, static_cast<std::size_t>(jobs), worker,
                      tbb::simple_partitioner());
  });
}

double max_z_of(const CaseResult& result) {
  double max_z = 0;
  for (const CheckResult& check : result.checks) max_z = std::max(max_z, check.max_z);
  return max_z;
}

/// Failing cases are run again alone, at once: for their tensors, and to see whether they fail alone.
void keep_worst(Kernel& kernel, const RunOptions& options, std::vector<CaseResult>& results) {
  std::vector<std::size_t> failing;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (is_failure(results[i].verdict)) failing.push_back(i);
  }
  std::stable_sort(failing.begin(), failing.end(), [&](std::size_t a, std::size_t b) {
    return max_z_of(results[a]) > max_z_of(results[b]);
  });
  if (static_cast<std::int64_t>(failing.size()) > options.keep)
    failing.resize(static_cast<std::size_t>(options.keep));
  for (const std::size_t index : failing) {
    CaseResult again = check_case(kernel, results[index].spec, options.backend_options, true);
    results[index].kept = std::move(again.kept);
    if (again.verdict == results[index].verdict) continue;
    results[index].only_after = true;
    results[index].message += fmt::format(" (alone, this case is {}: it fails only after others)",
                                          to_string(again.verdict));
  }
}

/// Sums of one (family, profile, point).
struct PoolSums {
  std::int64_t cases = 0, elements = 0, rows = 0, ill_conditioned = 0;
  double squares = 0, max_z = 0;
};

PooledResult judge_pool(const std::tuple<Family, std::string, Point>& key, const PoolSums& sums) {
  PooledResult pool;
  std::tie(pool.family, pool.profile, pool.point) = key;
  pool.cases = sums.cases;
  pool.elements = sums.elements;
  pool.max_z = sums.max_z;
  pool.rms_z = sums.elements > 0 ? std::sqrt(sums.squares / static_cast<double>(sums.elements)) : 0;
  const auto rows = static_cast<double>(sums.rows + sums.ill_conditioned);
  if (static_cast<double>(sums.ill_conditioned) > kMaxIllConditionedPart * rows) {
    pool.verdict = Verdict::failed;
    pool.message = fmt::format("{} of {} rows are ill-conditioned, more than {}",
                               sums.ill_conditioned, rows, kMaxIllConditionedPart);
  } else if (sums.rows >= kMinRowsForRms && pool.rms_z < kMinPooledRmsZ) {
    pool.verdict = Verdict::profile_too_loose;
    pool.message = fmt::format(
        "pooled rms z {:.3g} is below {}: declare the profile that the kernel really has",
        pool.rms_z, kMinPooledRmsZ);
  }
  return pool;
}

std::vector<PooledResult> make_pools(std::span<const CaseResult> cases) {
  std::map<std::tuple<Family, std::string, Point>, PoolSums> pools;
  for (const CaseResult& result : cases) {
    for (const CheckResult& check : result.checks) {
      // Positions are exact numbers, with no rounding to pool.
      if (check.check != "reference" || check.point == Point::position_ids ||
          check.elements + check.ill_conditioned == 0)
        continue;
      PoolSums& sums = pools[{result.spec.family, result.spec.profile, check.point}];
      ++sums.cases;
      sums.elements += check.elements;
      sums.rows += check.rows;
      sums.ill_conditioned += check.ill_conditioned;
      sums.squares += check.rms_z * check.rms_z * static_cast<double>(check.elements);
      sums.max_z = std::max(sums.max_z, check.max_z);
    }
  }
  std::vector<PooledResult> judged;
  for (const auto& [key, sums] : pools) judged.push_back(judge_pool(key, sums));
  return judged;
}

int exit_status(const RunSummary& summary) {
  bool failed = false;
  for (const Verdict verdict : kAllVerdicts) {
    failed =
        failed || (is_failure(verdict) && summary.verdicts.at(std::string(to_string(verdict))) > 0);
  }
  for (const PooledResult& pool : summary.pools) failed = failed || is_failure(pool.verdict);
  if (failed) return 1;
  return summary.verdicts.at("passed") > 0 ? 0 : 4;
}

}  // namespace

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::passed: return "passed";
    case Verdict::failed: return "failed";
    case Verdict::unsupported: return "unsupported";
    case Verdict::blind: return "blind";
    case Verdict::profile_too_loose: return "profile_too_loose";
    case Verdict::crashed: return "crashed";
    case Verdict::timed_out: return "timed_out";
    case Verdict::invalid: return "invalid";
  }
  return "";
}

RunSummary summarise(std::span<const CaseResult> cases) {
  RunSummary summary;
  for (const Verdict verdict : kAllVerdicts) {
    summary.verdicts[std::string(to_string(verdict))] = 0;
    summary.check_verdicts[std::string(to_string(verdict))] = 0;
  }
  summary.cases = static_cast<std::int64_t>(cases.size());
  for (const CaseResult& result : cases) {
    ++summary.verdicts[std::string(to_string(result.verdict))];
    for (const CheckResult& check : result.checks)
      ++summary.check_verdicts[std::string(to_string(check.verdict))];
    summary.max_z = std::max(summary.max_z, max_z_of(result));
    summary.reference_seconds += result.reference_seconds;
    summary.backend_seconds += result.backend_seconds;
    summary.harness_seconds +=
        result.total_seconds - result.reference_seconds - result.backend_seconds;
  }
  summary.pools = make_pools(cases);
  summary.exit_status = exit_status(summary);
  return summary;
}

RunResult run_cases(Kernel& kernel, std::span<const CaseSpec> cases, RunInfo info,
                    const RunOptions& options, std::span<ResultSink* const> sinks) {
  const auto start = std::chrono::steady_clock::now();
  info.backend_name = kernel.name();
  info.backend_version = kernel.version();
  info.backend_path = kernel.path();
  info.options = options.backend_options;
  RunResult result;
  result.info = std::move(info);
  result.cases.resize(cases.size());
  for (ResultSink* sink : sinks) sink->begin(result.info, static_cast<std::int64_t>(cases.size()));
  run_all(kernel, cases, options, sinks, result.cases);
  keep_worst(kernel, options, result.cases);
  result.summary = summarise(result.cases);
  result.summary.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (ResultSink* sink : sinks) sink->end(result);
  return result;
}

}  // namespace ropecheck
