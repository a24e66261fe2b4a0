// SPDX-License-Identifier: Apache-2.0
#include "reference/attention.hpp"

#include "reference/attention_block.hpp"
#include "reference/attention_finish.hpp"

#include <algorithm>
#include <memory>
#include <mutex>

namespace ropecheck {
namespace {

/// Query rows (queries times heads that share a key head) of one tile: a multiple of the 24 rows
/// that Eigen's product takes at a time with 64-byte vectors (12 with 32-byte ones); fewer with sigma,
/// which has more to keep in the cache beside them.
constexpr std::int64_t kTileRows = 288;
constexpr std::int64_t kTileRowsWithSigma = 192;
constexpr std::int64_t kGroupBytes = std::int64_t{16} << 20;
/// Where the exact query term is summed over windows, one row takes as much as a matrix of keys.
constexpr std::int64_t kGroupBytesWithQueryError = std::int64_t{128} << 20;

/// Lends each piece of work a Scratch; there are as many as pieces that run at once.
class ScratchPool {
 public:
  std::unique_ptr<Scratch> take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return std::make_unique<Scratch>();
    std::unique_ptr<Scratch> scratch = std::move(free_.back());
    free_.pop_back();
    return scratch;
  }
  void give_back(std::unique_ptr<Scratch> scratch) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(scratch));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Scratch>> free_;
};

std::vector<std::vector<int>> group_heads(const Problem& problem) {
  std::vector<std::vector<int>> q_heads_of(static_cast<std::size_t>(problem.shape.num_kv_heads));
  for (int head = 0; head < problem.shape.num_q_heads; ++head) {
    q_heads_of[static_cast<std::size_t>(problem.kv_head(head))].push_back(head);
  }
  return q_heads_of;
}

/// Channels of each pair, where all tables leave the same pairs.
std::vector<std::pair<int, int>> common_pairs(const Problem& problem) {
  std::vector<std::pair<int, int>> pairs;
  for (const RopeTable& table : problem.tables) {
    std::vector<std::pair<int, int>> own;
    for (int i = 0; i < table.num_pairs(); ++i) {
      own.push_back(pair_channels(table.layout_out, i, table.rotary_dim, table.rotary_offset));
    }
    if (pairs.empty()) pairs = own;
    if (pairs != own) return {};
  }
  return pairs;
}

KeyRange hull_of(std::span<const QueryTile> tiles) {
  KeyRange hull;
  for (const QueryTile& tile : tiles) {
    if (tile.hull.begin >= tile.hull.end) continue;
    if (hull.begin >= hull.end) hull = tile.hull;
    hull = {std::min(hull.begin, tile.hull.begin), std::max(hull.end, tile.hull.end)};
  }
  return hull;
}

WindowContent content_of(const AttentionPlan& plan) {
  return {.values = true, .variances = plan.options.sigma, .covariances = !plan.pairs.empty()};
}

/// What the windows are passed over for.
enum class Pass { measure, accumulate, both };

class AttentionSolver {
 public:
  AttentionSolver(const AttentionPlan& plan, const Executor& executor, Answer* answer)
      : plan_(plan),
        executor_(executor),
        answer_(*answer),
        window_(plan.problem, plan.values, plan.profile),
        window_keys_(window_.max_keys(content_of(plan))) {}

  void run() {
    std::size_t largest = 1;
    for (const auto& heads : plan_.q_heads_of) largest = std::max(largest, heads.size());
    const std::int64_t tile_rows = plan_.options.sigma ? kTileRowsWithSigma : kTileRows;
    const std::int64_t tile_queries =
        std::max<std::int64_t>(1, tile_rows / static_cast<std::int64_t>(largest));
    std::vector<QueryTile> tiles = cut_tiles(plan_.problem, tile_queries);
    const KeyRange hull = hull_of(tiles);
    const bool one_window = num_windows(hull) <= 1;
    const bool keep_query_error = plan_.exact_query_error() && !one_window;
    const std::int64_t budget = keep_query_error ? kGroupBytesWithQueryError : kGroupBytes;
    const std::int64_t query_bytes = QueryGroup::size_of_query(plan_, keep_query_error) *
                                     static_cast<std::int64_t>(sizeof(double));
    const std::int64_t max_queries = std::max<std::int64_t>(1, budget / query_bytes);

    if (keep_query_error && max_queries < tile_queries) {
      tiles = cut_tiles(plan_.problem, max_queries);
    }
    QueryGroup group(plan_, keep_query_error);
    for (std::size_t begin = 0; begin < tiles.size();) {
      std::size_t end = begin + 1;
      while (end < tiles.size() && tiles[end].end - tiles[begin].begin <= max_queries) ++end;
      const auto group_tiles = std::span(tiles).subspan(begin, end - begin);
      group.reset(group_tiles);
      solve_group(&group, one_window ? hull : hull_of(group_tiles));
      begin = end;
    }
  }

