// W of the islands that have many rows, block by block (RowRoots).

#include <algorithm>
#include <numeric>

#include "articula/contact/rows.hpp"

namespace articula {

namespace {

constexpr int many_rows = 100, many_trees = 16;  // fewer make no pile: products with G cost less
constexpr int far_more_rows = 8;                 // than velocities: even of one tree

}  // namespace

void ContactRows::reserve_roots(int most_quads, int widest) {
  const std::size_t trees = constraints_->trees.size();
  roots_.reserve(trees + 1);
  root_sides_.reserve(most_blocks_);
  root_numbers_.reserve(static_cast<std::size_t>(2) * most_quads * widest * 4);
  root_begins_.reserve(2 * trees + 2);
  group_of_tree_.reserve(trees);
  std::size_t columns = 0;
  for (const Tree& tree : constraints_->trees) columns += tree.width();
  root_room_.reserve(columns);
}

int ContactRows::count_trees(const Island& island) {
  group_of_tree_.assign(constraints_->trees.size(), 0);
  for (int k = 0; k < island.item_count; ++k) {
    for (int tree : quads_[items_[order_[island.item_begin + k]].quad].tree) {
      if (tree >= 0) group_of_tree_[tree] = 1;
    }
  }
  return std::accumulate(group_of_tree_.begin(), group_of_tree_.end(), 0);
}

// Whether there are far more rows than velocities of the trees that were counted last.
bool ContactRows::outnumber(const Island& island) const {
  int columns = 0;
  for (std::size_t tree = 0; tree < group_of_tree_.size(); ++tree) {
    if (group_of_tree_[tree] > 0) columns += constraints_->trees[tree].width();
  }
  return island.rows > far_more_rows * columns;
}

// The trees of an island, in the order in which its blocks have them.
void ContactRows::number_groups(const Island& island) {
  int groups = 0;
  for (int k = 0; k < island.item_count; ++k) {
    const Item& item = items_[order_[island.item_begin + k]];
    for (int tree : quads_[item.quad].tree) {
      if (tree < 0 || group_of_tree_[tree] >= 0) continue;
      group_of_tree_[tree] = groups++;
      root_begins_.push_back(root_begins_.back() + constraints_->trees[tree].width());
    }
  }
}

// Lane by lane of its quads.
void ContactRows::copy_roots(const Item& item, std::array<RowRoots::Side, 2>& sides) {
  for (int side = 0; side < 2; ++side) {
    const int tree = quads_[item.quad].tree[side];
    sides[side] = {};
    if (tree < 0) continue;
    const int width = constraints_->trees[tree].width();
    sides[side] = {group_of_tree_[tree], root_numbers_.data() + root_numbers_.size()};
    int left = item.rows;
    for (int k = 0; k < item.quads; ++k) {
      const Quad& quad = quads_[item.quad + k];
      const int first = item.quads == 1 ? item.lane : 0;
      const int rows = item.quads == 1 ? item.rows : std::min(left, quad.rows);
      for (int r = first; r < first + rows; ++r) {
        for (int d = 0; d < width; ++d)
          root_numbers_.push_back(d < quad.used[side] ? W_[quad.at[side] + d][r] : 0.0);
      }
      left -= rows;
    }
  }
}

void ContactRows::find_roots() {
  roots_.clear();
  root_numbers_.clear();
  root_begins_.clear();
  std::size_t numbers = 0, begins = 0;
  root_sides_.resize(blocks_.size());
  for (Island& island : islands_) {
    island.roots = -1;
    if (island.rows <= many_rows || !(count_trees(island) >= many_trees || outnumber(island))) continue;
    island.roots = static_cast<int>(roots_.size());
    roots_.emplace_back();
    begins += constraints_->trees.size() + 1;
    for (int k = 0; k < island.item_count; ++k) {
      const Item& item = items_[order_[island.item_begin + k]];
      for (int tree : quads_[item.quad].tree) {
        if (tree >= 0) numbers += static_cast<std::size_t>(item.rows) * constraints_->trees[tree].width();
      }
    }
  }
  if (roots_.empty()) return;
  root_numbers_.reserve(numbers);  // views must not move
  root_begins_.reserve(begins);
  std::size_t most_columns = 0;
  for (const Island& island : islands_) {
    if (island.roots < 0) continue;
    const std::size_t begin = root_begins_.size();
    root_begins_.push_back(0);
    group_of_tree_.assign(constraints_->trees.size(), -1);
    number_groups(island);
    for (int k = 0; k < island.item_count; ++k)
      copy_roots(items_[order_[island.item_begin + k]], root_sides_[island.block_begin + k]);
    const std::span<const int> begins_here{root_begins_.data() + begin, root_begins_.size() - begin};
    const std::span<const std::array<RowRoots::Side, 2>> sides{root_sides_.data() + island.block_begin,
                                                               static_cast<std::size_t>(island.item_count)};
    roots_[island.roots] = {begins_here, sides, nullptr};
    most_columns = std::max(most_columns, static_cast<std::size_t>(begins_here.back()));
  }
  root_room_.resize(most_columns);
  for (RowRoots& each : roots_) each.room = root_room_.data();
}

}  // namespace articula
