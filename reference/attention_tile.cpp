// SPDX-License-Identifier: Apache-2.0
#include "reference/attention_tile.hpp"

#include <algorithm>
#include <limits>

namespace ropecheck {
namespace {

/// Keys of a span in which visibility changes: few, since its products are partly wasted; a
/// multiple of the 24 rows that a product takes at a time, so that none are left over where the
/// rows that see a span follow its keys.
constexpr std::int64_t kMaskedKeys = 48;

KeyRange hull_of(std::span<const KeyRange> ranges) {
  return ranges.empty() ? KeyRange{} : KeyRange{ranges.front().begin, ranges.back().end};
}

bool is_empty(const KeyRange& range) { return range.begin >= range.end; }

KeyRange join(const KeyRange& a, const KeyRange& b) {
  if (is_empty(a)) return b;
  if (is_empty(b)) return a;
  return {std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

bool overlap(const KeyRange& a, const KeyRange& b) { return a.begin < b.end && b.begin < a.end; }

/// Walks over the keys of a tile in ascending order and knows what each query sees.
class Visibility {
 public:
  Visibility(const Problem& problem, const QueryTile& tile) {
    for (std::int64_t query = tile.begin; query < tile.end; ++query) {
      unseen_.push_back(problem.visible_to(problem.queries[static_cast<std::size_t>(query)]));
    }
  }

  /// The span that starts at `key` and ends at or before `end`. One without queries is a gap.
  Span next(std::int64_t key, std::int64_t end) {
    const std::int64_t same_until = std::min(find_change(key), end);
    Span span{{key, same_until}, 0, 0, false};
    if (same_until - key < kMaskedKeys && same_until < end) {
      span.keys.end = std::min(key + kMaskedKeys, end);
    }
    find_queries(&span);
    if (span.query_begin < span.query_end) {
      span.keys.end = std::min(span.keys.end, key + kSpanKeys);
    }
    return span;
  }

 private:
  /// First key after `key` at which any query begins or ceases to see.
  std::int64_t find_change(std::int64_t key) {
    std::int64_t change = std::numeric_limits<std::int64_t>::max();
    for (auto& ranges : unseen_) {
      while (!ranges.empty() && ranges.front().end <= key) ranges = ranges.subspan(1);
      if (ranges.empty()) continue;
      const KeyRange& range = ranges.front();
      change = std::min(change, range.begin > key ? range.begin : range.end);
    }
    return change;
  }

  void find_queries(Span* span) const {
    int num_full = 0;
    for (int query = 0; query < static_cast<int>(unseen_.size()); ++query) {
      const auto& ranges = unseen_[static_cast<std::size_t>(query)];
      if (ranges.empty() || ranges.front().begin >= span->keys.end) continue;
      const KeyRange& range = ranges.front();
      if (span->query_end == 0) span->query_begin = query;
      span->query_end = query + 1;
      if (range.begin <= span->keys.begin && range.end >= span->keys.end) ++num_full;
    }
    span->partial = num_full < span->query_end - span->query_begin;
  }

  std::vector<std::span<const KeyRange>> unseen_;  ///< [queries] ranges that do not end before key
};

}  // namespace

std::vector<QueryTile> cut_tiles(const Problem& problem, std::int64_t max_queries) {
  std::vector<QueryTile> tiles;
  const auto num_queries = static_cast<std::int64_t>(problem.queries.size());
  for (std::int64_t query = 0; query < num_queries; ++query) {
    const KeyRange hull =
        hull_of(problem.visible_to(problem.queries[static_cast<std::size_t>(query)]));
    const bool apart = !tiles.empty() && !is_empty(hull) && !is_empty(tiles.back().hull) &&
                       !overlap(hull, tiles.back().hull);
    if (tiles.empty() || apart || tiles.back().num_queries() >= max_queries) {
      tiles.push_back({query, query, {}});
    }
    tiles.back().end = query + 1;
    tiles.back().hull = join(tiles.back().hull, hull);
  }
  return tiles;
}

std::vector<Span> find_spans(const Problem& problem, const QueryTile& tile, KeyRange window) {
  std::vector<Span> spans;
  Visibility visibility(problem, tile);
  const std::int64_t end = std::min(tile.hull.end, window.end);
  for (std::int64_t key = std::max(tile.hull.begin, window.begin); key < end;) {
    const Span span = visibility.next(key, end);
    if (span.query_begin < span.query_end) spans.push_back(span);
    key = span.keys.end;
  }
  return spans;
}

std::int64_t count_visible(const Problem& problem, const QueryRow& query) {
  std::int64_t count = 0;
  for (const KeyRange& range : problem.visible_to(query)) count += range.end - range.begin;
  return count;
}

}  // namespace ropecheck
