#include "articula/solvers/gauss_seidel.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "articula/math/strips.hpp"

namespace articula {

namespace {

double velocity(const ContactProblem& problem, const double* lam, int row) {
  return problem.b[row] + strip_dot(problem.row(row), lam, problem.size);
}

// One row to zero velocity, within bounds.
double relax_row(const ContactProblem& problem, int row, double low, double high, double* lam) {
  const double g = problem.g(row, row);
  if (!(g > 0.0)) return 0.0;
  const double next = std::clamp(lam[row] - velocity(problem, lam, row) / g, low, high);
  const double change = next - lam[row];
  lam[row] = next;
  return g * std::abs(change);
}

// Tangents together, on the disc that the normal impulse allows.
double relax_disc(const ContactProblem& problem, const Block& block, double* lam) {
  const int t = block.first + 1;
  double g = 0.0, x[5], length = 0.0, change = 0.0;
  for (int i = 0; i < block.tangents(); ++i)
    g = std::max(g, block.mu[i] * block.mu[i] * problem.g(t + i, t + i));
  if (!(g > 0.0)) return 0.0;
  for (int i = 0; i < block.tangents(); ++i) {
    x[i] = lam[t + i] / block.mu[i] - block.mu[i] * velocity(problem, lam, t + i) / g;
    length += x[i] * x[i];
  }
  length = std::sqrt(length);
  const double shrink = length > lam[block.first] ? lam[block.first] / length : 1.0;
  for (int i = 0; i < block.tangents(); ++i) {
    const double next = block.mu[i] * shrink * x[i];
    change = std::max(change, problem.g(t + i, t + i) * std::abs(next - lam[t + i]));
    lam[t + i] = next;
  }
  return change;
}

double relax(const ContactProblem& problem, const Block& block, double* lam) {
  const double infinity = std::numeric_limits<double>::infinity();
  double change = 0.0;
  switch (block.kind) {
    case BlockKind::equality:
      for (int i = 0; i < block.dim; ++i)
        change = std::max(change, relax_row(problem, block.first + i, -infinity, infinity, lam));
      return change;
    case BlockKind::unilateral: return relax_row(problem, block.first, 0.0, infinity, lam);
    case BlockKind::interval: return relax_row(problem, block.first, -block.bound, block.bound, lam);
    case BlockKind::contact: break;
  }
  change = relax_row(problem, block.first, 0.0, infinity, lam);
  if (problem.law == FrictionLaw::cone) return std::max(change, relax_disc(problem, block, lam));
  for (int i = 0; i < block.tangents(); ++i) {
    const double bound = block.mu[i] * lam[block.first];
    change = std::max(change, relax_row(problem, block.first + 1 + i, -bound, bound, lam));
  }
  return change;
}

}  // namespace

double gauss_seidel(const ContactProblem& problem, int sweeps, double* lam) {
  double change = 0.0;
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    change = 0.0;
    for (const Block& block : problem.blocks) change = std::max(change, relax(problem, block, lam));
    if (change <= 1e-14 * problem.velocity_scale) break;
  }
  return change;
}

}  // namespace articula
