// SPDX-License-Identifier: Apache-2.0
// Sigma is honest: every rounding of an emulated kernel is drawn at random, and the deviation that
// is observed over the draws is compared with the sigma that was computed.
#include "harness/tests/catch.hpp"
#include "reference/solve.hpp"
#include "reference/tests/noisy_kernel.hpp"
#include "reference/tests/random_problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace ropecheck {
namespace {

using namespace ropecheck::testing;

constexpr int kDraws = 64;
/// Of sigma / observed deviation, at the 0.1 % and 99.9 % quantiles.
constexpr double kLowest = 0.8;
constexpr double kHighest = 6;
/// Elements that no draw moved, and rows outside the domain of the model: at most this share.
/// A zero that is the sum of zeros (one-hot values that the row does not see) is not one of them.
constexpr double kMaxExcluded = 0.05;

enum class Kind { normal, value_mean, value_ramp, one_hot, peaked, value_is_key, key_outliers };

constexpr std::pair<Kind, const char*> kKinds[] = {
    {Kind::normal, "normal"},
    {Kind::value_mean, "values of mean 1"},
    {Kind::value_ramp, "value ramp"},
    {Kind::one_hot, "one-hot values"},
    {Kind::peaked, "peaked"},
    {Kind::value_is_key, "values = keys"},
    {Kind::key_outliers, "outlier channels in keys"}};

/// Numbers of one kind, rounded to the storage format as a kernel receives them; made once, since
/// every draw reads them.
class KindValues : public Values {
 public:
  KindValues(Kind kind, FloatFormat storage, const Problem& problem)
      : kind_(kind), storage_(storage), num_keys_(static_cast<double>(problem.keys.size())) {
    const auto width = static_cast<std::size_t>(problem.shape.head_dim);
    for (const KeyRow& key : problem.keys) {
      make(TensorRole::key, key.content, width);
      make(TensorRole::value, key.content, static_cast<std::size_t>(problem.shape.v_head_dim));
    }
    for (const QueryRow& query : problem.queries) make(TensorRole::query, query.content, width);
  }

  void row(TensorRole role, ContentId content, int head, std::span<double> out) const override {
    const std::vector<double>& made = rows_.at({role, content, head});
    std::copy(made.begin(), made.end(), out.begin());
  }

 private:
  void make(TensorRole role, ContentId content, std::size_t width) {
    for (int head = 0; head < 2; ++head) {
      std::vector<double>& out = rows_[{role, content, head}];
      out.resize(width);
      const bool is_copy = role == TensorRole::value && kind_ == Kind::value_is_key;
      normal_.row(is_copy ? TensorRole::key : role, content, head, out);
      for (std::size_t d = 0; d < width; ++d) {
        out[d] = round_to(storage_, shape(role, content, d, width, out[d]));
      }
    }
  }

  /// What the kind makes of a standard normal number.
  [[nodiscard]] double shape(TensorRole role, ContentId content, std::size_t d, std::size_t width,
                             double x) const {
    if (role == TensorRole::query) return kind_ == Kind::peaked ? 4 * x : x;
    if (role == TensorRole::key) {
      const bool is_outlier = d == 3 || d == width / 2 + 5;
      return kind_ == Kind::key_outliers && is_outlier ? 10 + x : x;
    }
    if (kind_ == Kind::value_mean) return 1 + x;
    if (kind_ == Kind::one_hot) return content % width == d ? 1 : 0;
    if (kind_ != Kind::value_ramp) return x;
    return 2 * static_cast<double>(content) / num_keys_ + 0.1 * static_cast<double>(d);
  }

  Kind kind_;
  FloatFormat storage_;
  double num_keys_;
  NormalValues normal_;
  std::map<std::tuple<TensorRole, ContentId, int>, std::vector<double>> rows_;
};

/// sigma / observed of every element that counts.
struct Ratios {
  std::vector<double> values;
  std::size_t num_zero = 0;     ///< exactly zero, with nothing that could be rounded
  std::size_t num_unmoved = 0;  ///< not moved by any draw
  std::size_t num_ill = 0;

