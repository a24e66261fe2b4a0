// SPDX-License-Identifier: Apache-2.0
#include "harness/model.hpp"

#include "reference/error.hpp"

#include <algorithm>
#include <cstdlib>
#include <unordered_map>

namespace ropecheck {
namespace {

std::int32_t rope_form(RopeForm form) {
  switch (form) {
    case RopeForm::rule: return ROPECHECK_ROPE_RULE;
    case RopeForm::inv_freq: return ROPECHECK_ROPE_INV_FREQ;
    case RopeForm::rotated: return ROPECHECK_ROPE_ROTATED;
    default: return ROPECHECK_ROPE_TABLES;
  }
}

std::int32_t table_width_form(RopeForm form) {
  switch (form) {
    case RopeForm::tables_full: return ROPECHECK_TABLE_FULL;
    case RopeForm::tables_joined: return ROPECHECK_TABLE_JOINED;
    default: return ROPECHECK_TABLE_HALF;
  }
}

bool has_position_tables(RopeForm form) {
  return form == RopeForm::tables_half || form == RopeForm::tables_full ||
         form == RopeForm::tables_joined;
}

/// Adds where all tokens stand, and by how far those that stood elsewhere have moved.
void note_coordinates(const Scenario& scenario, const Interpreter& interpreter, Extent& extent,
                      std::unordered_map<ContentId, std::int64_t>& before) {
  for (SequenceId id = 0; id < scenario.num_sequences; ++id) {
    for (const Token& token : interpreter.sequence(id).tokens) {
      extent.coordinates.push_back(token.coordinate);
      const auto [known, is_new] = before.try_emplace(token.content, token.coordinate);
      if (is_new || known->second == token.coordinate) continue;
      extent.coordinates.push_back(std::abs(token.coordinate - known->second));
      known->second = token.coordinate;
    }
  }
}

}  // namespace

Extent extent_of(const Scenario& scenario) {
  Extent extent;
  Interpreter interpreter(scenario);
  std::unordered_map<ContentId, std::int64_t> before;
  while (!interpreter.done()) {
    const Step& step = interpreter.next_step();
    const bool edit = !std::holds_alternative<Call>(step) && !std::holds_alternative<Gap>(step) &&
                      !std::holds_alternative<Pack>(step);
    if (edit) note_coordinates(scenario, interpreter, extent, before);
    interpreter.advance();
    if (edit) note_coordinates(scenario, interpreter, extent, before);
    extent.edits |= edit;
  }
  note_coordinates(scenario, interpreter, extent, before);
  for (SequenceId id = 0; id < scenario.num_sequences; ++id) {
    extent.num_appended.push_back(interpreter.sequence(id).num_appended);
    extent.max_tokens = std::max(extent.max_tokens, extent.num_appended.back());
  }
  std::sort(extent.coordinates.begin(), extent.coordinates.end());
  extent.coordinates.erase(std::unique(extent.coordinates.begin(), extent.coordinates.end()),
                           extent.coordinates.end());
  if (!extent.coordinates.empty()) extent.max_coordinate = extent.coordinates.back();
  return extent;
}

std::int64_t table_width(const Program& program) {
  const RopeForm form = program.placement.rope_form;
  const int rotary_dim = program.scenario.model.rotary_dim;
  return form == RopeForm::tables_full || form == RopeForm::tables_joined ? rotary_dim
                                                                          : rotary_dim / 2;
}

void table_row(const RopeTable& table, RopeForm form, std::int64_t coordinate, double magnitude,
               std::vector<double>& cos, std::vector<double>& sin) {
  const auto pairs = static_cast<std::size_t>(table.num_pairs());
  std::vector<CosSin> row(pairs);
  cos_sin_row(table, coordinate, row);
  const bool wide = form == RopeForm::tables_full || form == RopeForm::tables_joined;
  cos.assign(wide ? 2 * pairs : pairs, 0.0);
  sin.assign(form == RopeForm::tables_joined ? 0 : cos.size(), 0.0);
  for (std::size_t i = 0; i < pairs; ++i) {
    const double c = magnitude * row[i].cos;
    const double s = magnitude * row[i].sin;
    if (form == RopeForm::tables_joined) {
      cos[i] = c;
      cos[pairs + i] = s;
    } else if (form == RopeForm::tables_full) {
      const auto [first, second] =
          pair_channels(table.layout_in, static_cast<int>(i), table.rotary_dim, 0);
      for (const int channel : {first, second}) {
        cos[static_cast<std::size_t>(channel)] = c;
        sin[static_cast<std::size_t>(channel)] = s;
      }
    } else {
      cos[i] = c;
      sin[i] = s;
    }
  }
}

ModelDescription::ModelDescription(Arena& arena, const Program& program, const RopeTable& table,
                                   const Extent& extent, std::string options)
    : options_(std::move(options)) {
  describe_rope(arena, program, table, extent);
  describe_contract(program, extent);
  const Placement& placement = program.placement;
  usage_.struct_size = sizeof usage_;
  usage_.calls = ROPECHECK_CALL_STEP;
  if (extent.edits && placement.cache == CacheOwner::backend)
    usage_.calls |= ROPECHECK_CALL_EDIT_CACHE;
  usage_.forms = placement.form == Form::padded ? 1 : 2;
  usage_.strided_inputs = placement.fused_qkv ? 1 : 0;
}

void ModelDescription::describe_rope(Arena& arena, const Program& program, const RopeTable& table,
                                     const Extent& extent) {
  const Model& model = program.scenario.model;
  const RopeForm form = program.placement.rope_form;
  rope_.struct_size = sizeof rope_;
  rope_.form = rope_form(form);
  rope_.rope_type = model.rule.type == RopeType::linear ? ROPECHECK_ROPE_TYPE_LINEAR
                                                        : ROPECHECK_ROPE_TYPE_DEFAULT;
  rope_.pair_layout = model.layout == PairLayout::half_split ? ROPECHECK_PAIR_HALF_SPLIT
                                                             : ROPECHECK_PAIR_INTERLEAVED;
  rope_.rotary_dim = model.rotary_dim;
  rope_.num_axes = 1;
  rope_.rope_theta = model.rule.rope_theta;
  rope_.factor = model.rule.factor;
  rope_.original_max_position = model.rule.original_max_position;
  rope_.magnitude_q = table.magnitude_q;
  rope_.magnitude_k = table.magnitude_k;
  if (rope_.form == ROPECHECK_ROPE_INV_FREQ) {
    inv_freq_ = Tensor(arena, ROPECHECK_DTYPE_F32, {table.num_pairs()});
    std::vector<double> row;
    for (const DoubleDouble& w : table.inv_freq) row.push_back(w.hi);
    inv_freq_.write_row(0, row);
    rope_.inv_freq = inv_freq_.abi();
  }
  if (rope_.form != ROPECHECK_ROPE_TABLES) return;
  rope_.table_width = table_width_form(form);
  rope_.table_index =
      has_position_tables(form) ? ROPECHECK_TABLE_BY_POSITION : ROPECHECK_TABLE_BY_TOKEN;
  if (!has_position_tables(form)) return;
  const std::int64_t width = table_width(program);
  const std::vector<std::int64_t> shape = {extent.max_coordinate + 1, width};
  cos_ = Tensor(arena, ROPECHECK_DTYPE_F32, shape);
  if (form != RopeForm::tables_joined) sin_ = Tensor(arena, ROPECHECK_DTYPE_F32, shape);
  std::vector<double> cos, sin;
  // Rows of coordinates that do not occur stay NaN: nobody has a reason to read them.
  for (const std::int64_t coordinate : extent.coordinates) {
    if (coordinate < 0) continue;
    table_row(table, form, coordinate, table.magnitude_q, cos, sin);
    cos_.write_row(coordinate, cos);
    if (sin_.given()) sin_.write_row(coordinate, sin);
  }
  rope_.cos = cos_.abi();
  rope_.sin = sin_.abi();
}

void ModelDescription::describe_contract(const Program& program, const Extent& extent) {
  const auto& [model, contract, num_sequences, steps] = program.scenario;
  const Placement& placement = program.placement;
  const std::int32_t storage = dtype_of(program.values.storage);
  model_.struct_size = sizeof model_;
  model_.num_layers = 1;
  model_.num_q_heads = model.shape.num_q_heads;
  model_.num_kv_heads = model.shape.num_kv_heads;
  model_.head_dim = model.shape.head_dim;
  model_.v_head_dim = model.shape.v_head_dim;
  model_.storage_dtype = storage;
  model_.cache_dtype = storage;
  switch (placement.cache) {
    case CacheOwner::none: model_.cache_owner = ROPECHECK_CACHE_NONE; break;
    case CacheOwner::caller: model_.cache_owner = ROPECHECK_CACHE_CALLER; break;
    case CacheOwner::backend: model_.cache_owner = ROPECHECK_CACHE_BACKEND; break;
  }
  model_.cache_layout = ROPECHECK_CACHE_CONTIGUOUS;
  model_.cached_keys = contract.cached_keys == CachedKeys::rotated ? ROPECHECK_KEYS_ROTATED
                                                                   : ROPECHECK_KEYS_UNROTATED;
  model_.pad_positions = contract.pad_positions == PadPositions::valid_rank
                             ? ROPECHECK_PADS_VALID_RANK
                             : ROPECHECK_PADS_PHYSICAL_COLUMN;
  model_.segment_positions = contract.segment_positions == SegmentPositions::restart
                                 ? ROPECHECK_SEGMENTS_RESTART
                                 : ROPECHECK_SEGMENTS_CONTINUE;
  model_.segment_visibility = contract.segment_visibility == SegmentVisibility::isolated
                                  ? ROPECHECK_SEGMENTS_ISOLATED
                                  : ROPECHECK_SEGMENTS_SHARED;
  model_.empty_row = ROPECHECK_EMPTY_ROW_ZEROS;
  model_.visibility = ROPECHECK_VISIBILITY_CAUSAL;
  model_.window_left = -1;
  model_.window_right = 0;
  model_.positions =
      placement.positions_given ? ROPECHECK_POSITIONS_GIVEN : ROPECHECK_POSITIONS_DERIVED;
  model_.mask_form = ROPECHECK_MASK_KEEP_2D;
  model_.index_dtype = dtype_of(placement.index_type);
  model_.num_threads = 1;
  model_.first_position = contract.first_coordinate;
  model_.max_position = extent.max_coordinate + 1;
  model_.max_sequences = num_sequences;
  model_.max_tokens = placement.cache == CacheOwner::caller
                          ? cache_capacity(program.scenario, placement)
                          : extent.max_tokens + placement.spare_slots;
  model_.softmax_scale = model.softmax_scale;
  ropes_[0] = &rope_;
  model_.ropes = ropes_;
  model_.options = options_.empty() ? nullptr : options_.c_str();
}

}  // namespace ropecheck
