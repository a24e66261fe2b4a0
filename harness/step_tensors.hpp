// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cases/inputs.hpp"
#include "cases/placement.hpp"
#include "cases/program.hpp"
#include "cases/resolve.hpp"
#include "harness/tensor.hpp"
#include "ropecheck/backend.h"

#include <cstdint>
#include <vector>

namespace ropecheck {

/// All tensors of one step, filled as a layout says, with garbage in every cell without a token.
/// Neither movable nor copyable: `args` points at the tensors.
class StepTensors {
 public:
  /// `values` and `table` are as handed over (handed.hpp); `call_number` makes garbage differ from
  /// call to call.
  StepTensors(Arena& arena, const Program& program, const Values& values, const RopeTable& table,
              const CallLayout& layout, const ResolvedCall& resolved, std::int64_t call_number,
              std::int64_t max_position);
  StepTensors(const StepTensors&) = delete;
  StepTensors& operator=(const StepTensors&) = delete;

  ropecheck_step_args args{};
  std::uint32_t offered = 0;  ///< args.offered points here

  Tensor query, key, value;
  Tensor output, rotated_query, rotated_key, used_position_ids;

  /// Digest of everything that the backend must not change.
  [[nodiscard]] std::size_t input_digest() const;

 private:
  void make_rows(Arena& arena, const CallLayout& layout);
  void fill_rows(Tensor& tensor, TensorRole role, const std::vector<std::int64_t>& cells,
                 const std::vector<TokenRef>& tokens);
  void add_positions(Arena& arena, const CallLayout& layout,
                     const std::vector<std::int64_t>& q_coordinates,
                     const std::vector<std::int64_t>& k_coordinates);
  void add_token_tables(Arena& arena, const CallLayout& layout,
                        const std::vector<std::int64_t>& q_coordinates,
                        const std::vector<std::int64_t>& k_coordinates);
  void add_structure(Arena& arena, const CallLayout& layout);
  void add_outputs(Arena& arena);

  const Program& program_;
  const Values& values_;
  const RopeTable& table_;
  std::int64_t call_number_;
  std::int64_t max_position_;
  std::vector<Tensor> roots_;  ///< inputs whose bytes must not change
  Tensor position_ids_, key_position_ids_, keep_mask_, cu_seqlens_q_, cu_seqlens_kv_;
  Tensor query_cos_, query_sin_, key_cos_, key_sin_;
  Tensor slot_mapping_, seq_lens_, sequence_ids_;
};

/// Coordinates of the rows of problem.queries.
[[nodiscard]] std::vector<std::int64_t> query_coordinates(const Problem& problem);
/// Coordinates of the rows of problem.keys: where all their rotations lead.
[[nodiscard]] std::vector<std::int64_t> key_coordinates(const Problem& problem);

}  // namespace ropecheck
