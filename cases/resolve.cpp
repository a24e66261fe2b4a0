// SPDX-License-Identifier: Apache-2.0
#include "cases/resolve.hpp"

#include "reference/error.hpp"

#include <algorithm>
#include <string_view>
#include <type_traits>
#include <utility>

namespace ropecheck {
namespace {

// ---- does a scenario make sense? ----

/// Follows a scenario by token counts alone and throws at the first step that makes no sense.
class ScenarioCheck {
 public:
  explicit ScenarioCheck(const Scenario& scenario) {
    if (scenario.num_sequences < 1) {
      fail(ErrorCode::invalid_argument,
           "scenario: num_sequences must be at least 1, got {}; a scenario is about sequences",
           scenario.num_sequences);
    }
    counts_.resize(static_cast<std::size_t>(scenario.num_sequences));
    for (; step_ < scenario.steps.size(); ++step_) {
      std::visit([this](const auto& step) { check(step); }, scenario.steps[step_]);
    }
    if (!pack_.empty()) refuse("pack", "a pack must be followed by a call; add the call");
  }

 private:
  template <typename... Args>
  [[noreturn]] void refuse(std::string_view kind, fmt::format_string<Args...> format,
                           Args&&... args) const {
    fail(ErrorCode::invalid_argument, "scenario step {} ({}): {}", step_, kind,
         fmt::format(format, std::forward<Args>(args)...));
  }

  std::int64_t& count(std::string_view kind, SequenceId id) {
    if (id < 0 || static_cast<std::size_t>(id) >= counts_.size()) {
      refuse(kind, "sequence must be one of 0 .. {}, got {}; raise num_sequences",
             counts_.size() - 1, id);
    }
    return counts_[static_cast<std::size_t>(id)];
  }

  void check_range(std::string_view kind, SequenceId id, const TokenRange& range) {
    const std::int64_t tokens = count(kind, id);
    if (range.begin < 0 || range.begin > range.end || range.end > tokens) {
      refuse(kind, "tokens [{}, {}) must lie inside sequence {}, which has {} tokens", range.begin,
             range.end, id, tokens);
    }
  }

  void check_distinct(std::string_view kind, std::vector<SequenceId> ids) const {
    std::sort(ids.begin(), ids.end());
    const auto twice = std::adjacent_find(ids.begin(), ids.end());
    if (twice != ids.end()) refuse(kind, "sequence {} stands in it twice; name it once", *twice);
  }

  void check(const Call& call) {
    std::vector<SequenceId> ids;
    for (const SequenceId id : pack_) {
      if (count("call", id) != 0) {
        refuse("call", "segment {} of the pack must have no tokens yet, has {}", id,
               count("call", id));
      }
    }
    for (const Append& append : call.appends) {
      ids.push_back(append.sequence);
      std::int64_t& tokens = count("call", append.sequence);
      if (append.count < 0) {
        refuse("call", "count of new tokens must not be negative, got {}", append.count);
      }
      if (append.stride < 1) {
        refuse("call", "stride of new tokens must be at least 1, got {}", append.stride);
      }
      tokens += append.count;
    }
    check_distinct("call", std::move(ids));
    pack_.clear();
  }

  void check(const Gap& gap) {
    static_cast<void>(count("gap", gap.sequence));
    if (gap.coordinates < 0) {
      refuse("gap", "coordinates must not be negative, got {}", gap.coordinates);
    }
  }

  void check(const Pack& pack) {
    if (!pack_.empty()) refuse("pack", "the pack before it still waits for its call; add the call");
    if (pack.segments.empty()) refuse("pack", "a pack needs at least one segment, got none");
    for (const SequenceId id : pack.segments) {
      if (count("pack", id) != 0) {
        refuse("pack", "segment {} must have no tokens yet, has {}", id, count("pack", id));
      }
    }
    check_distinct("pack", pack.segments);
    pack_ = pack.segments;
  }

  void check(const Shift& shift) { check_range("shift", shift.sequence, shift.range); }

