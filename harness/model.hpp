// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cases/program.hpp"
#include "harness/tensor.hpp"

#include <cstdint>
#include <string>

namespace ropecheck {

/// What a scenario needs of a session.
struct Extent {
  std::int64_t max_coordinate = 0;  ///< greatest coordinate that ever occurs
  std::int64_t max_tokens = 0;      ///< most tokens that a sequence ever had, removed ones included
  std::vector<std::int64_t> num_appended;  ///< [sequences] tokens that it ever gets
  bool edits = false;                      ///< has a step that changes cached keys
  /// That tokens are rotated to, and distances that cached keys move by; ascending, each once.
  std::vector<std::int64_t> coordinates;
};

/// Runs through a scenario without solving it.
[[nodiscard]] Extent extent_of(const Scenario& scenario);

/// A program's model, rope and usage as the ABI has them. Neither movable nor copyable: the structs
/// point at each other.
class ModelDescription {
 public:
  /// `table`: as handed_table makes it.
  ModelDescription(Arena& arena, const Program& program, const RopeTable& table,
                   const Extent& extent, std::string options);
  ModelDescription(const ModelDescription&) = delete;
  ModelDescription& operator=(const ModelDescription&) = delete;

  [[nodiscard]] const ropecheck_model& model() const { return model_; }
  [[nodiscard]] const ropecheck_rope& rope() const { return rope_; }
  [[nodiscard]] const ropecheck_usage& usage() const { return usage_; }

 private:
  void describe_rope(Arena& arena, const Program& program, const RopeTable& table,
                     const Extent& extent);
  void describe_contract(const Program& program, const Extent& extent);

  ropecheck_model model_{};
  ropecheck_rope rope_{};
  ropecheck_usage usage_{};
  const ropecheck_rope* ropes_[1] = {};
  Tensor inv_freq_, cos_, sin_;
  std::string options_;
};

/// Width of a cos row: rotary_dim/2 for half tables, rotary_dim for full and joined ones.
[[nodiscard]] std::int64_t table_width(const Program& program);

/// cos and sin of one coordinate in the form of the program's tables, before they are rounded;
/// sin is empty for joined tables. Shape: cos, sin [table_width].
void table_row(const RopeTable& table, RopeForm form, std::int64_t coordinate, double magnitude,
               std::vector<double>& cos, std::vector<double>& sin);

}  // namespace ropecheck
