// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/command.hpp"
#include "harness/cli/outputs.hpp"
#include "harness/kernel.hpp"
#include "reports/json_text.hpp"

#include <iostream>
#include <memory>
#include <string>

namespace ropecheck {

namespace {

int backends(const std::string& json) {
  check_outputs({.hdf5 = "", .text = "", .junit = "", .json = json});
  const std::vector<std::string> names = sample_backends();
  if (!json.empty()) write_output(json, json_text({{"backends", names}}));
  if (json != "-") {
    for (const std::string& name : names) std::cout << name << "\n";
  }
  return kExitPassed;
}

}  // namespace

Action setup_backends(CLI::App& app) {
  const auto json = std::make_shared<std::string>();
  add_json_option(app, *json);
  return [json] { return backends(*json); };
}

}  // namespace ropecheck
