// SPDX-License-Identifier: Apache-2.0
#include "harness/bundle.hpp"

#include "cases/laws.hpp"
#include "harness/execute.hpp"
#include "harness/io/hdf5.hpp"
#include "harness/tensor.hpp"
#include "reference/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace ropecheck {
namespace {

constexpr std::string_view kFormat = "ropecheck bundle";
constexpr std::int64_t kVersion = 1;
constexpr Hdf5Storage kCompressed{4};

Hdf5Shape shape_of(const ropecheck_tensor& tensor) {
  return {tensor.shape, tensor.shape + tensor.rank};
}

bool is_float(const ropecheck_tensor& tensor) {
  return tensor.dtype == ROPECHECK_DTYPE_F64 || tensor.dtype == ROPECHECK_DTYPE_F32 ||
         tensor.dtype == ROPECHECK_DTYPE_F16 || tensor.dtype == ROPECHECK_DTYPE_BF16;
}

/// Every storage type but float64 is exact in float32, which any language has.
std::vector<float> floats_of(const ropecheck_tensor& tensor) {
  const std::vector<double> values = Tensor::view_of(tensor).read_all();
  return {values.begin(), values.end()};
}

void write_tensor(Hdf5Group& group, const std::string& name, const ropecheck_tensor* tensor) {
  if (tensor == nullptr) return;
  if (is_float(*tensor)) {
    group.write(name, floats_of(*tensor), shape_of(*tensor), kCompressed);
  } else {
    group.write(name, Tensor::view_of(*tensor).read_ints(), shape_of(*tensor), kCompressed);
  }
}

std::string execution_path(std::size_t index) { return fmt::format("executions/{:06}", index); }
std::string operation_path(std::size_t execution, std::size_t operation) {
  return fmt::format("{}/{:04}", execution_path(execution), operation);
}

std::string_view storage_name(std::int32_t dtype) {
  switch (dtype) {
    case ROPECHECK_DTYPE_F16: return "f16";
    case ROPECHECK_DTYPE_BF16: return "bf16";
    case ROPECHECK_DTYPE_F64: return "f64";
    default: return "f32";
  }
}

void write_inv_freq(Hdf5Group& group, const ropecheck_rope& rope) {
  std::vector<double> inv_freq;
  for (const DoubleDouble& w : rope.rope_type == ROPECHECK_ROPE_TYPE_LINEAR
                                   ? inv_freq_linear(rope.rope_theta, rope.rotary_dim, rope.factor)
                                   : inv_freq_default(rope.rope_theta, rope.rotary_dim)) {
    inv_freq.push_back(w.hi);
  }
  group.write_column("inv_freq", inv_freq);
}

std::string_view rope_form_name(const ropecheck_rope& rope) {
  switch (rope.form) {
    case ROPECHECK_ROPE_RULE: return "rule";
    case ROPECHECK_ROPE_INV_FREQ: return "inv_freq";
    case ROPECHECK_ROPE_ROTATED: return "rotated";
    default: break;
  }
  if (rope.table_index == ROPECHECK_TABLE_BY_TOKEN) return "tables_by_token";
  if (rope.table_width == ROPECHECK_TABLE_JOINED) return "tables_joined";
  return rope.table_width == ROPECHECK_TABLE_FULL ? "tables_full" : "tables_half";
}

/// The contract in words, so that a filler needs no header.
void write_model(Hdf5Group& group, const ropecheck_model& model) {
  const ropecheck_rope& rope = *model.ropes[0];
  group.set_attribute("storage", storage_name(model.storage_dtype));
  group.set_attribute("num_q_heads", model.num_q_heads);
  group.set_attribute("num_kv_heads", model.num_kv_heads);
  group.set_attribute("head_dim", model.head_dim);
  group.set_attribute("v_head_dim", model.v_head_dim);
  group.set_attribute("softmax_scale", model.softmax_scale);
  group.set_attribute("cache", model.cache_owner == ROPECHECK_CACHE_NONE ? "none" : "backend");
  group.set_attribute("positions",
                      model.positions == ROPECHECK_POSITIONS_GIVEN ? "given" : "derived");
  group.set_attribute("pad_positions", model.pad_positions == ROPECHECK_PADS_VALID_RANK
                                           ? "valid_rank"
                                           : "physical_column");
  group.set_attribute("segment_positions", model.segment_positions == ROPECHECK_SEGMENTS_RESTART
                                               ? "restart"
                                               : "continue");
  group.set_attribute("segment_visibility", model.segment_visibility == ROPECHECK_SEGMENTS_ISOLATED
                                                ? "isolated"
                                                : "shared");
  group.set_attribute("first_position", model.first_position);
  group.set_attribute("rope_form", rope_form_name(rope));
  group.set_attribute("rope_type",
                      rope.rope_type == ROPECHECK_ROPE_TYPE_LINEAR ? "linear" : "default");
  group.set_attribute("rope_theta", rope.rope_theta);
  group.set_attribute("factor", rope.factor);
  group.set_attribute("rotary_dim", rope.rotary_dim);
  group.set_attribute("layout",
                      rope.pair_layout == ROPECHECK_PAIR_HALF_SPLIT ? "half_split" : "interleaved");
  if (rope.inv_freq != nullptr) {
    group.write_column("inv_freq", Tensor::view_of(*rope.inv_freq).read_all());
  } else {
    write_inv_freq(group, rope);
  }
  write_tensor(group, "cos", rope.cos);
  write_tensor(group, "sin", rope.sin);
}

/// Writes down what it is asked and answers nothing.
class ExportSession final : public KernelSession {
 public:
  ExportSession(Hdf5File& file, std::size_t execution) : file_(file), execution_(execution) {}

