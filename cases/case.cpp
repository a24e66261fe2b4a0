// SPDX-License-Identifier: Apache-2.0
#include "cases/case.hpp"

#include "cases/case_id.hpp"
#include "cases/laws.hpp"
#include "cases/rules.hpp"
#include "reference/error.hpp"

namespace ropecheck {
namespace {

/// A value that no id can have: out of range, or a name that nothing bears.
std::optional<std::string> unreadable(const CaseSpec& spec) {
  for (const Axis& axis : axes()) {
    CaseSpec copy;
    const std::string text = axis.write(spec);
    if (axis.read(copy, text)) continue;
    return fmt::format("key '{}': expected {}, got '{}'", axis.key, axis.expects(), text);
  }
  return std::nullopt;
}

std::optional<std::string> law_says_nothing(const CaseSpec& spec) {
  if (spec.law == "none") return std::nullopt;
  std::optional<std::string> reason = find_law(spec.law).not_applicable(spec);
  if (!reason) return std::nullopt;
  return fmt::format("law {} says nothing here: {}", spec.law, *reason);
}

}  // namespace

std::optional<std::string> contradiction(const CaseSpec& spec) {
  if (auto reason = unreadable(spec)) return reason;
  for (const Rule& rule : rules()) {
    if (auto reason = rule.broken(spec)) return reason;
  }
  return law_says_nothing(spec);
}

}  // namespace ropecheck
