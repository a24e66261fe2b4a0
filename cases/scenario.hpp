// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/problem.hpp"

#include <cstdint>
#include <variant>
#include <vector>

namespace ropecheck {

/// Whether pads consume coordinates.
enum class PadPositions { valid_rank, physical_column };
/// Whether the segments of a pack start anew or run on.
enum class SegmentPositions { restart, continued };
/// Whether a query sees the earlier segments of its pack.
enum class SegmentVisibility { isolated, shared };
/// Whether a cached key carries its rotation, so that a shift re-rotates it.
enum class CachedKeys { rotated, unrotated };

/// What the right meaning is, where checkpoints and runtimes differ. Defaults: Hugging Face decoders.
struct Contract {
  PadPositions pad_positions = PadPositions::valid_rank;
  SegmentPositions segment_positions = SegmentPositions::restart;
  SegmentVisibility segment_visibility = SegmentVisibility::isolated;
  CachedKeys cached_keys = CachedKeys::rotated;
  EmptyRow empty_row = EmptyRow::zeros;
  std::int64_t first_coordinate = 0;

  [[nodiscard]] bool operator==(const Contract&) const = default;
};

/// What a checkpoint's attention is made of.
struct Model {
  HeadShape shape;
  int rotary_dim = 64;
  PairLayout layout = PairLayout::half_split;
  RopeRule rule;
  double softmax_scale = 0.125;

  [[nodiscard]] bool operator==(const Model&) const = default;
};

/// Names a sequence: 0, 1, 2, ...
using SequenceId = int;

/// Tokens [begin, end) of a sequence, by their index in it.
struct TokenRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  [[nodiscard]] bool operator==(const TokenRange&) const = default;
};

/// `count` new tokens at the end of a sequence; each consumes `stride` coordinates.
/// count 0 is allowed: the sequence takes part in the call without a new token.
struct Append {
  SequenceId sequence = 0;
  std::int64_t count = 0;
  std::int64_t stride = 1;
};

/// These sequences get these new tokens together. A sequence stands in it once.
struct Call {
  std::vector<Append> appends;
};

/// The sequence consumes coordinates without a token.
struct Gap {
  SequenceId sequence = 0;
  std::int64_t coordinates = 0;
};

/// The next call packs these sequences in this order, as the contract says: where segments continue,
/// each starts one after the last coordinate of the one before; where they are shared, each sees
/// those before it. They must have no tokens yet.
struct Pack {
  std::vector<SequenceId> segments;
};

/// The coordinates of a range of tokens, and those to come if the last token is in it, move by delta.
struct Shift {
  SequenceId sequence = 0;
  TokenRange range;
  std::int64_t delta = 0;
};

/// A range of tokens is forgotten; coordinates of the others stay.
struct Remove {
  SequenceId sequence = 0;
  TokenRange range;
};

/// `target` (without tokens so far) becomes a copy: same tokens, same content, same coordinates.
struct Copy {
  SequenceId source = 0;
  SequenceId target = 0;
};

/// Keeps the first `length` tokens. Tokens appended later are new ones.
struct Truncate {
  SequenceId sequence = 0;
  std::int64_t length = 0;
};

/// The coordinates of a range are divided, rounding down.
struct Divide {
  SequenceId sequence = 0;
  TokenRange range;
  std::int64_t divisor = 1;
};

using Step = std::variant<Call, Gap, Pack, Shift, Remove, Copy, Truncate, Divide>;

/// A short program in terms of meaning.
struct Scenario {
  Model model;
  Contract contract;
  int num_sequences = 1;
  std::vector<Step> steps;
};

}  // namespace ropecheck
