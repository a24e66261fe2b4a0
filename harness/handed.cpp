// SPDX-License-Identifier: Apache-2.0
#include "harness/handed.hpp"

#include "reference/dialect.hpp"
#include "reference/float_format.hpp"

#include <algorithm>
#include <cstdlib>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ropecheck {
namespace {

std::shared_ptr<const GivenRows> rounded_rows(const RopeTable& table, const Extent& extent) {
  auto rows = std::make_shared<GivenRows>();
  std::vector<CosSin> row(static_cast<std::size_t>(table.num_pairs()));
  for (const std::int64_t coordinate : extent.coordinates) {
    const std::int64_t distance = std::abs(coordinate);
    cos_sin_row(table, distance, row);
    for (CosSin& pair : row) {
      pair = {round_to(FloatFormat::f32, pair.cos), round_to(FloatFormat::f32, pair.sin)};
    }
    rows->emplace(distance, row);
  }
  return rows;
}

/// Rows that the harness rotates before it hands them over.
class RotatedValues final : public Values {
 public:
  RotatedValues(const RopeTable& table, FloatFormat storage, std::shared_ptr<const Values> plain,
                const Problem& problem)
      : table_(table), storage_(storage), plain_(std::move(plain)) {
    for (const QueryRow& query : problem.queries) {
      add(queries_, query.content, query.rotation.coordinate, table.magnitude_q);
    }
    for (const KeyRow& key : problem.keys) {
      if (key.num_rotations == 0) continue;
      add(keys_, key.content, problem.rotations_of(key).front().coordinate, table.magnitude_k);
      for (const Rotation& again : problem.rotations_of(key).subspan(1)) {
        moves_[key.content].push_back(again.coordinate);
      }
    }
  }

  /// In a cache of the caller's the harness moves keys on, too, and rounds each time.
  void include_moves() { with_moves_ = true; }

  void row(TensorRole role, ContentId content, int head, std::span<double> out) const override {
    plain_->row(role, content, head, out);
    if (role == TensorRole::value) return;
    const auto& phases = role == TensorRole::query ? queries_ : keys_;
    const auto found = phases.find(content);
    if (found == phases.end()) return;
    rotate_row_in(table_, {}, found->second, false, out, out);
    for (double& number : out) number = round_to(storage_, number);
    if (role == TensorRole::key && with_moves_) move_on(content, out);
  }

 private:
  using Phases = std::unordered_map<ContentId, std::vector<CosSin>>;

  void add(Phases& phases, ContentId content, std::int64_t coordinate, double magnitude) const {
    std::vector<CosSin> row(static_cast<std::size_t>(table_.num_pairs()));
    cos_sin_row_in(table_, {}, coordinate, magnitude, row);
    phases.emplace(content, std::move(row));
  }

  void move_on(ContentId content, std::span<double> key) const {
    const auto moves = moves_.find(content);
    if (moves == moves_.end()) return;
    std::vector<CosSin> row(static_cast<std::size_t>(table_.num_pairs()));
    for (const std::int64_t delta : moves->second) {
      cos_sin_row(table_, delta, row);
      rotate_row(table_, row, 1, false, key, key);
      for (double& number : key) number = round_to(storage_, number);
    }
  }

  RopeTable table_;
  FloatFormat storage_;
  std::shared_ptr<const Values> plain_;
  Phases queries_, keys_;
  std::unordered_map<ContentId, std::vector<std::int64_t>> moves_;
  bool with_moves_ = false;
};

/// What the harness did goes by a second table, which rotates nothing: the first rotations, and with
/// `moves` all.
void take_out_rotations(Problem& problem, bool moves) {
  RopeTable identity;
  identity.layout_in = identity.layout_out = problem.tables.front().layout_in;
  problem.tables.push_back(identity);
  for (QueryRow& query : problem.queries) query.rotation.table = 1;
  for (const KeyRow& key : problem.keys) {
    const std::uint32_t count = moves ? key.num_rotations : std::min(key.num_rotations, 1U);
    for (std::uint32_t i = 0; i < count; ++i) problem.rotations[key.first_rotation + i].table = 1;
  }
}

}  // namespace

RopeTable handed_table(const Program& program, const Extent& extent) {
  const Model& model = program.scenario.model;
  RopeTable table = make_rope_table(model.rule, model.rotary_dim, model.layout);
  switch (program.placement.rope_form) {
    case RopeForm::rule:
    case RopeForm::rotated: break;
    case RopeForm::inv_freq:
      for (DoubleDouble& w : table.inv_freq) w = {round_to(FloatFormat::f32, w.hi), 0};
      break;
    case RopeForm::tables_half:
    case RopeForm::tables_full:
    case RopeForm::tables_joined:
    case RopeForm::tables_by_token: table.given = rounded_rows(table, extent); break;
  }
  return table;
}

std::shared_ptr<const Values> hand_over(const Program& program, const RopeTable& table,
                                        std::shared_ptr<const Values> values, Problem& problem) {
  problem.tables = {table};
  if (program.placement.rope_form != RopeForm::rotated) return values;
  auto rotated =
      std::make_shared<RotatedValues>(table, program.values.storage, std::move(values), problem);
  const bool moves = program.placement.cache == CacheOwner::caller;
  if (moves) rotated->include_moves();
  take_out_rotations(problem, moves);
  return rotated;
}

}  // namespace ropecheck
