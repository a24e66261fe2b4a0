// SPDX-License-Identifier: Apache-2.0
#include "harness/step_tensors.hpp"

#include "cases/random.hpp"
#include "harness/model.hpp"
#include "reference/error.hpp"

#include <algorithm>

namespace ropecheck {
namespace {

/// Draws positions of pads and cells of garbage; any values do.
constexpr std::uint64_t kPadStream = 0x70616473;

std::vector<std::int64_t> shape_of(const CallLayout& layout, std::int64_t columns) {
  if (layout.form == Form::packed) return {columns};
  return {layout.num_rows, columns};
}

std::vector<std::int64_t> with(std::vector<std::int64_t> shape,
                               std::initializer_list<std::int64_t> more) {
  shape.insert(shape.end(), more);
  return shape;
}

}  // namespace

std::vector<std::int64_t> query_coordinates(const Problem& problem) {
  std::vector<std::int64_t> coordinates;
  coordinates.reserve(problem.queries.size());
  for (const QueryRow& query : problem.queries) coordinates.push_back(query.rotation.coordinate);
  return coordinates;
}

std::vector<std::int64_t> key_coordinates(const Problem& problem) {
  std::vector<std::int64_t> coordinates;
  coordinates.reserve(problem.keys.size());
  for (const KeyRow& key : problem.keys) {
    std::int64_t coordinate = 0;
    for (const Rotation& rotation : problem.rotations_of(key)) {
      coordinate += rotation.inverse ? -rotation.coordinate : rotation.coordinate;
    }
    coordinates.push_back(coordinate);
  }
  return coordinates;
}

StepTensors::StepTensors(Arena& arena, const Program& program, const Values& values,
                         const RopeTable& table, const CallLayout& layout,
                         const ResolvedCall& resolved, std::int64_t call_number,
                         std::int64_t max_position)
    : program_(program),
      values_(values),
      table_(table),
      call_number_(call_number),
      max_position_(max_position) {
  const std::vector<std::int64_t> q_coordinates = query_coordinates(resolved.problem);
  const std::vector<std::int64_t> k_coordinates = key_coordinates(resolved.problem);
  args.struct_size = sizeof args;
  args.form = layout.form == Form::padded ? ROPECHECK_FORM_PADDED : ROPECHECK_FORM_PACKED;
  args.num_rows = layout.num_rows;
  make_rows(arena, layout);
  fill_rows(query, TensorRole::query, layout.query_cells, resolved.queries);
  fill_rows(key, TensorRole::key, layout.key_cells, resolved.keys);
  fill_rows(value, TensorRole::value, layout.key_cells, resolved.keys);
  args.query = query.abi();
  args.key = key.abi();
  args.value = value.abi();
  add_positions(arena, layout, q_coordinates, k_coordinates);
  add_token_tables(arena, layout, q_coordinates, k_coordinates);
  add_structure(arena, layout);
  add_outputs(arena);
}

void StepTensors::make_rows(Arena& arena, const CallLayout& layout) {
  const auto [q_heads, kv_heads, head_dim, v_head_dim] = program_.scenario.model.shape;
  const std::int32_t dtype = dtype_of(program_.values.storage);
  const bool same_columns = layout.form == Form::padded || layout.q_columns == layout.k_columns;
  if (program_.placement.fused_qkv && same_columns) {
    // Query column c stands at kv column kv_len - q_len + c, so one tensor can hold all three.
    const int column_axis = layout.form == Form::packed ? 0 : 1;
    const int head_axis = column_axis + 1;
    const Tensor fused(arena, dtype,
                       with(shape_of(layout, layout.k_columns),
                            {q_heads + 2 * kv_heads, std::max(head_dim, v_head_dim)}));
    const auto part = [&](std::int64_t first_head, std::int64_t heads, std::int64_t width) {
      return fused.slice(head_axis, first_head, heads).slice(head_axis + 1, 0, width);
    };
    query = part(0, q_heads, head_dim)
                .slice(column_axis, layout.k_columns - layout.q_columns, layout.q_columns);
    key = part(q_heads, kv_heads, head_dim);
    value = part(q_heads + kv_heads, kv_heads, v_head_dim);
    roots_ = {fused};
    return;
  }
  query = Tensor(arena, dtype, with(shape_of(layout, layout.q_columns), {q_heads, head_dim}));
  key = Tensor(arena, dtype, with(shape_of(layout, layout.k_columns), {kv_heads, head_dim}));
  value = Tensor(arena, dtype, with(shape_of(layout, layout.k_columns), {kv_heads, v_head_dim}));
  roots_ = {query, key, value};
}

void StepTensors::fill_rows(Tensor& tensor, TensorRole role, const std::vector<std::int64_t>& cells,
                            const std::vector<TokenRef>& tokens) {
  const std::int64_t heads = tensor.shape()[tensor.shape().size() - 2];
  std::vector<double> numbers(static_cast<std::size_t>(tensor.shape().back()));
  for (std::size_t cell = 0; cell < cells.size(); ++cell) {
    for (std::int64_t head = 0; head < heads; ++head) {
      if (cells[cell] == kNoToken) {
        const std::uint64_t name = (static_cast<std::uint64_t>(call_number_) << 32) + cell;
        garbage_row(program_.placement.garbage, program_.values, role, name, static_cast<int>(head),
                    numbers);
      } else {
        values_.row(role, tokens[static_cast<std::size_t>(cells[cell])].content,
                    static_cast<int>(head), numbers);
      }
      tensor.write_row(static_cast<std::int64_t>(cell) * heads + head, numbers);
    }
  }
}

void StepTensors::add_positions(Arena& arena, const CallLayout& layout,
                                const std::vector<std::int64_t>& q_coordinates,
                                const std::vector<std::int64_t>& k_coordinates) {
  if (!program_.placement.positions_given) return;
  const std::int32_t dtype = dtype_of(program_.placement.index_type);
  Random random(program_.placement.seed, kPadStream + static_cast<std::uint64_t>(call_number_));
  const auto positions = [&](const std::vector<std::int64_t>& cells,
                             const std::vector<std::int64_t>& coordinates, std::int64_t columns) {
    std::vector<std::int64_t> ids(cells.size());
    for (std::size_t i = 0; i < cells.size(); ++i) {
      ids[i] =
          cells[i] == kNoToken
              ? static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(max_position_)))
              : coordinates[static_cast<std::size_t>(cells[i])];
    }
    return index_tensor(arena, dtype, shape_of(layout, columns), ids);
  };
  position_ids_ = positions(layout.query_cells, q_coordinates, layout.q_columns);
  key_position_ids_ = positions(layout.key_cells, k_coordinates, layout.k_columns);
  args.position_ids = position_ids_.abi();
  args.key_position_ids = key_position_ids_.abi();
}

