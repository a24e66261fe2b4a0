// SPDX-License-Identifier: Apache-2.0
#include "harness/kernel.hpp"

#include "harness/tests/catch.hpp"
#include "reference/error.hpp"

#include <algorithm>
#include <string>

using namespace ropecheck;

namespace {

/// The error of loading a backend; fails the test if there is none.
Error load_error(const std::string& backend) {
  try {
    static_cast<void>(load_backend(backend));
  } catch (const Error& error) {
    return error;
  }
  FAIL("'" << backend << "' was loaded");
  return Error(ErrorCode::internal, "");
}

}  // namespace

TEST_CASE("sample backends are found by name") {
  const std::vector<std::string> names = sample_backends();
  for (const char* name : {"tiled", "naive", "reference", "minimal_c"}) {
    INFO(name);
    CHECK(std::find(names.begin(), names.end(), name) != names.end());
    const std::unique_ptr<Kernel> kernel = load_backend(name);
    CHECK(kernel->name() == name);
    CHECK(kernel->has_step());
    CHECK(kernel->has_rotate());
  }
}

TEST_CASE("a library that cannot be used is refused by name, with the reason") {
  const Error missing = load_error("./no_such_library.so");
  CHECK(missing.code() == ErrorCode::load);
  CHECK(std::string(missing.what()).find("no_such_library.so") != std::string::npos);

  const Error unknown = load_error("no_such_backend");
  CHECK(unknown.code() == ErrorCode::not_found);
  CHECK(std::string(unknown.what()).find("tiled") != std::string::npos);

  const Error text = load_error(ROPECHECK_NO_LIBRARY);
  CHECK(text.code() == ErrorCode::load);

  const Error no_entry = load_error(ROPECHECK_NO_ENTRY_LIBRARY);
  CHECK(no_entry.code() == ErrorCode::load);
  CHECK(std::string(no_entry.what()).find("ropecheck_backend_entry") != std::string::npos);

  const Error other_abi = load_error(ROPECHECK_OTHER_ABI_LIBRARY);
  CHECK(other_abi.code() == ErrorCode::load);
  CHECK(std::string(other_abi.what()).find("ABI major") != std::string::npos);
}
