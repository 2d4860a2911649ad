#include "articula/solvers/gauss_seidel.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "articula/math/strips.hpp"

namespace articula {

namespace {

// Impulses, and where W of G = W W^T is known, x = W^T lam: a velocity is W x, and costs as little as a row
// of W has numbers.
struct Sweep {
  const ContactProblem& problem;
  double* lam;
  double* x = nullptr;
  std::size_t number = 0;  // of the block at hand

  template <class Take>
  void for_each_side(int row, const Take& take) const {
    for (const RowRoots::Side& side : problem.roots->blocks[number]) {
      if (side.group < 0) continue;
      const int width = problem.roots->width(side.group);
      take(x + problem.roots->begin[side.group], side.W + (row - problem.blocks[number].first) * width,
           width);
    }
  }
  double velocity(int row) const {
    double sum = problem.b[row];
    if (x == nullptr) return sum + strip_dot(problem.row(row), lam, problem.size);
    for_each_side(row, [&](const double* at, const double* w, int width) { sum += strip_dot(w, at, width); });
    return sum;
  }
  // Returns by how much the row's own velocity changes.
  double set(int row, double next) {
    const double change = next - lam[row];
    lam[row] = next;
    if (x != nullptr && change != 0.0)
      for_each_side(row, [&](double* at, const double* w, int width) { strip_add(at, w, change, width); });
    return problem.g(row, row) * std::abs(change);
  }
};

// One row to zero velocity, within bounds.
double relax_row(Sweep& at, int row, double low, double high) {
  const double g = at.problem.g(row, row);
  if (!(g > 0.0)) return 0.0;
  return at.set(row, std::clamp(at.lam[row] - at.velocity(row) / g, low, high));
}

// Tangents together, on the disc that the normal impulse allows.
double relax_disc(Sweep& at, const Block& block) {
  const int t = block.first + 1;
  double g = 0.0, x[5], length = 0.0, change = 0.0;
  for (int i = 0; i < block.tangents(); ++i)
    g = std::max(g, block.mu[i] * block.mu[i] * at.problem.g(t + i, t + i));
  if (!(g > 0.0)) return 0.0;
  for (int i = 0; i < block.tangents(); ++i) {
    x[i] = at.lam[t + i] / block.mu[i] - block.mu[i] * at.velocity(t + i) / g;
    length += x[i] * x[i];
  }
  length = std::sqrt(length);
  const double normal = at.lam[block.first], shrink = length > normal ? normal / length : 1.0;
  for (int i = 0; i < block.tangents(); ++i)
    change = std::max(change, at.set(t + i, block.mu[i] * shrink * x[i]));
  return change;
}

double relax(Sweep& at, const Block& block) {
  const double infinity = std::numeric_limits<double>::infinity();
  double change = 0.0;
  switch (block.kind) {
    case BlockKind::equality:
      for (int i = 0; i < block.dim; ++i)
        change = std::max(change, relax_row(at, block.first + i, -infinity, infinity));
      return change;
    case BlockKind::unilateral: return relax_row(at, block.first, 0.0, infinity);
    case BlockKind::interval: return relax_row(at, block.first, -block.bound, block.bound);
    case BlockKind::contact: break;
  }
  change = relax_row(at, block.first, 0.0, infinity);
  if (at.problem.law == FrictionLaw::cone) return std::max(change, relax_disc(at, block));
  for (int i = 0; i < block.tangents(); ++i) {
    const double bound = block.mu[i] * at.lam[block.first];
    change = std::max(change, relax_row(at, block.first + 1 + i, -bound, bound));
  }
  return change;
}

}  // namespace

double gauss_seidel(const ContactProblem& problem, int sweeps, double* lam) {
  Sweep at{problem, lam};
  if (problem.roots != nullptr) {
    at.x = problem.roots->room;
    std::fill(at.x, at.x + problem.roots->columns(), 0.0);
    add_to_groups(problem, lam, at.x);
  }
  double change = 0.0;
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    change = 0.0;
    for (at.number = 0; at.number < problem.blocks.size(); ++at.number)
      change = std::max(change, relax(at, problem.blocks[at.number]));
    if (change <= 1e-14 * problem.velocity_scale) break;
  }
  return change;
}

}  // namespace articula
