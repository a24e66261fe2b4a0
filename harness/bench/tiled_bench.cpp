// SPDX-License-Identifier: Apache-2.0
// How fast the optimized sample backend is, as a share of Eigen's float32 matrix product on one core.
//
// Causal flops of n tokens: 2 products, 2 flops each, over n (n + 1) / 2 pairs and head_dim channels.
#include <benchmark/benchmark.h>
#include <dlfcn.h>

#include <Eigen/Core>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "ropecheck/backend.h"

namespace {

constexpr std::int32_t kHeads = 8;
constexpr std::int32_t kHeadDim = 128;

const ropecheck_backend& backend() {
  static const ropecheck_backend* const loaded = [] {
    void* library = dlopen(ROPECHECK_TILED_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      std::fprintf(stderr, "tiled_bench: %s\n", dlerror());
      std::exit(3);
    }
    const auto entry =
        reinterpret_cast<ropecheck_backend_entry_fn>(dlsym(library, "ropecheck_backend_entry"));
    return entry(ROPECHECK_ABI_MAJOR);
  }();
  return *loaded;
}

/// Seconds that this thread has computed: other load on the machine is left out.
double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Eigen's float32 product of two 1024 x 1024 matrices on this thread.
class Sgemm {
 public:
  void run() {
    const double start = thread_seconds();
    c_.noalias() = a_ * b_;
    benchmark::DoNotOptimize(c_.data());
    seconds_ += thread_seconds() - start;
    flops_ += 2.0 * kSize * kSize * kSize;
  }
  /// Flops per second over all runs.
  [[nodiscard]] double rate() const { return flops_ / seconds_; }

