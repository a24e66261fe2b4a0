// SPDX-License-Identifier: Apache-2.0
#include "cases/suite.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/outputs.hpp"
#include "harness/cli/selection.hpp"
#include "reports/json_text.hpp"
#include "reports/text_table.hpp"

#include <fmt/format.h>

#include <iostream>
#include <memory>

namespace ropecheck {

namespace {

struct ListCommand {
  Selection selection;
  bool coverage = false;
  std::string json;
};

std::string coverage_text(const std::vector<CoverageRow>& rows) {
  TextTable table;
  table.add_column("family", TextTable::Align::left);
  table.add_column("axis", TextTable::Align::left);
  table.add_column("axis", TextTable::Align::left);
  table.add_column("pairs");
  table.add_column("covered");
  table.add_column("impossible");
  table.add_column("missing", TextTable::Align::left);
  for (const CoverageRow& row : rows) {
    table.add_row({std::string(to_string(row.family)), row.axis_a, row.axis_b,
                   std::to_string(row.pairs), std::to_string(row.covered),
                   std::to_string(row.impossible),
                   fmt::format("{}", fmt::join(row.missing, "; "))});
  }
  return table.to_string();
}

Json coverage_json(const std::vector<CoverageRow>& rows) {
  Json json = Json::array();
  for (const CoverageRow& row : rows) {
    json.push_back({{"family", to_string(row.family)},
                    {"axis_a", row.axis_a},
                    {"axis_b", row.axis_b},
                    {"pairs", row.pairs},
                    {"covered", row.covered},
                    {"impossible", row.impossible},
                    {"missing", row.missing}});
  }
  return json;
}

int list(const ListCommand& command) {
  const Selection& selection = command.selection;
  const SelectedCases selected = select_cases(selection);
  check_outputs({.hdf5 = "", .text = "", .junit = "", .json = command.json});
  if (selected.cases.empty()) {
    std::cerr << "ropecheck: " << nothing_selected(selection, selected) << "\n";
    return kExitNothingRan;
  }
  std::vector<std::string> ids;
  for (const CaseSpec& spec : selected.cases) ids.push_back(to_id(spec));
  std::vector<CoverageRow> rows;
  if (command.coverage) {
    rows = coverage(selection.suite, {selection.profiles, selection.seed}, selected.cases);
  }
  if (!command.json.empty()) {
    Json json = {{"suite", selection.suite}, {"cases", ids.size()}, {"ids", ids}};
    if (command.coverage) json["coverage"] = coverage_json(rows);
    write_output(command.json, json_text(json));
  }
  if (command.json != "-") {
    std::cout << (command.coverage ? coverage_text(rows)
                                   : fmt::format("{}\n", fmt::join(ids, "\n")));
  }
  return kExitPassed;
}

}  // namespace

Action setup_list(CLI::App& app) {
  const auto command = std::make_shared<ListCommand>();
  add_selection_options(app, command->selection);
  app.add_flag("--coverage", command->coverage,
               "Print, for every two axes of a family, how many pairs of values the cases cover");
  add_json_option(app, command->json);
  return [command] { return list(*command); };
}

}  // namespace ropecheck
