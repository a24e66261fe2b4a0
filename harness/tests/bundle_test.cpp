// SPDX-License-Identifier: Apache-2.0
#include "harness/bundle.hpp"

#include "cases/suite.hpp"
#include "harness/run.hpp"
#include "harness/tests/catch.hpp"
#include "reference/error.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

using namespace ropecheck;

namespace {

namespace fs = std::filesystem;

/// A directory of this test's own, gone at its end.
struct Directory {
  Directory()
      : path(fs::temp_directory_path() /
             fs::path("ropecheck_bundle_test_" + std::to_string(::getpid()))) {
    fs::create_directories(path);
  }
  ~Directory() { fs::remove_all(path); }
  [[nodiscard]] std::string file(const char* name) const { return (path / name).string(); }
  fs::path path;
};

std::vector<CaseSpec> some_cases() {
  std::vector<CaseSpec> cases;
  std::map<Family, int> count;
  for (const CaseSpec& spec : make_suite("smoke")) {
    if (spec.cache != CacheOwner::caller && count[spec.family]++ < 6) cases.push_back(spec);
  }
  return cases;
}

void check_same(const CaseResult& live, const CaseResult& offline) {
  INFO(live.id << ": " << live.message << " / " << offline.message);
  CHECK(live.id == offline.id);
  CHECK(live.verdict == offline.verdict);
  for (const CheckResult& check : live.checks) {
    for (const CheckResult& other : offline.checks) {
      if (check.check != other.check || check.point != other.point) continue;
      // Laws that call `rotate` cannot be recorded: their second call depends on the first.
      if (other.verdict == Verdict::unsupported &&
          (check.check == "composition" || check.check == "inverse"))
        continue;
      CHECK(check.verdict == other.verdict);
      CHECK(check.max_z == other.max_z);
      CHECK(check.rms_z == other.rms_z);
    }
  }
}

}  // namespace

TEST_CASE("a filled bundle is judged like the live run of the same kernel") {
  const Directory directory;
  const std::vector<CaseSpec> cases = some_cases();
  RunInfo info;
  info.suite = "smoke";
  info.profiles = {"strict_f32"};
  const BundleCount count = export_bundle(directory.file("cases.h5"), cases, info);
  CHECK(count.cases == static_cast<std::int64_t>(cases.size()));
  CHECK(count.executions >= count.cases);
  for (const char* name : {"tiled", "wrong_mask_one_more"}) {
    INFO(name);
    const std::unique_ptr<Kernel> kernel = load_backend(name);
    fill_bundle(*kernel, directory.file("cases.h5"), directory.file("outputs.h5"), "");
    RunInfo read;
    const std::vector<CaseSpec> stored = read_bundle_cases(directory.file("cases.h5"), read);
    CHECK(stored == cases);
    CHECK(read.suite == "smoke");
    const std::unique_ptr<Kernel> bundle =
        open_bundle(directory.file("cases.h5"), directory.file("outputs.h5"));
    const RunResult live = run_cases(*kernel, cases, {}, {}, {});
    const RunResult offline = run_cases(*bundle, stored, {}, {}, {});
    for (std::size_t i = 0; i < cases.size(); ++i) check_same(live.cases[i], offline.cases[i]);
    CHECK(offline.summary.verdicts.at("passed") == live.summary.verdicts.at("passed"));
  }
}

TEST_CASE("cases whose cache belongs to the caller are left out and counted") {
  const Directory directory;
  const std::vector<CaseSpec> cases = {
      parse_id("decode/rows=2/len=6.ragged/steps=1/pad=left/cache=caller"),
      parse_id("padding/rows=2/len=4.ragged/pad=left")};
  const BundleCount count = export_bundle(directory.file("cases.h5"), cases, {});
  CHECK(count.cases == 1);
  CHECK(count.left_out == 1);
}

TEST_CASE("files that are no bundle are refused with the remedy") {
  const Directory directory;
  std::ofstream(directory.file("text.h5")) << "no HDF5";
  RunInfo info;
  CHECK_THROWS_AS(read_bundle_cases(directory.file("text.h5"), info), Error);
  CHECK_THROWS_AS(read_bundle_cases(directory.file("missing.h5"), info), Error);
  static_cast<void>(
      export_bundle(directory.file("cases.h5"),
                    std::vector<CaseSpec>{parse_id("padding/rows=2/len=4.ragged/pad=left")}, {}));
  CHECK_THROWS_AS(open_bundle(directory.file("missing.h5"), directory.file("cases.h5")), Error);
}

TEST_CASE("outputs for other inputs than the case ids stand for are refused") {
  const Directory directory;
  const std::vector<CaseSpec> one = {parse_id("padding/rows=2/len=4.ragged/pad=left/s=1")};
  const std::vector<CaseSpec> other = {parse_id("padding/rows=2/len=4.ragged/pad=left/s=2")};
  static_cast<void>(export_bundle(directory.file("one.h5"), one, {}));
  const std::unique_ptr<Kernel> kernel = load_backend("minimal_c");
  fill_bundle(*kernel, directory.file("one.h5"), directory.file("outputs.h5"), "");
  const std::unique_ptr<Kernel> bundle =
      open_bundle(directory.file("one.h5"), directory.file("outputs.h5"));
  // Executions go by name, so another seed is simply not there.
  CHECK(run_cases(*bundle, other, {}, {}, {}).cases[0].verdict == Verdict::unsupported);
}
