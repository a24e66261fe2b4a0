// SPDX-License-Identifier: Apache-2.0
#include "harness/check_law.hpp"

#include "harness/compare.hpp"
#include "harness/rotation_laws.hpp"
#include "reference/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <optional>
#include <unordered_map>

namespace ropecheck {
namespace {

/// Where a side shows a token at a point: which call, which row.
struct Place {
  std::size_t call = 0;
  std::int64_t row = 0;
};

using Places = std::unordered_map<ContentId, Place>;

Places places_of(const Execution& execution, Point point) {
  Places places;
  for (std::size_t call = 0; call < execution.calls.size(); ++call) {
    const std::optional<Array>& array = execution.calls[call].at(point);
    if (!array) continue;
    for (std::int64_t row = 0; row < array->rows; ++row) {
      places[token_at(execution.calls[call], point, row).content] = {call, row};
    }
  }
  return places;
}

CheckResult unsupported_law(const Law& law, Point point, std::string why) {
  CheckResult result;
  result.check = law.name;
  result.point = point;
  result.verdict = Verdict::unsupported;
  result.message = std::move(why);
  return result;
}

int mapped(const std::vector<int>& map, int index) {
  return map.empty() ? index : map[static_cast<std::size_t>(index)];
}

/// One relation at one point.
class RelationCheck {
 public:
  RelationCheck(const Law& law, const LawPlan& plan, Side& base,
                std::vector<std::unique_ptr<Side>>& others, Point point)
      : law_(law),
        plan_(plan),
        base_(base),
        others_(others),
        point_(point),
        comparison_(base.program.values.storage) {
    for (const auto& other : others_) places_.push_back(places_of(other->execution, point));
  }

  CheckResult run() {
    for (std::size_t call = 0; call < base_.execution.calls.size(); ++call) {
      const std::optional<Array>& actual = base_.execution.calls[call].at(point_);
      if (!actual) continue;
      for (std::int64_t row = 0; row < actual->rows; ++row) add_token(call, row, *actual);
    }
    CheckResult result = comparison_.finish(std::string(law_.name), point_);
    if (result.elements == 0 && result.ill_conditioned == 0) {
      return unsupported_law(law_, point_,
                             fmt::format("{} is not offered on both sides", to_string(point_)));
    }
    if (others_.size() == 1) result.bitwise = bitwise_;
    if (missing_ > 0 && !is_failure(result.verdict)) {
      result.verdict = Verdict::failed;
      result.message = fmt::format("{} tokens are shown on one side only", missing_);
    }
    return result;
  }

 private:
  void add_token(std::size_t call, std::int64_t row, const Array& actual) {
    const TokenRef& token = token_at(base_.execution.calls[call], point_, row);
    if (!plan_.sequences.empty() && std::find(plan_.sequences.begin(), plan_.sequences.end(),
                                              token.sequence) == plan_.sequences.end()) {
      return;
    }
    std::vector<Place> places;
    for (const Places& known : places_) {
      const auto found = known.find(token.content);
      if (found == known.end()) {
        ++missing_;
        return;
      }
      places.push_back(found->second);
    }
    for (int head = 0; head < actual.heads; ++head) add_row(call, row, head, actual, places);
  }

  static bool ill_conditioned(const Answer& answer, std::int64_t row, int head) {
    return !answer.ill_conditioned.empty() &&
           answer.ill_conditioned[static_cast<std::size_t>(row * answer.expected.heads + head)] !=
               0;
  }

