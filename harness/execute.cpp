// SPDX-License-Identifier: Apache-2.0
#include "harness/execute.hpp"

#include "cases/random.hpp"
#include "harness/caller_cache.hpp"
#include "harness/handed.hpp"
#include "harness/known_values.hpp"
#include "harness/model.hpp"
#include "harness/step_tensors.hpp"
#include "reference/error.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <numeric>
#include <optional>
#include <variant>

namespace ropecheck {
namespace {

constexpr std::uint64_t kSampleStream = 0x73616d70;

/// Query rows to look at: all, or a drawn sample that keeps the first and the last.
std::vector<std::int64_t> choose_rows(std::int64_t num_rows, std::int64_t sampled,
                                      std::uint64_t seed) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(num_rows));
  std::iota(rows.begin(), rows.end(), 0);
  if (sampled == 0 || num_rows <= sampled) return rows;
  Random random(seed, kSampleStream);
  for (std::int64_t i = 2; i < sampled; ++i) {
    const auto other = random.between(i - 1, num_rows - 2);
    std::swap(rows[static_cast<std::size_t>(i) - 1], rows[static_cast<std::size_t>(other)]);
  }
  rows[static_cast<std::size_t>(sampled) - 1] = num_rows - 1;
  rows.resize(static_cast<std::size_t>(sampled));
  std::sort(rows.begin(), rows.end());
  return rows;
}

Array gather(const Tensor& tensor, std::span<const std::int64_t> cells) {
  const auto heads = static_cast<int>(tensor.shape()[tensor.shape().size() - 2]);
  const auto channels = static_cast<int>(tensor.shape().back());
  Array array(static_cast<std::int64_t>(cells.size()), heads, channels);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    for (int head = 0; head < heads; ++head) {
      double* row = array.row(static_cast<std::int64_t>(i), head);
      tensor.read_row(cells[i] * heads + head, std::span(row, static_cast<std::size_t>(channels)));
    }
  }
  return array;
}

/// Runs one program. A refusal or an error of the backend ends it; the verdict tells.
class ProgramRun {
 public:
  ProgramRun(Kernel& kernel, const Program& program, const std::string& backend_options)
      : kernel_(kernel),
        program_(program),
        extent_(extent_of(program.scenario)),
        values_(program_values(program.values, extent_.num_appended)),
        table_(handed_table(program, extent_)),
        description_(arena_, program, table_, extent_, backend_options),
        interpreter_(program.scenario),
        placer_(program.scenario, program.placement) {}

  Execution run(const std::string& name) {
    if (!open(name)) return std::move(result_);
    while (!interpreter_.done()) {
      const Step& step = interpreter_.next_step();
      const bool went_on =
          std::holds_alternative<Call>(step) ? make_call(std::get<Call>(step)) : make_edit(step);
      if (!went_on) return std::move(result_);
    }
    read_cache();
    return std::move(result_);
  }

 private:
  bool accept(const Reply& reply) {
    if (reply.ok()) return true;
    result_.verdict =
        reply.status == ROPECHECK_UNSUPPORTED ? Verdict::unsupported : Verdict::invalid;
    result_.message = reply.message;
    return false;
  }

  template <typename Function>
  Reply timed(Function&& function) {
    const auto start = std::chrono::steady_clock::now();
    Reply reply = function();
    result_.backend_seconds +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return reply;
  }

  bool open(const std::string& name) {
    ropecheck_usage usage = description_.usage();
    if (!kernel_.has_step()) {
      usage.calls = ROPECHECK_CALL_ROTATE;
      const RopeForm form = program_.placement.rope_form;
      if (form == RopeForm::rotated || form == RopeForm::tables_by_token) {
        return accept(
            {ROPECHECK_UNSUPPORTED,
             "a backend without 'step' is handed no rotated rows and no tables by token"});
      }
    }
    Reply reply = kernel_.query_support(description_.model(), usage);
    if (!accept(reply)) return false;
    session_ = timed_open(name, reply);
    if (!accept(reply)) return false;
    if (program_.placement.cache == CacheOwner::caller) cache_.emplace(arena_, program_);
    return true;
  }

  std::unique_ptr<KernelSession> timed_open(const std::string& name, Reply& reply) {
    std::unique_ptr<KernelSession> session;
    timed([&] {
      session = kernel_.open(description_.model(), name, reply);
      return reply;
    });
    return session;
  }