  void check(const Remove& remove) {
    check_range("remove", remove.sequence, remove.range);
    count("remove", remove.sequence) -= remove.range.end - remove.range.begin;
  }

  void check(const Copy& copy) {
    std::int64_t& target = count("copy", copy.target);
    if (target != 0) {
      refuse("copy", "target {} must have no tokens, has {}; truncate it to 0 first", copy.target,
             target);
    }
    if (copy.source == copy.target) {
      refuse("copy", "source and target must differ, both are {}", copy.source);
    }
    target = count("copy", copy.source);
  }

  void check(const Truncate& truncate) {
    std::int64_t& tokens = count("truncate", truncate.sequence);
    if (truncate.length < 0 || truncate.length > tokens) {
      refuse("truncate", "length must be 0 .. {}, the tokens of sequence {}, got {}", tokens,
             truncate.sequence, truncate.length);
    }
    tokens = truncate.length;
  }

  void check(const Divide& divide) {
    check_range("divide", divide.sequence, divide.range);
    if (divide.divisor < 1) {
      refuse("divide", "divisor must be at least 1, got {}", divide.divisor);
    }
  }

  std::vector<std::int64_t> counts_;
  std::vector<SequenceId> pack_;
  std::size_t step_ = 0;
};

std::int64_t floor_divide(std::int64_t value, std::int64_t divisor) {
  const std::int64_t quotient = value / divisor;
  return value % divisor < 0 ? quotient - 1 : quotient;
}

// ---- problems ----

/// The sequences whose tokens are the keys of a call: those of the call, each after the segments
/// that it sees. Segments of a pack come out in the order of the pack, since each brings along all
/// those before it.
std::vector<SequenceId> key_sequences(const Call& call,
                                      const std::vector<SequenceState>& sequences) {
  std::vector<SequenceId> order;
  const auto add = [&order](SequenceId id) {
    if (std::find(order.begin(), order.end(), id) == order.end()) order.push_back(id);
  };
  for (const Append& append : call.appends) {
    for (const SequenceId seen : sequences[static_cast<std::size_t>(append.sequence)].sees) {
      add(seen);
    }
    add(append.sequence);
  }
  return order;
}

/// Appends `ranges` to the pool, ascending, those that touch as one, empty ones left out.
void add_ranges(std::vector<KeyRange> ranges, QueryRow& query, std::vector<KeyRange>& pool) {
  std::sort(ranges.begin(), ranges.end(),
            [](const KeyRange& a, const KeyRange& b) { return a.begin < b.begin; });
  query.first_range = static_cast<std::uint32_t>(pool.size());
  for (const KeyRange& range : ranges) {
    if (range.begin == range.end) continue;
    if (pool.size() > query.first_range && pool.back().end == range.begin) {
      pool.back().end = range.end;
    } else {
      pool.push_back(range);
    }
  }
  query.num_ranges = static_cast<std::uint32_t>(pool.size()) - query.first_range;
}

/// Adds all tokens of a sequence as keys. Returns the rows that they take.
KeyRange add_keys(SequenceId id, const SequenceState& sequence, ResolvedCall& resolved) {
  Problem& problem = resolved.problem;
  const auto begin = static_cast<std::int64_t>(problem.keys.size());
  for (const Token& token : sequence.tokens) {
    resolved.keys.push_back(
        {id, static_cast<std::int64_t>(problem.keys.size()) - begin, token.content});
    problem.keys.push_back({token.content, static_cast<std::uint32_t>(problem.rotations.size()),
                            static_cast<std::uint32_t>(token.rotations.size())});
    problem.rotations.insert(problem.rotations.end(), token.rotations.begin(),
                             token.rotations.end());
  }
  return {begin, static_cast<std::int64_t>(problem.keys.size())};
}

/// Adds the last `count` tokens of a sequence as queries. `seen` are the keys of earlier segments,
/// `own` those of the sequence.
void add_queries(SequenceId id, const SequenceState& sequence, std::int64_t count,
                 const std::vector<KeyRange>& seen, const KeyRange& own, ResolvedCall& resolved) {
  const auto length = static_cast<std::int64_t>(sequence.tokens.size());
  for (std::int64_t index = length - count; index < length; ++index) {
    const Token& token = sequence.tokens[static_cast<std::size_t>(index)];
    QueryRow query;
    query.content = token.content;
    query.rotation.coordinate = token.coordinate;
    std::vector<KeyRange> visible = seen;
    visible.push_back({own.begin, own.begin + index + 1});
    add_ranges(std::move(visible), query, resolved.problem.ranges);
    resolved.problem.queries.push_back(query);
    resolved.queries.push_back({id, index, token.content});
    resolved.own_key.push_back(own.begin + index);
  }
}

}  // namespace

Interpreter::Interpreter(const Scenario& scenario)
    : scenario_(&scenario),
      table_(
          make_rope_table(scenario.model.rule, scenario.model.rotary_dim, scenario.model.layout)) {
  ScenarioCheck check(scenario);
  sequences_.resize(static_cast<std::size_t>(scenario.num_sequences));
  for (SequenceState& sequence : sequences_) {
    sequence.next_coordinate = scenario.contract.first_coordinate;
  }
}

std::optional<ResolvedCall> Interpreter::advance() {
  ROPECHECK_CHECK(!done(), "advance beyond the {} steps of the scenario", scenario_->steps.size());
  const Step& step = scenario_->steps[next_++];
  if (const auto* call = std::get_if<Call>(&step)) {
    if (pack_.empty()) {
      for (const Append& tokens : call->appends) append(tokens);
    } else {
      append_pack(*call);
    }
    return resolve_call(*call);
  }
  std::visit(
      [this](const auto& edit) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(edit)>, Call>) apply(edit);
      },
      step);
  return std::nullopt;
}