  void add_row(std::size_t call, std::int64_t row, int head, const Array& actual,
               const std::vector<Place>& places) {
    const Answer& answer = base_.answers.of(call, point_);
    const auto width = static_cast<std::size_t>(actual.channels);
    std::vector<double> other_sum(width), variance(width);
    bool skip = ill_conditioned(answer, row, head);
    for (std::size_t channel = 0; channel < width; ++channel) {
      const double sigma = answer.sigma.row(row, head)[channel];
      variance[channel] = sigma * sigma;
    }
    for (std::size_t i = 0; i < others_.size(); ++i) {
      const LawTerm& term = plan_.terms[i];
      const bool of_query = point_ == Point::rotated_query || point_ == Point::attention_output;
      const int other_head = mapped(of_query ? term.q_head_of : term.kv_head_of, head);
      const Array& array = *others_[i]->execution.calls[places[i].call].at(point_);
      const Answer& other = others_[i]->answers.of(places[i].call, point_);
      skip = skip || ill_conditioned(other, places[i].row, other_head);
      for (std::size_t channel = 0; channel < width; ++channel) {
        const auto source =
            point_ == Point::attention_output
                ? channel
                : static_cast<std::size_t>(mapped(term.channel_of, static_cast<int>(channel)));
        const double number = array.row(places[i].row, other_head)[source];
        // Not 0 + number: that would turn a negative zero into a positive one.
        other_sum[channel] = i == 0 ? number : other_sum[channel] + number;
        const double sigma = other.sigma.row(places[i].row, other_head)[source];
        variance[channel] += sigma * sigma;
      }
    }
    const std::span<const double> mine(actual.row(row, head), width);
    for (std::size_t channel = 0; channel < width; ++channel) {
      bitwise_ = bitwise_ && std::bit_cast<std::uint64_t>(mine[channel]) ==
                                 std::bit_cast<std::uint64_t>(other_sum[channel]);
      variance[channel] = std::sqrt(variance[channel]);
    }
    if (skip) {
      return comparison_.skip_ill_conditioned(
          mine, location_at(base_.execution.calls[call], point_, row, head));
    }
    comparison_.add_row(mine, other_sum, variance,
                        location_at(base_.execution.calls[call], point_, row, head));
  }

  const Law& law_;
  const LawPlan& plan_;
  Side& base_;
  std::vector<std::unique_ptr<Side>>& others_;
  Point point_;
  Comparison comparison_;
  std::vector<Places> places_;
  bool bitwise_ = true;
  std::int64_t missing_ = 0;  ///< tokens of the base that another side does not show
};

std::vector<CheckResult> check_relation(Kernel& kernel, const Law& law, const CaseSpec& spec,
                                        Side& base, const std::string& backend_options,
                                        LawCost& cost) {
  LawPlan plan = law.plan(spec, base.program);
  std::vector<std::unique_ptr<Side>> others;
  std::vector<CheckResult> results;
  for (std::size_t i = 0; i < plan.terms.size(); ++i) {
    const std::string name = fmt::format("{}#law{}", to_id(spec), i);
    others.push_back(std::make_unique<Side>(kernel, plan.terms[i].program, name, backend_options));
    const Execution& execution = others.back()->execution;
    cost.backend_seconds += execution.backend_seconds;
    if (execution.verdict == Verdict::passed) continue;
    CheckResult result = unsupported_law(
        law, plan.points.front(),
        fmt::format("the other side of the law did not run: {}", execution.message));
    result.verdict = execution.verdict;
    return {result};
  }
  for (const Point point : plan.points)
    results.push_back(RelationCheck(law, plan, base, others, point).run());
  for (const auto& other : others) {
    cost.reference_seconds += other->answers.seconds();
    for (const auto& what : {other->execution.changed_input, other->execution.touched_slot}) {
      if (what) results.push_back(must_not(law.name.data(), what));
    }
  }
  return results;
}

}  // namespace

std::vector<CheckResult> check_law(Kernel& kernel, const Law& law, const CaseSpec& spec, Side& base,
                                   const std::string& backend_options, LawCost& cost) {
  switch (law.kind) {
    case LawKind::relation: return check_relation(kernel, law, spec, base, backend_options, cost);
    case LawKind::pair_norm: return check_pair_norm(law, base);
    case LawKind::tail_untouched: return check_tail_untouched(law, base);
    case LawKind::value_untouched: return check_value_untouched(law, base);
    case LawKind::origin_identity: return check_origin_identity(law, base);
    case LawKind::composition:
    case LawKind::inverse: return check_rotation_chain(kernel, law, base, backend_options, cost);
  }
  return {};
}

}  // namespace ropecheck