  bool make_call(const Call& call);
  bool make_edit(const Step& step);
  bool edit_backend_cache(const Step& step);
  bool shift_caller_cache(SequenceId sequence, const std::vector<Token>& before);
  bool rotate_slot(SequenceId sequence, std::int64_t slot, std::int64_t delta);
  Reply rotate_slot_by_kernel(Tensor slot, std::int64_t delta);
  void gather_outputs(CallRecord& record, const CallLayout& layout, const StepTensors& tensors);
  bool rotate_only(CallRecord& record, const CallLayout& layout, const StepTensors& tensors);
  void read_cache();
  void read_backend_cache(CallRecord& last);

  Kernel& kernel_;
  const Program& program_;
  Arena arena_;
  Extent extent_;
  std::shared_ptr<const Values> values_;
  RopeTable table_;
  ModelDescription description_;
  Interpreter interpreter_;
  Placer placer_;
  std::unique_ptr<KernelSession> session_;
  std::optional<CallerCache> cache_;
  CallLayout last_layout_;
  Execution result_;
};

bool ProgramRun::make_call(const Call& call) {
  CallRecord record;
  record.number = static_cast<std::int64_t>(result_.calls.size());
  record.resolved = *interpreter_.advance();
  record.values = hand_over(program_, table_, values_, record.resolved.problem);
  const CallLayout layout = placer_.place(call, record.resolved, interpreter_);
  StepTensors tensors(arena_, program_, *record.values, table_, layout, record.resolved,
                      record.number, extent_.max_coordinate + 1);
  record.compared =
      choose_rows(static_cast<std::int64_t>(record.resolved.queries.size()), program_.sampled_rows,
                  program_.placement.seed + static_cast<std::uint64_t>(record.number));
  if (!kernel_.has_step()) {
    if (!rotate_only(record, layout, tensors)) return false;
    result_.calls.push_back(std::move(record));
    return true;
  }
  if (cache_) {
    tensors.args.key_cache = cache_->keys();
    tensors.args.value_cache = cache_->values();
    cache_->remember();
  }
  const std::size_t digest = tensors.input_digest();
  const std::uint32_t asked = tensors.offered;
  if (!accept(timed([&] { return session_->step(tensors.args); }))) return false;
  tensors.offered &= asked;
  if (tensors.input_digest() != digest && !result_.changed_input) {
    result_.changed_input = fmt::format("call {} changed an input tensor", record.number);
  }
  if (cache_ && !result_.touched_slot) {
    if (const auto touched = cache_->touched_beyond(layout)) {
      result_.touched_slot = fmt::format("call {}: {}", record.number, *touched);
    }
  }
  gather_outputs(record, layout, tensors);
  last_layout_ = layout;
  result_.calls.push_back(std::move(record));
  return true;
}

void ProgramRun::gather_outputs(CallRecord& record, const CallLayout& layout,
                                const StepTensors& tensors) {
  const std::size_t num_queries = record.resolved.queries.size();
  std::vector<std::int64_t> query_cell(num_queries, kNoToken);
  for (std::size_t cell = 0; cell < layout.query_cells.size(); ++cell) {
    if (layout.query_cells[cell] == kNoToken) continue;
    query_cell[static_cast<std::size_t>(layout.query_cells[cell])] =
        static_cast<std::int64_t>(cell);
  }
  std::map<std::int64_t, std::int64_t> cell_of_key;
  for (std::size_t cell = 0; cell < layout.key_cells.size(); ++cell) {
    if (layout.key_cells[cell] != kNoToken)
      cell_of_key[layout.key_cells[cell]] = static_cast<std::int64_t>(cell);
  }
  std::vector<std::int64_t> query_cells, key_cells;
  for (const std::int64_t row : record.compared) {
    query_cells.push_back(query_cell[static_cast<std::size_t>(row)]);
    key_cells.push_back(cell_of_key.at(record.resolved.own_key[static_cast<std::size_t>(row)]));
  }
  record.attention_output = gather(tensors.output, query_cells);
  if ((tensors.offered & ROPECHECK_OBSERVE_ROTATED_QUERY) != 0u) {
    record.rotated_query = gather(tensors.rotated_query, query_cells);
  }
  if ((tensors.offered & ROPECHECK_OBSERVE_ROTATED_KEY) != 0u) {
    record.rotated_key = gather(tensors.rotated_key, key_cells);
  }
  if ((tensors.offered & ROPECHECK_OBSERVE_POSITION_IDS) != 0u) {
    Array positions(static_cast<std::int64_t>(query_cells.size()), 1, 1);
    for (std::size_t i = 0; i < query_cells.size(); ++i) {
      positions.values[i] = static_cast<double>(tensors.used_position_ids.read_int(query_cells[i]));
    }
    record.position_ids = std::move(positions);
  }
}

