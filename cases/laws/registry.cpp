// SPDX-License-Identifier: Apache-2.0
#include "cases/laws/registry.hpp"

#include "reference/error.hpp"

#include <array>

namespace ropecheck {

std::span<const Law> laws() {
  static const auto kLaws = std::to_array<Law>({
      kRunToRun,          kPaddingRemoved,
      kBatchOrder,        kBatchNeighbours,
      kPadContent,        kPackedIsSeparate,
      kChunking,          kTokenByToken,
      kShiftIsEncoded,    kCommonShift,
      kGqaIsMha,          kHeadOrder,
      kLayoutPermutation, kLinearIsScaledPosition,
      kFactorOne,         kLinearInValues,
      kPairNorm,          kTailUntouched,
      kValueUntouched,    kOriginIdentity,
      kComposition,       kInverse,
  });
  return kLaws;
}

const Law& find_law(std::string_view name) {
  std::string names;
  for (const Law& law : laws()) {
    if (law.name == name) return law;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", law.name);
  }
  fail(ErrorCode::not_found, "law: expected one of {}, got '{}'; see cases/README.md", names, name);
}

}  // namespace ropecheck
