// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/io/hdf5.hpp"
#include "reference/error.hpp"
#include "reports/rows.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace ropecheck {

/// zlib's level for report columns; higher ones gain little on numbers.
inline constexpr Hdf5Storage kReportStorage{4};

/// Writes a table: one 1-d dataset for each column, all of one length.
template <typename Row>
void write_table(Hdf5Group group, std::span<const Column<Row>> columns,
                 const std::vector<Row>& rows) {
  for (const Column<Row>& column : columns) {
    std::visit(
        [&]<typename T>(T Row::*member) {
          std::vector<T> values;
          values.reserve(rows.size());
          for (const Row& row : rows) values.push_back(row.*member);
          if constexpr (std::is_same_v<T, std::string>) {
            group.write_strings(column.name, values);
          } else {
            group.write_column(column.name, values, kReportStorage);
          }
        },
        column.member);
  }
}

/// Reads a table. Errors: throws Error{load} for a column that is missing or of another length.
template <typename Row>
std::vector<Row> read_table(const Hdf5Group& group, std::span<const Column<Row>> columns) {
  std::vector<Row> rows;
  bool first = true;
  for (const Column<Row>& column : columns) {
    std::visit(
        [&]<typename T>(T Row::*member) {
          std::vector<T> values;
          if constexpr (std::is_same_v<T, std::string>) {
            values = group.read_strings(column.name);
          } else {
            values = group.template read<T>(column.name);
          }
          if (first) rows.resize(values.size());
          first = false;
          if (values.size() != rows.size()) {
            fail(ErrorCode::load,
                 "HDF5 file '{}', object '{}': column '{}' has {} rows, those before it {}; the "
                 "report is damaged",
                 group.file(), group.path(), column.name, values.size(), rows.size());
          }
          for (std::size_t i = 0; i < rows.size(); ++i) rows[i].*member = std::move(values[i]);
        },
        column.member);
  }
  return rows;
}

}  // namespace ropecheck
