// SPDX-License-Identifier: Apache-2.0
#include "harness/rotation_laws.hpp"

#include "harness/compare.hpp"
#include "harness/handed.hpp"
#include "harness/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <functional>
#include <numeric>

namespace ropecheck {
namespace {

constexpr std::array kRotatedPoints = {Point::rotated_query, Point::rotated_key};

CheckResult unsupported(const Law& law, Point point, std::string why) {
  CheckResult result;
  result.check = law.name;
  result.point = point;
  result.verdict = Verdict::unsupported;
  result.message = std::move(why);
  return result;
}

TensorRole role_of(Point point) {
  return point == Point::rotated_query ? TensorRole::query : TensorRole::key;
}

CheckResult refused(const Law& law, Point point, const Reply& reply) {
  CheckResult result = unsupported(law, point, reply.message);
  if (reply.status != ROPECHECK_UNSUPPORTED) result.verdict = Verdict::invalid;
  return result;
}

/// What a law compares in one (token, head) row.
struct RowView {
  std::span<const double> input;
  std::span<const double> rotated;
  std::span<const double> sigma;
  Location where;
};

/// Shows every row of a rotated point to `visit`; false if the backend does not offer it.
bool for_each_row(Side& base, Point point, const std::function<void(const RowView&)>& visit) {
  const GeneratedValues values(base.program.values);
  const auto width = static_cast<std::size_t>(base.program.scenario.model.shape.head_dim);
  std::vector<double> input(width);
  bool offered = false;
  for (std::size_t i = 0; i < base.execution.calls.size(); ++i) {
    const CallRecord& call = base.execution.calls[i];
    const std::optional<Array>& actual = call.at(point);
    if (!actual) continue;
    offered = true;
    const Answer& answer = base.answers.of(i, point);
    for (std::int64_t row = 0; row < actual->rows; ++row) {
      for (int head = 0; head < actual->heads; ++head) {
        values.row(role_of(point), token_at(call, point, row).content, head, input);
        visit({input,
               {actual->row(row, head), width},
               {answer.sigma.row(row, head), width},
               location_at(call, point, row, head)});
      }
    }
  }
  return offered;
}

/// Where the law says "bit for bit", other bits of an equal number (a zero of the other sign) fail.
void set_bitwise(CheckResult& result, bool bitwise, bool due) {
  if (result.elements == 0) return;
  result.bitwise = bitwise;
  if (bitwise || !due || is_failure(result.verdict)) return;
  result.verdict = Verdict::failed;
  result.message = "equal numbers, but not the same bits";
}

bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

}  // namespace

std::vector<CheckResult> check_pair_norm(const Law& law, Side& base) {
  const RopeTable& table = base.execution.calls.front().resolved.problem.tables.front();
  const auto pairs = static_cast<std::size_t>(table.num_pairs());
  std::vector<CheckResult> results;
  for (const Point point : kRotatedPoints) {
    Comparison comparison(base.program.values.storage);
    const double magnitude = point == Point::rotated_query ? table.magnitude_q : table.magnitude_k;
    std::vector<double> actual(pairs), expected(pairs), sigma(pairs);
    const bool offered = for_each_row(base, point, [&](const RowView& row) {
      for (std::size_t i = 0; i < pairs; ++i) {
        const auto [first, second] = pair_channels(table.layout_in, static_cast<int>(i),
                                                   table.rotary_dim, table.rotary_offset);
        const auto a = static_cast<std::size_t>(first), b = static_cast<std::size_t>(second);
        actual[i] = std::hypot(row.rotated[a], row.rotated[b]);
        expected[i] = magnitude * std::hypot(row.input[a], row.input[b]);
        sigma[i] = actual[i] > 0
                       ? std::hypot(row.rotated[a] * row.sigma[a], row.rotated[b] * row.sigma[b]) /
                             actual[i]
                       : std::hypot(row.sigma[a], row.sigma[b]);
      }
      comparison.add_row(actual, expected, sigma, row.where);
    });
    results.push_back(
        offered ? comparison.finish(std::string(law.name), point)
                : unsupported(law, point, fmt::format("{} is not offered", to_string(point))));
  }
  return results;
}

std::vector<CheckResult> check_tail_untouched(const Law& law, Side& base) {
  const RopeTable& table = base.execution.calls.front().resolved.problem.tables.front();
  std::vector<CheckResult> results;
  for (const Point point : kRotatedPoints) {
    Comparison comparison(base.program.values.storage);
    bool bitwise = true;
    const auto begin = static_cast<std::size_t>(table.rotary_offset + table.rotary_dim);
    const bool offered = for_each_row(base, point, [&](const RowView& row) {
      const std::vector<double> zero(row.input.size() - begin);
      const auto in = row.input.subspan(begin), out = row.rotated.subspan(begin);
      bitwise = bitwise && std::equal(in.begin(), in.end(), out.begin(), same_bits);
      comparison.add_row(out, in, zero, row.where);
    });
    results.push_back(
        offered ? comparison.finish(std::string(law.name), point)
                : unsupported(law, point, fmt::format("{} is not offered", to_string(point))));
    if (offered) set_bitwise(results.back(), bitwise, true);
  }
  return results;
}

std::vector<CheckResult> check_value_untouched(const Law& law, Side& base) {
  const CallRecord& last = base.execution.calls.back();
  if (!last.cached_value)
    return {unsupported(law, Point::cached_key, "the backend does not show its cached values")};
  const GeneratedValues values(base.program.values);
  Comparison comparison(base.program.values.storage);
  const Array& cached = *last.cached_value;
  const auto width = static_cast<std::size_t>(cached.channels);
  std::vector<double> input(width);
  const std::vector<double> zero(width);
  bool bitwise = true;
  for (std::int64_t row = 0; row < cached.rows; ++row) {
    for (int head = 0; head < cached.heads; ++head) {
      values.row(TensorRole::value, last.resolved.keys[static_cast<std::size_t>(row)].content, head,
                 input);
      const std::span<const double> actual(cached.row(row, head), width);
      bitwise = bitwise && std::equal(input.begin(), input.end(), actual.begin(), same_bits);
      comparison.add_row(actual, input, zero, location_at(last, Point::cached_key, row, head));
    }
  }
  CheckResult result = comparison.finish(std::string(law.name), Point::cached_key);
  set_bitwise(result, bitwise, true);
  return {result};
}

std::vector<CheckResult> check_origin_identity(const Law& law, Side& base) {
  std::vector<CheckResult> results;
  for (const Point point : kRotatedPoints) {
    Comparison comparison(base.program.values.storage);
    bool bitwise = true;
    const bool offered = for_each_row(base, point, [&](const RowView& row) {
      if (row.where.coordinate != 0) return;
      bitwise =
          bitwise && std::equal(row.input.begin(), row.input.end(), row.rotated.begin(), same_bits);
      comparison.add_row(row.rotated, row.input, row.sigma, row.where);
    });
    results.push_back(
        offered ? comparison.finish(std::string(law.name), point)
                : unsupported(law, point, fmt::format("{} is not offered", to_string(point))));
    if (offered) set_bitwise(results.back(), bitwise, false);
  }
  return results;
}

namespace {

/// The queries of a program, as keys of a problem: rotation errors are the same for both.
class QueriesAsKeys final : public Values {
 public:
  explicit QueriesAsKeys(const ValueSpec& spec) : values_(spec) {}
  void row(TensorRole /*role*/, ContentId content, int head, std::span<double> out) const override {
    values_.row(TensorRole::query, content, head, out);
  }

