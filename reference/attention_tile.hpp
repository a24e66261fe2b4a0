// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/problem.hpp"

#include <cstdint>
#include <vector>

namespace ropecheck {

/// Consecutive queries [begin, end) that are worked on together.
struct QueryTile {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  KeyRange hull;  ///< from the first to the last key that any of them sees; empty if none does

  [[nodiscard]] int num_queries() const { return static_cast<int>(end - begin); }
};

/// Cuts all queries into tiles of at most `max_queries`, and wherever the next query sees nothing
/// in the hull of those before, so that sequences side by side do not share products.
[[nodiscard]] std::vector<QueryTile> cut_tiles(const Problem& problem, std::int64_t max_queries);

/// A stretch of keys and the queries of a tile that see any of them.
struct Span {
  KeyRange keys;
  int query_begin = 0;  ///< relative to the tile
  int query_end = 0;
  bool partial = false;  ///< some of these queries do not see some of these keys

  [[nodiscard]] int num_keys() const { return static_cast<int>(keys.end - keys.begin); }
};

/// Keys of the longest span, which is the inner length of one product.
inline constexpr std::int64_t kSpanKeys = 192;

/// Covers what `tile` sees of the keys in `window`; a key that nobody sees is in no span.
[[nodiscard]] std::vector<Span> find_spans(const Problem& problem, const QueryTile& tile,
                                           KeyRange window);

/// Number of keys that a query sees.
[[nodiscard]] std::int64_t count_visible(const Problem& problem, const QueryRow& query);

}  // namespace ropecheck
