// SPDX-License-Identifier: Apache-2.0
#include "reference/tests/noisy_kernel.hpp"

#include "reference/tests/random_problem.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <utility>

namespace ropecheck::testing {
namespace {

constexpr std::size_t kBlock = 128;  // keys of one block of the flash style

double binade(double x) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & 0x7FF0000000000000u);
}

/// Advances a stream of random numbers; uniform in [-1, 1].
double next_xi(std::uint64_t& state) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return static_cast<double>(static_cast<std::int64_t>(state) >> 11) * 0x1p-52;
}

/// sums[i] += factor * terms[i] in float32, each lane with a stream of its own, so that the
/// compiler can take many at once.
template <bool kTowardZero>
void add_products(double factor, const double* __restrict terms, double* __restrict sums,
                  std::uint64_t* __restrict streams, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    double product = factor * terms[i];
    product += binade(product) * 0x1p-24 * next_xi(streams[i]);
    const double sum = sums[i] + product;
    const double unit = binade(sum) * 0x1p-24;
    const double xi = next_xi(streams[i]);
    sums[i] = kTowardZero ? sum - std::copysign(unit * (1 + xi), sum) : sum + unit * xi;
  }
}

class Emulation {
 public:
  Emulation(const NoisyKernel& kernel, const Problem& problem, const Values& values,
            std::uint64_t draw)
      : kernel_(kernel), problem_(problem), values_(values), state_(mix(draw + 1)) {
    const std::size_t num_lanes =
        std::max(problem.keys.size(), static_cast<std::size_t>(problem.shape.v_head_dim));
    for (std::size_t i = 0; i < num_lanes; ++i) {
      streams_.push_back(mix(state_ + (i + 1) * 0x9E3779B97F4A7C15u));
    }
    // inverse frequencies are rounded once, for all positions
    for (const DoubleDouble& inv_freq : problem.tables[0].inv_freq) {
      inv_freq_.push_back(round32(inv_freq.hi));
    }
  }

  NoisyOutput run() {
    const HeadShape& shape = problem_.shape;
    for (int head = 0; head < shape.num_kv_heads; ++head) load_keys(head);
    NoisyOutput result;
    for (const QueryRow& query : problem_.queries) {
      for (int head = 0; head < shape.num_q_heads; ++head) {
        attend(problem_.visible_to(query)[0], load_query(query, head),
               heads_[static_cast<std::size_t>(problem_.kv_head(head))], &result);
      }
    }
    return result;
  }

 private:
  /// What the cache holds of one key head.
  struct Head {
    std::vector<std::vector<double>> key_channels;  ///< [head_dim][keys]
    std::vector<std::vector<double>> values;        ///< [keys][v_head_dim]
  };

  double xi() { return next_xi(state_); }
  double round32(double x) { return x + binade(x) * 0x1p-24 * xi(); }
  double round_in(FloatFormat format, double x) {
    if (format == FloatFormat::f64 || x == 0) return x;
    const double half_spacing =
        std::max(binade(x) * unit_roundoff(format), smallest_subnormal(format) / 2);
    return x + half_spacing * xi();
  }
  double store(double x) { return round_in(kernel_.storage, x); }
  double add(double a, double b) {
    const double sum = a + b;
    if (!kernel_.sums_toward_zero) return round32(sum);
    return sum - std::copysign(binade(sum) * 0x1p-24 * (1 + xi()), sum);
  }
  double exponential(double x) {
    const double value = std::exp(x);
    return value + 2 * binade(value) * 0x1p-24 * xi();
  }

  struct Table {
    std::vector<double> cos, sin;
  };

  /// One position's row. Queries and keys round theirs apart: where both read one table, errors
  /// cancel between a query and the key of the same position, which the model does not know.
  const Table& table_at(std::int64_t coordinate, TensorRole role) {
    auto [found, is_new] = tables_.try_emplace({coordinate, role});
    Table& table = found->second;
    if (!is_new) return table;
    for (double inv_freq : inv_freq_) {
      const double angle = round32(static_cast<double>(coordinate) * inv_freq);
      // eager code casts the float32 table to its storage type
      const bool is_eager = kernel_.style == KernelStyle::eager;
      const double cos = round32(std::cos(angle));
      const double sin = round32(std::sin(angle));
      table.cos.push_back(is_eager ? store(cos) : cos);
      table.sin.push_back(is_eager ? store(sin) : sin);
    }
    return table;
  }

  void rotate(std::int64_t coordinate, TensorRole role, std::vector<double>* row) {
    const Table& table = table_at(coordinate, role);
    const std::size_t half = table.cos.size();
    const auto round = [&](double x) {
      return kernel_.style == KernelStyle::eager ? store(x) : round32(x);
    };
    for (std::size_t i = 0; i < half; ++i) {
      const double a = (*row)[i], b = (*row)[i + half];
      (*row)[i] = store(round(round(a * table.cos[i]) - round(b * table.sin[i])));
      (*row)[i + half] = store(round(round(b * table.cos[i]) + round(a * table.sin[i])));
    }
  }

