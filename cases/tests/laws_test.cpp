// SPDX-License-Identifier: Apache-2.0
#include "cases/laws.hpp"

#include "cases/case_id.hpp"
#include "cases/suite.hpp"
#include "harness/tests/catch.hpp"
#include "reference/error.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace ropecheck {
namespace {

/// Changes a problem as a wrong kernel would that sees the program. `run` counts runs from 0.
using WrongKernel = void (*)(const Program& program, int run, ResolvedCall& resolved);

/// The rows of every token at one point: [head][channel], by content.
using Rows = std::map<ContentId, std::vector<std::vector<double>>>;

Rows run_program(const Program& program, Point point, WrongKernel wrong, int run) {
  Rows rows;
  const GeneratedValues values(program.values);
  Interpreter interpreter(program.scenario);
  while (!interpreter.done()) {
    auto resolved = interpreter.advance();
    if (!resolved) continue;
    if (wrong != nullptr) wrong(program, run, *resolved);
    const Answer answer =
        solve(resolved->problem, values, program.profile, point, {.sigma = false});
    const auto& tokens = point == Point::rotated_key ? resolved->keys : resolved->queries;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      auto& heads = rows[tokens[i].content];
      heads.clear();
      for (int head = 0; head < answer.expected.heads; ++head) {
        const double* row = answer.expected.row(static_cast<std::int64_t>(i), head);
        heads.emplace_back(row, row + answer.expected.channels);
      }
    }
  }
  return rows;
}

std::size_t mapped(const std::vector<int>& map, std::size_t index) {
  return map.empty() ? index : static_cast<std::size_t>(map[index]);
}

/// The number of a term that stands for (head, channel) of the base.
double number_of(const LawTerm& term, Point point, const std::vector<std::vector<double>>& heads,
                 std::size_t head, std::size_t channel) {
  const auto& head_map = point == Point::rotated_key ? term.kv_head_of : term.q_head_of;
  const bool output = point == Point::attention_output;
  return heads[mapped(head_map, head)][output ? channel : mapped(term.channel_of, channel)];
}

/// Greatest |base - sum of terms| over what the law compares, relative to the greatest |base|.
double violation(const Law& law, const CaseSpec& spec, WrongKernel wrong) {
  const Program base = build_program(spec);
  const LawPlan plan = law.plan(spec, base);
  double worst = 0;
  for (const Point point : plan.points) {
    const Rows mine = run_program(base, point, wrong, 0);
    std::vector<Rows> others;
    for (const LawTerm& term : plan.terms) {
      others.push_back(
          run_program(term.program, point, wrong, static_cast<int>(others.size()) + 1));
    }
    double scale = 0;
    double difference = 0;
    int compared = 0;
    for (const auto& [content, heads] : mine) {
      const auto& only = plan.sequences;
      const bool is_compared =
          std::all_of(others.begin(), others.end(),
                      [id = content](const Rows& other) { return other.contains(id); }) &&
          (only.empty() || std::find(only.begin(), only.end(), sequence_of(content)) != only.end());
      if (!is_compared) continue;
      ++compared;
      for (std::size_t head = 0; head < heads.size(); ++head) {
        for (std::size_t channel = 0; channel < heads[head].size(); ++channel) {
          double sum = 0;
          for (std::size_t i = 0; i < others.size(); ++i) {
            sum += number_of(plan.terms[i], point, others[i].at(content), head, channel);
          }
          scale = std::max(scale, std::abs(heads[head][channel]));
          difference = std::max(difference, std::abs(heads[head][channel] - sum));
        }
      }
    }
    REQUIRE(compared > 0);
    REQUIRE(scale > 0);
    worst = std::max(worst, difference / scale);
  }
  return worst;
}

/// Up to `limit` small cases of the suites with this law, of as many families as possible.
std::vector<CaseSpec> cases_of(std::string_view law, std::size_t limit) {
  static const std::vector<CaseSpec> suite = [] {
    std::vector<CaseSpec> cases = make_suite("smoke");
    const std::vector<CaseSpec> more = make_suite("default");
    cases.insert(cases.end(), more.begin(), more.end());
    return cases;
  }();
  std::map<Family, int> used;
  std::vector<CaseSpec> chosen;
  for (int round = 0; round < 4; ++round) {
    for (const CaseSpec& spec : suite) {
      const bool wide = spec.heads.num_q_heads > 4 || spec.heads.head_dim > 64;
      if (spec.law != law || wide || used[spec.family] != round || chosen.size() == limit) continue;
      ++used[spec.family];
      chosen.push_back(spec);
    }
  }
  return chosen;
}

