// SPDX-License-Identifier: Apache-2.0
#include "reference/rope.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "reference/double_double_kernels.hpp"
#include "reference/error.hpp"

namespace ropecheck {

std::string_view to_string(PairLayout layout) {
  return layout == PairLayout::half_split ? "half" : "inter";
}

std::string_view to_string(RopeType type) {
  return type == RopeType::default_ ? "default" : "linear";
}

std::vector<DoubleDouble> inv_freq_default(double rope_theta, int rotary_dim) {
  if (!(rope_theta > 0) || !std::isfinite(rope_theta)) {
    fail(ErrorCode::invalid_argument,
         "rope rule, field 'rope_theta': must be positive and finite, got {}", rope_theta);
  }
  if (rotary_dim < 0 || rotary_dim % 2 != 0) {
    fail(ErrorCode::invalid_argument,
         "rope rule, field 'rotary_dim': must be even and not negative, got {}", rotary_dim);
  }
  // inv_freq_i = rope_theta^(-2i/rotary_dim) = exp(-2i/rotary_dim * log(rope_theta))
  const DoubleDouble log_theta = log(DoubleDouble{rope_theta, 0});
  std::vector<DoubleDouble> inv_freq;
  for (int i = 0; i < rotary_dim / 2; ++i) {
    const DoubleDouble numerator = DoubleDouble{-2.0 * i, 0} * log_theta;
    inv_freq.push_back(exp(numerator / DoubleDouble{static_cast<double>(rotary_dim), 0}));
  }
  return inv_freq;
}

std::vector<DoubleDouble> inv_freq_linear(double rope_theta, int rotary_dim, double factor) {
  if (!(factor > 0) || !std::isfinite(factor)) {
    fail(ErrorCode::invalid_argument,
         "rope rule, field 'factor': must be positive and finite, got {}", factor);
  }
  std::vector<DoubleDouble> inv_freq = inv_freq_default(rope_theta, rotary_dim);
  for (DoubleDouble& frequency : inv_freq) frequency = frequency / DoubleDouble{factor, 0};
  return inv_freq;
}

RopeTable make_rope_table(const RopeRule& rule, int rotary_dim, PairLayout layout) {
  RopeTable table;
  switch (rule.type) {
    case RopeType::default_: table.inv_freq = inv_freq_default(rule.rope_theta, rotary_dim); break;
    case RopeType::linear:
      table.inv_freq = inv_freq_linear(rule.rope_theta, rotary_dim, rule.factor);
      break;
  }
  table.layout_in = layout;
  table.layout_out = layout;
  table.rotary_dim = rotary_dim;
  return table;
}

PairStride pair_stride(PairLayout layout, int rotary_dim) {
  return layout == PairLayout::half_split ? PairStride{1, rotary_dim / 2} : PairStride{2, 1};
}

std::pair<int, int> pair_channels(PairLayout layout, int pair, int rotary_dim, int rotary_offset) {
  const PairStride stride = pair_stride(layout, rotary_dim);
  const int first = rotary_offset + pair * stride.step;
  return {first, first + stride.partner};
}

namespace {

void copy_given_row(const GivenRows& rows, std::int64_t coordinate, std::span<CosSin> out) {
  const auto row = rows.find(std::abs(coordinate));
  ROPECHECK_CHECK(row != rows.end() && row->second.size() == out.size(),
                  "no given row of {} pairs for coordinate {}", out.size(), coordinate);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = row->second[i];
    if (coordinate < 0) out[i].sin = -out[i].sin;
  }
}

}  // namespace

void cos_sin_row(const RopeTable& table, std::int64_t coordinate, std::span<CosSin> out) {
  ROPECHECK_CHECK(out.size() == table.inv_freq.size(), "expected {} pairs, got room for {}",
                  table.inv_freq.size(), out.size());
  kernels::check_position(coordinate);
  if (table.given != nullptr) return copy_given_row(*table.given, coordinate, out);
  const auto position = static_cast<double>(coordinate);
  const DoubleDouble* inv_freq = table.inv_freq.data();
  CosSin* cos_sin = out.data();
  for (std::size_t i = 0; i < out.size(); ++i) {
    cos_sin[i] = kernels::cos_sin(position, inv_freq[i]);
  }
}

void rotate_row(const RopeTable& table, std::span<const CosSin> cos_sin, double magnitude,
                bool inverse, std::span<const double> in, std::span<double> out) {
  const std::size_t num_pairs = table.inv_freq.size();
  const auto begin = static_cast<std::size_t>(table.rotary_offset);
  ROPECHECK_CHECK(table.rotary_offset >= 0 && table.rotary_dim == 2 * table.num_pairs() &&
                      begin + 2 * num_pairs <= in.size(),
                  "rotary channels [{}, {} + {}) of {}, {} pairs", begin, begin, table.rotary_dim,
                  in.size(), num_pairs);
  ROPECHECK_CHECK(in.size() == out.size() && cos_sin.size() == num_pairs,
                  "in {}, out {}, cos_sin {}", in.size(), out.size(), cos_sin.size());
  const auto window_in = in.subspan(begin, 2 * num_pairs);
  const auto window_out = out.subspan(begin, 2 * num_pairs);
  std::vector<double> moved;
  const double* source = window_in.data();
  if (in.data() != out.data()) {
    std::copy_n(in.begin(), begin, out.begin());
    std::copy(in.begin() + static_cast<std::ptrdiff_t>(begin + 2 * num_pairs), in.end(),
              out.begin() + static_cast<std::ptrdiff_t>(begin + 2 * num_pairs));
  } else if (table.layout_in != table.layout_out) {
    // A pair's new place may still hold another pair's input.
    moved.assign(window_in.begin(), window_in.end());
    source = moved.data();
  }

  // (a, b) -> magnitude (a cos - b sin, b cos + a sin)
  const PairStride from = pair_stride(table.layout_in, table.rotary_dim);
  const PairStride to = pair_stride(table.layout_out, table.rotary_dim);
  for (std::size_t i = 0; i < num_pairs; ++i) {
    const double* pair_in = source + i * from.step;
    double* pair_out = window_out.data() + i * to.step;
    const double a = pair_in[0];
    const double b = pair_in[from.partner];
    const double cosine = cos_sin[i].cos;
    const double sine = inverse ? -cos_sin[i].sin : cos_sin[i].sin;
    pair_out[0] = magnitude * (a * cosine - b * sine);
    pair_out[to.partner] = magnitude * (b * cosine + a * sine);
  }
}

}  // namespace ropecheck