  std::vector<double> load_query(const QueryRow& query, int head) {
    std::vector<double> row(static_cast<std::size_t>(problem_.shape.head_dim));
    values_.row(TensorRole::query, query.content, head, row);
    rotate(query.rotation.coordinate, TensorRole::query, &row);
    if (!kernel_.scale_query) return row;
    for (double& x : row) x = store(x * problem_.softmax_scale);
    return row;
  }

  void load_keys(int head) {
    Head cached;
    cached.key_channels.resize(static_cast<std::size_t>(problem_.shape.head_dim));
    for (const KeyRow& key : problem_.keys) {
      std::vector<double> row(static_cast<std::size_t>(problem_.shape.head_dim));
      values_.row(TensorRole::key, key.content, head, row);
      rotate(problem_.rotations_of(key)[0].coordinate, TensorRole::key, &row);
      for (std::size_t d = 0; d < row.size(); ++d) {
        cached.key_channels[d].push_back(round_in(kernel_.cache, row[d]));
      }
      std::vector<double> value(static_cast<std::size_t>(problem_.shape.v_head_dim));
      values_.row(TensorRole::value, key.content, head, value);
      for (double& x : value) x = round_in(kernel_.cache, x);
      cached.values.push_back(std::move(value));
    }
    heads_.push_back(std::move(cached));
  }

  void add(double factor, const double* terms, std::vector<double>* sums) {
    if (kernel_.sums_toward_zero) {
      add_products<true>(factor, terms, sums->data(), streams_.data(), sums->size());
    } else {
      add_products<false>(factor, terms, sums->data(), streams_.data(), sums->size());
    }
  }

  void attend(const KeyRange& range, const std::vector<double>& query, const Head& head,
              NoisyOutput* result) {
    const auto begin = static_cast<std::size_t>(range.begin);
    std::vector<double> logits(static_cast<std::size_t>(range.end - range.begin));
    for (std::size_t d = 0; d < query.size(); ++d) {
      add(query[d], head.key_channels[d].data() + begin, &logits);
    }
    const double scale = kernel_.scale_query ? 1 : problem_.softmax_scale;
    for (double& s : logits) {
      s = kernel_.style == KernelStyle::eager ? store(store(s) * scale) : round32(s * scale);
    }
    const std::span values = std::span(head.values).subspan(begin, logits.size());
    if (kernel_.style == KernelStyle::flash) {
      attend_blocked(logits, values, result);
    } else {
      attend_whole(logits, values, result);
    }
  }

  void attend_whole(std::vector<double> logits, std::span<const std::vector<double>> values,
                    NoisyOutput* result) {
    const double max = *std::max_element(logits.begin(), logits.end());
    double sum = 0;
    for (double& s : logits) {
      s = exponential(round32(s - max));
      sum = add(sum, s);
    }
    std::vector<double> output(static_cast<std::size_t>(problem_.shape.v_head_dim));
    for (std::size_t j = 0; j < logits.size(); ++j) {
      const double prob = round32(logits[j] / sum);
      add(kernel_.style == KernelStyle::eager ? store(prob) : prob, values[j].data(), &output);
    }
    for (double x : output) result->output.push_back(store(x));
    result->lse.push_back(store(max + std::log(sum)));
  }

  void attend_blocked(const std::vector<double>& logits,
                      std::span<const std::vector<double>> values, NoisyOutput* result) {
    const auto width = static_cast<std::size_t>(problem_.shape.v_head_dim);
    std::vector<double> output(width);
    double max = -INFINITY, sum = 0;
    for (std::size_t begin = 0; begin < logits.size(); begin += kBlock) {
      const std::size_t end = std::min(begin + kBlock, logits.size());
      const double block_max =
          *std::max_element(logits.begin() + static_cast<std::ptrdiff_t>(begin),
                            logits.begin() + static_cast<std::ptrdiff_t>(end));
      const double new_max = std::max(max, block_max);
      const double carry = begin == 0 ? 0 : exponential(round32(max - new_max));
      max = new_max;
      std::vector<double> block_output(width);
      double block_sum = 0;
      for (std::size_t j = begin; j < end; ++j) {
        const double prob = exponential(round32(logits[j] - max));
        block_sum = add(block_sum, prob);
        add(store(prob), values[j].data(), &block_output);
      }
      sum = add(round32(sum * carry), block_sum);
      for (std::size_t d = 0; d < width; ++d) {
        output[d] = add(round32(output[d] * carry), block_output[d]);
      }
    }
    for (double x : output) result->output.push_back(store(round32(x / sum)));
    result->lse.push_back(store(max + std::log(sum)));
  }

  const NoisyKernel& kernel_;
  const Problem& problem_;
  const Values& values_;
  std::uint64_t state_;
  std::vector<double> inv_freq_;
  std::map<std::pair<std::int64_t, TensorRole>, Table> tables_;
  std::vector<std::uint64_t> streams_;  ///< of the lanes
  std::vector<Head> heads_;             ///< by key head
};

}  // namespace

NoisyOutput run_noisy_kernel(const NoisyKernel& kernel, const Problem& problem,
                             const Values& values, std::uint64_t draw) {
  return Emulation(kernel, problem, values, draw).run();
}

}  // namespace ropecheck::testing
