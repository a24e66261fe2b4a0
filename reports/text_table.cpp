// SPDX-License-Identifier: Apache-2.0
#include "reports/text_table.hpp"

#include "reference/error.hpp"

#include <algorithm>

namespace ropecheck {

void TextTable::add_column(std::string title, Align align) {
  titles_.push_back(std::move(title));
  aligns_.push_back(align);
}

void TextTable::add_row(std::vector<std::string> cells) {
  ROPECHECK_CHECK(cells.size() == titles_.size(), "a row of {} cells in a table of {} columns",
                  cells.size(), titles_.size());
  rows_.push_back(std::move(cells));
}

std::string TextTable::to_string(int indent) const {
  std::vector<std::size_t> widths;
  for (const std::string& title : titles_) widths.push_back(title.size());
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string text(static_cast<std::size_t>(indent), ' ');
    for (std::size_t i = 0; i < cells.size(); ++i) {
      text += aligns_[i] == Align::left ? fmt::format("{:<{}}", cells[i], widths[i])
                                        : fmt::format("{:>{}}", cells[i], widths[i]);
      text += "  ";
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
  };
  std::string text = line(titles_);
  for (const auto& row : rows_) text += line(row);
  return text;
}

}  // namespace ropecheck
