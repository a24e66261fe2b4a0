// SPDX-License-Identifier: Apache-2.0
#include "cases/inputs.hpp"

#include "cases/random.hpp"
#include "cases/resolve.hpp"
#include "reference/error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

namespace ropecheck {
namespace {

/// sqrt(3) / 2^32: the sum of four uniform 32-bit words has the standard deviation 2^32 / sqrt(3).
constexpr double kNormalScale = 0x1.bb67ae8584caap-32;
/// The mean of that sum.
constexpr std::int64_t kNormalCentre = 2 * ((std::int64_t{1} << 32) - 1);

constexpr double kMeanOfValues = 1.0;
constexpr double kSpreadAroundMean = 0.25;
constexpr std::int64_t kRampZero = 16;  ///< the token at which the ramp crosses zero
constexpr double kRampSlope = 0.125;
constexpr double kRampNoise = 0.0625;
constexpr double kPeakedQuery = 4.0;
/// Three channels of 64 with a product of 18, the others of 1: scores / 8 have the variance
/// (61 + 3 * 18^2) / 64 = 4.0^2.
constexpr double kOutlierKey = 12.0;
constexpr double kOutlierQuery = 1.5;

/// Streams of ValueSpec::seed; tokens are drawn by the seed itself.
constexpr std::uint64_t kOutlierStream = 1;
constexpr std::uint64_t kGarbageStream = 2;
constexpr std::uint64_t kNeighbourStream = 3;  ///< and above: plus the salt

constexpr double kHuge = 1e30;
constexpr double kHugeF16 = 6e4;
/// Garbage that is another token is one of the first tokens of the first two sequences.
constexpr std::uint64_t kOtherSequences = 2;
constexpr std::uint64_t kOtherTokens = 16;

constexpr std::uint32_t low_word(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
constexpr std::uint32_t high_word(std::uint64_t value) {
  return static_cast<std::uint32_t>(value >> 32);
}

/// A sum of four words as a number about N(0, 1).
inline double normal_of(std::int64_t sum) {
  return static_cast<double>(sum - kNormalCentre) * kNormalScale;
}

/// Everything that names a number but its channel.
struct Draw {
  std::array<std::uint32_t, 2> key;
  std::array<std::uint32_t, 3> counter;

  Draw(std::uint64_t seed, ContentId content, TensorRole role, int head)
      : key{low_word(seed), high_word(seed)},
        counter{low_word(content), high_word(content),
                (static_cast<std::uint32_t>(role) << 24) | static_cast<std::uint32_t>(head)} {}

  [[nodiscard]] double operator()(int channel) const {
    const auto words =
        philox({counter[0], counter[1], counter[2], static_cast<std::uint32_t>(channel)}, key);
    return normal_of(static_cast<std::int64_t>(words[0]) + words[1] + words[2] + words[3]);
  }

  /// Channels 0, 1, 2, ... of one row.
  void fill(std::span<double> out) const;
};

/// Channels drawn at once: enough to fill vectors, and loops long enough to stay loops.
constexpr std::size_t kLanes = 32;
using Lanes = std::array<std::uint32_t, kLanes>;

/// One round of philox in every lane: the same arithmetic as philox(), lane by lane, in a form that
/// compilers turn into vector code (inputs_test compares the two).
inline void philox_round(std::array<Lanes, 4>& words, const std::array<std::uint32_t, 2>& key) {
  Lanes low0, high0, low1, high1;
  for (std::size_t l = 0; l < kLanes; ++l) {
    const std::uint64_t product0 = kPhiloxMultiplier0 * words[0][l];
    const std::uint64_t product1 = kPhiloxMultiplier1 * words[2][l];
    low0[l] = low_word(product0);
    high0[l] = high_word(product0);
    low1[l] = low_word(product1);
    high1[l] = high_word(product1);
  }
  for (std::size_t l = 0; l < kLanes; ++l) {
    words[0][l] = high1[l] ^ words[1][l] ^ key[0];
    words[1][l] = low1[l];
    words[2][l] = high0[l] ^ words[3][l] ^ key[1];
    words[3][l] = low0[l];
  }
}

/// Channels first .. first + kLanes - 1.
std::array<double, kLanes> draw_lanes(const Draw& draw, std::uint32_t first) {
  std::array<Lanes, 4> words;
  for (std::size_t l = 0; l < kLanes; ++l) {
    for (std::size_t w = 0; w < 3; ++w) words[w][l] = draw.counter[w];
    words[3][l] = first + static_cast<std::uint32_t>(l);
  }
  auto key = draw.key;
  for (int round = 0; round < kPhiloxRounds; ++round) {
    philox_round(words, key);
    key = {key[0] + kPhiloxWeyl0, key[1] + kPhiloxWeyl1};
  }
  std::array<double, kLanes> numbers;
  for (std::size_t l = 0; l < kLanes; ++l) {
    numbers[l] =
        normal_of(static_cast<std::int64_t>(words[0][l]) + words[1][l] + words[2][l] + words[3][l]);
  }
  return numbers;
}

void Draw::fill(std::span<double> out) const {
  for (std::size_t begin = 0; begin < out.size(); begin += kLanes) {
    const auto numbers = draw_lanes(*this, static_cast<std::uint32_t>(begin));
    std::copy_n(numbers.begin(), std::min(kLanes, out.size() - begin), out.begin() + begin);
  }
}

std::array<int, 3> draw_outlier_channels(std::uint64_t seed, int head_dim) {
  Random random(seed, kOutlierStream);
  std::array<int, 3> channels{-1, -1, -1};
  const int count = std::min(head_dim, static_cast<int>(channels.size()));
  for (int i = 0; i < count; ++i) {
    int channel = 0;
    do {
      channel = static_cast<int>(random.below(static_cast<std::uint64_t>(head_dim)));
    } while (std::find(channels.begin(), channels.end(), channel) != channels.end());
    channels[static_cast<std::size_t>(i)] = channel;
  }
  return channels;
}

void check_sources(std::string_view name, const std::vector<int>& sources, int expected) {
  if (!sources.empty() && sources.size() != static_cast<std::size_t>(expected)) {
    fail(ErrorCode::invalid_argument,
         "value spec, field '{}': expected {} entries, one for each, or none, got {}", name,
         expected, sources.size());
  }
}

int source_of(const std::vector<int>& sources, int index) {
  return sources.empty() ? index : sources[static_cast<std::size_t>(index)];
}

void round_all(FloatFormat storage, std::span<double> values) {
  for (double& value : values) value = round_to(storage, value);
}

/// The number that fills a garbage cell of a constant kind, up to its sign.
double garbage_constant(Garbage garbage, FloatFormat storage) {
  switch (garbage) {
    case Garbage::nan: return std::numeric_limits<double>::quiet_NaN();
    case Garbage::inf: return std::numeric_limits<double>::infinity();
    case Garbage::huge: return storage == FloatFormat::f16 ? kHugeF16 : kHuge;
    default: return 0.0;
  }
}

}  // namespace

double normal_value(std::uint64_t seed, ContentId content, TensorRole role, int head, int channel) {
  return Draw(seed, content, role, head)(channel);
}

GeneratedValues::GeneratedValues(ValueSpec spec) : spec_(std::move(spec)) {
  check_sources("q_head_source", spec_.q_head_source, spec_.shape.num_q_heads);
  check_sources("kv_head_source", spec_.kv_head_source, spec_.shape.num_kv_heads);
  check_sources("channel_source", spec_.channel_source, spec_.shape.head_dim);
  outlier_channels_ = draw_outlier_channels(spec_.seed, spec_.shape.head_dim);
  neighbour_seed_ = spec_.neighbour_salt == 0
                        ? spec_.seed
                        : Random(spec_.seed, kNeighbourStream + spec_.neighbour_salt).next();
}

std::uint64_t GeneratedValues::seed_of(ContentId content) const {
  return sequence_of(content) == 0 ? spec_.seed : neighbour_seed_;
}

int GeneratedValues::channel_source(int channel) const {
  return source_of(spec_.channel_source, channel);
}

void GeneratedValues::row(TensorRole role, ContentId content, int head,
                          std::span<double> out) const {
  draw(role, content, head, out);
  if (role == TensorRole::value) {
    shape_value(content, out);
  } else {
    shape_query_or_key(role, out);
  }
  round_all(spec_.storage, out);
}

void GeneratedValues::draw(TensorRole role, ContentId content, int head,
                           std::span<double> out) const {
  const int source =
      source_of(role == TensorRole::query ? spec_.q_head_source : spec_.kv_head_source, head);
  const Draw number(seed_of(content), content, role, source);
  if (role == TensorRole::value || spec_.channel_source.empty()) {
    number.fill(out);
  } else {
    for (std::size_t c = 0; c < out.size(); ++c) out[c] = number(spec_.channel_source[c]);
  }
  if (role == TensorRole::value && spec_.kind == InputKind::tied) {
    // V is K as drawn: channel_source reorders channels of K, and must leave outputs alone.
    const Draw key(seed_of(content), content, TensorRole::key, source);
    key.fill(out.first(std::min(out.size(), static_cast<std::size_t>(spec_.shape.head_dim))));
  }
}

void GeneratedValues::shape_query_or_key(TensorRole role, std::span<double> out) const {
  if (spec_.kind == InputKind::peaked && role == TensorRole::query) {
    for (double& value : out) value *= kPeakedQuery;
  }
  if (spec_.kind == InputKind::outlier) {
    const double factor = role == TensorRole::query ? kOutlierQuery : kOutlierKey;
    for (std::size_t c = 0; c < out.size(); ++c) {
      const int source = channel_source(static_cast<int>(c));
      const auto& loud = outlier_channels_;
      if (std::find(loud.begin(), loud.end(), source) != loud.end()) out[c] *= factor;
    }
  }
}

void GeneratedValues::shape_value(ContentId content, std::span<double> out) const {
  const std::int64_t ordinal = ordinal_of(content);
  if (spec_.value_parity >= 0 && (ordinal & 1) != spec_.value_parity) {
    std::fill(out.begin(), out.end(), 0.0);
    return;
  }
  switch (spec_.kind) {
    case InputKind::mean:
      for (double& value : out) value = kMeanOfValues + kSpreadAroundMean * value;
      break;
    case InputKind::ramp:
      for (double& value : out) {
        value = static_cast<double>(ordinal - kRampZero) * kRampSlope + kRampNoise * value;
      }
      break;
    case InputKind::one_hot:
      std::fill(out.begin(), out.end(), 0.0);
      out[static_cast<std::size_t>(ordinal) % out.size()] = 1.0;
      break;
    default: break;
  }
}

void garbage_row(Garbage garbage, const ValueSpec& spec, TensorRole role, std::uint64_t cell,
                 int head, std::span<double> out) {
  if (garbage == Garbage::other_token) {
    const auto sequence = static_cast<SequenceId>(cell % kOtherSequences);
    const auto ordinal = static_cast<std::int64_t>(cell / kOtherSequences % kOtherTokens);
    GeneratedValues(spec).row(role, token_content(sequence, ordinal), head, out);
    return;
  }
  if (garbage == Garbage::noise) {
    const Draw number(Random(spec.seed, kGarbageStream).next(), cell, role, head);
    number.fill(out);
  } else {
    // Signs alternate, so that a sum over garbage meets both infinities.
    const double constant = garbage_constant(garbage, spec.storage);
    const double other = constant == 0 ? constant : -constant;
    for (std::size_t c = 0; c < out.size(); ++c) out[c] = c % 2 == 0 ? constant : other;
  }
  round_all(spec.storage, out);
}

}  // namespace ropecheck
