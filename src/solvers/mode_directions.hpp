#pragma once
// What soft and hard laws have in common (mode_system.cpp, hard_laws.cpp).

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "articula/solvers/mode_system.hpp"

namespace articula {

constexpr int most_newton_steps = 30;
constexpr double settled = 1e-12, rough = 1e-6;  // directions of forces, at the end and before

// A contact whose friction has a direction that is to be found.
inline bool on_cone(const Block& block, const RowMode* mode, RowMode wanted) {
  return block.kind == BlockKind::contact && block.dim > 1 && mode[block.first] != RowMode::free &&
         mode[block.first + 1] == wanted;
}

// A thousand times what is left beside it.
inline bool is_nearly_all(const std::vector<double>& part, const std::vector<double>& rest) {
  constexpr double nearly = 1e3;
  const auto largest = [](double x, double y) { return std::max(x, std::abs(y)); };
  return std::accumulate(part.begin(), part.end(), 0.0, largest) >
         nearly * std::accumulate(rest.begin(), rest.end(), 0.0, largest);
}

}  // namespace articula
