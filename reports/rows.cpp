// SPDX-License-Identifier: Apache-2.0
#include "reports/rows.hpp"

#include "reference/error.hpp"
#include "reports/printable.hpp"

#include <algorithm>
#include <array>

namespace ropecheck {

namespace {

constexpr std::array kAllPoints = {Point::position_ids, Point::rotated_query, Point::rotated_key,
                                   Point::cached_key, Point::attention_output};
constexpr std::array kAllFamilies = {Family::padding, Family::mixed,         Family::packed,
                                     Family::decode,  Family::packed_decode, Family::chunked,
                                     Family::shift,   Family::interpolation, Family::ladder};

constexpr std::array kCaseColumns = {
    Column<CaseRow>{"case_id", &CaseRow::case_id},
    Column<CaseRow>{"family", &CaseRow::family},
    Column<CaseRow>{"profile", &CaseRow::profile},
    Column<CaseRow>{"verdict", &CaseRow::verdict},
    Column<CaseRow>{"message", &CaseRow::message},
    Column<CaseRow>{"checks", &CaseRow::checks},
    Column<CaseRow>{"failed_checks", &CaseRow::failed_checks},
    Column<CaseRow>{"max_z", &CaseRow::max_z},
    Column<CaseRow>{"only_after", &CaseRow::only_after},
    Column<CaseRow>{"reference_seconds", &CaseRow::reference_seconds},
    Column<CaseRow>{"backend_seconds", &CaseRow::backend_seconds},
    Column<CaseRow>{"total_seconds", &CaseRow::total_seconds},
};

constexpr std::array kCheckColumns = {
    Column<CheckRow>{"case_index", &CheckRow::case_index},
    Column<CheckRow>{"case_id", &CheckRow::case_id},
    Column<CheckRow>{"family", &CheckRow::family},
    Column<CheckRow>{"profile", &CheckRow::profile},
    Column<CheckRow>{"check", &CheckRow::check},
    Column<CheckRow>{"point", &CheckRow::point},
    Column<CheckRow>{"verdict", &CheckRow::verdict},
    Column<CheckRow>{"message", &CheckRow::message},
    Column<CheckRow>{"elements", &CheckRow::elements},
    Column<CheckRow>{"bad_elements", &CheckRow::bad_elements},
    Column<CheckRow>{"rows", &CheckRow::rows},
    Column<CheckRow>{"ill_conditioned", &CheckRow::ill_conditioned},
    Column<CheckRow>{"max_z", &CheckRow::max_z},
    Column<CheckRow>{"rms_z", &CheckRow::rms_z},
    Column<CheckRow>{"worst_row_rms_z", &CheckRow::worst_row_rms_z},
    Column<CheckRow>{"worst_head_rms_z", &CheckRow::worst_head_rms_z},
    Column<CheckRow>{"bias_z", &CheckRow::bias_z},
    Column<CheckRow>{"max_abs_error", &CheckRow::max_abs_error},
    Column<CheckRow>{"max_ulp", &CheckRow::max_ulp},
    Column<CheckRow>{"sigma", &CheckRow::sigma},
    Column<CheckRow>{"expected", &CheckRow::expected},
    Column<CheckRow>{"actual", &CheckRow::actual},
    Column<CheckRow>{"worst_call", &CheckRow::worst_call},
    Column<CheckRow>{"worst_sequence", &CheckRow::worst_sequence},
    Column<CheckRow>{"worst_token", &CheckRow::worst_token},
    Column<CheckRow>{"worst_coordinate", &CheckRow::worst_coordinate},
    Column<CheckRow>{"worst_head", &CheckRow::worst_head},
    Column<CheckRow>{"worst_channel", &CheckRow::worst_channel},
    Column<CheckRow>{"bitwise", &CheckRow::bitwise},
    Column<CheckRow>{"reference_seconds", &CheckRow::reference_seconds},
    Column<CheckRow>{"backend_seconds", &CheckRow::backend_seconds},
};

constexpr std::array kPoolColumns = {
    Column<PoolRow>{"family", &PoolRow::family},     Column<PoolRow>{"profile", &PoolRow::profile},
    Column<PoolRow>{"point", &PoolRow::point},       Column<PoolRow>{"verdict", &PoolRow::verdict},
    Column<PoolRow>{"message", &PoolRow::message},   Column<PoolRow>{"cases", &PoolRow::cases},
    Column<PoolRow>{"elements", &PoolRow::elements}, Column<PoolRow>{"rms_z", &PoolRow::rms_z},
    Column<PoolRow>{"max_z", &PoolRow::max_z},
};

/// The enumerator that is written as `word`.
template <typename Enums>
auto enumerator(const Enums& all, const char* column, const std::string& word) {
  const auto found =
      std::ranges::find_if(all, [&](const auto value) { return to_string(value) == word; });
  if (found == all.end()) {
    fail(ErrorCode::load,
         "HDF5 report, column '{}': '{}' is no word of this version; read the "
         "report with the ropecheck that wrote it",
         column, word);
  }
  return *found;
}

CheckRow check_row(std::int64_t case_index, const CaseResult& result, const CheckResult& check) {
  CheckRow row;
  row.case_index = case_index;
  row.case_id = result.id;
  row.family = to_string(result.spec.family);
  row.profile = result.spec.profile;
  row.check = check.check;
  row.point = to_string(check.point);
  row.verdict = to_string(check.verdict);
  row.message = printable_text(check.message);
  row.elements = check.elements;
  row.bad_elements = check.bad_elements;
  row.rows = check.rows;
  row.ill_conditioned = check.ill_conditioned;
  row.max_z = check.max_z;
  row.rms_z = check.rms_z;
  row.worst_row_rms_z = check.worst_row_rms_z;
  row.worst_head_rms_z = check.worst_head_rms_z;
  row.bias_z = check.bias_z;
  row.max_abs_error = check.max_abs_error;
  row.max_ulp = check.max_ulp;
  row.sigma = check.sigma;
  row.expected = check.expected;
  row.actual = check.actual;
  row.worst_call = check.worst.call;
  row.worst_sequence = check.worst.sequence;
  row.worst_token = check.worst.token;
  row.worst_coordinate = check.worst.coordinate;
  row.worst_head = check.worst.head;
  row.worst_channel = check.worst.channel;
  row.bitwise = check.bitwise ? (*check.bitwise ? 1 : 0) : -1;
  row.reference_seconds = result.reference_seconds;
  row.backend_seconds = result.backend_seconds;
  return row;
}

CheckResult check_from_row(const CheckRow& row) {
  CheckResult check;
  check.check = row.check;
  check.point = enumerator(kAllPoints, "point", row.point);
  check.verdict = enumerator(kAllVerdicts, "verdict", row.verdict);
  check.message = row.message;
  check.elements = row.elements;
  check.bad_elements = row.bad_elements;
  check.rows = row.rows;
  check.ill_conditioned = row.ill_conditioned;
  check.max_z = row.max_z;
  check.rms_z = row.rms_z;
  check.worst_row_rms_z = row.worst_row_rms_z;
  check.worst_head_rms_z = row.worst_head_rms_z;
  check.bias_z = row.bias_z;
  check.max_abs_error = row.max_abs_error;
  check.max_ulp = row.max_ulp;
  check.sigma = row.sigma;
  check.expected = row.expected;
  check.actual = row.actual;
  check.worst = {row.worst_call,
                 row.worst_sequence,
                 row.worst_token,
                 row.worst_coordinate,
                 static_cast<int>(row.worst_head),
                 static_cast<int>(row.worst_channel)};
  if (row.bitwise >= 0) check.bitwise = row.bitwise != 0;
  return check;
}

CaseResult case_from_row(const CaseRow& row) {
  CaseResult result;
  result.spec = parse_id(row.case_id);
  result.id = row.case_id;
  result.verdict = enumerator(kAllVerdicts, "verdict", row.verdict);
  result.message = row.message;
  result.only_after = row.only_after != 0;
  result.reference_seconds = row.reference_seconds;
  result.backend_seconds = row.backend_seconds;
  result.total_seconds = row.total_seconds;
  return result;
}

}  // namespace

std::span<const Column<CaseRow>> case_columns() { return kCaseColumns; }
std::span<const Column<CheckRow>> check_columns() { return kCheckColumns; }
std::span<const Column<PoolRow>> pool_columns() { return kPoolColumns; }

std::vector<CaseRow> case_rows(std::span<const CaseResult> cases) {
  std::vector<CaseRow> rows;
  for (const CaseResult& result : cases) {
    CaseRow row;
    row.case_id = result.id;
    row.family = to_string(result.spec.family);
    row.profile = result.spec.profile;
    row.verdict = to_string(result.verdict);
    row.message = printable_text(result.message);
    row.checks = std::ssize(result.checks);
    for (const CheckResult& check : result.checks) {
      row.failed_checks += is_failure(check.verdict) ? 1 : 0;
      // A NaN compares false, and must not be lost.
      if (!(check.max_z <= row.max_z)) row.max_z = check.max_z;
    }
    row.only_after = result.only_after ? 1 : 0;
    row.reference_seconds = result.reference_seconds;
    row.backend_seconds = result.backend_seconds;
    row.total_seconds = result.total_seconds;
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<CheckRow> check_rows(std::span<const CaseResult> cases) {
  std::vector<CheckRow> rows;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    for (const CheckResult& check : cases[i].checks) {
      rows.push_back(check_row(static_cast<std::int64_t>(i), cases[i], check));
    }
  }
  return rows;
}

std::vector<PoolRow> pool_rows(std::span<const PooledResult> pools) {
  std::vector<PoolRow> rows;
  for (const PooledResult& pool : pools) {
    rows.push_back({std::string(to_string(pool.family)), pool.profile,
                    std::string(to_string(pool.point)), std::string(to_string(pool.verdict)),
                    printable_text(pool.message), pool.cases, pool.elements, pool.rms_z,
                    pool.max_z});
  }
  return rows;
}

std::vector<CaseResult> cases_from_rows(std::span<const CaseRow> cases,
                                        std::span<const CheckRow> checks) {
  std::vector<CaseResult> results;
  for (const CaseRow& row : cases) results.push_back(case_from_row(row));
  for (const CheckRow& row : checks) {
    if (row.case_index < 0 || row.case_index >= std::ssize(results)) {
      fail(ErrorCode::load,
           "HDF5 report, column 'case_index': {} is outside the {} cases; the "
           "report is damaged",
           row.case_index, results.size());
    }
    results[static_cast<std::size_t>(row.case_index)].checks.push_back(check_from_row(row));
  }
  return results;
}

std::vector<PooledResult> pools_from_rows(std::span<const PoolRow> pools) {
  std::vector<PooledResult> results;
  for (const PoolRow& row : pools) {
    PooledResult pool;
    pool.family = enumerator(kAllFamilies, "family", row.family);
    pool.profile = row.profile;
    pool.point = enumerator(kAllPoints, "point", row.point);
    pool.cases = row.cases;
    pool.elements = row.elements;
    pool.rms_z = row.rms_z;
    pool.max_z = row.max_z;
    pool.verdict = enumerator(kAllVerdicts, "verdict", row.verdict);
    pool.message = row.message;
    results.push_back(std::move(pool));
  }
  return results;
}

}  // namespace ropecheck
