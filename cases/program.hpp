// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cases/case.hpp"
#include "reference/profile.hpp"

namespace ropecheck {

/// All that one execution needs: meaning, layout, numbers, and where rounding is allowed.
struct Program {
  Scenario scenario;
  Placement placement;
  ValueSpec values;
  Profile profile;  ///< of the limits, with what is handed over taken out (tables: phase 0)
  bool exact_query_error = true;
  std::int64_t sampled_rows = 0;
};

/// Tokens of every row before decoding, the longest row last. Drawn from what shapes the scenario,
/// not from the seed: a seed changes numbers only.
/// Shape: [rows].
[[nodiscard]] std::vector<std::int64_t> row_lengths(const CaseSpec& spec);

/// No coordinate of the case is beyond this one.
[[nodiscard]] std::int64_t coordinate_bound(const CaseSpec& spec);

/// Multiply-adds that the exact term of the query's rounding costs over all calls of the case.
[[nodiscard]] double exact_query_cost(const CaseSpec& spec);

/// Whether limits of the case hold only with that term: inputs whose errors of logit and value
/// correlate, and calls or comparisons of few rows.
[[nodiscard]] bool needs_exact_query_error(const CaseSpec& spec);

/// The program of a case. Errors: throws Error{invalid_argument} with contradiction(spec).
[[nodiscard]] Program build_program(const CaseSpec& spec);

}  // namespace ropecheck
