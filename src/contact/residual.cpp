#include <algorithm>
#include <cmath>
#include <limits>

#include "articula/contact/solution.hpp"
#include "articula/math/strips.hpp"

namespace articula {

double ContactProblem::mobility_of(int first, int dim) const {
  double trace = 0.0;
  for (int i = first; i < first + dim; ++i) trace += g(i, i);
  return std::max(trace / dim, 1e-30);
}

double velocity_scale(std::span<const double> b, double gravity_step) {
  double scale = gravity_step;
  for (double x : b) scale = std::max(scale, std::abs(x));
  return scale > 0.0 ? scale : 1.0;
}

void contact_velocities(const ContactProblem& problem, const double* lam, double* sigma) {
  std::copy(problem.b, problem.b + problem.size, sigma);
  add_velocities(problem, lam, sigma);
}

void add_to_groups(const ContactProblem& problem, const double* lam, double* x) {
  const RowRoots& roots = *problem.roots;
  for (std::size_t k = 0; k < problem.blocks.size(); ++k) {
    const Block& block = problem.blocks[k];
    for (const RowRoots::Side& side : roots.blocks[k]) {
      if (side.group < 0) continue;
      const int width = roots.width(side.group);
      double* to = x + roots.begin[side.group];
      for (int i = 0; i < block.dim; ++i) {
        if (lam[block.first + i] != 0.0) strip_add(to, side.W + i * width, lam[block.first + i], width);
      }
    }
  }
}

namespace {

// sigma += W x of one block
void add_from_sides(const ContactProblem& problem, std::size_t k, const double* x, double* sigma) {
  const RowRoots& roots = *problem.roots;
  for (const RowRoots::Side& side : roots.blocks[k]) {
    if (side.group < 0) continue;
    const int width = roots.width(side.group);
    const double* from = x + roots.begin[side.group];
    for (int i = 0; i < problem.blocks[k].dim; ++i) sigma[i] += strip_dot(side.W + i * width, from, width);
  }
}

// W^T lam
const double* motion_of_groups(const ContactProblem& problem, const double* lam) {
  double* x = problem.roots->room;
  std::fill(x, x + problem.roots->columns(), 0.0);
  add_to_groups(problem, lam, x);
  return x;
}

}  // namespace

void add_from_groups(const ContactProblem& problem, const double* x, double* sigma) {
  for (std::size_t k = 0; k < problem.blocks.size(); ++k)
    add_from_sides(problem, k, x, sigma + problem.blocks[k].first);
}

void add_velocities(const ContactProblem& problem, const double* lam, double* sigma) {
  if (problem.roots != nullptr) {
    add_from_groups(problem, motion_of_groups(problem, lam), sigma);
    return;
  }
  const double* rows[4];
  double scale[4];
  int waiting = 0;
  for (int i = 0; i < problem.size; ++i) {
    if (lam[i] == 0.0) continue;
    rows[waiting] = problem.row(i);
    scale[waiting++] = lam[i];
    if (waiting < 4) continue;
    strip_add_four(sigma, rows, scale, problem.size);
    waiting = 0;
  }
  for (int k = 0; k < waiting; ++k) strip_add(sigma, rows[k], scale[k], problem.size);
}

namespace {

// Velocities of a block that are known, or computed row by row.
struct Velocities {
  const ContactProblem& problem;
  const double *lam, *sigma;
  int first = 0;  // row of sigma[0]

  double operator()(int row) const {
    return sigma != nullptr ? sigma[row - first]
                            : problem.b[row] + strip_dot(problem.row(row), lam, problem.size);
  }
};

double interval_error(double lam, double sigma, double g, double low, double high) {
  return g * std::abs(lam - std::clamp(lam - sigma / g, low, high));
}

// Each tangent against its own interval, as wide as the normal impulse allows.
double pyramid_error(const Velocities& velocity, const Block& block, const double* lam, double g) {
  const double normal = lam[block.first];
  double error =
      interval_error(normal, velocity(block.first), g, 0.0, std::numeric_limits<double>::infinity());
  for (int i = 0; i < block.tangents(); ++i) {
    const int row = block.first + 1 + i;
    const double bound = block.mu[i] * std::max(normal, 0.0);
    error = std::max(error, interval_error(lam[row], velocity(row), g, -bound, bound));
  }
  return error;
}

// Tangents are stretched to one coefficient mu, the largest: lam_i mu / mu_i, sigma_i mu_i / mu. On the
// circular cone ‖x_T‖ <= mu x_N:
//   P(z) = z inside,  0 in the polar cone mu ‖z_T‖ <= -z_N,  else along the generator (1, mu z_T / ‖z_T‖).
double cone_error(const Velocities& velocity, const Block& block, const double* lam, double g) {
  double mu = 0.0;
  for (int i = 0; i < block.tangents(); ++i) mu = std::max(mu, block.mu[i]);
  double x[5] = {}, z[5] = {}, slip = 0.0, pull = 0.0;
  for (int i = 0; i < block.tangents(); ++i) {
    if (block.mu[i] <= 0.0) continue;
    const int row = block.first + 1 + i;
    const double sigma = velocity(row) * (block.mu[i] / mu);
    x[i] = lam[row] * (mu / block.mu[i]);
    z[i] = x[i] - sigma / g;
    slip += sigma * sigma;
    pull += z[i] * z[i];
  }
  slip = std::sqrt(slip);
  pull = std::sqrt(pull);
  const double normal = lam[block.first];
  const double z_N = normal - (velocity(block.first) + mu * slip) / g;
  double along = 1.0, p_N = z_N;  // P(z) = (p_N, along z_T)
  if (mu * pull <= -z_N) {
    along = p_N = 0.0;
  } else if (pull > mu * z_N) {
    p_N = (z_N + mu * pull) / (1.0 + mu * mu);
    along = mu * p_N / pull;
  }
  double sum = (normal - p_N) * (normal - p_N);
  for (int i = 0; i < block.tangents(); ++i) sum += (x[i] - along * z[i]) * (x[i] - along * z[i]);
  return g * std::sqrt(sum);
}

double block_error(const ContactProblem& problem, const Velocities& velocity, const Block& block,
                   const double* lam) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double g = problem.mobility(block);
  switch (block.kind) {
    case BlockKind::equality: {
      double worst = 0.0;
      for (int i = 0; i < block.dim; ++i) worst = std::max(worst, std::abs(velocity(block.first + i)));
      return worst;
    }
    case BlockKind::unilateral:
      return interval_error(lam[block.first], velocity(block.first), g, 0.0, infinity);
    case BlockKind::interval:
      return interval_error(lam[block.first], velocity(block.first), g, -block.bound, block.bound);
    case BlockKind::contact:
      return problem.law == FrictionLaw::cone ? cone_error(velocity, block, lam, g)
                                              : pyramid_error(velocity, block, lam, g);
  }
  return infinity;
}

// A NaN stays.
double larger(double worst, double error) { return error <= worst ? worst : error; }

}  // namespace

