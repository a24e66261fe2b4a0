// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cases/inputs.hpp"
#include "reference/problem.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace ropecheck {

/// The values of a program's tokens, drawn once and kept: a backend's tensors and every answer of the
/// reference need the same rows.
class KnownValues final : public Values {
 public:
  /// `num_appended`: tokens that each sequence ever gets. Shape: [sequences].
  KnownValues(const ValueSpec& spec, std::span<const std::int64_t> num_appended);

  void row(TensorRole role, ContentId content, int head, std::span<double> out) const override;

 private:
  struct Rows {
    int heads = 0;
    int width = 0;
    std::vector<double> numbers;  ///< [tokens, heads, width]
  };
  [[nodiscard]] const Rows& rows_of(TensorRole role) const {
    return rows_[static_cast<std::size_t>(role)];
  }

  std::vector<std::int64_t> first_token_;  ///< [sequences]
  Rows rows_[3];                           ///< by TensorRole
};

/// KnownValues, or GeneratedValues where keeping them would take more than half a GiB.
[[nodiscard]] std::shared_ptr<const Values> program_values(
    const ValueSpec& spec, std::span<const std::int64_t> num_appended);

}  // namespace ropecheck
