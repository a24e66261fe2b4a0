// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cases/case.hpp"

#include <cstdint>

namespace ropecheck {

/// Tokens at the front of a row that a shift leaves alone.
inline constexpr std::int64_t kKeptTokens = 2;

/// The scenario of a case: its family's steps, with the model and contract of its axes. The
/// placement is asked for one thing only: how many columns pads take, where the contract lets pads
/// consume coordinates.
[[nodiscard]] Scenario build_scenario(const CaseSpec& spec, const Placement& placement);

}  // namespace ropecheck