  Reply rotate(const ropecheck_rotate_args& /*args*/) override {
    return {ROPECHECK_UNSUPPORTED, "not in a bundle"};
  }

  Reply step(const ropecheck_step_args& args) override {
    Hdf5Group group = next("step");
    group.set_attribute("form", args.form == ROPECHECK_FORM_PADDED ? "padded" : "packed");
    write_tensor(group, "query", args.query);
    write_tensor(group, "key", args.key);
    write_tensor(group, "value", args.value);
    write_tensor(group, "position_ids", args.position_ids);
    write_tensor(group, "key_position_ids", args.key_position_ids);
    write_tensor(group, "query_cos", args.query_cos);
    write_tensor(group, "query_sin", args.query_sin);
    write_tensor(group, "key_cos", args.key_cos);
    write_tensor(group, "key_sin", args.key_sin);
    write_tensor(group, "keep_mask", args.keep_mask);
    write_tensor(group, "cu_seqlens_q", args.cu_seqlens_q);
    write_tensor(group, "cu_seqlens_kv", args.cu_seqlens_kv);
    write_tensor(group, "sequence_ids", args.sequence_ids);
    *args.offered = 0;
    return {};
  }

  Reply edit_cache(const ropecheck_edit_args& args) override {
    Hdf5Group group = next("edit");
    group.set_attribute("operation", args.operation);
    group.set_attribute("sequence_id", args.sequence_id);
    group.set_attribute("target_sequence_id", args.target_sequence_id);
    group.set_attribute("begin", args.begin);
    group.set_attribute("end", args.end);
    group.set_attribute("delta", args.delta);
    group.set_attribute("divisor", args.divisor);
    return {};
  }

  Reply read_cache(const ropecheck_read_args& args) override {
    Hdf5Group group = next("read");
    group.set_attribute("sequence_id", args.sequence_id);
    group.set_attribute("num_tokens", args.keys->shape[0]);
    return {};
  }

 private:
  Hdf5Group next(std::string_view operation) {
    Hdf5Group group = file_.create_group(operation_path(execution_, operation_++));
    group.set_attribute("operation_type", operation);
    return group;
  }
  Hdf5File& file_;
  std::size_t execution_;
  std::size_t operation_ = 0;
};

class ExportKernel final : public Kernel {
 public:
  explicit ExportKernel(Hdf5File& file) : file_(file) {}
  std::string name() const override { return "export"; }
  std::string version() const override { return ""; }
  std::string path() const override { return ""; }
  bool has_rotate() const override { return false; }
  bool has_step() const override { return true; }

  Reply query_support(const ropecheck_model& model, const ropecheck_usage& /*usage*/) override {
    if (model.cache_owner != ROPECHECK_CACHE_CALLER) return {};
    return {ROPECHECK_UNSUPPORTED, "a bundle cannot hold a cache that belongs to the caller"};
  }
  std::unique_ptr<KernelSession> open(const ropecheck_model& model, const std::string& execution,
                                      Reply& /*reply*/) override {
    const std::size_t index = names_.size();
    Hdf5Group group = file_.create_group(execution_path(index));
    group.set_attribute("name", execution);
    write_model(group, model);
    names_.push_back(execution);
    return std::make_unique<ExportSession>(file_, index);
  }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