void Interpreter::append(const Append& append) {
  for (std::int64_t t = 0; t < append.count; ++t) {
    std::int64_t& next = at(append.sequence).next_coordinate;
    append_token(append.sequence, next);
    next += append.stride;
  }
}

void Interpreter::append_pack(const Call& call) {
  const bool continued = scenario_->contract.segment_positions == SegmentPositions::continued;
  const bool shared = scenario_->contract.segment_visibility == SegmentVisibility::shared;
  std::int64_t start = scenario_->contract.first_coordinate;
  for (std::size_t s = 0; s < pack_.size(); ++s) {
    SequenceState& segment = at(pack_[s]);
    if (shared) segment.sees.assign(pack_.begin(), pack_.begin() + static_cast<std::ptrdiff_t>(s));
    if (continued) {
      // What the segment consumed before the call (a gap) comes after the segment before it.
      segment.next_coordinate += start - scenario_->contract.first_coordinate;
    }
    const auto own = std::find_if(call.appends.begin(), call.appends.end(),
                                  [&](const Append& a) { return a.sequence == pack_[s]; });
    if (own != call.appends.end()) append(*own);
    start = segment.tokens.empty() ? segment.next_coordinate : segment.tokens.back().coordinate + 1;
  }
  for (const Append& tokens : call.appends) {
    const bool packed = std::find(pack_.begin(), pack_.end(), tokens.sequence) != pack_.end();
    if (!packed) append(tokens);
  }
  pack_.clear();
}

void Interpreter::append_token(SequenceId id, std::int64_t coordinate) {
  SequenceState& sequence = at(id);
  Token token;
  token.content = token_content(id, sequence.num_appended++);
  token.coordinate = coordinate;
  token.rotations.push_back({.table = 0, .coordinate = coordinate});
  sequence.tokens.push_back(std::move(token));
}

void Interpreter::move_token(Token& token, std::int64_t coordinate) const {
  if (coordinate == token.coordinate) return;
  if (scenario_->contract.cached_keys == CachedKeys::rotated) {
    token.rotations.push_back(
        {.table = 0, .coordinate = coordinate - token.coordinate, .magnitude_power = 0});
  } else {
    token.rotations = {{.table = 0, .coordinate = coordinate}};
  }
  token.coordinate = coordinate;
}

