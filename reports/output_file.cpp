// SPDX-License-Identifier: Apache-2.0
#include "reports/output_file.hpp"

#include "reference/error.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

namespace ropecheck {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& path, const std::string& reason,
                         const std::string& remedy) {
  fail(ErrorCode::load, "report '{}': cannot write it: {}; {}", path, reason, remedy);
}

[[noreturn]] void refuse_errno(const std::string& path, int error) {
  const std::string remedy = error == ENOENT ? "make its directory first, or name another"
                                             : "name a file in a directory that you may write to";
  refuse(path, std::generic_category().message(error), remedy);
}

/// A file under a temporary name, gone at the end unless it was renamed.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& path)
      : path_(path), name_(fmt::format("{}.{}.partial", path, ::getpid())) {
    std::error_code ignored;
    if (path.empty()) refuse(path, "the name is empty", "name a file");
    if (fs::is_directory(path, ignored)) refuse(path, "it is a directory", "name a file");
    // A report takes the place of what is there: never that of a device, a pipe or a link.
    if (fs::exists(fs::symlink_status(path, ignored)) &&
        !fs::is_regular_file(fs::symlink_status(path, ignored))) {
      refuse(path, "it is no regular file", "name a file");
    }
    file_ = std::fopen(name_.c_str(), "wb");
    if (file_ == nullptr) refuse_errno(path_, errno);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (file_ != nullptr) std::fclose(file_);
    if (!name_.empty()) std::remove(name_.c_str());
  }

  void write(std::string_view text) {
    if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) {
      refuse_errno(path_, errno);
    }
  }

  void commit() {
    // Closing writes what is buffered, so here a full disk shows.
    if (std::fclose(std::exchange(file_, nullptr)) != 0) refuse_errno(path_, errno);
    if (std::rename(name_.c_str(), path_.c_str()) != 0) refuse_errno(path_, errno);
    name_.clear();
  }

 private:
  std::string path_;
  std::string name_;
  std::FILE* file_ = nullptr;
};

}  // namespace

void check_writable(const std::string& path) { const TemporaryFile probe(path); }

void write_text_file(const std::string& path, std::string_view text) {
  TemporaryFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace ropecheck
