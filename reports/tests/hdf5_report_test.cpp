// SPDX-License-Identifier: Apache-2.0
#include "reports/hdf5_report.hpp"

#include "harness/io/hdf5.hpp"
#include "harness/tests/catch.hpp"
#include "reference/error.hpp"
#include "reports/printable.hpp"
#include "reports/rows.hpp"
#include "reports/tests/sample_run.hpp"
#include "reports/tests/scratch.hpp"

#include <bit>

namespace ropecheck {

namespace {

/// The same bits, or both NaN.
bool same(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) ||
         (std::isnan(a) && std::isnan(b));
}

/// Every column of two tables of rows.
template <typename Row>
void check_same_rows(std::span<const Column<Row>> columns, const std::vector<Row>& a,
                     const std::vector<Row>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (const Column<Row>& column : columns) {
      INFO("row " << i << ", column " << column.name);
      std::visit(
          [&]<typename T>(T Row::*member) {
            if constexpr (std::is_same_v<T, double>) {
              CHECK(same(a[i].*member, b[i].*member));
            } else {
              CHECK(a[i].*member == b[i].*member);
            }
          },
          column.member);
    }
  }
}

}  // namespace

TEST_CASE("a run that is written as HDF5 is read back as it was") {
  const Scratch scratch;
  const RunResult run = sample_run();
  write_hdf5_report(scratch / "run.h5", run);
  const RunResult read = read_hdf5_report(scratch / "run.h5");

  check_same_rows(case_columns(), case_rows(run.cases), case_rows(read.cases));
  check_same_rows(check_columns(), check_rows(run.cases), check_rows(read.cases));
  check_same_rows(pool_columns(), pool_rows(run.summary.pools), pool_rows(read.summary.pools));
  CHECK(read.cases[0].spec == run.cases[0].spec);
  CHECK(read.info.backend == run.info.backend);
  CHECK(read.info.seed == run.info.seed);
  CHECK(read.info.profiles == run.info.profiles);
  CHECK(read.info.options == run.info.options);
  CHECK(read.info.environment == run.info.environment);
  CHECK(read.info.command_line == run.info.command_line);
  CHECK(read.summary.verdicts == run.summary.verdicts);
  CHECK(read.summary.check_verdicts == run.summary.check_verdicts);
  CHECK(read.summary.exit_status == 1);
  CHECK(std::isinf(read.summary.max_z));
}

TEST_CASE("every member of a check has a column of its own") {
  const RunResult run = sample_run();
  const std::vector<CheckRow> rows = check_rows(run.cases);
  const CheckResult read = cases_from_rows(case_rows(run.cases), rows)[0].checks[1];
  const CheckResult& written = run.cases[0].checks[1];
  CHECK(read.check == "batch_order");
  CHECK(read.bitwise == std::optional<bool>(true));
  CHECK(read.worst.call == 1);
  CHECK(read.worst.sequence == 2);
  CHECK(read.worst.token == 17);
  CHECK(read.worst.coordinate == 19);
  CHECK(read.worst.head == 5);
  CHECK(read.worst.channel == 64);
  CHECK(read.worst_row_rms_z == written.worst_row_rms_z);
  CHECK(read.worst_head_rms_z == written.worst_head_rms_z);
  CHECK(read.bias_z == written.bias_z);
  CHECK(read.max_ulp == 77);
  CHECK(read.ill_conditioned == 2);
}

TEST_CASE("kept tensors keep name, shape and numbers") {
  const Scratch scratch;
  write_hdf5_report(scratch / "run.h5", sample_run());
  const std::vector<KeptTensor> kept = read_hdf5_report(scratch / "run.h5").cases[1].kept;
  REQUIRE(kept.size() == 2);
  CHECK(kept[0].name == "call0/attention_output/actual");
  CHECK(kept[0].shape == std::vector<std::int64_t>{2, 2});
  CHECK(kept[0].values[3] == 4);
  CHECK(std::isnan(kept[0].values[2]));
  CHECK(kept[1].values == std::vector<double>{5, 6, 7});
  CHECK(Hdf5File::open(scratch / "run.h5").group("kept/1").string_attribute("case_id") ==
        sample_run().cases[1].id);
}

TEST_CASE("a run without a case is a report, too") {
  const Scratch scratch;
  write_hdf5_report(scratch / "empty.h5", empty_run());
  const RunResult read = read_hdf5_report(scratch / "empty.h5");
  CHECK(read.cases.empty());
  CHECK(read.summary.exit_status == 4);
}

TEST_CASE("a file that is no report, or of another version, is refused by name") {
  const Scratch scratch;
  {
    Hdf5File file = Hdf5File::create(scratch / "other.h5");
    file.commit();
  }
  CHECK_THROWS_WITH(
      read_hdf5_report(scratch / "other.h5"),
      Catch::Matchers::Contains("other.h5") && Catch::Matchers::Contains("it is no report"));
  {
    Hdf5File file = Hdf5File::create(scratch / "future.h5");
    file.set_attribute("format", "ropecheck report");
    file.set_attribute("format_version", 99);
    file.set_attribute("ropecheck_version", "9.9.9");
    file.commit();
  }
  CHECK_THROWS_WITH(read_hdf5_report(scratch / "future.h5"),
                    Catch::Matchers::Contains("format version 99, expected 1") &&
                        Catch::Matchers::Contains("9.9.9"));
}

TEST_CASE("rows that no run can have are refused") {
  const RunResult run = sample_run();
  std::vector<CaseRow> cases = case_rows(run.cases);
  std::vector<CheckRow> checks = check_rows(run.cases);
  checks[0].case_index = 99;
  CHECK_THROWS_WITH(cases_from_rows(cases, checks), Catch::Matchers::Contains("case_index"));
  checks[0].case_index = 0;
  checks[0].verdict = "splendid";
  CHECK_THROWS_WITH(cases_from_rows(cases, checks), Catch::Matchers::Contains("'splendid'"));
}

}  // namespace ropecheck