 private:
  Hdf5File& file_;
  std::vector<std::string> names_;
};

/// Executes a case and the other sides of its law on a kernel, unjudged. What the case itself came to.
Execution execute_case(Kernel& kernel, const CaseSpec& spec, const std::string& backend_options) {
  const Program base = build_program(spec);
  const std::string id = to_id(spec);
  Execution execution = execute(kernel, base, id, backend_options);
  if (execution.verdict != Verdict::passed || spec.law == "none") return execution;
  const Law& law = find_law(spec.law);
  if (law.plan == nullptr) return execution;
  const LawPlan plan = law.plan(spec, base);
  for (std::size_t i = 0; i < plan.terms.size(); ++i) {
    static_cast<void>(
        execute(kernel, plan.terms[i].program, fmt::format("{}#law{}", id, i), backend_options));
  }
  return execution;
}

Hdf5File open_bundle_file(const std::string& path) {
  Hdf5File file = Hdf5File::open(path);
  if (!file.has_attribute("format") || file.string_attribute("format") != kFormat) {
    fail(ErrorCode::load, "'{}' is no bundle; make one with 'ropecheck export'", path);
  }
  if (const std::int64_t version = file.int_attribute("version"); version != kVersion) {
    fail(ErrorCode::load, "bundle '{}' has version {}, expected {}; export it again", path, version,
         kVersion);
  }
  return file;
}

/// Which execution has which number.
std::map<std::string, std::size_t> read_names(const Hdf5File& file) {
  std::map<std::string, std::size_t> index;
  const std::vector<std::string> names = file.read_strings("execution_names");
  for (std::size_t i = 0; i < names.size(); ++i) index[names[i]] = i;
  return index;
}

/// A case file, an outputs file, and one lock: HDF5 is used from one thread at a time.
struct BundleFiles {
  BundleFiles(const std::string& cases_path, const std::string& outputs_path)
      : cases(open_bundle_file(cases_path)),
        outputs(Hdf5File::open(outputs_path)),
        index(read_names(cases)) {}
  Hdf5File cases;
  Hdf5File outputs;
  std::map<std::string, std::size_t> index;
  std::mutex mutex;
};

class BundleSession final : public KernelSession {
 public:
  BundleSession(BundleFiles& files, std::size_t execution) : files_(files), execution_(execution) {}

  Reply rotate(const ropecheck_rotate_args& /*args*/) override {
    return {ROPECHECK_UNSUPPORTED, "not in a bundle"};
  }

  Reply step(const ropecheck_step_args& args) override {
    const std::lock_guard lock(files_.mutex);
    const std::string path = operation_path(execution_, operation_++);
    check_inputs(path, args);
    if (!files_.outputs.has(path + "/output")) return missing();
    Reply reply = fetch(path + "/output", args.output);
    std::uint32_t offered = 0;
    const auto observe = [&](const char* name, const ropecheck_tensor* tensor, std::uint32_t bit) {
      if (tensor == nullptr || !files_.outputs.has(fmt::format("{}/{}", path, name)) || !reply.ok())
        return;
      reply = fetch(fmt::format("{}/{}", path, name), tensor);
      offered |= bit;
    };
    observe("rotated_query", args.rotated_query, ROPECHECK_OBSERVE_ROTATED_QUERY);
    observe("rotated_key", args.rotated_key, ROPECHECK_OBSERVE_ROTATED_KEY);
    observe("used_position_ids", args.used_position_ids, ROPECHECK_OBSERVE_POSITION_IDS);
    *args.offered = offered;
    return reply;
  }

  Reply edit_cache(const ropecheck_edit_args& /*args*/) override {
    ++operation_;
    return {};
  }

  Reply read_cache(const ropecheck_read_args& args) override {
    const std::lock_guard lock(files_.mutex);
    const std::string path = operation_path(execution_, operation_++);
    if (!files_.outputs.has(path + "/keys") || !files_.outputs.has(path + "/values"))
      return missing();
    const Reply reply = fetch(path + "/keys", args.keys);
    return reply.ok() ? fetch(path + "/values", args.values) : reply;
  }

 private:
  static Reply missing() {
    return {ROPECHECK_UNSUPPORTED, "the outputs leave an execution of this case out"};
  }