// ---- wrong kernels, one for each relation

void move_queries(ResolvedCall& resolved, std::int64_t by) {
  for (QueryRow& query : resolved.problem.queries) query.rotation.coordinate += by;
}

void stale_second_run(const Program&, int run, ResolvedCall& resolved) {
  move_queries(resolved, run);
}

void positions_of_batch_size(const Program& program, int, ResolvedCall& resolved) {
  move_queries(resolved, program.scenario.num_sequences);
}

void positions_of_row(const Program& program, int, ResolvedCall& resolved) {
  const Placer placer(program.scenario, program.placement);
  for (std::size_t i = 0; i < resolved.queries.size(); ++i) {
    resolved.problem.queries[i].rotation.coordinate += placer.row_of(resolved.queries[i].sequence);
  }
}

void sees_next_key(const Program&, int, ResolvedCall& resolved) {
  const auto num_keys = static_cast<std::int64_t>(resolved.problem.keys.size());
  for (const QueryRow& query : resolved.problem.queries) {
    KeyRange& last = resolved.problem.ranges[query.first_range + query.num_ranges - 1];
    last.end = std::min(last.end + 1, num_keys);
  }
}

void positions_of_garbage(const Program& program, int, ResolvedCall& resolved) {
  move_queries(resolved, static_cast<std::int64_t>(program.placement.garbage));
}

void segment_leak(const Program& program, int, ResolvedCall& resolved) {
  if (program.placement.form != Form::packed) return;
  for (KeyRange& range : resolved.problem.ranges) range.begin = 0;
}

void positions_of_call(const Program&, int, ResolvedCall& resolved) {
  std::map<SequenceId, std::int64_t> cached;
  for (const TokenRef& query : resolved.queries) cached.try_emplace(query.sequence, query.index);
  for (std::size_t i = 0; i < resolved.queries.size(); ++i) {
    resolved.problem.queries[i].rotation.coordinate -= cached[resolved.queries[i].sequence];
  }
}

void shift_not_rotated(const Program&, int, ResolvedCall& resolved) {
  for (KeyRow& key : resolved.problem.keys) key.num_rotations = 1;
}

void double_query_positions(const Program&, int, ResolvedCall& resolved) {
  for (QueryRow& query : resolved.problem.queries) query.rotation.coordinate *= 2;
}

void kv_head_by_modulo(const Program&, int, ResolvedCall& resolved) {
  Problem& problem = resolved.problem;
  problem.kv_head_of.clear();
  for (int head = 0; head < problem.shape.num_q_heads; ++head) {
    problem.kv_head_of.push_back(head % problem.shape.num_kv_heads);
  }
}

void first_kv_head_for_all(const Program&, int, ResolvedCall& resolved) {
  resolved.problem.kv_head_of.assign(static_cast<std::size_t>(resolved.problem.shape.num_q_heads),
                                     0);
}

void half_split_always(const Program&, int, ResolvedCall& resolved) {
  for (RopeTable& table : resolved.problem.tables) {
    table.layout_in = table.layout_out = PairLayout::half_split;
  }
}

void factor_ignored(const Program& program, int, ResolvedCall& resolved) {
  RopeRule rule = program.scenario.model.rule;
  rule.type = RopeType::default_;
  rule.factor = 1;
  resolved.problem.tables = {
      make_rope_table(rule, program.scenario.model.rotary_dim, program.scenario.model.layout)};
}

void linear_with_factor_two(const Program& program, int, ResolvedCall& resolved) {
  RopeRule rule = program.scenario.model.rule;
  if (rule.type == RopeType::linear) rule.factor = 2;
  resolved.problem.tables = {
      make_rope_table(rule, program.scenario.model.rotary_dim, program.scenario.model.layout)};
}

void drops_first_key_of_odd(const Program& program, int, ResolvedCall& resolved) {
  if (program.values.value_parity != 1) return;
  for (KeyRange& range : resolved.problem.ranges) {
    if (range.end - range.begin > 1) ++range.begin;
  }
}

