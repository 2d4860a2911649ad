// Bodies that friction holds between surfaces which the biases would part.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "task.hpp"

namespace articula {

namespace {

constexpr double rounding = 1e-6;

// How far loads are outside of what the law of their block lets grow without end.
double outside(const ContactProblem& problem, const Block& block, const double* z) {
  if (block.kind == BlockKind::equality) return 0.0;
  if (block.kind == BlockKind::interval) return std::abs(z[0]);
  double friction = 0.0;
  for (int i = 0; i < block.tangents(); ++i) {
    const double share = std::abs(z[1 + i]) / block.mu[i];
    friction = problem.law == FrictionLaw::cone ? std::hypot(friction, share) : std::max(friction, share);
  }
  return std::max(-z[0], friction - z[0]);
}

// Whether z obeys the laws, balances itself, z^T G z = 0, and is opposed by biases: the least slack that
// would make them agree, R z a with z^T (s + R z a) = 0, is worth mentioning.
bool proves_jam(const ContactProblem& problem, const std::vector<double>& z) {
  constexpr double balanced = 1e-6, noticed = 1e-3;
  double largest = 0.0, beyond = 0.0, weight = 0.0, asked = 0.0, moved = 0.0;
  for (const Block& block : problem.blocks) {
    const double g = problem.mobility(block);
    beyond = std::max(beyond, g * outside(problem, block, z.data() + block.first));
    for (int i = block.first; i < block.first + block.dim; ++i) {
      largest = std::max(largest, g * std::abs(z[i]));
      weight += g * z[i] * z[i];
      asked -= z[i] * problem.bias[i];
      if (z[i] != 0.0) moved += z[i] * std::inner_product(z.begin(), z.end(), problem.row(i), 0.0);
    }
  }
  return beyond <= rounding * largest && moved <= balanced * weight &&
         asked * largest > noticed * problem.velocity_scale * weight;
}

}  // namespace

bool is_jammed(Task& task) {
  std::vector<double>& z = task.work.between;
  z.assign(task.problem.size, 0.0);
  const bool endless = task.problem.bias != nullptr && task.work.lemke.find_ray(task.problem, z.data());
  task.report.iterations += task.work.lemke.pivots();
  return endless && proves_jam(task.problem, z);
}

}  // namespace articula