 private:
  GeneratedValues values_;
};

/// By how much the second rotation of a composition goes on [tokens].
constexpr std::int64_t kSecondRotation = 11;

/// Rotates the queries of the first call by chains of rotations, on the backend and in the reference.
class RotationChain {
 public:
  RotationChain(Kernel& kernel, Side& base, const std::string& backend_options)
      : base_(base),
        extent_(widened(base.program)),
        table_(handed_table(base.program, extent_)),
        description_(arena_, base.program, table_, extent_, backend_options) {
    const CallRecord& call = base.execution.calls.front();
    for (std::size_t i = 0; i < call.compared.size(); ++i) {
      tokens_.push_back(token_at(call, Point::rotated_query, static_cast<std::int64_t>(i)).content);
      positions_.push_back(
          location_at(call, Point::rotated_query, static_cast<std::int64_t>(i), 0).coordinate);
    }
    session_ = kernel.open(description_.model(), fmt::format("{}#rotate", to_id_of(base)), reply_);
  }

  [[nodiscard]] const Reply& reply() const { return reply_; }
  [[nodiscard]] double seconds() const { return seconds_; }

  Tensor input() {
    const HeadShape& shape = base_.program.scenario.model.shape;
    Tensor rows = make_rows();
    const GeneratedValues values(base_.program.values);
    std::vector<double> row(static_cast<std::size_t>(shape.head_dim));
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      for (int head = 0; head < shape.num_q_heads; ++head) {
        values.row(TensorRole::query, tokens_[i], head, row);
        rows.write_row(static_cast<std::int64_t>(i) * shape.num_q_heads + head, row);
      }
    }
    return rows;
  }

  /// Rotates by each token's own position times `own`, plus `more`.
  Tensor rotate(const Tensor& in, int own, std::int64_t more, bool inverse) {
    Tensor out = make_rows();
    std::vector<std::int64_t> ids;
    for (const std::int64_t position : positions_) ids.push_back(own * position + more);
    const Tensor id_tensor = index_tensor(arena_, dtype_of(base_.program.placement.index_type),
                                          {1, static_cast<std::int64_t>(ids.size())}, ids);
    ropecheck_rotate_args args{};
    args.struct_size = sizeof args;
    args.role = ROPECHECK_ROLE_QUERY;
    args.inverse = inverse ? 1 : 0;
    args.magnitude_power = 1;
    args.input = in.abi();
    args.output = out.abi();
    args.position_ids = id_tensor.abi();
    const auto start = std::chrono::steady_clock::now();
    if (reply_.ok()) reply_ = session_->rotate(args);
    seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return out;
  }

