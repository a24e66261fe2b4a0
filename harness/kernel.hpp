// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ropecheck/backend.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace ropecheck {

/// What a backend answered to a call.
struct Reply {
  ropecheck_status status = ROPECHECK_OK;
  std::string message;

  [[nodiscard]] bool ok() const { return status == ROPECHECK_OK; }
};

/// One open model of a kernel. Functions that it does not have answer ROPECHECK_UNSUPPORTED.
class KernelSession {
 public:
  virtual ~KernelSession() = default;
  virtual Reply rotate(const ropecheck_rotate_args& args) = 0;
  virtual Reply step(const ropecheck_step_args& args) = 0;
  virtual Reply edit_cache(const ropecheck_edit_args& args) = 0;
  virtual Reply read_cache(const ropecheck_read_args& args) = 0;
};

/// Whatever answers calls: a loaded library, a bundle that is being written, one that is judged.
class Kernel {
 public:
  virtual ~Kernel() = default;
  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual std::string version() const = 0;
  [[nodiscard]] virtual std::string path() const = 0;  ///< empty: none
  [[nodiscard]] virtual Reply query_support(const ropecheck_model& model,
                                            const ropecheck_usage& usage) = 0;
  /// `execution` names what is run: "<case id>" for the case itself, "<case id>#law0", "#law1" ...
  /// for the other side of its law. Null with a reply that is not ok when the backend refuses.
  virtual std::unique_ptr<KernelSession> open(const ropecheck_model& model,
                                              const std::string& execution, Reply& reply) = 0;
  [[nodiscard]] virtual bool has_rotate() const = 0;
  [[nodiscard]] virtual bool has_step() const = 0;
};

/// A backend from a shared library.
/// `backend` is a path (has a '/' or ends in .so), or the name of a sample backend, whose library
/// libropecheck_backend_<name>.so stands in ../lib beside the directory of this program, or in it.
/// Errors: throws Error{load} if the file is missing or cannot be loaded, has no entry symbol, or
///         serves another ABI major; Error{not_found} for an unknown sample name (lists those there).
[[nodiscard]] std::unique_ptr<Kernel> load_backend(const std::string& backend);

/// Names of the sample backends that load_backend finds, sorted.
[[nodiscard]] std::vector<std::string> sample_backends();

}  // namespace ropecheck
