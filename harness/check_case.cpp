// SPDX-License-Identifier: Apache-2.0
#include "harness/check_case.hpp"

#include <fmt/format.h>
#include "cases/laws.hpp"
#include "harness/check_law.hpp"
#include "harness/compare.hpp"

#include <algorithm>
#include <array>
#include <chrono>

namespace ropecheck {
namespace {

constexpr std::array kPoints = {Point::position_ids, Point::rotated_query, Point::rotated_key,
                                Point::cached_key, Point::attention_output};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Whether a right backend could show this point in this program at all.
bool is_due(const Program& program, Point point) {
  switch (point) {
    case Point::cached_key: return program.placement.cache != CacheOwner::none;
    case Point::rotated_query:
    case Point::rotated_key:
    case Point::position_ids: return program.placement.rope_form != RopeForm::rotated;
    case Point::attention_output: return true;
  }
  return true;
}

CheckResult not_offered(Point point) {
  CheckResult result;
  result.check = "reference";
  result.point = point;
  result.verdict = Verdict::unsupported;
  result.message = fmt::format("the backend does not offer {}", to_string(point));
  return result;
}

void compare_call(Side& side, std::size_t index, Point point, Comparison& comparison) {
  const CallRecord& call = side.execution.calls[index];
  const std::optional<Array>& actual = call.at(point);
  if (!actual) return;
  const Answer& answer = side.answers.of(index, point);
  const auto width = static_cast<std::size_t>(actual->channels);
  for (std::int64_t row = 0; row < actual->rows; ++row) {
    for (int head = 0; head < actual->heads; ++head) {
      const auto flat = static_cast<std::size_t>(row * actual->heads + head);
      if (!answer.ill_conditioned.empty() && answer.ill_conditioned[flat] != 0) {
        comparison.skip_ill_conditioned({actual->row(row, head), width},
                                        location_at(call, point, row, head));
        continue;
      }
      comparison.add_row({actual->row(row, head), width}, {answer.expected.row(row, head), width},
                         {answer.sigma.row(row, head), width}, location_at(call, point, row, head));
    }
  }
}

CheckResult compare_with_reference(Side& side, Point point) {
  const std::vector<CallRecord>& calls = side.execution.calls;
  const bool offered = std::any_of(calls.begin(), calls.end(), [&](const CallRecord& call) {
    return call.at(point).has_value();
  });
  if (!offered) return not_offered(point);
  Comparison comparison(side.program.values.storage);
  for (std::size_t i = 0; i < calls.size(); ++i) compare_call(side, i, point, comparison);
  return comparison.finish("reference", point);
}

/// Worst first. A case is unsupported only if nothing of it could be checked.
constexpr std::array kWorstFirst = {Verdict::crashed, Verdict::timed_out,         Verdict::invalid,
                                    Verdict::failed,  Verdict::profile_too_loose, Verdict::blind,
                                    Verdict::passed,  Verdict::unsupported};

void conclude(CaseResult& result) {
  for (const Verdict verdict : kWorstFirst) {
    for (const CheckResult& check : result.checks) {
      if (check.verdict != verdict) continue;
      // That inputs and slots stayed as they were is no pass of a case in which nothing was compared.
      if (verdict == Verdict::passed && check.elements == 0) continue;
      result.verdict = verdict;
      result.message = check.message;
      return;
    }
  }
  result.verdict = Verdict::unsupported;
  result.message = "nothing that the backend offers can be compared";
}

void keep_array(CaseResult& result, std::string name, const Array& array) {
  result.kept.push_back({std::move(name), {array.rows, array.heads, array.channels}, array.values});
}

Array input_rows(const Values& values, TensorRole role, const std::vector<TokenRef>& tokens,
                 int heads, int width) {
  Array array(static_cast<std::int64_t>(tokens.size()), heads, width);
  for (std::int64_t row = 0; row < array.rows; ++row) {
    for (int head = 0; head < heads; ++head) {
      values.row(role, tokens[static_cast<std::size_t>(row)].content, head,
                 std::span(array.row(row, head), static_cast<std::size_t>(width)));
    }
  }
  return array;
}

void keep_tensors(CaseResult& result, Side& side) {
  const HeadShape& shape = side.program.scenario.model.shape;
  for (std::size_t i = 0; i < side.execution.calls.size(); ++i) {
    const CallRecord& call = side.execution.calls[i];
    const std::string prefix = fmt::format("call{}/", i);
    const ResolvedCall& resolved = call.resolved;
    const Values& values = *call.values;
    keep_array(
        result, prefix + "query",
        input_rows(values, TensorRole::query, resolved.queries, shape.num_q_heads, shape.head_dim));
    keep_array(
        result, prefix + "key",
        input_rows(values, TensorRole::key, resolved.keys, shape.num_kv_heads, shape.head_dim));
    keep_array(
        result, prefix + "value",
        input_rows(values, TensorRole::value, resolved.keys, shape.num_kv_heads, shape.v_head_dim));
    for (const Point point : kPoints) {
      const std::optional<Array>& actual = call.at(point);
      if (!actual) continue;
      const Answer& answer = side.answers.of(i, point);
      const std::string name = prefix + std::string(to_string(point)) + "/";
      keep_array(result, name + "actual", *actual);
      keep_array(result, name + "expected", answer.expected);
      keep_array(result, name + "sigma", answer.sigma);
    }
  }
}

void check_side(Side& base, CaseResult& result) {
  for (const Point point : kPoints) {
    if (is_due(base.program, point)) result.checks.push_back(compare_with_reference(base, point));
  }
  result.checks.push_back(must_not("inputs_unchanged", base.execution.changed_input));
  if (base.program.placement.cache == CacheOwner::caller) {
    result.checks.push_back(must_not("slots_untouched", base.execution.touched_slot));
  }
}

}  // namespace

CheckResult must_not(const char* check, const std::optional<std::string>& what) {
  CheckResult result;
  result.check = check;
  result.verdict = what ? Verdict::failed : Verdict::passed;
  result.message = what.value_or("");
  return result;
}

const Answer& Answers::of(std::size_t call, Point point) {
  const auto key = std::pair(call, point);
  if (const auto found = solved_.find(key); found != solved_.end()) return found->second;
  const auto start = std::chrono::steady_clock::now();
  const CallRecord& record = execution_.calls[call];
  SolveOptions options;
  options.exact_query_error = program_.exact_query_error;
  Answer answer;
  if (point == Point::rotated_key) {
    answer = solve(compared_keys(record), *record.values, program_.profile, point, options);
  } else if (point == Point::cached_key) {
    answer = solve(record.resolved.problem, *record.values, program_.profile, point, options);
  } else {
    answer = solve(compared_queries(record), *record.values, program_.profile, point, options);
  }
  seconds_ += seconds_since(start);
  return solved_.emplace(key, std::move(answer)).first->second;
}

const TokenRef& token_at(const CallRecord& call, Point point, std::int64_t row) {
  if (point == Point::cached_key) return call.resolved.keys[static_cast<std::size_t>(row)];
  return call.resolved
      .queries[static_cast<std::size_t>(call.compared[static_cast<std::size_t>(row)])];
}

Location location_at(const CallRecord& call, Point point, std::int64_t row, int head) {
  const TokenRef& token = token_at(call, point, row);
  Location where;
  where.call = call.number;
  where.sequence = token.sequence;
  where.token = token.index;
  where.head = head;
  const Problem& problem = call.resolved.problem;
  if (point == Point::cached_key) {
    for (const Rotation& rotation :
         problem.rotations_of(problem.keys[static_cast<std::size_t>(row)])) {
      where.coordinate += rotation.coordinate;
    }
  } else {
    const std::int64_t query = call.compared[static_cast<std::size_t>(row)];
    where.coordinate = problem.queries[static_cast<std::size_t>(query)].rotation.coordinate;
  }
  return where;
}

CaseResult check_case(Kernel& kernel, const CaseSpec& spec, const std::string& backend_options,
                      bool keep) {
  const auto start = std::chrono::steady_clock::now();
  CaseResult result;
  result.spec = spec;
  result.id = to_id(spec);
  Side base(kernel, build_program(spec), result.id, backend_options);
  if (base.execution.verdict != Verdict::passed) {
    result.verdict = base.execution.verdict;
    result.message = base.execution.message;
    CheckResult check;
    check.check = "reference";
    check.verdict = result.verdict;
    check.message = result.message;
    result.checks.push_back(std::move(check));
  } else {
    check_side(base, result);
    LawCost cost;
    if (spec.law != "none") {
      for (CheckResult& check :
           check_law(kernel, find_law(spec.law), spec, base, backend_options, cost)) {
        result.checks.push_back(std::move(check));
      }
    }
    conclude(result);
    if (keep) keep_tensors(result, base);
    result.reference_seconds = cost.reference_seconds;
    result.backend_seconds = cost.backend_seconds;
  }
  result.reference_seconds += base.answers.seconds();
  result.backend_seconds += base.execution.backend_seconds;
  result.total_seconds = seconds_since(start);
  return result;
}

}  // namespace ropecheck