  /// Deviation of rows that carry these rotations (coordinates as in rotate).
  Answer reference(const std::vector<Rotation>& chain, const std::vector<int>& own) const {
    Problem problem;
    problem.shape = base_.program.scenario.model.shape;
    problem.shape.num_kv_heads = problem.shape.num_q_heads;
    problem.tables = {table_};
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      problem.keys.push_back({tokens_[i], static_cast<std::uint32_t>(problem.rotations.size()),
                              static_cast<std::uint32_t>(chain.size())});
      for (std::size_t step = 0; step < chain.size(); ++step) {
        Rotation rotation = chain[step];
        rotation.coordinate += own[step] * positions_[i];
        problem.rotations.push_back(rotation);
      }
    }
    return solve(problem, QueriesAsKeys(base_.program.values), base_.program.profile,
                 Point::rotated_key);
  }

  void compare(Comparison& comparison, const Tensor& actual, const Tensor& expected,
               const Array& sigma_a, const Array* sigma_b) const {
    const auto width = static_cast<std::size_t>(sigma_a.channels);
    std::vector<double> a(width), b(width), sigma(width);
    for (std::int64_t row = 0; row < sigma_a.rows; ++row) {
      for (int head = 0; head < sigma_a.heads; ++head) {
        actual.read_row(row * sigma_a.heads + head, a);
        expected.read_row(row * sigma_a.heads + head, b);
        for (std::size_t c = 0; c < width; ++c) {
          sigma[c] = std::hypot(sigma_a.row(row, head)[c],
                                sigma_b != nullptr ? sigma_b->row(row, head)[c] : 0.0);
        }
        comparison.add_row(
            a, b, sigma,
            location_at(base_.execution.calls.front(), Point::rotated_query, row, head));
      }
    }
  }

 private:
  static std::string to_id_of(const Side& base) {
    return fmt::format("{}", base.program.values.seed);
  }
  static Extent widened(const Program& program) {
    Extent extent = extent_of(program.scenario);
    extent.max_coordinate += kSecondRotation;
    return extent;
  }
  Tensor make_rows() {
    const HeadShape& shape = base_.program.scenario.model.shape;
    return Tensor(
        arena_, dtype_of(base_.program.values.storage),
        {1, static_cast<std::int64_t>(tokens_.size()), shape.num_q_heads, shape.head_dim});
  }

  Side& base_;
  Arena arena_;
  Extent extent_;
  RopeTable table_;
  ModelDescription description_;
  std::vector<ContentId> tokens_;
  std::vector<std::int64_t> positions_;
  std::unique_ptr<KernelSession> session_;
  Reply reply_;
  double seconds_ = 0;
};

}  // namespace

std::vector<CheckResult> check_rotation_chain(Kernel& kernel, const Law& law, Side& base,
                                              const std::string& backend_options, LawCost& cost) {
  const Point point = Point::rotated_query;
  const RopeForm form = base.program.placement.rope_form;
  if (!kernel.has_rotate())
    return {unsupported(law, point, "the backend has no function 'rotate'")};
  if (form != RopeForm::rule && form != RopeForm::inv_freq) {
    return {unsupported(law, point, "tables hold no row for the positions of this law")};
  }
  RotationChain chain(kernel, base, backend_options);
  if (!chain.reply().ok()) return {refused(law, point, chain.reply())};
  const Tensor input = chain.input();
  const Tensor first = chain.rotate(input, 1, 0, false);
  const bool back = law.kind == LawKind::inverse;
  const Tensor second =
      back ? chain.rotate(first, 1, 0, true) : chain.rotate(first, 0, kSecondRotation, false);
  const Tensor direct = back ? input : chain.rotate(input, 1, kSecondRotation, false);
  cost.backend_seconds += chain.seconds();
  if (chain.reply().status == ROPECHECK_UNSUPPORTED)
    return {unsupported(law, point, chain.reply().message)};
  if (!chain.reply().ok()) {
    CheckResult result = unsupported(law, point, chain.reply().message);
    result.verdict = Verdict::invalid;
    return {result};
  }
  const auto start = std::chrono::steady_clock::now();
  const Answer two =
      back ? chain.reference({{0, 0, 1, false}, {0, 0, 1, true}}, {1, 1})
           : chain.reference({{0, 0, 1, false}, {0, kSecondRotation, 1, false}}, {1, 0});
  const Answer one = back ? Answer{} : chain.reference({{0, kSecondRotation, 1, false}}, {1});
  cost.reference_seconds +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  Comparison comparison(base.program.values.storage);
  chain.compare(comparison, second, direct, two.sigma, back ? nullptr : &one.sigma);
  return {comparison.finish(std::string(law.name), point)};
}

}  // namespace ropecheck
