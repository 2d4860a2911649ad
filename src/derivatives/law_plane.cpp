// Tangents of contacts in planar robots (law_system.hpp).

#include <algorithm>
#include <cmath>

#include "law_system.hpp"

namespace articula {

// One unknown x for both tangents, lam = (1, ratio) x with ratio = g_21 / g_11: the smallest impulses that do
// what either could. Its equation is (1, ratio) . sigma = 0, so that K stays symmetric. Two that have all the
// friction they can have, beside something that slides, stay apart: their impulses are those of their bounds.
void LawSystem::leave_out_tangents(const double* lam) {
  constexpr double still = 1e-20, parallel = 1e-14, all = 1.0 - 1e-9;
  const bool bounds_matter = problem_.law == FrictionLaw::pyramid && slides();
  for (const Block& block : problem_.blocks) {
    const int n = block.first, first = n + 1, second = n + 2;
    if (block.kind != BlockKind::contact) continue;
    const double least = still * problem_.mobility(block);
    const auto idle = [&](int row) { return mode_[row] == RowMode::hold && problem_.g(row, row) <= least; };
    for (int i = first; i < n + block.dim; ++i) {
      if (idle(i)) left_out_.push_back({.row = i, .normal = n});
    }
    if (block.dim < 3 || mode_[first] != RowMode::hold || mode_[second] != RowMode::hold) continue;
    const double g1 = problem_.g(first, first), g2 = problem_.g(second, second),
                 g12 = problem_.g(first, second);
    if (idle(first) || idle(second) || g1 * g2 - g12 * g12 > parallel * g1 * g2) continue;
    const auto full = [&](int row) {
      return std::abs(lam[row]) >= all * block.mu[row - first] * lam[n] && lam[n] > 0.0;
    };
    if (bounds_matter && full(first) && full(second)) continue;
    left_out_.push_back({.row = second, .normal = n, .ratio = g12 / g1});
    const auto joint = std::find_if(unknowns_.begin(), unknowns_.end(),
                                    [&](const ModeUnknown& u) { return !u.across && u.row == first; });
    joint->tangents = 1;
    joint->along[0] = joint->equation[0] = g12 / g1;
    joint->weight *= 1.0 + g12 / g1 * (g12 / g1);
  }
  if (left_out_.empty()) return;
  std::erase_if(unknowns_, [&](const ModeUnknown& u) {
    return u.tangents == 0 && std::any_of(left_out_.begin(), left_out_.end(),
                                          [&](const LeftOut& out) { return out.row == u.row; });
  });
  std::partition(unknowns_.begin(), unknowns_.end(), [](const ModeUnknown& u) { return u.tangents == 0; });
}

}  // namespace articula
