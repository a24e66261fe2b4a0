// SPDX-License-Identifier: Apache-2.0
// Speed of the reference, as ratios within one run: read the counters, not the times.
//   of_dgemm      floating-point rate of exact causal attention / that of a large Eigen product
//   sigma_factor  time with sigma / time without
//   speedup       time on one thread / time on two
//   extra_mib     growth of the process over these runs, answers included
#include "reference/solve.hpp"

#include <benchmark/benchmark.h>
#include <Eigen/Core>

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <ctime>
#include <thread>
#include <vector>

namespace {

using namespace ropecheck;

constexpr int kHeads = 8;
constexpr int kHeadDim = 128;
constexpr std::int64_t kLength = 4096;

/// Pseudo-random numbers in [-1.7, 1.7) by a hash of their address: nothing is held in memory.
class HashedValues : public Values {
 public:
  void row(TensorRole role, ContentId content, int head, std::span<double> out) const override {
    std::uint64_t state =
        (content * 64 + static_cast<std::uint64_t>(head)) * 4 + static_cast<std::uint64_t>(role);
    state *= 0x9E3779B97F4A7C15u;
    for (double& value : out) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      value = static_cast<double>(static_cast<std::int64_t>(state) >> 11) * 0x1.b8p-53;
    }
  }
};

Problem causal_problem(std::int64_t length) {
  Problem problem;
  problem.shape = {kHeads, kHeads, kHeadDim, kHeadDim};
  problem.softmax_scale = 1 / std::sqrt(static_cast<double>(kHeadDim));
  problem.tables = {make_rope_table({}, kHeadDim, PairLayout::half_split)};
  for (std::int64_t i = 0; i < length; ++i) {
    const auto index = static_cast<std::uint32_t>(i);
    problem.rotations.push_back({.coordinate = i});
    problem.keys.push_back({static_cast<ContentId>(i), index, 1});
    problem.ranges.push_back({0, i + 1});
    problem.queries.push_back({static_cast<ContentId>(i), {.coordinate = i}, 1, index, 1});
  }
  return problem;
}

double causal_flops(std::int64_t length) {
  const auto n = static_cast<double>(length);
  return kHeads * 4.0 * kHeadDim * n * (n + 1) / 2;
}

Executor thread_executor(int num_threads) {
  return [num_threads](std::size_t count, const std::function<void(std::size_t)>& body) {
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
      for (std::size_t i = next++; i < count; i = next++) body(i);
    };
    std::vector<std::jthread> threads;
    for (int i = 1; i < num_threads; ++i) threads.emplace_back(work);
    work();
  };
}

/// Which clock: processor time is fair beside other load, wall time shows what threads gain.
enum class Clock { processor, wall };

double now(Clock clock) {
  timespec time{};
  clock_gettime(clock == Clock::processor ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

template <typename Body>
double seconds(Clock clock, const Body& body) {
  const double start = now(clock);
  body();
  return now(clock) - start;
}

/// A large product of Eigen, again and again.
class Dgemm {
 public:
  static constexpr int kSize = 1536;
  static constexpr double kFlops = 2.0 * kSize * kSize * kSize;

  void run() {
    c_.noalias() = a_ * b_;
    benchmark::DoNotOptimize(c_.data());
  }

 private:
  Eigen::MatrixXd a_ = Eigen::MatrixXd::Random(kSize, kSize);
  Eigen::MatrixXd b_ = Eigen::MatrixXd::Random(kSize, kSize);
  Eigen::MatrixXd c_ = Eigen::MatrixXd(kSize, kSize);
};

double resident_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void solve_once(const Problem& problem, bool sigma, int num_threads) {
  const Answer answer =
      solve(problem, HashedValues(), find_profile("strict_f32"), Point::attention_output,
            {.sigma = sigma, .exact_query_error = false}, thread_executor(num_threads));
  benchmark::DoNotOptimize(answer.expected.values.data());
}

/// What is compared runs in turns, so that other load on the machine meets all alike.
void exact_causal_attention(benchmark::State& state) {
  const Problem problem = causal_problem(kLength);
  Dgemm dgemm;
  dgemm.run();
  const double before = resident_mib();
  double product = 0, plain = 0, with_sigma = 0, one_thread = 0, two_threads = 0;
  for (auto _ : state) {
    product += seconds(Clock::processor, [&] { dgemm.run(); });
    plain += seconds(Clock::processor, [&] { solve_once(problem, false, 1); });
    product += seconds(Clock::processor, [&] { dgemm.run(); });
    with_sigma += seconds(Clock::processor, [&] { solve_once(problem, true, 1); });
    one_thread += seconds(Clock::wall, [&] { solve_once(problem, false, 1); });
    two_threads += seconds(Clock::wall, [&] { solve_once(problem, false, 2); });
  }
  const double rate = 2 * static_cast<double>(state.iterations()) * Dgemm::kFlops / product;
  const double flops = causal_flops(kLength) * static_cast<double>(state.iterations());
  state.counters["dgemm_gflops"] = rate / 1e9;
  state.counters["of_dgemm"] = flops / plain / rate;
  state.counters["speedup"] = one_thread / two_threads;
  state.counters["sigma_factor"] = with_sigma / plain;
  state.counters["extra_mib"] = resident_mib() - before;
}
BENCHMARK(exact_causal_attention)->Iterations(3)->Unit(benchmark::kSecond);

/// Small problems, as a suite solves them by the thousand: seconds for one.
void small_problem(benchmark::State& state) {
  const Problem problem = causal_problem(state.range(0));
  const HashedValues values;
  for (auto _ : state) {
    const Answer answer =
        solve(problem, values, find_profile("strict_f32"), Point::attention_output,
              {.sigma = true, .exact_query_error = state.range(1) != 0});
    benchmark::DoNotOptimize(answer.expected.values.data());
  }
}
BENCHMARK(small_problem)->ArgsProduct({{16, 64, 128}, {0, 1}})->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