  Reply fetch(const std::string& name, const ropecheck_tensor* tensor) {
    const Hdf5Dataset dataset = files_.outputs.dataset(name);
    if (dataset.shape() != shape_of(*tensor)) {
      return {ROPECHECK_INVALID,
              fmt::format("'{}' has shape [{}], expected [{}]", name,
                          fmt::join(dataset.shape(), ", "), fmt::join(shape_of(*tensor), ", "))};
    }
    Tensor out = Tensor::view_of(*tensor);
    if (is_float(*tensor)) {
      const std::vector<double> values = dataset.read<double>();
      const auto width = static_cast<std::size_t>(out.shape().back());
      for (std::size_t row = 0; row * width < values.size(); ++row) {
        out.write_row(static_cast<std::int64_t>(row),
                      std::span(values).subspan(row * width, width));
      }
    } else {
      const std::vector<std::int64_t> values = dataset.read<std::int64_t>();
      for (std::size_t i = 0; i < values.size(); ++i)
        out.write_int(static_cast<std::int64_t>(i), values[i]);
    }
    return {};
  }

  /// Outputs mean something only for the very inputs that the case id stands for.
  void check_inputs(const std::string& path, const ropecheck_step_args& args) const {
    for (const auto& [name, tensor] : {std::pair("query", args.query), std::pair("key", args.key),
                                       std::pair("value", args.value)}) {
      const std::vector<float> stored = files_.cases.read<float>(fmt::format("{}/{}", path, name));
      const std::vector<float> due = floats_of(*tensor);
      const bool same =
          std::equal(stored.begin(), stored.end(), due.begin(), due.end(), [](float a, float b) {
            return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) ||
                   (a != a && b != b);
          });
      if (!same) {
        fail(ErrorCode::load,
             "bundle '{}': '{}/{}' is not what its case id stands for; export and fill it again",
             files_.cases.file(), path, name);
      }
    }
  }

  BundleFiles& files_;
  std::size_t execution_;
  std::size_t operation_ = 0;
};

class BundleKernel final : public Kernel {
 public:
  BundleKernel(const std::string& cases_path, const std::string& outputs_path)
      : files_(cases_path, outputs_path), path_(outputs_path) {}
  std::string name() const override { return label("backend", "bundle"); }
  std::string version() const override { return label("backend_version", ""); }
  std::string path() const override { return path_; }
  bool has_rotate() const override { return false; }
  bool has_step() const override { return true; }
  Reply query_support(const ropecheck_model& model, const ropecheck_usage& /*usage*/) override {
    if (model.cache_owner != ROPECHECK_CACHE_CALLER) return {};
    return {ROPECHECK_UNSUPPORTED, "a bundle cannot hold a cache that belongs to the caller"};
  }
  std::unique_ptr<KernelSession> open(const ropecheck_model& /*model*/,
                                      const std::string& execution, Reply& reply) override {
    const auto found = files_.index.find(execution);
    if (found == files_.index.end()) {
      reply = {ROPECHECK_UNSUPPORTED, fmt::format("the bundle holds no execution '{}'", execution)};
      return nullptr;
    }
    return std::make_unique<BundleSession>(files_, found->second);
  }

 private:
  std::string label(const char* attribute, const char* otherwise) const {
    return files_.outputs.has_attribute(attribute) ? files_.outputs.string_attribute(attribute)
                                                   : otherwise;
  }
  mutable BundleFiles files_;
  std::string path_;
};

/// Lets a live kernel answer, and writes down what it answered.
class FillSession final : public KernelSession {
 public:
  FillSession(std::unique_ptr<KernelSession> live, Hdf5File& file, std::size_t execution)
      : live_(std::move(live)), file_(file), execution_(execution) {}
  Reply rotate(const ropecheck_rotate_args& args) override { return live_->rotate(args); }
  Reply step(const ropecheck_step_args& args) override {
    Reply reply = live_->step(args);
    if (!reply.ok()) return reply;
    Hdf5Group group = next();
    write_tensor(group, "output", args.output);
    const auto observed = [&](std::uint32_t bit) { return (*args.offered & bit) != 0; };
    if (observed(ROPECHECK_OBSERVE_ROTATED_QUERY))
      write_tensor(group, "rotated_query", args.rotated_query);
    if (observed(ROPECHECK_OBSERVE_ROTATED_KEY))
      write_tensor(group, "rotated_key", args.rotated_key);
    if (observed(ROPECHECK_OBSERVE_POSITION_IDS))
      write_tensor(group, "used_position_ids", args.used_position_ids);
    return reply;
  }
  Reply edit_cache(const ropecheck_edit_args& args) override {
    next();
    return live_->edit_cache(args);
  }
  Reply read_cache(const ropecheck_read_args& args) override {
    Hdf5Group group = next();
    Reply reply = live_->read_cache(args);
    if (!reply.ok()) return reply;
    write_tensor(group, "keys", args.keys);
    write_tensor(group, "values", args.values);
    return reply;
  }

