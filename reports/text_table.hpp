// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace ropecheck {

/// A table of plain text, columns as wide as their widest cell.
class TextTable {
 public:
  enum class Align { left, right };

  /// A column, in the order in which cells of rows come.
  void add_column(std::string title, Align align = Align::right);
  /// Shape: cells [columns].
  void add_row(std::vector<std::string> cells);
  [[nodiscard]] bool empty() const { return rows_.empty(); }

  /// Title line and rows, each ended by a line break, without trailing spaces.
  [[nodiscard]] std::string to_string(int indent = 0) const;

 private:
  std::vector<std::string> titles_;
  std::vector<Align> aligns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace ropecheck
