// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cases/program.hpp"
#include "harness/model.hpp"
#include "reference/problem.hpp"

#include <memory>

namespace ropecheck {

// What a kernel is handed cannot be its fault: where it is handed inverse frequencies, cos and sin, or
// rotated rows, in some storage format, the numbers as stored are what is right for it.

/// The table of a program as its backend is handed it: inv_freq rounded to float32, or cos and sin
/// rounded to float32 at every coordinate that occurs, or exact.
[[nodiscard]] RopeTable handed_table(const Program& program, const Extent& extent);

/// Puts what is handed over into a call's problem (`table` from handed_table), and gives the numbers
/// of its rows as the backend receives them. Where the harness rotates (RopeForm::rotated; in the
/// float32 dialect, rounded to storage), the first rotation of every row becomes an identity, and so do
/// the later ones of keys that the harness keeps.
[[nodiscard]] std::shared_ptr<const Values> hand_over(const Program& program,
                                                      const RopeTable& table,
                                                      std::shared_ptr<const Values> values,
                                                      Problem& problem);

}  // namespace ropecheck
