// SPDX-License-Identifier: Apache-2.0
#include "harness/kernel.hpp"

#include "reference/error.hpp"

#include <dlfcn.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <system_error>

namespace ropecheck {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "libropecheck_backend_";
constexpr std::string_view kSuffix = ".so";
constexpr const char* kEntrySymbol = "ropecheck_backend_entry";

/// Whether the table is long enough to have the member.
#define ROPECHECK_HAS(table, member)                                                        \
  ((table)->struct_size >= offsetof(ropecheck_backend, member) + sizeof((table)->member) && \
   (table)->member != nullptr)

std::vector<fs::path> library_directories() {
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  if (program.empty()) return {};
  return {program.parent_path().parent_path() / "lib", program.parent_path()};
}

/// Calls a function of the table with room for a message.
template <typename Function>
Reply call(std::string_view name, Function&& function) {
  std::array<char, 1024> message{};
  Reply reply;
  reply.status = function(message.data(), message.size());
  message.back() = '\0';
  reply.message = message.data();
  if (reply.status != ROPECHECK_OK && reply.message.empty()) {
    reply.message = fmt::format("{} answered status {} and no message", name, reply.status);
  }
  return reply;
}

Reply missing(std::string_view name) {
  return {ROPECHECK_UNSUPPORTED, fmt::format("the backend has no function '{}'", name)};
}

class LoadedSession final : public KernelSession {
 public:
  LoadedSession(const ropecheck_backend* table, ropecheck_session* session)
      : table_(table), session_(session) {}
  ~LoadedSession() override {
    if (ROPECHECK_HAS(table_, close)) table_->close(session_);
  }
  LoadedSession(const LoadedSession&) = delete;
  LoadedSession& operator=(const LoadedSession&) = delete;

  Reply rotate(const ropecheck_rotate_args& args) override {
    if (!ROPECHECK_HAS(table_, rotate)) return missing("rotate");
    return call("rotate",
                [&](char* m, std::size_t n) { return table_->rotate(session_, &args, m, n); });
  }
  Reply step(const ropecheck_step_args& args) override {
    if (!ROPECHECK_HAS(table_, step)) return missing("step");
    return call("step",
                [&](char* m, std::size_t n) { return table_->step(session_, &args, m, n); });
  }
  Reply edit_cache(const ropecheck_edit_args& args) override {
    if (!ROPECHECK_HAS(table_, edit_cache)) return missing("edit_cache");
    return call("edit_cache",
                [&](char* m, std::size_t n) { return table_->edit_cache(session_, &args, m, n); });
  }
  Reply read_cache(const ropecheck_read_args& args) override {
    if (!ROPECHECK_HAS(table_, read_cache)) return missing("read_cache");
    return call("read_cache",
                [&](char* m, std::size_t n) { return table_->read_cache(session_, &args, m, n); });
  }

 private:
  const ropecheck_backend* table_;
  ropecheck_session* session_;
};

class LoadedKernel final : public Kernel {
 public:
  LoadedKernel(fs::path path, const ropecheck_backend* table)
      : path_(std::move(path)), table_(table) {}

  std::string name() const override { return table_->name != nullptr ? table_->name : "unnamed"; }
  std::string version() const override { return table_->version != nullptr ? table_->version : ""; }
  std::string path() const override { return path_.string(); }
  bool has_rotate() const override { return ROPECHECK_HAS(table_, rotate); }
  bool has_step() const override { return ROPECHECK_HAS(table_, step); }

  Reply query_support(const ropecheck_model& model, const ropecheck_usage& usage) override {
    if (!ROPECHECK_HAS(table_, query_support)) return {};
    return call("query_support", [&](char* m, std::size_t n) {
      return table_->query_support(&model, &usage, m, n);
    });
  }

  std::unique_ptr<KernelSession> open(const ropecheck_model& model,
                                      const std::string& /*execution*/, Reply& reply) override {
    ropecheck_session* session = nullptr;
    reply =
        call("open", [&](char* m, std::size_t n) { return table_->open(&model, &session, m, n); });
    if (reply.ok() && session == nullptr)
      reply = {ROPECHECK_INVALID, "open answered OK and gave no session"};
    if (!reply.ok()) return nullptr;
    return std::make_unique<LoadedSession>(table_, session);
  }

 private:
  fs::path path_;
  const ropecheck_backend* table_;
};

fs::path find_library(const std::string& backend) {
  const bool is_path = backend.find('/') != std::string::npos || backend.ends_with(kSuffix);
  if (is_path) {
    if (!fs::exists(backend)) {
      fail(ErrorCode::load,
           "backend library '{}' does not exist; give the path of a shared library, or one of: {}",
           backend, fmt::join(sample_backends(), ", "));
    }
    return fs::absolute(backend);
  }
  for (const fs::path& directory : library_directories()) {
    const fs::path candidate = directory / fmt::format("{}{}{}", kPrefix, backend, kSuffix);
    if (fs::exists(candidate)) return candidate;
  }
  fail(ErrorCode::not_found,
       "no sample backend is called '{}'; there are: {} (for your own library give its path)",
       backend, fmt::join(sample_backends(), ", "));
}

const ropecheck_backend* load_table(const fs::path& path) {
  // The library stays loaded: its code may be on a stack, and its statics are its own business.
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* why = dlerror();
    fail(ErrorCode::load,
         "backend library '{}' cannot be loaded: {}; check that it is built for this machine",
         path.string(), why != nullptr ? why : "no reason given");
  }
  auto entry = reinterpret_cast<ropecheck_backend_entry_fn>(dlsym(handle, kEntrySymbol));
  if (entry == nullptr) {
    fail(ErrorCode::load,
         "library '{}' exports no symbol '{}'; it is no backend, or the symbol is hidden (see "
         "backend.h)",
         path.string(), kEntrySymbol);
  }
  const ropecheck_backend* table = entry(ROPECHECK_ABI_MAJOR);
  if (table == nullptr) {
    fail(ErrorCode::load,
         "backend '{}' does not serve ABI major {}; rebuild it against this ropecheck/backend.h",
         path.string(), ROPECHECK_ABI_MAJOR);
  }
  if (table->abi_major != ROPECHECK_ABI_MAJOR) {
    fail(ErrorCode::load,
         "backend '{}' has ABI major {}, expected {}; rebuild it against this ropecheck/backend.h",
         path.string(), table->abi_major, ROPECHECK_ABI_MAJOR);
  }
  if (!ROPECHECK_HAS(table, open) ||
      (!ROPECHECK_HAS(table, step) && !ROPECHECK_HAS(table, rotate))) {
    fail(ErrorCode::load,
         "backend '{}' lacks 'open', or has neither 'step' nor 'rotate'; fill its function table",
         path.string());
  }
  return table;
}

}  // namespace

std::unique_ptr<Kernel> load_backend(const std::string& backend) {
  const fs::path path = find_library(backend);
  return std::make_unique<LoadedKernel>(path, load_table(path));
}

std::vector<std::string> sample_backends() {
  std::vector<std::string> names;
  for (const fs::path& directory : library_directories()) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(directory, ignored)) {
      const std::string file = entry.path().filename().string();
      if (!file.starts_with(kPrefix) || !file.ends_with(kSuffix)) continue;
      names.push_back(file.substr(kPrefix.size(), file.size() - kPrefix.size() - kSuffix.size()));
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace ropecheck