const std::map<std::string_view, WrongKernel>& wrong_kernels() {
  static const std::map<std::string_view, WrongKernel> kKernels = {
      {"run_to_run", stale_second_run},          {"padding_removed", positions_of_batch_size},
      {"batch_order", positions_of_row},         {"batch_neighbours", sees_next_key},
      {"pad_content", positions_of_garbage},     {"packed_is_separate", segment_leak},
      {"chunking", positions_of_call},           {"token_by_token", positions_of_call},
      {"shift_is_encoded", shift_not_rotated},   {"common_shift", double_query_positions},
      {"gqa_is_mha", kv_head_by_modulo},         {"head_order", first_kv_head_for_all},
      {"layout_permutation", half_split_always}, {"linear_is_scaled_position", factor_ignored},
      {"factor_one", linear_with_factor_two},    {"linear_in_values", drops_first_key_of_odd},
  };
  return kKernels;
}

}  // namespace

TEST_CASE("every law has a name, a statement, a formula, a domain and something to catch") {
  std::set<std::string_view> names;
  for (const Law& law : laws()) {
    INFO(law.name);
    CHECK(names.insert(law.name).second);
    CHECK(law.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string_view::npos);
    CHECK(law.statement.ends_with('.'));
    CHECK_FALSE(law.formula.empty());
    CHECK_FALSE(law.holds.empty());
    CHECK_FALSE(law.catches.empty());
    CHECK(law.not_applicable != nullptr);
    CHECK((law.plan != nullptr) == (law.kind == LawKind::relation));
    CHECK(&find_law(law.name) == &law);
  }
  CHECK_THROWS_WITH(find_law("gravity"),
                    Catch::Contains("chunking") && Catch::Contains("'gravity'"));
}

TEST_CASE("every relation holds for the exact kernel") {
  for (const Law& law : laws()) {
    if (law.kind != LawKind::relation) continue;
    const std::vector<CaseSpec> cases = cases_of(law.name, 8);
    INFO(law.name);
    REQUIRE(cases.size() >= 3);
    for (const CaseSpec& spec : cases) {
      INFO(to_id(spec));
      CHECK(violation(law, spec, nullptr) < 1e-12);
    }
  }
}

TEST_CASE("every relation is violated by a wrong kernel of the kind that it catches") {
  for (const Law& law : laws()) {
    if (law.kind != LawKind::relation) continue;
    INFO(law.name);
    REQUIRE(wrong_kernels().contains(law.name));
    double most = 0;
    for (const CaseSpec& spec : cases_of(law.name, 6)) {
      most = std::max(most, violation(law, spec, wrong_kernels().at(law.name)));
    }
    CHECK(most > 1e-3);
  }
}

TEST_CASE("programs on the other side of a relation can be placed") {
  for (const CaseSpec& spec : make_suite("default")) {
    if (spec.law == "none" || find_law(spec.law).plan == nullptr) continue;
    INFO(to_id(spec));
    for (const LawTerm& term : find_law(spec.law).plan(spec, build_program(spec)).terms) {
      const Program& program = term.program;
      Interpreter interpreter(program.scenario);
      Placer placer(program.scenario, program.placement);
      while (!interpreter.done()) {
        const Step& step = interpreter.next_step();
        const auto resolved = interpreter.advance();
        if (resolved) {
          static_cast<void>(placer.place(std::get<Call>(step), *resolved, interpreter));
        } else {
          static_cast<void>(placer.edit(step, interpreter));
        }
      }
    }
  }
}

TEST_CASE("laws leave the profile and the numbers of a case alone, but for what they are about") {
  for (const Law& law : laws()) {
    if (law.kind != LawKind::relation) continue;
    for (const CaseSpec& spec : cases_of(law.name, 3)) {
      INFO(to_id(spec));
      const Program base = build_program(spec);
      for (const LawTerm& term : law.plan(spec, base).terms) {
        CHECK(term.program.profile == base.profile);
        CHECK(term.program.values.seed == base.values.seed);
        CHECK(term.program.values.kind == base.values.kind);
        CHECK(term.program.values.storage == base.values.storage);
      }
    }
  }
}

}  // namespace ropecheck
