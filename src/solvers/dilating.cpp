#include "articula/solvers/dilating.hpp"

#include <algorithm>
#include <cmath>

#include "mode_update.hpp"

namespace articula {

namespace {

// The nearest impulse with |lam_i| <= mu_i lam_N: lam_N is the root of a concave increasing function, which
// Newton's method reaches from the left in finitely many steps.
void project_on_pyramid(const Block& block, const double* z, double* lam) {
  double normal = z[0];
  for (int round = 0; round <= block.tangents(); ++round) {
    double sum = z[0], weight = 1.0;
    for (int i = 0; i < block.tangents(); ++i) {
      if (std::abs(z[1 + i]) <= block.mu[i] * normal) continue;
      sum += block.mu[i] * std::abs(z[1 + i]);
      weight += block.mu[i] * block.mu[i];
    }
    normal = sum / weight;
  }
  lam[0] = std::max(normal, 0.0);
  for (int i = 0; i < block.tangents(); ++i)
    lam[1 + i] = std::clamp(z[1 + i], -block.mu[i] * lam[0], block.mu[i] * lam[0]);
}

// Tangents stretched to one coefficient, the largest, as in contact_residual.
void project_on_cone(const Block& block, const double* z, double* lam) {
  const double mu = *std::max_element(block.mu, block.mu + block.tangents());
  double pull = 0.0;
  for (int i = 0; i < block.tangents(); ++i) {
    const double stretched = z[1 + i] * (mu / block.mu[i]);
    pull += stretched * stretched;
  }
  pull = std::sqrt(pull);
  double along = 1.0;
  lam[0] = z[0];
  if (mu * pull <= -z[0]) {
    along = lam[0] = 0.0;
  } else if (pull > mu * z[0]) {
    lam[0] = (z[0] + mu * pull) / (1.0 + mu * mu);
    along = mu * lam[0] / pull;
  }
  for (int i = 0; i < block.tangents(); ++i) lam[1 + i] = along * z[1 + i];
}

void project(const ContactProblem& problem, const Block& block, const RowMode* mode, const double* z,
             double* lam) {
  switch (block.kind) {
    case BlockKind::equality:
      for (int i = 0; i < block.dim; ++i) lam[i] = mode[i] == RowMode::free ? 0.0 : z[i];
      return;
    case BlockKind::unilateral: lam[0] = std::max(z[0], 0.0); return;
    case BlockKind::interval: lam[0] = std::clamp(z[0], -block.bound, block.bound); return;
    case BlockKind::contact:
      if (problem.law == FrictionLaw::cone && block.dim > 1)
        project_on_cone(block, z, lam);
      else
        project_on_pyramid(block, z, lam);
  }
}

// lam = P(centre - sigma / (eps R))
void impulses_of(const ContactProblem& problem, double softness, const double* centre, const RowMode* mode,
                 const double* sigma, double* lam) {
  double z[6];
  for (const Block& block : problem.blocks) {
    const double give = softness * problem.mobility(block);
    for (int i = 0; i < block.dim; ++i) z[i] = centre[block.first + i] - sigma[block.first + i] / give;
    project(problem, block, mode + block.first, z, lam + block.first);
  }
}

RowMode side(double lam, double bound, RowMode upper, RowMode lower) {
  return lam >= bound ? upper : lam <= -bound ? lower : RowMode::hold;
}

// The face of the cone on which each impulse lies.
void faces_of(const ContactProblem& problem, double softness, const double* centre, const double* lam,
              const double* sigma, RowMode* mode, SlideState* slides) {
  for (std::size_t k = 0; k < problem.blocks.size(); ++k) {
    const Block& block = problem.blocks[k];
    const int n = block.first;
    if (block.kind == BlockKind::equality) continue;
    if (block.kind == BlockKind::interval) {
      mode[n] = side(lam[n], block.bound, RowMode::upper, RowMode::lower);
      continue;
    }
    std::fill(mode + n, mode + n + block.dim, lam[n] > 0.0 ? RowMode::hold : RowMode::free);
    if (block.kind != BlockKind::contact || block.dim == 1 || lam[n] <= 0.0) continue;
    if (problem.law == FrictionLaw::pyramid) {
      for (int i = 0; i < block.tangents(); ++i)
        mode[n + 1 + i] = side(lam[n + 1 + i], block.mu[i] * lam[n] * (1.0 - 1e-14), RowMode::yield_upper,
                               RowMode::yield_lower);
      continue;
    }
    const double give = softness * problem.mobility(block);
    double used = 0.0, w = 0.0;
    SlideState& slide = slides[k];
    for (int i = 0; i < block.tangents(); ++i) {
      used += std::pow(lam[n + 1 + i] / block.mu[i], 2);
      const int row = n + 1 + i;
      slide.d[i] = block.mu[i] * (sigma[row] + give * (lam[row] - centre[row]));
      w += slide.d[i] * slide.d[i];
    }
    if (std::sqrt(used) < lam[n] * (1.0 - 1e-12) || w == 0.0) continue;
    w = std::sqrt(w);
    for (int i = 0; i < block.tangents(); ++i) slide.d[i] /= w;
    slide.speed = w;
    slide.normal = lam[n];
    std::fill(mode + n + 1, mode + n + block.dim, RowMode::yield);
  }
}

}  // namespace

void DilatingFriction::reserve(int rows) {
  for (std::vector<double>* vector : {&y_, &sigma_, &lam_, &b_, &next_, &next_sigma_, &between_, &centre_})
    vector->reserve(rows);
  here_.reserve(static_cast<std::size_t>(2) * rows);
  next_here_.reserve(static_cast<std::size_t>(2) * rows);
  rounds_.reserve(2 * rows);
}

namespace {

// Gamma = mu |sigma_T|
double slip_of(const ContactProblem& problem, const Block& block, const double* sigma) {
  double slip = 0.0;
  for (int i = 0; i < block.tangents(); ++i) {
    const double w = block.mu[i] * sigma[block.first + 1 + i];
    slip += problem.law == FrictionLaw::cone ? w * w : std::abs(w);
  }
  return problem.law == FrictionLaw::cone ? std::sqrt(slip) : slip;
}

}  // namespace

// Another softness makes the rounds another map.
void DilatingFriction::accelerate(const ContactProblem& problem, double softness) {
  const std::size_t contacts = here_.size();
  for (const Block& block : problem.blocks) {
    const double g = problem.mobility(block);
    for (int i = block.first; i < block.first + block.dim; ++i) {
      here_.push_back(g * centre_[i]);
      next_here_.push_back(g * y_[i]);
    }
  }
  if (softness != last_softness_) rounds_.forget();
  last_softness_ = softness;
  rounds_.advance(here_, next_here_);
  std::size_t k = contacts;
  for (const Block& block : problem.blocks) {
    const double g = problem.mobility(block);
    for (int i = block.first; i < block.first + block.dim; ++i) centre_[i] = next_here_[k++] / g;
  }
}

// Centre and Gamma of the impulses and velocities, the latter into b and sigma. Returns the largest change of
// Gamma.
double DilatingFriction::follow_slip(const ContactProblem& problem, bool accelerated, double softness) {
  here_.clear();
  next_here_.clear();
  for (const Block& block : problem.blocks) {
    if (!has_friction(block)) continue;
    here_.push_back(b_[block.first] - problem.b[block.first]);
    next_here_.push_back(slip_of(problem, block, sigma_.data()));
  }
  if (accelerated)
    accelerate(problem, softness);
  else
    std::copy(y_.begin(), y_.end(), centre_.begin());
  double change = 0.0;
  int k = 0;
  for (const Block& block : problem.blocks) {
    if (!has_friction(block)) continue;
    const double moved = problem.b[block.first] + std::max(next_here_[k++], 0.0) - b_[block.first];
    change = std::max(change, std::abs(moved));
    b_[block.first] += moved;
    sigma_[block.first] += moved;
  }
  return change;
}

void DilatingFriction::minimise(const ContactProblem& problem, ModeSystem& system, double softness,
                                double tolerance, int most_steps, RowMode* mode, SlideState* slides) {
  const int n = problem.size;
  ContactProblem shifted = problem;
  shifted.b = b_.data();
  system.begin(shifted, centre_.data(), softness);
  for (int step = 0; step < most_steps; ++step) {
    impulses_of(shifted, softness, centre_.data(), mode, sigma_.data(), lam_.data());
    double off = 0.0;
    for (const Block& block : problem.blocks) {
      const double g = problem.mobility(block);
      for (int i = block.first; i < block.first + block.dim; ++i)
        off = std::max(off, g * std::abs(y_[i] - lam_[i]));
    }
    if (off <= tolerance) return;
    faces_of(shifted, softness, centre_.data(), lam_.data(), sigma_.data(), mode, slides);
    double turned = 0.0;
    if (!system.soft_step(shifted, mode, slides, next_.data(), next_sigma_.data(), turned)) return;
    for (const Block& block : problem.blocks) {
      const double give = softness * problem.mobility(block);
      for (int i = block.first; i < block.first + block.dim; ++i)
        next_sigma_[i] -= give * (next_[i] - centre_[i]);
    }
    const double length = search(shifted, softness, mode);
    for (int i = 0; i < n; ++i) {
      y_[i] += length * (next_[i] - y_[i]);
      sigma_[i] += length * (next_sigma_[i] - sigma_[i]);
    }
  }
}

// Where f stops falling on the way from y to next: a zero of f' = (G d)^T (y + length d - lam), which rises.
double DilatingFriction::search(const ContactProblem& problem, double softness, const RowMode* mode) {
  const int n = problem.size;
  const auto slope = [&](double length) {
    for (int i = 0; i < n; ++i) between_[i] = sigma_[i] + length * (next_sigma_[i] - sigma_[i]);
    impulses_of(problem, softness, centre_.data(), mode, between_.data(), lam_.data());
    double sum = 0.0;
    for (int i = 0; i < n; ++i)
      sum += (next_sigma_[i] - sigma_[i]) * (y_[i] + length * (next_[i] - y_[i]) - lam_[i]);
    return sum;
  };
  const double at_start = slope(0.0), enough = 0.1 * std::abs(at_start);
  double low = 0.0, high = 1.0, at_low = at_start, at_high = slope(1.0);
  if (at_high <= enough) return 1.0;
  for (int round = 0; round < 12; ++round) {
    const double guess = low - at_low * (high - low) / (at_high - at_low);
    const double width = high - low;
    const double length = std::clamp(guess, low + 0.1 * width, high - 0.1 * width);
    const double here = slope(length);
    if (std::abs(here) <= enough) return length;
    (here < 0.0 ? low : high) = length;
    (here < 0.0 ? at_low : at_high) = here;
  }
  return low > 0.0 ? low : high;
}

void DilatingFriction::start(const ContactProblem& problem, const double* lam) {
  const int n = problem.size;
  for (std::vector<double>* vector : {&y_, &sigma_, &lam_, &b_, &next_, &next_sigma_, &between_, &centre_})
    vector->resize(n);
  rounds_.forget();
  std::copy(lam, lam + n, centre_.begin());
  std::copy(lam, lam + n, y_.begin());
  std::copy(problem.b, problem.b + n, b_.begin());
  contact_velocities(problem, lam, sigma_.data());
}

void DilatingFriction::round(const ContactProblem& problem, ModeSystem& system, const Round& settings,
                             RowMode* mode, SlideState* slides, double* lam, double* sigma) {
  const double change = follow_slip(problem, settings.accelerated, settings.softness);
  minimise(problem, system, settings.softness,
           settings.follows * change + settings.tolerance * problem.velocity_scale, settings.most_steps, mode,
           slides);
  for (int i = 0; i < problem.size; ++i) {
    lam[i] = y_[i];
    sigma[i] = sigma_[i] - (b_[i] - problem.b[i]);
  }
}

}  // namespace articula
