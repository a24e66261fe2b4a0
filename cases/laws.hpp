// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cases/program.hpp"
#include "reference/solve.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ropecheck {

/// How a law is checked.
enum class LawKind {
  relation,         ///< the backend's answers to related programs, against each other
  pair_norm,        ///< norms of rotated pairs equal those before, times the magnitude
  tail_untouched,   ///< channels that are not rotated are the input, bit for bit
  value_untouched,  ///< cached values are the input, bit for bit
  origin_identity,  ///< at coordinate 0 a rotation changes nothing (magnitude 1)
  composition,      ///< rotate by a, then by b = rotate by a + b (call `rotate`)
  inverse,          ///< rotate by a, then back = unchanged (call `rotate`)
};

/// One program on the other side of a relation, and how its answers line up with those of the case.
/// Answers are matched by token: the row of a token on one side is compared with the row of the
/// token of the same content on the other.
struct LawTerm {
  Program program;
  std::vector<int> q_head_of;   ///< [base q heads] head of the other side; empty: the same
  std::vector<int> kv_head_of;  ///< the same for keys
  std::vector<int>
      channel_of;  ///< [head_dim] channel of the other side, for rotated q and k; empty: the same
};

/// base = sum of the terms, at each of the points, for the tokens of the base that all terms hold.
struct LawPlan {
  std::vector<Point> points;
  std::vector<LawTerm> terms;
  std::vector<SequenceId> sequences;  ///< whose tokens are compared; empty: of all sequences
};

/// One law: a statement that holds for a right kernel whatever the reference says.
struct Law {
  std::string_view name;                      ///< snake_case, key of CaseSpec::law
  std::string_view statement;                 ///< one sentence
  std::string_view formula;                   ///< ASCII
  std::string_view holds;                     ///< where it holds
  std::span<const std::string_view> catches;  ///< fault kinds that it can see
  LawKind kind = LawKind::relation;
  /// Keys of the axes that `not_applicable` reads, with blanks between; the family apart.
  std::string_view depends_on;
  /// Why the law says nothing about a case, or nothing.
  std::optional<std::string> (*not_applicable)(const CaseSpec& spec) = nullptr;
  /// The related programs; null unless kind is relation.
  LawPlan (*plan)(const CaseSpec& spec, const Program& base) = nullptr;
};

/// All laws, in the order of cases/laws/.
[[nodiscard]] std::span<const Law> laws();

/// Errors: throws Error{not_found} that lists the names.
[[nodiscard]] const Law& find_law(std::string_view name);

}  // namespace ropecheck