  [[nodiscard]] double quantile(double at) const {
    return values[static_cast<std::size_t>(at * static_cast<double>(values.size() - 1) + 0.5)];
  }
  [[nodiscard]] double excluded() const {
    const auto out = static_cast<double>(num_unmoved + num_ill);
    return out / (out + static_cast<double>(values.size()));
  }
};

/// Root mean square of the draws about what is expected.
std::vector<double> observe(const NoisyKernel& kernel, const Problem& problem, const Values& values,
                            const Answer& answer, bool lse) {
  const std::vector<double>& expected = lse ? answer.lse.values : answer.expected.values;
  std::vector<double> squares(expected.size());
  for (int draw = 0; draw < kDraws; ++draw) {
    const NoisyOutput noisy =
        run_noisy_kernel(kernel, problem, values, static_cast<std::uint64_t>(draw));
    const std::vector<double>& actual = lse ? noisy.lse : noisy.output;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      squares[i] += (actual[i] - expected[i]) * (actual[i] - expected[i]);
    }
  }
  for (double& x : squares) x = std::sqrt(x / kDraws);
  return squares;
}

void add_ratios(const NoisyKernel& kernel, const Profile& profile, Kind kind,
                const Problem& problem, SolveOptions options, bool lse, Ratios* ratios) {
  const KindValues values(kind, profile.storage, problem);
  const Answer answer = solve(problem, values, profile, Point::attention_output, options);
  const std::vector<double> observed = observe(kernel, problem, values, answer, lse);
  const std::vector<double>& sigma = lse ? answer.lse_sigma.values : answer.sigma.values;
  const std::vector<double>& expected = lse ? answer.lse.values : answer.expected.values;
  const std::size_t width = lse ? 1 : static_cast<std::size_t>(problem.shape.v_head_dim);
  for (std::size_t i = 0; i < observed.size(); ++i) {
    if (expected[i] == 0 && observed[i] == 0) {
      ++ratios->num_zero;
    } else if (observed[i] == 0) {
      ++ratios->num_unmoved;
    } else if (answer.ill_conditioned[i / width] != 0) {
      ++ratios->num_ill;
    } else {
      ratios->values.push_back(sigma[i] / observed[i]);
    }
  }
}

/// A prefill from the start, rows far out, and two decode rows; grouped heads.
std::vector<Problem> scenes() {
  const HeadShape shape{.num_q_heads = 2, .num_kv_heads = 1, .head_dim = 64, .v_head_dim = 64};
  return {causal_problem(shape, 64, 64, 0), causal_problem(shape, 64, 32, 100000),
          causal_problem(shape, 256, 1, 0), causal_problem(shape, 200, 1, 100000)};
}

Ratios measure(const NoisyKernel& kernel, const Profile& profile, Kind kind,
               SolveOptions options = {}, bool lse = false) {
  Ratios ratios;
  for (const Problem& problem : scenes()) {
    add_ratios(kernel, profile, kind, problem, options, lse, &ratios);
  }
  std::sort(ratios.values.begin(), ratios.values.end());
  return ratios;
}

/// A kernel and the profile that declares it.
struct Declared {
  NoisyKernel kernel;
  Profile profile;
};

std::vector<Declared> presets() {
  return {{{KernelStyle::plain, FloatFormat::f32}, find_profile("strict_f32")},
          {{KernelStyle::flash, FloatFormat::f16}, find_profile("flash_f16")},
          {{KernelStyle::flash, FloatFormat::bf16}, find_profile("flash_bf16")},
          {{KernelStyle::eager, FloatFormat::f16}, find_profile("eager_f16")},
          {{KernelStyle::eager, FloatFormat::bf16}, find_profile("eager_bf16")}};
}

