// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rapidcheck.h>

#include <cstdlib>
#include <string>

namespace ropecheck::testing {

/// Whether a RapidCheck property holds for 100 drawn examples; a counterexample is printed.
/// The draw is the same in every run, unless RC_PARAMS says otherwise.
template <typename Testable>
bool holds(const std::string& description, Testable&& property) {
  setenv("RC_PARAMS", "seed=20210420", /*overwrite=*/0);
  return rc::check(description, std::forward<Testable>(property));
}

}  // namespace ropecheck::testing
