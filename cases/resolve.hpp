// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cases/scenario.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace ropecheck {

/// Content of token number `ordinal` (counted over all appends) of a sequence.
[[nodiscard]] constexpr ContentId token_content(SequenceId sequence, std::int64_t ordinal) {
  return (static_cast<ContentId>(sequence + 1) << 40) | static_cast<ContentId>(ordinal);
}
/// The ordinal of a content made by token_content.
[[nodiscard]] constexpr std::int64_t ordinal_of(ContentId content) {
  return static_cast<std::int64_t>(content & ((ContentId{1} << 40) - 1));
}
[[nodiscard]] constexpr SequenceId sequence_of(ContentId content) {
  return static_cast<SequenceId>(content >> 40) - 1;
}

/// One token of a sequence, as it stands now.
struct Token {
  ContentId content = 0;
  std::int64_t coordinate = 0;  ///< what RoPE rotates by [tokens]
  /// That its key carries, in order; their coordinates sum up to `coordinate`.
  std::vector<Rotation> rotations;
};

struct SequenceState {
  std::vector<Token> tokens;
  std::int64_t next_coordinate = 0;
  std::int64_t num_appended = 0;  ///< ordinal of the next token
  std::vector<SequenceId> sees;   ///< earlier segments of its pack that it sees
};

/// A token by the sequence that holds it and its index there when the call is made.
struct TokenRef {
  SequenceId sequence = 0;
  std::int64_t index = 0;
  ContentId content = 0;
};

/// The right problem of one call.
struct ResolvedCall {
  Problem problem;
  /// Of each row of problem.queries: appends in order, tokens in order.
  std::vector<TokenRef> queries;
  std::vector<TokenRef> keys;         ///< of each row of problem.keys
  std::vector<std::int64_t> own_key;  ///< [queries] row of problem.keys of the query's own token
};

/// Runs a scenario step by step. Knows no placement.
class Interpreter {
 public:
  /// Errors: throws Error{invalid_argument} naming the step for a scenario that makes no sense:
  ///         unknown sequence, a range outside the tokens, a negative count, a pack of sequences
  ///         with tokens.
  explicit Interpreter(const Scenario& scenario);

  [[nodiscard]] bool done() const { return next_ == scenario_->steps.size(); }
  [[nodiscard]] const Step& next_step() const { return scenario_->steps[next_]; }
  [[nodiscard]] std::size_t next_index() const { return next_; }

  /// Applies the next step. A call gives its problem; any other step gives nothing.
  std::optional<ResolvedCall> advance();

  /// The state after the steps applied so far.
  [[nodiscard]] const SequenceState& sequence(SequenceId id) const {
    return sequences_[static_cast<std::size_t>(id)];
  }

 private:
  SequenceState& at(SequenceId id) { return sequences_[static_cast<std::size_t>(id)]; }
  void apply(const Gap& gap);
  void apply(const Pack& pack);
  void apply(const Shift& shift);
  void apply(const Remove& remove);
  void apply(const Copy& copy);
  void apply(const Truncate& truncate);
  void apply(const Divide& divide);
  void append(const Append& append);
  /// Tokens of a call that opens a pack: each segment starts where the contract says.
  void append_pack(const Call& call);
  void append_token(SequenceId id, std::int64_t coordinate);
  void move_token(Token& token, std::int64_t coordinate) const;
  void continue_after_last(SequenceState& sequence) const;
  /// The problem of a call whose tokens are already appended.
  [[nodiscard]] ResolvedCall resolve_call(const Call& call) const;

  const Scenario* scenario_;
  RopeTable table_;
  std::size_t next_ = 0;
  std::vector<SequenceState> sequences_;
  std::vector<SequenceId> pack_;  ///< pending pack, or empty
};

/// The right problem of the call at `step`. Errors: as Interpreter; a step that is no call.
[[nodiscard]] ResolvedCall resolve(const Scenario& scenario, std::size_t step);

}  // namespace ropecheck