Declared with_cache() {
  Declared declared{{KernelStyle::plain, FloatFormat::f32, FloatFormat::bf16},
                    find_profile("strict_f32")};
  declared.profile.name = "strict_f32, bf16 cache";
  declared.profile.cache_k = declared.profile.cache_v = unit_roundoff(FloatFormat::bf16);
  return declared;
}

Declared with_scaled_query() {
  Declared declared{{KernelStyle::flash, FloatFormat::f16, FloatFormat::f64, true},
                    find_profile("flash_f16")};
  declared.profile.name = "flash_f16, scaled query";
  declared.profile.scaled_query = unit_roundoff(FloatFormat::f16);
  return declared;
}

Declared with_sums_toward_zero() {
  Declared declared{{KernelStyle::plain, FloatFormat::f32, FloatFormat::f64, false, true},
                    find_profile("strict_f32")};
  declared.profile.name = "strict_f32, toward zero";
  declared.profile.sum_rounding = SumRounding::toward_zero;
  return declared;
}

std::string describe(const Declared& declared, const char* kind, const Ratios& ratios) {
  return fmt::format(
      "{}, {}: sigma / observed from {:.2f} (median {:.2f}) to {:.2f} over {} elements; {} zero, "
      "{} not moved, {} ill-conditioned",
      declared.profile.name, kind, ratios.quantile(0.001), ratios.quantile(0.5),
      ratios.quantile(0.999), ratios.values.size(), ratios.num_zero, ratios.num_unmoved,
      ratios.num_ill);
}

void check(const Declared& declared, const char* kind, const Ratios& ratios) {
  INFO(describe(declared, kind, ratios));
  CHECK(ratios.quantile(0.001) > kLowest);
  CHECK(ratios.quantile(0.999) < kHighest);
  CHECK(ratios.excluded() < kMaxExcluded);
}

TEST_CASE("sigma is the deviation that random rounding gives, in every preset and input kind") {
  for (const Declared& declared : presets()) {
    for (const auto& [kind, name] : kKinds) {
      check(declared, name, measure(declared.kernel, declared.profile, kind));
    }
  }
}

TEST_CASE("sigma is the deviation that random rounding gives, with a rounded cache and query") {
  for (const Declared& declared : {with_cache(), with_scaled_query()}) {
    for (Kind kind : {Kind::value_mean, Kind::one_hot, Kind::peaked}) {
      check(declared, "", measure(declared.kernel, declared.profile, kind));
    }
  }
}

TEST_CASE("sigma covers sums that round toward zero") {
  // a bound here: how far sums drift depends on how large they are on the way
  const Declared declared = with_sums_toward_zero();
  for (Kind kind : {Kind::value_mean, Kind::value_ramp, Kind::one_hot, Kind::key_outliers}) {
    const Ratios ratios = measure(declared.kernel, declared.profile, kind);
    INFO(describe(declared, "", ratios));
    CHECK(ratios.quantile(0.001) > kLowest);
  }
}

TEST_CASE("the sigma of the log-sum-exp is the deviation that random rounding gives") {
  for (const Declared& declared : {presets()[0], presets()[2]}) {
    for (Kind kind : {Kind::normal, Kind::peaked, Kind::key_outliers}) {
      check(declared, "log-sum-exp",
            measure(declared.kernel, declared.profile, kind, {}, /*lse=*/true));
    }
  }
}

TEST_CASE("logit errors may be taken as independent where keys and values are") {
  for (const Declared& declared : {presets()[0], presets()[2]}) {
    const Ratios ratios = measure(declared.kernel, declared.profile, Kind::normal,
                                  {.sigma = true, .exact_query_error = false});
    INFO(describe(declared, "independent", ratios));
    CHECK(ratios.quantile(0.001) > kLowest);
    CHECK(ratios.quantile(0.5) < 3);
  }
}

}  // namespace
}  // namespace ropecheck