bool ProgramRun::rotate_only(CallRecord& record, const CallLayout& layout,
                             const StepTensors& tensors) {
  // A rotation kernel has no batch of its own: one row of all tokens, positions always given.
  const std::vector<std::int64_t> coordinates = query_coordinates(record.resolved.problem);
  const auto rotate = [&](const Tensor& input, const std::vector<std::int64_t>& cells,
                          std::int32_t role, std::optional<Array>& observed) {
    std::vector<std::int64_t> positions, places;
    for (const std::int64_t row : record.compared) {
      positions.push_back(coordinates[static_cast<std::size_t>(row)]);
      places.push_back(cells[static_cast<std::size_t>(row)]);
    }
    const Array rows = gather(input, places);
    Tensor in(arena_, input.dtype(), {1, rows.rows, rows.heads, rows.channels});
    for (std::int64_t i = 0; i < rows.rows * rows.heads; ++i) {
      in.write_row(i, std::span(rows.values)
                          .subspan(static_cast<std::size_t>(i * rows.channels),
                                   static_cast<std::size_t>(rows.channels)));
    }
    const Tensor out(arena_, input.dtype(), in.shape());
    const Tensor ids =
        index_tensor(arena_, dtype_of(program_.placement.index_type), {1, rows.rows}, positions);
    ropecheck_rotate_args args{};
    args.struct_size = sizeof args;
    args.role = role;
    args.magnitude_power = 1;
    args.input = in.abi();
    args.output = out.abi();
    args.position_ids = ids.abi();
    if (!accept(timed([&] { return session_->rotate(args); }))) return false;
    std::vector<std::int64_t> all(static_cast<std::size_t>(rows.rows));
    std::iota(all.begin(), all.end(), 0);
    observed = gather(out, all);
    return true;
  };
  std::vector<std::int64_t> query_cells(record.resolved.queries.size()),
      key_cells(record.resolved.queries.size());
  for (std::size_t cell = 0; cell < layout.query_cells.size(); ++cell) {
    if (layout.query_cells[cell] != kNoToken) {
      query_cells[static_cast<std::size_t>(layout.query_cells[cell])] =
          static_cast<std::int64_t>(cell);
    }
  }
  for (std::size_t row = 0; row < key_cells.size(); ++row) {
    const auto found =
        std::find(layout.key_cells.begin(), layout.key_cells.end(), record.resolved.own_key[row]);
    key_cells[row] = found - layout.key_cells.begin();
  }
  return rotate(tensors.query, query_cells, ROPECHECK_ROLE_QUERY, record.rotated_query) &&
         rotate(tensors.key, key_cells, ROPECHECK_ROLE_KEY, record.rotated_key);
}

bool ProgramRun::make_edit(const Step& step) {
  std::vector<std::vector<Token>> before;
  for (SequenceId id = 0; id < program_.scenario.num_sequences; ++id) {
    before.push_back(interpreter_.sequence(id).tokens);
  }
  interpreter_.advance();
  const std::vector<SlotMove> moves = placer_.edit(step, interpreter_);
  if (!kernel_.has_step()) return true;
  if (program_.placement.cache == CacheOwner::backend) return edit_backend_cache(step);
  if (!cache_) return true;
  for (const SlotMove& move : moves) cache_->move(move);
  for (SequenceId id = 0; id < program_.scenario.num_sequences; ++id) {
    if (!shift_caller_cache(id, before[static_cast<std::size_t>(id)])) return false;
  }
  return true;
}

