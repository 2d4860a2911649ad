#include "articula/solvers/elimination_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/support/random_tree.hpp"

namespace articula::testing::elimination_order_test {
namespace {

// Bodies in a grid, one contact with each neighbour: G couples contacts that share a body.
struct Grid {
  explicit Grid(int side) {
    const auto body = [&](int x, int y) { return x * side + y; };
    for (int x = 0; x < side; ++x) {
      for (int y = 0; y < side; ++y) {
        if (x + 1 < side) pairs.push_back({body(x, y), body(x + 1, y)});
        if (y + 1 < side) pairs.push_back({body(x, y), body(x, y + 1)});
      }
    }
    size = 3 * static_cast<int>(pairs.size());
    G.assign(static_cast<std::size_t>(size) * size, 0.0);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      Block& block = blocks.emplace_back();
      block.kind = BlockKind::contact;
      block.first = 3 * static_cast<int>(i);
      block.dim = 3;
      for (std::size_t j = 0; j < pairs.size(); ++j) {
        if (!touch(i, j)) continue;
        for (int r = 0; r < 3; ++r) {
          for (int c = 0; c < 3; ++c) G[(3 * i + r) * size + 3 * j + c] = i == j ? 4.0 * (r == c) : 0.1;
        }
      }
    }
  }
  bool touch(std::size_t i, std::size_t j) const {
    const auto [a, b] = pairs[i];
    const auto [c, d] = pairs[j];
    return a == c || a == d || b == c || b == d;
  }
  ContactProblem problem() const { return {.blocks = blocks, .size = size, .G = G.data(), .stride = size}; }
  // Pairs of contacts that are coupled once those before them are eliminated.
  int fill(const std::vector<int>& order) const {
    const int n = static_cast<int>(pairs.size());
    std::vector<std::vector<bool>> coupled(n, std::vector<bool>(n));
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) coupled[i][j] = touch(order[i], order[j]);
    }
    int count = 0;
    for (int k = 0; k < n; ++k) {
      for (int i = k + 1; i < n; ++i) {
        if (!coupled[k][i]) continue;
        ++count;
        for (int j = k + 1; j < n; ++j) coupled[i][j] = coupled[i][j] || coupled[k][j];
      }
    }
    return count;
  }

  std::vector<std::pair<int, int>> pairs;
  std::vector<Block> blocks;
  std::vector<double> G;
  int size = 0;
};

TEST(elimination_order, leaves_most_of_a_factor_zero) {
  const Grid grid(10);
  const int n = static_cast<int>(grid.pairs.size());
  EliminationOrder finder;
  const int* found = finder.of(grid.problem());
  ASSERT_NE(found, nullptr);
  std::vector<int> order(found, found + n), natural(n);
  std::iota(natural.begin(), natural.end(), 0);
  EXPECT_TRUE(std::is_permutation(order.begin(), order.end(), natural.begin()));
  EXPECT_LT(grid.fill(order), 0.7 * grid.fill(natural));
  EXPECT_LT(grid.fill(order), n * (n - 1) / 2 / 4);
}

TEST(elimination_order, few_rows_keep_the_order_they_have) {
  const Grid grid(5);
  ASSERT_LT(grid.size, worth_ordering_from);
  EliminationOrder finder;
  EXPECT_EQ(finder.of(grid.problem()), nullptr);
}

}  // namespace
}  // namespace articula::testing::elimination_order_test
