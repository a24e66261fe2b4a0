// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cases/laws.hpp"

#include <optional>
#include <string>

namespace ropecheck {

/// A term whose heads and channels are those of the base.
[[nodiscard]] LawTerm same_heads(Program program);

/// A relation with one program on the other side: rotated queries and keys and outputs are equal.
/// Rotated keys are left out where a token has more than one.
[[nodiscard]] LawPlan equal_rows(Program other);

/// A relation with one program on the other side: outputs are equal, rotations are not.
[[nodiscard]] LawPlan equal_outputs(Program other);

/// The calls of a scenario with all tokens of a sequence in the first of them; other steps are
/// dropped.
[[nodiscard]] std::vector<Step> merge_calls(const std::vector<Step>& steps);

/// Applies to every case.
[[nodiscard]] inline std::optional<std::string> applies(const CaseSpec&) { return std::nullopt; }

/// Applies where the backend rotates.
[[nodiscard]] inline std::optional<std::string> applies_to_rotation(const CaseSpec& spec) {
  if (spec.rope_form != RopeForm::rotated) return std::nullopt;
  return "query and key come rotated, so that the backend does not rotate";
}

/// Applies to prefills of rows whose rope a backend can take to any position.
[[nodiscard]] std::optional<std::string> applies_to_rotate_call(const CaseSpec& spec);

}  // namespace ropecheck