bool ProgramRun::edit_backend_cache(const Step& step) {
  ropecheck_edit_args args{};
  args.struct_size = sizeof args;
  if (const auto* shift = std::get_if<Shift>(&step)) {
    args.operation = ROPECHECK_EDIT_SHIFT;
    args.sequence_id = shift->sequence;
    args.begin = shift->range.begin;
    args.end = shift->range.end;
    args.delta = shift->delta;
  } else if (const auto* remove = std::get_if<Remove>(&step)) {
    args.operation = ROPECHECK_EDIT_REMOVE;
    args.sequence_id = remove->sequence;
    args.begin = remove->range.begin;
    args.end = remove->range.end;
  } else if (const auto* copy = std::get_if<Copy>(&step)) {
    args.operation = ROPECHECK_EDIT_COPY;
    args.sequence_id = copy->source;
    args.target_sequence_id = copy->target;
  } else if (const auto* truncate = std::get_if<Truncate>(&step)) {
    args.operation = ROPECHECK_EDIT_TRUNCATE;
    args.sequence_id = truncate->sequence;
    args.begin = truncate->length;
  } else if (const auto* divide = std::get_if<Divide>(&step)) {
    args.operation = ROPECHECK_EDIT_DIVIDE;
    args.sequence_id = divide->sequence;
    args.begin = divide->range.begin;
    args.end = divide->range.end;
    args.divisor = divide->divisor;
  } else {
    return true;  // gaps and packs change nothing that is cached
  }
  return accept(timed([&] { return session_->edit_cache(args); }));
}

bool ProgramRun::shift_caller_cache(SequenceId sequence, const std::vector<Token>& before) {
  if (program_.scenario.contract.cached_keys == CachedKeys::unrotated) return true;
  std::map<ContentId, std::int64_t> coordinate_before;
  for (const Token& token : before) coordinate_before[token.content] = token.coordinate;
  const std::vector<Token>& tokens = interpreter_.sequence(sequence).tokens;
  for (std::size_t index = 0; index < tokens.size(); ++index) {
    const auto old = coordinate_before.find(tokens[index].content);
    if (old == coordinate_before.end() || old->second == tokens[index].coordinate) continue;
    if (!rotate_slot(sequence, placer_.slot_of(sequence, static_cast<std::int64_t>(index)),
                     tokens[index].coordinate - old->second)) {
      return false;
    }
  }
  return true;
}

bool ProgramRun::rotate_slot(SequenceId sequence, std::int64_t slot, std::int64_t delta) {
  const std::int64_t row = placer_.row_of(sequence);
  const Reply reply = rotate_slot_by_kernel(cache_->key_slot(row, slot), delta);
  if (reply.status != ROPECHECK_UNSUPPORTED) return accept(reply);
  const HeadShape& shape = program_.scenario.model.shape;
  std::vector<CosSin> phases(static_cast<std::size_t>(table_.num_pairs()));
  cos_sin_row(table_, delta, phases);
  std::vector<double> key(static_cast<std::size_t>(shape.head_dim));
  for (int head = 0; head < shape.num_kv_heads; ++head) {
    cache_->read_key(row, slot, head, key);
    rotate_row(table_, phases, 1, false, key, key);
    cache_->write_key(row, slot, head, key);
  }
  return true;
}

Reply ProgramRun::rotate_slot_by_kernel(Tensor slot, std::int64_t delta) {
  // The kernel's own rotation, in place, wherever it has one. Tables have no rows before position 0.
  const RopeForm form = program_.placement.rope_form;
  if (!kernel_.has_rotate() || form == RopeForm::rotated) return {ROPECHECK_UNSUPPORTED, ""};
  const bool has_tables = form != RopeForm::rule && form != RopeForm::inv_freq;
  const bool backwards = has_tables && delta < 0;
  const std::int64_t position = backwards ? -delta : delta;
  const Tensor ids = index_tensor(arena_, dtype_of(program_.placement.index_type), {1, 1},
                                  std::span(&position, 1));
  ropecheck_rotate_args args{};
  args.struct_size = sizeof args;
  args.role = ROPECHECK_ROLE_KEY;
  args.inverse = backwards ? 1 : 0;
  args.input = slot.abi();
  args.output = slot.abi();
  args.position_ids = ids.abi();
  Tensor cos, sin;
  if (form == RopeForm::tables_by_token) {
    std::vector<double> cos_row, sin_row;
    table_row(table_, form, position, 1, cos_row, sin_row);
    cos = Tensor(arena_, ROPECHECK_DTYPE_F32, {1, 1, table_width(program_)});
    sin = Tensor(arena_, ROPECHECK_DTYPE_F32, {1, 1, table_width(program_)});
    cos.write_row(0, cos_row);
    sin.write_row(0, sin_row);
    args.token_cos = cos.abi();
    args.token_sin = sin.abi();
  }
  return timed([&] { return session_->rotate(args); });
}