void Interpreter::continue_after_last(SequenceState& sequence) const {
  sequence.next_coordinate = sequence.tokens.empty() ? scenario_->contract.first_coordinate
                                                     : sequence.tokens.back().coordinate + 1;
}

void Interpreter::apply(const Gap& gap) { at(gap.sequence).next_coordinate += gap.coordinates; }

void Interpreter::apply(const Pack& pack) { pack_ = pack.segments; }

void Interpreter::apply(const Shift& shift) {
  SequenceState& sequence = at(shift.sequence);
  for (std::int64_t t = shift.range.begin; t < shift.range.end; ++t) {
    Token& token = sequence.tokens[static_cast<std::size_t>(t)];
    move_token(token, token.coordinate + shift.delta);
  }
  continue_after_last(sequence);
}

void Interpreter::apply(const Remove& remove) {
  SequenceState& sequence = at(remove.sequence);
  sequence.tokens.erase(sequence.tokens.begin() + remove.range.begin,
                        sequence.tokens.begin() + remove.range.end);
  continue_after_last(sequence);
}

void Interpreter::apply(const Copy& copy) {
  const SequenceState& source = at(copy.source);
  SequenceState& target = at(copy.target);
  // Never below what the target has used up: its truncated tokens must not come back.
  const std::int64_t num_appended = std::max(source.num_appended, target.num_appended);
  target = source;
  target.num_appended = num_appended;
  std::erase(target.sees, copy.target);  // itself, as far as causality lets it
}

void Interpreter::apply(const Truncate& truncate) {
  SequenceState& sequence = at(truncate.sequence);
  sequence.tokens.resize(static_cast<std::size_t>(truncate.length));
  continue_after_last(sequence);
}

void Interpreter::apply(const Divide& divide) {
  SequenceState& sequence = at(divide.sequence);
  for (std::int64_t t = divide.range.begin; t < divide.range.end; ++t) {
    Token& token = sequence.tokens[static_cast<std::size_t>(t)];
    move_token(token, floor_divide(token.coordinate, divide.divisor));
  }
  continue_after_last(sequence);
}

ResolvedCall Interpreter::resolve_call(const Call& call) const {
  ResolvedCall resolved;
  Problem& problem = resolved.problem;
  problem.shape = scenario_->model.shape;
  problem.softmax_scale = scenario_->model.softmax_scale;
  problem.empty_row = scenario_->contract.empty_row;
  problem.tables = {table_};

  std::vector<KeyRange> rows(sequences_.size());
  const std::vector<SequenceId> shown = key_sequences(call, sequences_);
  std::size_t num_keys = 0;
  for (const SequenceId id : shown) num_keys += sequence(id).tokens.size();
  resolved.keys.reserve(num_keys);
  problem.keys.reserve(num_keys);
  problem.rotations.reserve(num_keys);
  for (const SequenceId id : shown) {
    rows[static_cast<std::size_t>(id)] = add_keys(id, sequence(id), resolved);
  }
  for (const Append& append : call.appends) {
    const SequenceState& own = sequence(append.sequence);
    std::vector<KeyRange> seen;
    for (const SequenceId id : own.sees) seen.push_back(rows[static_cast<std::size_t>(id)]);
    add_queries(append.sequence, own, append.count, seen,
                rows[static_cast<std::size_t>(append.sequence)], resolved);
  }
  return resolved;
}

ResolvedCall resolve(const Scenario& scenario, std::size_t step) {
  if (step >= scenario.steps.size() || !std::holds_alternative<Call>(scenario.steps[step])) {
    fail(ErrorCode::invalid_argument,
         "resolve: step {} of a scenario of {} steps is no call; name a step that is one", step,
         scenario.steps.size());
  }
  Interpreter interpreter(scenario);
  while (interpreter.next_index() < step) static_cast<void>(interpreter.advance());
  return *interpreter.advance();
}

}  // namespace ropecheck
