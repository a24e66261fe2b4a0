// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cases/placement.hpp"
#include "reference/float_format.hpp"
#include "reference/problem.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace ropecheck {

/// What the numbers of a case look like (cases/README.md says what each is for).
enum class InputKind {
  normal,   ///< q, k, v about N(0, 1)
  mean,     ///< the same, V about N(1, 1/4): sums that grow
  ramp,     ///< V rises by 1/8 with each token: errors of position add up over keys
  one_hot,  ///< V of token t is 1 in channel t mod v_head_dim: the output is the softmax row
  peaked,   ///< q four times as large: few keys count
  outlier,  ///< three channels of K twelve times, of Q 1.5 times as large, as trained models have;
            ///< scores of head_dim 64 keep a standard deviation of 4
  tied,     ///< V = K (as far as the width goes): errors of logit and value correlate
};

/// How the numbers of a program are made: a pure function of (seed, content, tensor, head,
/// channel).
struct ValueSpec {
  InputKind kind = InputKind::normal;
  FloatFormat storage = FloatFormat::f32;
  std::uint64_t seed = 0;
  HeadShape shape;
  // What laws change:
  std::vector<int> q_head_source;   ///< [num_q_heads] drawn as this head; empty: itself
  std::vector<int> kv_head_source;  ///< [num_kv_heads]
  std::vector<int> channel_source;  ///< [head_dim] the same of channels of query and key
  int value_parity = -1;  ///< 0, 1: values of tokens of the other parity are zero; -1: all
  std::uint64_t neighbour_salt = 0;  ///< not 0: every sequence but 0 has other numbers

  [[nodiscard]] bool operator==(const ValueSpec&) const = default;
};

/// Values of a program, rounded to its storage format.
class GeneratedValues final : public Values {
 public:
  /// Errors: throws Error{invalid_argument} for a source list of another length than its axis.
  explicit GeneratedValues(ValueSpec spec);
  void row(TensorRole role, ContentId content, int head, std::span<double> out) const override;
  [[nodiscard]] const ValueSpec& spec() const { return spec_; }

 private:
  void draw(TensorRole role, ContentId content, int head, std::span<double> out) const;
  void shape_query_or_key(TensorRole role, std::span<double> out) const;
  void shape_value(ContentId content, std::span<double> out) const;
  [[nodiscard]] int channel_source(int channel) const;
  [[nodiscard]] std::uint64_t seed_of(ContentId content) const;

  ValueSpec spec_;
  std::uint64_t neighbour_seed_ = 0;
  std::array<int, 3> outlier_channels_{};  ///< as drawn, before channel_source
};

/// One number about N(0, 1) (sum of four uniforms, scaled; |x| <= 3.47), before rounding.
[[nodiscard]] double normal_value(std::uint64_t seed, ContentId content, TensorRole role, int head,
                                  int channel);

/// Numbers of a meaningless cell, rounded to `storage`; `cell` makes them differ from cell to cell.
/// Shape: out [dim].
void garbage_row(Garbage garbage, const ValueSpec& spec, TensorRole role, std::uint64_t cell,
                 int head, std::span<double> out);

}  // namespace ropecheck