void ProgramRun::read_cache() {
  if (result_.calls.empty() || !kernel_.has_step()) return;
  CallRecord& last = result_.calls.back();
  if (program_.placement.cache == CacheOwner::backend) return read_backend_cache(last);
  if (!cache_) return;
  const HeadShape& shape = program_.scenario.model.shape;
  const auto num_keys = static_cast<std::int64_t>(last.resolved.keys.size());
  Array keys(num_keys, shape.num_kv_heads, shape.head_dim);
  Array values(num_keys, shape.num_kv_heads, shape.v_head_dim);
  for (std::int64_t i = 0; i < num_keys; ++i) {
    const TokenRef& token = last.resolved.keys[static_cast<std::size_t>(i)];
    const std::int64_t row = placer_.row_of(token.sequence);
    const std::int64_t slot = placer_.slot_of(token.sequence, token.index);
    for (int head = 0; head < shape.num_kv_heads; ++head) {
      cache_->read_key(row, slot, head,
                       std::span(keys.row(i, head), static_cast<std::size_t>(shape.head_dim)));
      cache_->read_value(
          row, slot, head,
          std::span(values.row(i, head), static_cast<std::size_t>(shape.v_head_dim)));
    }
  }
  last.cached_key = std::move(keys);
  last.cached_value = std::move(values);
}

void ProgramRun::read_backend_cache(CallRecord& last) {
  const HeadShape& shape = program_.scenario.model.shape;
  const auto num_keys = static_cast<std::int64_t>(last.resolved.keys.size());
  Array keys(num_keys, shape.num_kv_heads, shape.head_dim);
  Array values(num_keys, shape.num_kv_heads, shape.v_head_dim);
  const std::int32_t dtype = dtype_of(program_.values.storage);
  for (std::int64_t first = 0; first < num_keys;) {
    const SequenceId sequence = last.resolved.keys[static_cast<std::size_t>(first)].sequence;
    const auto count = static_cast<std::int64_t>(interpreter_.sequence(sequence).tokens.size());
    const Tensor key_tensor(arena_, dtype, {count, shape.num_kv_heads, shape.head_dim});
    const Tensor value_tensor(arena_, dtype, {count, shape.num_kv_heads, shape.v_head_dim});
    ropecheck_read_args args{};
    args.struct_size = sizeof args;
    args.sequence_id = sequence;
    args.keys = key_tensor.abi();
    args.values = value_tensor.abi();
    const Reply reply = timed([&] { return session_->read_cache(args); });
    if (reply.status == ROPECHECK_UNSUPPORTED) return;
    if (!accept(reply)) return;
    const std::vector<double> key_rows = key_tensor.read_all();
    const std::vector<double> value_rows = value_tensor.read_all();
    std::copy(key_rows.begin(), key_rows.end(), keys.row(first, 0));
    std::copy(value_rows.begin(), value_rows.end(), values.row(first, 0));
    first += count;
  }
  last.cached_key = std::move(keys);
  last.cached_value = std::move(values);
}

}  // namespace

const std::optional<Array>& CallRecord::at(Point point) const {
  switch (point) {
    case Point::position_ids: return position_ids;
    case Point::rotated_query: return rotated_query;
    case Point::rotated_key: return rotated_key;
    case Point::cached_key: return cached_key;
    case Point::attention_output: break;
  }
  return attention_output;
}

Problem compared_queries(const CallRecord& call) {
  Problem problem = call.resolved.problem;
  if (call.compared.size() == problem.queries.size()) return problem;
  std::vector<QueryRow> queries;
  for (const std::int64_t row : call.compared)
    queries.push_back(problem.queries[static_cast<std::size_t>(row)]);
  problem.queries = std::move(queries);
  return problem;
}

Problem compared_keys(const CallRecord& call) {
  const Problem& all = call.resolved.problem;
  Problem problem;
  problem.shape = all.shape;
  problem.softmax_scale = all.softmax_scale;
  problem.tables = all.tables;
  problem.rotations = all.rotations;
  for (const std::int64_t row : call.compared) {
    problem.keys.push_back(
        all.keys[static_cast<std::size_t>(call.resolved.own_key[static_cast<std::size_t>(row)])]);
  }
  return problem;
}

Execution execute(Kernel& kernel, const Program& program, const std::string& name,
                  const std::string& backend_options) {
  return ProgramRun(kernel, program, backend_options).run(name);
}

}  // namespace ropecheck