void StepTensors::add_token_tables(Arena& arena, const CallLayout& layout,
                                   const std::vector<std::int64_t>& q_coordinates,
                                   const std::vector<std::int64_t>& k_coordinates) {
  if (program_.placement.rope_form != RopeForm::tables_by_token) return;
  const auto fill = [&](const std::vector<std::int64_t>& cells,
                        const std::vector<std::int64_t>& coordinates, std::int64_t columns,
                        double magnitude, Tensor& cos, Tensor& sin) {
    cos = Tensor(arena, ROPECHECK_DTYPE_F32,
                 with(shape_of(layout, columns), {table_width(program_)}));
    sin = Tensor(arena, ROPECHECK_DTYPE_F32,
                 with(shape_of(layout, columns), {table_width(program_)}));
    std::vector<double> cos_row, sin_row;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (cells[i] == kNoToken) continue;  // stays NaN: a pad has no rotation
      table_row(table_, RopeForm::tables_by_token, coordinates[static_cast<std::size_t>(cells[i])],
                magnitude, cos_row, sin_row);
      cos.write_row(static_cast<std::int64_t>(i), cos_row);
      sin.write_row(static_cast<std::int64_t>(i), sin_row);
    }
  };
  fill(layout.query_cells, q_coordinates, layout.q_columns, table_.magnitude_q, query_cos_,
       query_sin_);
  fill(layout.key_cells, k_coordinates, layout.k_columns, table_.magnitude_k, key_cos_, key_sin_);
  args.query_cos = query_cos_.abi();
  args.query_sin = query_sin_.abi();
  args.key_cos = key_cos_.abi();
  args.key_sin = key_sin_.abi();
}