 private:
  [[nodiscard]] std::int64_t num_windows(KeyRange hull) const {
    return (hull.end - hull.begin + window_keys_ - 1) / window_keys_;
  }

  void solve_group(QueryGroup* group, KeyRange hull) {
    executor_(group->tiles().size(), [&](std::size_t tile) { group->load(tile); });
    if (num_windows(hull) <= 1) {
      visit_window(group, hull, Pass::both);
    } else if (!plan_.options.sigma) {
      pass_windows(group, hull, Pass::both);
    } else {
      pass_windows(group, hull, Pass::measure);
      pass_windows(group, hull, Pass::accumulate);
    }
    for_each_block(group, [&](const RowBlock& rows) {
      for (int row = 0; row < rows.num_rows; ++row) {
        finish_row(plan_, rows, row, group->query_error(rows.first_row + row), &answer_);
      }
    });
  }

  void pass_windows(QueryGroup* group, KeyRange hull, Pass pass) {
    for (std::int64_t begin = hull.begin; begin < hull.end; begin += window_keys_) {
      visit_window(group, {begin, std::min(begin + window_keys_, hull.end)}, pass);
    }
  }

  void visit_window(QueryGroup* group, KeyRange range, Pass pass) {
    const bool sums = pass != Pass::measure;
    if (!(loaded_ == range) || (sums && !loaded_sums_)) {
      window_.load(range, sums ? content_of(plan_) : WindowContent{false, false, false}, executor_);
      loaded_ = range;
      loaded_sums_ = sums;
    }
    for_each_block(group, [&](const RowBlock& rows) { visit_block(group, rows, pass); });
  }

  void visit_block(QueryGroup* group, const RowBlock& rows, Pass pass) {
    if (rows.tile->hull.begin >= window_.range().end ||
        rows.tile->hull.end <= window_.range().begin || rows.num_rows == 0) {
      return;
    }
    std::unique_ptr<Scratch> scratch = pool_.take();
    AttentionBlock block(plan_, rows, window_, scratch.get());
    if (!plan_.options.sigma) {
      block.add_plain();
      pool_.give_back(std::move(scratch));
      return;
    }
    if (pass != Pass::accumulate) block.measure();
    if (pass != Pass::measure) {
      block.accumulate();
      if (plan_.exact_query_error()) add_query_errors(group, rows, &block, scratch.get());
    }
    pool_.give_back(std::move(scratch));
  }

  /// One window: the term is finished row by row in scratch. Several: it is kept in the group.
  void add_query_errors(QueryGroup* group, const RowBlock& rows, AttentionBlock* block,
                        Scratch* scratch) {
    for (int row = 0; row < rows.num_rows; ++row) {
      if (double* kept = group->query_error(rows.first_row + row)) {
        block->add_query_error(row, kept);
        continue;
      }
      double* sums = scratch->query_error.resize(plan_.query_error_size());
      std::fill_n(sums, plan_.query_error_size(), 0.0);
      block->add_query_error(row, sums);
      finish_query_error(plan_, rows, row, sums, &answer_);
    }
  }

  /// Runs body(block) for every tile and key head; the last tiles first, as they see the most.
  template <typename Body>
  void for_each_block(QueryGroup* group, const Body& body) {
    const auto num_kv_heads = static_cast<std::size_t>(plan_.problem.shape.num_kv_heads);
    const std::size_t count = group->tiles().size() * num_kv_heads;
    executor_(count, [&](std::size_t piece) {
      const std::size_t index = count - 1 - piece;
      body(group->block(index / num_kv_heads, static_cast<int>(index % num_kv_heads)));
    });
  }

  const AttentionPlan& plan_;
  const Executor& executor_;
  Answer& answer_;
  KeyWindow window_;
  std::int64_t window_keys_;
  KeyRange loaded_{-1, -1};
  bool loaded_sums_ = false;
  ScratchPool pool_;
};

}  // namespace

Answer solve_attention(const Problem& problem, const Values& values, const Profile& profile,
                       const SolveOptions& options, const Executor& executor) {
  const Profile own = with_own_error(profile);
  AttentionPlan plan{
      problem, values, own, SigmaModel(own, problem.shape), options, group_heads(problem), {}};
  if (plan.exact_query_error()) plan.pairs = common_pairs(problem);
  const auto num_queries = static_cast<std::int64_t>(problem.queries.size());
  const HeadShape& shape = problem.shape;
  Answer answer;
  answer.expected = Array(num_queries, shape.num_q_heads, shape.v_head_dim);
  answer.lse = Array(num_queries, shape.num_q_heads, 1);
  if (options.sigma) {
    answer.sigma = Array(num_queries, shape.num_q_heads, shape.v_head_dim);
    answer.lse_sigma = Array(num_queries, shape.num_q_heads, 1);
  }
  answer.ill_conditioned.assign(answer.lse.values.size(), 0);
  if (num_queries > 0) AttentionSolver(plan, executor, &answer).run();
  return answer;
}

}  // namespace ropecheck
