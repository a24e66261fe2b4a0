// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/result.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace ropecheck {

// The tables of an HDF5 report, as flat rows. One member is one column; README.md says what it
// holds.

/// A row of /cases.
struct CaseRow {
  std::string case_id;
  std::string family;
  std::string profile;
  std::string verdict;
  std::string message;
  std::int64_t checks = 0;
  std::int64_t failed_checks = 0;
  double max_z = 0;
  std::int64_t only_after = 0;
  double reference_seconds = 0;
  double backend_seconds = 0;
  double total_seconds = 0;
};

/// A row of /checks.
struct CheckRow {
  std::int64_t case_index = 0;
  std::string case_id;
  std::string family;
  std::string profile;
  std::string check;
  std::string point;
  std::string verdict;
  std::string message;
  std::int64_t elements = 0;
  std::int64_t bad_elements = 0;
  std::int64_t rows = 0;
  std::int64_t ill_conditioned = 0;
  double max_z = 0;
  double rms_z = 0;
  double worst_row_rms_z = 0;
  double worst_head_rms_z = 0;
  double bias_z = 0;
  double max_abs_error = 0;
  std::int64_t max_ulp = 0;
  double sigma = 0;
  double expected = 0;
  double actual = 0;
  std::int64_t worst_call = -1;
  std::int64_t worst_sequence = -1;
  std::int64_t worst_token = -1;
  std::int64_t worst_coordinate = 0;
  std::int64_t worst_head = -1;
  std::int64_t worst_channel = -1;
  std::int64_t bitwise = -1;
  double reference_seconds = 0;
  double backend_seconds = 0;
};

/// A row of /pools.
struct PoolRow {
  std::string family;
  std::string profile;
  std::string point;
  std::string verdict;
  std::string message;
  std::int64_t cases = 0;
  std::int64_t elements = 0;
  double rms_z = 0;
  double max_z = 0;
};

/// A column: its name in the file, and the member that it fills.
template <typename Row>
struct Column {
  const char* name;
  std::variant<double Row::*, std::int64_t Row::*, std::string Row::*> member;
};

[[nodiscard]] std::span<const Column<CaseRow>> case_columns();
[[nodiscard]] std::span<const Column<CheckRow>> check_columns();
[[nodiscard]] std::span<const Column<PoolRow>> pool_columns();

/// The rows of a run. Texts are made printable (printable_text).
[[nodiscard]] std::vector<CaseRow> case_rows(std::span<const CaseResult> cases);
[[nodiscard]] std::vector<CheckRow> check_rows(std::span<const CaseResult> cases);
[[nodiscard]] std::vector<PoolRow> pool_rows(std::span<const PooledResult> pools);

/// The other way round. Errors: throws Error{load} for a word or an index that no report can hold.
[[nodiscard]] std::vector<CaseResult> cases_from_rows(std::span<const CaseRow> cases,
                                                      std::span<const CheckRow> checks);
[[nodiscard]] std::vector<PooledResult> pools_from_rows(std::span<const PoolRow> pools);

}  // namespace ropecheck