void StepTensors::add_structure(Arena& arena, const CallLayout& layout) {
  const std::int32_t dtype = dtype_of(program_.placement.index_type);
  if (!layout.keep_mask.empty()) {
    const std::vector<std::int64_t> keep(layout.keep_mask.begin(), layout.keep_mask.end());
    keep_mask_ =
        index_tensor(arena, ROPECHECK_DTYPE_U8, {layout.num_rows, layout.mask_columns}, keep);
    args.keep_mask = keep_mask_.abi();
  }
  if (layout.form == Form::packed) {
    cu_seqlens_q_ = index_tensor(arena, dtype, {layout.num_rows + 1}, layout.cu_seqlens_q);
    cu_seqlens_kv_ = index_tensor(arena, dtype, {layout.num_rows + 1}, layout.cu_seqlens_kv);
    args.cu_seqlens_q = cu_seqlens_q_.abi();
    args.cu_seqlens_kv = cu_seqlens_kv_.abi();
  }
  if (program_.placement.cache == CacheOwner::caller) {
    slot_mapping_ =
        index_tensor(arena, dtype, shape_of(layout, layout.q_columns), layout.slot_mapping);
    seq_lens_ = index_tensor(arena, dtype, {layout.num_rows}, layout.seq_lens);
    args.slot_mapping = slot_mapping_.abi();
    args.seq_lens = seq_lens_.abi();
  }
  if (program_.placement.cache == CacheOwner::backend) {
    const std::vector<std::int64_t> ids(layout.row_sequence.begin(), layout.row_sequence.end());
    sequence_ids_ = index_tensor(arena, dtype, {layout.num_rows}, ids);
    args.sequence_ids = sequence_ids_.abi();
  }
  for (const Tensor* tensor : {&position_ids_, &key_position_ids_, &keep_mask_, &cu_seqlens_q_,
                               &cu_seqlens_kv_, &query_cos_, &query_sin_, &key_cos_, &key_sin_,
                               &slot_mapping_, &seq_lens_, &sequence_ids_}) {
    if (tensor->given()) roots_.push_back(*tensor);
  }
}

void StepTensors::add_outputs(Arena& arena) {
  const std::int32_t dtype = dtype_of(program_.values.storage);
  std::vector<std::int64_t> output_shape = query.shape();
  output_shape.back() = program_.scenario.model.shape.v_head_dim;
  output = Tensor(arena, dtype, output_shape);
  args.output = output.abi();
  if (program_.placement.rope_form != RopeForm::rotated) {
    rotated_query = Tensor(arena, dtype, query.shape());
    rotated_key = Tensor(arena, dtype, key.shape());
    args.rotated_query = rotated_query.abi();
    args.rotated_key = rotated_key.abi();
    offered |= ROPECHECK_OBSERVE_ROTATED_QUERY | ROPECHECK_OBSERVE_ROTATED_KEY;
    std::vector<std::int64_t> position_shape = query.shape();
    position_shape.resize(position_shape.size() - 2);
    used_position_ids = Tensor(arena, ROPECHECK_DTYPE_I64, position_shape);
    args.used_position_ids = used_position_ids.abi();
    offered |= ROPECHECK_OBSERVE_POSITION_IDS;
  }
  args.offered = &offered;
}

std::size_t StepTensors::input_digest() const {
  std::size_t digest = 0;
  for (const Tensor& root : roots_) digest = digest * 1099511628211u + root.digest();
  return digest;
}

}  // namespace ropecheck
