#include "mode_update.hpp"

#include <algorithm>
#include <cmath>

namespace articula {

std::uint64_t hash_modes(const RowMode* mode, int size) {
  std::uint64_t hash = 1469598103934665603ull;
  for (int i = 0; i < size; ++i) hash = (hash ^ static_cast<std::uint64_t>(mode[i])) * 1099511628211ull;
  return hash;
}

double mode_tolerance(const ContactProblem& problem, const double* lam) {
  double largest = 0.0;
  for (const Block& block : problem.blocks) {
    for (int i = block.first; i < block.first + block.dim; ++i)
      largest = std::max(largest, problem.g(i, i) * std::abs(lam[i]));
  }
  return 1e-11 * problem.velocity_scale + 1e-13 * largest;
}

void guess_modes(const ContactProblem& problem, RowMode* mode) {
  for (const Block& block : problem.blocks) {
    const int n = block.first;
    const bool always = block.kind == BlockKind::equality || block.kind == BlockKind::interval;
    const bool held = always || problem.b[n] < 0.0;
    for (int i = n; i < n + block.dim; ++i) mode[i] = held ? RowMode::hold : RowMode::free;
    if (block.kind != BlockKind::contact || !held) continue;
    // Stopping a tangent takes about |b_t| / g; lam_N is about -b_N / g.
    double slip = 0.0;
    for (int i = 0; i < block.tangents(); ++i) {
      const double needed = problem.b[n + 1 + i] / block.mu[i];
      slip += needed * needed;
      if (problem.law == FrictionLaw::pyramid && std::abs(needed) > -2.0 * problem.b[n])
        mode[n + 1 + i] = needed > 0.0 ? RowMode::lower : RowMode::upper;
    }
    if (problem.law == FrictionLaw::cone && std::sqrt(slip) > -2.0 * problem.b[n])
      std::fill(mode + n + 1, mode + n + block.dim, RowMode::slide);
  }
}

namespace {

struct Verdict {
  double violation = 0.0;  // m/s; 0: as it should be
  RowMode next = RowMode::free;
  int row = 0;
  int rows = 0;  // that take on `next`
};

void worse(Verdict& verdict, double violation, RowMode next, int row, int rows) {
  if (violation > verdict.violation) verdict = {violation, next, row, rows};
}

// |lam| <= bound while held; at a bound sigma points the other way.
void judge_interval(double lam, double sigma, double bound, double g, double tolerance, RowMode mode, int row,
                    Verdict& verdict) {
  if (mode == RowMode::hold) {
    const double excess = g * (std::abs(lam) - bound);
    if (excess > tolerance) worse(verdict, excess, lam > 0.0 ? RowMode::upper : RowMode::lower, row, 1);
  } else {
    const double wrong = mode == RowMode::upper ? sigma : -sigma;
    if (wrong > tolerance) worse(verdict, wrong, RowMode::hold, row, 1);
  }
}

struct Slip {
  double force = 0.0;    // ‖lam_T / mu‖
  double w = 0.0;        // ‖mu o sigma_T‖
  double forward = 0.0;  // w . d
};

Slip slip_of(const Block& block, const double* lam, const double* sigma, const SlideState& slide) {
  Slip slip;
  for (int i = 0; i < block.tangents(); ++i) {
    const double force = lam[block.first + 1 + i] / block.mu[i], w = block.mu[i] * sigma[block.first + 1 + i];
    slip.force += force * force;
    slip.w += w * w;
    slip.forward += w * slide.d[i];
  }
  slip.force = std::sqrt(slip.force);
  slip.w = std::sqrt(slip.w);
  return slip;
}

void judge_cone(const Block& block, const double* lam, const double* sigma, double g, double tolerance,
                const RowMode* mode, const SlideState& slide, Verdict& verdict) {
  const int n = block.first, tangents = block.tangents();
  const Slip slip = slip_of(block, lam, sigma, slide);
  double mu = 0.0;
  for (int i = 0; i < tangents; ++i) mu = std::max(mu, block.mu[i]);
  switch (mode[n + 1]) {
    case RowMode::hold: {
      const double excess = g * mu * (slip.force - lam[n]);
      if (excess > tolerance) worse(verdict, excess, RowMode::slide, n + 1, tangents);
      return;
    }
    case RowMode::slide:
      if (slip.w <= mu * tolerance) worse(verdict, 2.0 * tolerance, RowMode::yield, n + 1, tangents);
      return;
    default:  // yield
      if (slip.w <= mu * tolerance) return;
      worse(verdict, slip.w / mu, slip.forward > 0.0 ? RowMode::slide : RowMode::hold, n + 1, tangents);
  }
}

Verdict judge(const ContactProblem& problem, const Block& block, const double* lam, const double* sigma,
              double tolerance, const RowMode* mode, const SlideState& slide) {
  Verdict verdict;
  const int n = block.first;
  if (block.kind == BlockKind::equality) return verdict;
  const double g = problem.mobility(block);
  if (block.kind == BlockKind::interval) {
    judge_interval(lam[n], sigma[n], block.bound, g, tolerance, mode[n], n, verdict);
    return verdict;
  }
  if (mode[n] == RowMode::free) {
    if (sigma[n] < -tolerance) worse(verdict, -sigma[n], RowMode::hold, n, block.dim);
    return verdict;
  }
  if (g * lam[n] < -tolerance) {
    worse(verdict, -g * lam[n], RowMode::free, n, block.dim);
    return verdict;
  }
  if (block.kind != BlockKind::contact || block.dim == 1) return verdict;
  if (problem.law == FrictionLaw::cone) {
    judge_cone(block, lam, sigma, g, tolerance, mode, slide, verdict);
    return verdict;
  }
  for (int i = 0; i < block.tangents(); ++i)
    judge_interval(lam[n + 1 + i], sigma[n + 1 + i], block.mu[i] * lam[n], g, tolerance, mode[n + 1 + i],
                   n + 1 + i, verdict);
  return verdict;
}

// Where a held contact starts to slide its force tells the direction, for the case that it only yields.
void apply(const Verdict& verdict, const Block& block, const double* lam, RowMode* mode, SlideState& slide) {
  if (verdict.next == RowMode::slide && mode[verdict.row] == RowMode::hold) {
    const Slip slip = slip_of(block, lam, lam, slide);
    for (int i = 0; i < block.tangents(); ++i)
      slide.d[i] = slip.force > 0.0 ? -lam[block.first + 1 + i] / (block.mu[i] * slip.force) : (i == 0);
    slide.speed = 0.0;
    slide.normal = std::max(lam[block.first], 1e-300);
  }
  std::fill(mode + verdict.row, mode + verdict.row + verdict.rows, verdict.next);
}

}  // namespace

int update_modes(const ContactProblem& problem, const double* lam, const double* sigma, double tolerance,
                 bool only_worst, RowMode* mode, SlideState* slides) {
  int violations = 0, worst_block = -1;
  Verdict worst;
  for (std::size_t k = 0; k < problem.blocks.size(); ++k) {
    const Block& block = problem.blocks[k];
    const Verdict verdict = judge(problem, block, lam, sigma, tolerance, mode, slides[k]);
    if (verdict.violation == 0.0) continue;
    ++violations;
    if (!only_worst) {
      apply(verdict, block, lam, mode, slides[k]);
    } else if (verdict.violation > worst.violation) {
      worst = verdict;
      worst_block = static_cast<int>(k);
    }
  }
  if (worst_block >= 0) apply(worst, problem.blocks[worst_block], lam, mode, slides[worst_block]);
  return violations;
}

// A row is held if its velocity vanishes, whoever carries the load.
void read_modes(const ContactProblem& problem, const double* lam, const double* sigma, double tolerance,
                RowMode* mode, SlideState* slides) {
  for (std::size_t k = 0; k < problem.blocks.size(); ++k) {
    const Block& block = problem.blocks[k];
    const int n = block.first;
    const double g = problem.mobility(block);
    if (block.kind == BlockKind::equality) {
      std::fill(mode + n, mode + n + block.dim, RowMode::hold);
    } else if (block.kind == BlockKind::interval) {
      const bool at_end = g * (block.bound - std::abs(lam[n])) <= tolerance && std::abs(sigma[n]) > tolerance;
      mode[n] = !at_end ? RowMode::hold : lam[n] > 0.0 ? RowMode::upper : RowMode::lower;
    } else if (g * lam[n] <= tolerance) {
      std::fill(mode + n, mode + n + block.dim, RowMode::free);
    } else {
      std::fill(mode + n, mode + n + block.dim, RowMode::hold);
      if (block.kind != BlockKind::contact || block.dim == 1) continue;
      if (problem.law == FrictionLaw::pyramid) {
        for (int i = 0; i < block.tangents(); ++i) {
          const bool at_end = g * (block.mu[i] * lam[n] - std::abs(lam[n + 1 + i])) <= tolerance;
          if (at_end) mode[n + 1 + i] = lam[n + 1 + i] > 0.0 ? RowMode::upper : RowMode::lower;
        }
        continue;
      }
      const Slip slip = slip_of(block, lam, sigma, slides[k]);
      double mu = 0.0;
      for (int i = 0; i < block.tangents(); ++i) mu = std::max(mu, block.mu[i]);
      if (g * mu * (lam[n] - slip.force) > tolerance) continue;
      const bool still = slip.w <= mu * tolerance;
      std::fill(mode + n + 1, mode + n + block.dim, RowMode::hold);
      apply({1.0, RowMode::slide, n + 1, block.tangents()}, block, lam, mode, slides[k]);
      slides[k].speed = slip.w;
      slides[k].normal = lam[n];
      if (still) std::fill(mode + n + 1, mode + n + block.dim, RowMode::yield);
    }
  }
}

void read_directions(const ContactProblem& problem, const double* lam, const double* sigma,
                     SlideState* slides) {
  for (std::size_t k = 0; k < problem.blocks.size(); ++k) {
    const Block& block = problem.blocks[k];
    if (block.kind != BlockKind::contact || block.dim == 1) continue;
    const Slip slip = slip_of(block, lam, sigma, slides[k]);
    for (int i = 0; i < block.tangents() && slip.w > 0.0; ++i)
      slides[k].d[i] = block.mu[i] * sigma[block.first + 1 + i] / slip.w;
    slides[k].speed = slip.w;
    const double least = 1e-300 + 1e-14 * problem.velocity_scale / problem.mobility(block);
    slides[k].normal = std::max(lam[block.first], least);
  }
}

void modes_of_motion(const ContactProblem& problem, const double* sigma, double tolerance, RowMode* mode) {
  const auto bounded = [&](int row) {
    return sigma[row] > tolerance ? RowMode::lower : sigma[row] < -tolerance ? RowMode::upper : RowMode::hold;
  };
  for (const Block& block : problem.blocks) {
    const int n = block.first;
    std::fill(mode + n, mode + n + block.dim, RowMode::hold);
    if (block.kind == BlockKind::equality) continue;
    if (block.kind == BlockKind::interval) {
      mode[n] = bounded(n);
    } else if (sigma[n] > tolerance) {
      std::fill(mode + n, mode + n + block.dim, RowMode::free);
    } else if (block.kind == BlockKind::contact) {
      double slip = 0.0, mu = 0.0;
      for (int i = 0; i < block.tangents(); ++i) {
        if (problem.law == FrictionLaw::pyramid) mode[n + 1 + i] = bounded(n + 1 + i);
        slip += std::pow(block.mu[i] * sigma[n + 1 + i], 2);
        mu = std::max(mu, block.mu[i]);
      }
      if (problem.law == FrictionLaw::cone && std::sqrt(slip) > mu * tolerance)
        std::fill(mode + n + 1, mode + n + block.dim, RowMode::slide);
    }
  }
}

}  // namespace articula