 private:
  Hdf5Group next() { return file_.create_group(operation_path(execution_, operation_++)); }
  std::unique_ptr<KernelSession> live_;
  Hdf5File& file_;
  std::size_t execution_;
  std::size_t operation_ = 0;
};

class FillKernel final : public Kernel {
 public:
  FillKernel(Kernel& live, Hdf5File& file, std::map<std::string, std::size_t> index)
      : live_(live), file_(file), index_(std::move(index)) {}
  std::string name() const override { return live_.name(); }
  std::string version() const override { return live_.version(); }
  std::string path() const override { return live_.path(); }
  bool has_rotate() const override { return live_.has_rotate(); }
  bool has_step() const override { return live_.has_step(); }
  Reply query_support(const ropecheck_model& model, const ropecheck_usage& usage) override {
    return live_.query_support(model, usage);
  }
  std::unique_ptr<KernelSession> open(const ropecheck_model& model, const std::string& execution,
                                      Reply& reply) override {
    const auto found = index_.find(execution);
    if (found == index_.end()) {
      reply = {ROPECHECK_UNSUPPORTED, fmt::format("the bundle holds no execution '{}'", execution)};
      return nullptr;
    }
    std::unique_ptr<KernelSession> session = live_.open(model, execution, reply);
    if (!reply.ok()) return nullptr;
    return std::make_unique<FillSession>(std::move(session), file_, found->second);
  }

 private:
  Kernel& live_;
  Hdf5File& file_;
  std::map<std::string, std::size_t> index_;
};

}  // namespace

BundleCount export_bundle(const std::string& path, std::span<const CaseSpec> cases,
                          const RunInfo& info) {
  Hdf5File file = Hdf5File::create(path);
  file.set_attribute("format", kFormat);
  file.set_attribute("version", kVersion);
  file.set_attribute("suite", info.suite);
  file.set_attribute("seed", info.seed);
  file.set_attribute("profiles", fmt::format("{}", fmt::join(info.profiles, ",")));
  file.set_attribute("filter", info.filter);
  file.set_attribute("shard", info.shard);
  ExportKernel kernel(file);
  BundleCount count;
  std::vector<std::string> ids;
  for (const CaseSpec& spec : cases) {
    ids.push_back(to_id(spec));
    const Execution execution = execute_case(kernel, spec, "");
    if (execution.verdict == Verdict::passed) {
      ++count.cases;
    } else {
      ++count.left_out;
    }
  }
  count.executions = static_cast<std::int64_t>(kernel.names().size());
  file.write_strings("case_ids", ids);
  file.write_strings("execution_names", kernel.names());
  file.commit();
  return count;
}

std::vector<CaseSpec> read_bundle_cases(const std::string& path, RunInfo& info) {
  const Hdf5File file = open_bundle_file(path);
  info.suite = file.string_attribute("suite");
  info.seed = static_cast<std::uint64_t>(file.int_attribute("seed"));
  info.filter = file.string_attribute("filter");
  info.shard = file.string_attribute("shard");
  info.profiles = {file.string_attribute("profiles")};
  std::vector<CaseSpec> cases;
  for (const std::string& id : file.read_strings("case_ids")) cases.push_back(parse_id(id));
  return cases;
}

std::unique_ptr<Kernel> open_bundle(const std::string& cases_path,
                                    const std::string& outputs_path) {
  return std::make_unique<BundleKernel>(cases_path, outputs_path);
}

void fill_bundle(Kernel& kernel, const std::string& cases_path, const std::string& outputs_path,
                 const std::string& backend_options) {
  RunInfo info;
  const std::vector<CaseSpec> cases = read_bundle_cases(cases_path, info);
  Hdf5File outputs = Hdf5File::create(outputs_path);
  outputs.set_attribute("backend", kernel.name());
  outputs.set_attribute("backend_version", kernel.version());
  FillKernel fill(kernel, outputs, read_names(open_bundle_file(cases_path)));
  for (const CaseSpec& spec : cases) {
    if (spec.cache == CacheOwner::caller) continue;
    static_cast<void>(execute_case(fill, spec, backend_options));
  }
  outputs.commit();
}

}  // namespace ropecheck