double contact_residual(const ContactProblem& problem, const double* lam) {
  if (problem.roots == nullptr) return contact_residual(problem, lam, nullptr);
  const double* x = motion_of_groups(problem, lam);
  double worst = 0.0;
  for (std::size_t k = 0; k < problem.blocks.size(); ++k) {
    const Block& block = problem.blocks[k];
    double sigma[6];
    std::copy_n(problem.b + block.first, block.dim, sigma);
    add_from_sides(problem, k, x, sigma);
    worst = larger(worst, block_error(problem, {problem, lam, sigma, block.first}, block, lam));
  }
  return worst;
}

double contact_residual(const ContactProblem& problem, const double* lam, const double* sigma) {
  const Velocities velocity{problem, lam, sigma};
  double worst = 0.0;
  for (const Block& block : problem.blocks) worst = larger(worst, block_error(problem, velocity, block, lam));
  return worst;
}

Margin block_margin(const ContactProblem& problem, const Block& block, const double* lam, const double* sigma,
                    const RowMode* mode) {
  const double infinity = std::numeric_limits<double>::infinity();
  Margin margin{infinity, infinity};
  const auto impulse = [&](double x) { margin.impulse = std::min(margin.impulse, x); };
  const auto speed = [&](double x) { margin.velocity = std::min(margin.velocity, x); };
  const int n = block.first;
  if (block.kind == BlockKind::equality) return margin;
  if (block.kind == BlockKind::interval) {
    if (mode[n] == RowMode::hold)
      impulse(block.bound - std::abs(lam[n]));
    else
      speed(std::abs(sigma[n]));
    return margin;
  }
  if (mode[n] == RowMode::free) {
    speed(sigma[n]);
    return margin;
  }
  impulse(lam[n]);
  double used = 0.0, slip = 0.0;
  for (int i = 0; i < (block.kind == BlockKind::contact ? block.tangents() : 0); ++i) {
    const double mu = block.mu[i];
    if (mu <= 0.0) continue;
    const double force = lam[n + 1 + i] / mu;
    used += force * force;
    slip += mu * mu * sigma[n + 1 + i] * sigma[n + 1 + i];
    if (problem.law == FrictionLaw::cone) continue;
    if (mode[n + 1 + i] == RowMode::hold)
      impulse(mu * (lam[n] - std::abs(force)));
    else
      speed(std::abs(sigma[n + 1 + i]));
  }
  if (problem.law == FrictionLaw::pyramid || block.kind != BlockKind::contact || block.dim == 1)
    return margin;
  const RowMode tangent = mode[n + 1];
  if (tangent == RowMode::hold) impulse(lam[n] - std::sqrt(used));
  if (tangent == RowMode::slide) speed(std::sqrt(slip));
  return margin;
}

std::string_view to_string(RowMode mode) {
  switch (mode) {
    case RowMode::free: return "free";
    case RowMode::hold: return "hold";
    case RowMode::upper: return "upper";
    case RowMode::lower: return "lower";
    case RowMode::slide: return "slide";
    case RowMode::yield: return "yield";
    case RowMode::yield_upper: return "yield_upper";
    case RowMode::yield_lower: return "yield_lower";
  }
  return "unknown";
}

std::string_view to_string(SolveStatus status) {
  switch (status) {
    case SolveStatus::solved: return "solved";
    case SolveStatus::multiple: return "multiple";
    case SolveStatus::infeasible_bias: return "infeasible_bias";
    case SolveStatus::inexact: return "inexact";
  }
  return "unknown";
}

}  // namespace articula
