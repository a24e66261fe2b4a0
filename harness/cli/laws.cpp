// SPDX-License-Identifier: Apache-2.0
#include "cases/laws.hpp"

#include "harness/cli/command.hpp"
#include "harness/cli/outputs.hpp"
#include "reports/json_text.hpp"

#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <string>

namespace ropecheck {

namespace {

std::string law_text(const Law& law) {
  return fmt::format("{}\n  {}\n  formula  {}\n  holds    {}\n  catches  {}\n", law.name,
                     law.statement, law.formula, law.holds, fmt::join(law.catches, ", "));
}

Json law_json(const Law& law) {
  Json json = {{"name", law.name},
               {"statement", law.statement},
               {"formula", law.formula},
               {"holds", law.holds},
               {"catches", Json::array()}};
  for (const std::string_view fault : law.catches) json["catches"].push_back(fault);
  return json;
}

int list_laws(const std::string& json) {
  check_outputs({.hdf5 = "", .text = "", .junit = "", .json = json});
  Json catalogue = {{"laws", Json::array()}};
  std::string text;
  for (const Law& law : laws()) {
    catalogue["laws"].push_back(law_json(law));
    text += fmt::format("{}{}", text.empty() ? "" : "\n", law_text(law));
  }
  if (!json.empty()) write_output(json, json_text(catalogue));
  if (json != "-") std::cout << text;
  return kExitPassed;
}

}  // namespace

Action setup_laws(CLI::App& app) {
  const auto json = std::make_shared<std::string>();
  add_json_option(app, *json);
  return [json] { return list_laws(*json); };
}

}  // namespace ropecheck