 private:
  static constexpr Eigen::Index kSize = 1024;
  Eigen::MatrixXf a_ = Eigen::MatrixXf::Random(kSize, kSize);
  Eigen::MatrixXf b_ = Eigen::MatrixXf::Random(kSize, kSize);
  Eigen::MatrixXf c_{kSize, kSize};
  double seconds_ = 0;
  double flops_ = 0;
};

int bytes_of(std::int32_t dtype) { return dtype == ROPECHECK_DTYPE_F32 ? 4 : 2; }

/// A tensor [1, tokens, heads, head_dim] with its memory.
struct Heads {
  Heads(std::int32_t dtype, std::int64_t tokens)
      : memory(static_cast<std::size_t>(tokens * kHeads * kHeadDim * bytes_of(dtype))) {
    std::uint32_t state = 1;
    const std::size_t count = memory.size() / static_cast<std::size_t>(bytes_of(dtype));
    for (std::size_t i = 0; i < count; ++i) {
      state = state * 1664525u + 1013904223u;
      // Patterns of numbers between 2^-8 and 2 in size: sign, 3 bits of exponent, mantissa.
      if (dtype == ROPECHECK_DTYPE_F32) {
        reinterpret_cast<float*>(memory.data())[i] =
            static_cast<float>(static_cast<std::int32_t>(state)) * 0x1p-31f;
      } else {
        const std::uint32_t one = dtype == ROPECHECK_DTYPE_F16 ? 0x3800u : 0x3f00u;
        reinterpret_cast<std::uint16_t*>(memory.data())[i] =
            static_cast<std::uint16_t>(one | ((state >> 16) & 0x807fu));
      }
    }
    tensor.struct_size = sizeof tensor;
    tensor.dtype = dtype;
    tensor.rank = 4;
    tensor.data = memory.data();
    const std::int64_t shape[] = {1, tokens, kHeads, kHeadDim};
    for (int axis = 3, stride = 1; axis >= 0; --axis) {
      tensor.shape[axis] = shape[axis];
      tensor.stride_elems[axis] = stride;
      stride *= static_cast<int>(shape[axis]);
    }
  }
  std::vector<unsigned char> memory;
  ropecheck_tensor tensor{};
};

ropecheck_rope default_rope() {
  ropecheck_rope rope{};
  rope.struct_size = sizeof rope;
  rope.form = ROPECHECK_ROPE_RULE;
  rope.rope_type = ROPECHECK_ROPE_TYPE_DEFAULT;
  rope.pair_layout = ROPECHECK_PAIR_HALF_SPLIT;
  rope.rotary_dim = kHeadDim;
  rope.num_axes = 1;
  rope.rope_theta = 10000;
  rope.factor = 1;
  rope.magnitude_q = 1;
  rope.magnitude_k = 1;
  return rope;
}

ropecheck_model model_of(std::int32_t dtype, std::int32_t cache_owner, std::int32_t num_threads,
                         const ropecheck_rope* const* ropes) {
  ropecheck_model model{};
  model.struct_size = sizeof model;
  model.num_layers = 1;
  model.num_q_heads = kHeads;
  model.num_kv_heads = kHeads;
  model.head_dim = kHeadDim;
  model.v_head_dim = kHeadDim;
  model.storage_dtype = dtype;
  model.cache_dtype = dtype;
  model.cache_owner = cache_owner;
  model.cache_layout = ROPECHECK_CACHE_CONTIGUOUS;
  model.cached_keys = ROPECHECK_KEYS_ROTATED;
  model.pad_positions = ROPECHECK_PADS_VALID_RANK;
  model.segment_positions = ROPECHECK_SEGMENTS_RESTART;
  model.segment_visibility = ROPECHECK_SEGMENTS_ISOLATED;
  model.empty_row = ROPECHECK_EMPTY_ROW_ZEROS;
  model.visibility = ROPECHECK_VISIBILITY_CAUSAL;
  model.window_left = -1;
  model.positions = ROPECHECK_POSITIONS_DERIVED;
  model.mask_form = ROPECHECK_MASK_KEEP_2D;
  model.index_dtype = ROPECHECK_DTYPE_I64;
  model.num_threads = num_threads;
  model.max_position = 1 << 20;
  model.max_sequences = 1;
  model.max_tokens = 1 << 20;
  model.softmax_scale = 1 / std::sqrt(static_cast<double>(kHeadDim));
  model.ropes = ropes;
  return model;
}

/// One open session and what a step over `tokens` new tokens needs.
class Run {
 public:
  Run(std::int32_t dtype, std::int32_t cache_owner, std::int32_t num_threads, std::int64_t tokens)
      : query_(dtype, tokens), key_(dtype, tokens), value_(dtype, tokens), output_(dtype, tokens) {
    ropecheck_model model = model_of(dtype, cache_owner, num_threads, ropes_);
    char message[256] = "";
    if (backend().open(&model, &session_, message, sizeof message) != ROPECHECK_OK) {
      std::fprintf(stderr, "tiled_bench: %s\n", message);
      std::exit(3);
    }
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  ~Run() { backend().close(session_); }

  void step(benchmark::State& state) {
    ropecheck_step_args args{};
    args.struct_size = sizeof args;
    args.form = ROPECHECK_FORM_PADDED;
    args.num_rows = 1;
    args.query = &query_.tensor;
    args.key = &key_.tensor;
    args.value = &value_.tensor;
    args.output = &output_.tensor;
    args.sequence_ids = &ids_tensor_;
    char message[256] = "";
    if (backend().step(session_, &args, message, sizeof message) != ROPECHECK_OK) {
      state.SkipWithError(message);
    }
  }

  void truncate(std::int64_t length) {
    ropecheck_edit_args args{};
    args.struct_size = sizeof args;
    args.operation = ROPECHECK_EDIT_TRUNCATE;
    args.begin = length;
    backend().edit_cache(session_, &args, nullptr, 0);
  }

  /// Takes the place of the tokens of every later step.
  void set_tokens(std::int64_t tokens) {
    for (Heads* heads : {&query_, &key_, &value_, &output_}) heads->tensor.shape[1] = tokens;
  }

 private:
  ropecheck_rope rope_ = default_rope();
  const ropecheck_rope* ropes_[1] = {&rope_};
  ropecheck_session* session_ = nullptr;
  Heads query_, key_, value_, output_;
  std::int64_t id_ = 0;
  ropecheck_tensor ids_tensor_{
      sizeof(ropecheck_tensor), ROPECHECK_DTYPE_I64, 1, 0, 0, 0, &id_, {1}, {1}, nullptr};
};

/// Prefill, and in turn with it the product that it is measured by: both meet the same load.
void prefill(benchmark::State& state, std::int32_t dtype) {
  const std::int64_t tokens = state.range(0);
  Run run(dtype, ROPECHECK_CACHE_NONE, static_cast<std::int32_t>(state.range(1)), tokens);
  Sgemm sgemm;
  for (auto _ : state) {
    run.step(state);
    state.PauseTiming();
    sgemm.run();
    state.ResumeTiming();
  }
  const double pairs = 0.5 * static_cast<double>(tokens) * static_cast<double>(tokens + 1);
  const double flops = 4.0 * kHeadDim * kHeads * pairs * static_cast<double>(state.iterations());
  state.counters["flops"] = benchmark::Counter(flops, benchmark::Counter::kIsRate);
  state.counters["sgemm_flops"] = sgemm.rate();
  state.counters["of_sgemm"] =
      benchmark::Counter(flops / sgemm.rate(), benchmark::Counter::kIsRate);
}

void decode(benchmark::State& state, std::int32_t dtype) {
  const std::int64_t tokens = state.range(0);
  Run run(dtype, ROPECHECK_CACHE_BACKEND, 1, tokens);
  run.step(state);
  run.set_tokens(1);
  for (auto _ : state) {
    run.step(state);
    run.truncate(tokens);
  }
}

}  // namespace

BENCHMARK_CAPTURE(prefill, f32, ROPECHECK_DTYPE_F32)
    ->ArgNames({"tokens", "threads"})
    ->Args({2048, 1})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(prefill, f32_threads, ROPECHECK_DTYPE_F32)
    ->ArgNames({"tokens", "threads"})
    ->Args({2048, 2})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(prefill, f16, ROPECHECK_DTYPE_F16)
    ->ArgNames({"tokens", "threads"})
    ->Args({2048, 1})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(prefill, bf16, ROPECHECK_DTYPE_BF16)
    ->ArgNames({"tokens", "threads"})
    ->Args({2048, 1})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(decode, f32, ROPECHECK_DTYPE_F32)
    ->ArgName("cached")
    ->Arg(16)
    ->Arg(2048)
    ->Unit(benchmark::kMicrosecond);

BENCHMARK_MAIN();
