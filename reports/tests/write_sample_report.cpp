// SPDX-License-Identifier: Apache-2.0
// Writes the sample run for tests in other languages: write_sample_report REPORT.h5 JUNIT.xml
#include "reports/hdf5_report.hpp"
#include "reports/junit_report.hpp"
#include "reports/output_file.hpp"
#include "reports/tests/sample_run.hpp"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const ropecheck::RunResult run = ropecheck::sample_run();
  ropecheck::write_hdf5_report(argv[1], run);
  ropecheck::write_text_file(argv[2], ropecheck::junit_report(run));
  return 0;
}
