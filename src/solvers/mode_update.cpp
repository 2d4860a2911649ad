#include "mode_update.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace articula {

namespace {

// m/s: the largest velocity that one impulse makes
double largest_effect(const ContactProblem& problem, const double* lam) {
  double largest = 0.0;
  for (const Block& block : problem.blocks) {
    for (int i = block.first; i < block.first + block.dim; ++i)
      largest = std::max(largest, problem.g(i, i) * std::abs(lam[i]));
  }
  return largest;
}

}  // namespace

std::uint64_t hash_modes(const RowMode* mode, int size) {
  std::uint64_t hash = 1469598103934665603ull;
  for (int i = 0; i < size; ++i) hash = (hash ^ static_cast<std::uint64_t>(mode[i])) * 1099511628211ull;
  return hash;
}

double mode_tolerance(const ContactProblem& problem, const double* lam) {
  return 1e-11 * problem.velocity_scale + 1e-13 * largest_effect(problem, lam);
}

Tolerances soft_tolerances(const ContactProblem& problem, double softness, const double* lam) {
  const double effect = largest_effect(problem, lam);
  return {.impulse = mode_tolerance(problem, lam),
          .velocity = std::max(1e-5 * softness, 2e-15) * std::max(effect, problem.velocity_scale),
          .still = 3e1 * softness * effect};
}

void guess_modes(const ContactProblem& problem, RowMode* mode, SlideState* slides) {
  for (std::size_t k = 0; k < problem.blocks.size(); ++k) {
    const Block& block = problem.blocks[k];
    const int n = block.first;
    const bool always = block.kind == BlockKind::equality || block.kind == BlockKind::interval;
    const bool held = always || problem.b[n] < 0.0;
    for (int i = n; i < n + block.dim; ++i) mode[i] = held ? RowMode::hold : RowMode::free;
    slides[k] = {};
    if (!has_friction(block)) continue;
    // Stopping a tangent takes about |b_t| / g; lam_N is about -b_N / g.
    double slip = 0.0, squared = 0.0;
    for (int i = 0; i < block.tangents(); ++i) {
      const double needed = problem.b[n + 1 + i] / block.mu[i], w = block.mu[i] * problem.b[n + 1 + i];
      slip += needed * needed;
      squared += w * w;
      slides[k].d[i] = w;
      if (held && problem.law == FrictionLaw::pyramid && std::abs(needed) > -2.0 * problem.b[n])
        mode[n + 1 + i] = needed > 0.0 ? RowMode::lower : RowMode::upper;
    }
    slides[k].speed = std::sqrt(squared);
    slides[k].normal = std::max(-problem.b[n], 1e-3 * problem.velocity_scale) / problem.mobility(block);
    for (int i = 0; i < block.tangents(); ++i)
      slides[k].d[i] = slides[k].speed > 0.0 ? slides[k].d[i] / slides[k].speed : (i == 0);
    if (held && problem.law == FrictionLaw::cone && std::sqrt(slip) > -2.0 * problem.b[n])
      std::fill(mode + n + 1, mode + n + block.dim, RowMode::slide);
  }
}

namespace {

// A compliance |w| / lam_N that is not negative, and a direction of length one, along tangents that there
// are.
void make_sense(const ContactProblem& problem, const Block& block, SlideState& slide) {
  constexpr double as_found = 1e-9;  // of the square of a length; rounding is less
  if (!(slide.speed >= 0.0 && std::isfinite(slide.speed))) slide.speed = 0.0;
  if (!(slide.normal > 0.0 && std::isfinite(slide.normal)))
    slide.normal = problem.velocity_scale / problem.mobility(block);
  double squared = 0.0;
  for (int i = 0; i < block.tangents(); ++i) squared += slide.d[i] * slide.d[i];
  std::fill(slide.d + block.tangents(), std::end(slide.d), 0.0);
  if (std::abs(squared - 1.0) <= as_found) return;
  const bool points = squared > 0.0 && std::isfinite(squared);
  for (int i = 0; i < block.tangents(); ++i) slide.d[i] = points ? slide.d[i] / std::sqrt(squared) : (i == 0);
}

}  // namespace

void make_sense(const ContactProblem& problem, RowMode* mode, SlideState* slides, double* lam) {
  std::replace_if(lam, lam + problem.size, [](double load) { return !std::isfinite(load); }, 0.0);
  const auto bounded = [](RowMode m) { return m == RowMode::upper || m == RowMode::lower; };
  for (std::size_t k = 0; k < problem.blocks.size(); ++k) {
    const Block& block = problem.blocks[k];
    RowMode* first = mode + block.first;
    if (block.kind == BlockKind::equality) continue;
    if (block.kind == BlockKind::interval) {
      if (!bounded(*first)) *first = RowMode::hold;
      continue;
    }
    if (block.kind == BlockKind::contact) make_sense(problem, block, slides[k]);
    if (*first == RowMode::free) {
      std::fill(first, first + block.dim, RowMode::free);
      continue;
    }
    *first = RowMode::hold;
    const RowMode tangent = first[1 % block.dim];
    const bool on_cone = tangent == RowMode::slide || tangent == RowMode::yield;
    const bool all_alike = std::all_of(first + 1, first + block.dim, [&](RowMode m) { return m == tangent; });
    for (RowMode* m = first + 1; m < first + block.dim; ++m) {
      const bool possible = problem.law == FrictionLaw::cone
                                ? on_cone && all_alike
                                : bounded(*m) || *m == RowMode::yield_upper || *m == RowMode::yield_lower;
      if (!possible) *m = RowMode::hold;
    }
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

struct Slip {
  double force = 0.0;     // ‖lam_T / mu‖
  double w = 0.0;         // ‖mu o soft_T‖
  double backward = 0.0;  // w against the slip that the force opposes
};

Slip slip_of(const Block& block, const double* lam, const double* velocity) {
  Slip slip;
  for (int i = 0; i < block.tangents(); ++i) {
    const double force = lam[block.first + 1 + i] / block.mu[i],
                 w = block.mu[i] * velocity[block.first + 1 + i];
    slip.force += force * force;
    slip.w += w * w;
    slip.backward += w * force;
  }
  slip.force = std::sqrt(slip.force);
  slip.w = std::sqrt(slip.w);
  if (slip.force > 0.0) slip.backward /= slip.force;
  return slip;
}

double largest_mu(const Block& block) { return *std::max_element(block.mu, block.mu + block.tangents()); }

struct Judge {
  const ContactProblem& problem;
  const double *lam, *soft;
  const RowMode* mode;
  Tolerances tolerance;

  // |lam| <= bound while held; at a bound the soft velocity points the other way. A tangent of a pyramid
  // that is at its bound slides or yields.
  void interval(int row, double bound, double g, bool tangent, double still, Verdict& verdict) const {
    if (mode[row] == RowMode::hold) {
      const double excess = g * (std::abs(lam[row]) - bound);
      if (excess > tolerance.impulse)
        worse(verdict, excess, lam[row] > 0.0 ? RowMode::upper : RowMode::lower, row, 1);
      return;
    }
    const bool upper = mode[row] == RowMode::upper || mode[row] == RowMode::yield_upper;
    const double wrong = upper ? soft[row] : -soft[row];
    if (wrong > tolerance.velocity) {
      worse(verdict, wrong, RowMode::hold, row, 1);
    } else if (tangent) {
      const bool yields = mode[row] == RowMode::yield_upper || mode[row] == RowMode::yield_lower;
      if (yields && -wrong > still) worse(verdict, -wrong, upper ? RowMode::upper : RowMode::lower, row, 1);
      if (!yields && -wrong <= still)
        worse(verdict, still, upper ? RowMode::yield_upper : RowMode::yield_lower, row, 1);
    }
  }

  // Where nothing moves, soft velocities lie in the dual cone: the normal's is not less than this.
  double dual_need(const Block& block, double still) const {
    const int n = block.first;
    double needed = 0.0;
    if (block.kind == BlockKind::contact && block.dim > 1) {
      if (problem.law == FrictionLaw::cone) {
        const double w = slip_of(block, lam, soft).w;
        if (w <= largest_mu(block) * still) needed = w;
      } else {
        for (int i = 0; i < block.tangents(); ++i) {
          const double slip = std::abs(soft[n + 1 + i]);
          if (slip <= still) needed += block.mu[i] * slip;
        }
      }
    }
    return needed;
  }

  // Parted bodies stay so if they do not approach.
  void parted(const Block& block, double still, Verdict& verdict) const {
    const double missing = -clearance(block, still);
    if (missing > tolerance.velocity) worse(verdict, missing, RowMode::hold, block.first, block.dim);
  }

  void cone(const Block& block, double g, double still, Verdict& verdict) const {
    const int n = block.first, tangents = block.tangents();
    const Slip slip = slip_of(block, lam, soft);
    const double mu = largest_mu(block);
    if (mode[n + 1] == RowMode::hold) {
      const double excess = g * mu * (slip.force - lam[n]);
      if (excess > tolerance.impulse) worse(verdict, excess, RowMode::slide, n + 1, tangents);
    } else if (slip.backward > mu * tolerance.velocity) {
      worse(verdict, slip.backward / mu, RowMode::hold, n + 1, tangents);
    } else if (mode[n + 1] == RowMode::slide && slip.w <= mu * still) {
      worse(verdict, still, RowMode::yield, n + 1, tangents);
    } else if (mode[n + 1] == RowMode::yield && slip.w > mu * still) {
      worse(verdict, slip.w / mu, RowMode::slide, n + 1, tangents);
    }
  }

  // How far soft velocities are from contradicting a contact, or an end of a range, that is free.
  double clearance(const Block& block, double still) const {
    return soft[block.first] - dual_need(block, still);
  }

  // Soft velocities up to which a contact counts as still.
  double still(KnownMotion motion) const {
    return motion == KnownMotion::moves   ? 0.0
           : motion == KnownMotion::rests ? std::numeric_limits<double>::infinity()
                                          : tolerance.still;
  }

  Verdict operator()(const Block& block, KnownMotion motion) const {
    Verdict verdict;
    const int n = block.first;
    if (block.kind == BlockKind::equality) return verdict;
    const double g = problem.mobility(block), still = this->still(motion);
    if (block.kind == BlockKind::interval) {
      interval(n, block.bound, g, false, still, verdict);
    } else if (mode[n] == RowMode::free) {
      parted(block, still, verdict);
    } else if (g * lam[n] < -tolerance.impulse) {
      worse(verdict, -g * lam[n], RowMode::free, n, block.dim);
    } else if (block.kind == BlockKind::contact && block.dim > 1) {
      if (problem.law == FrictionLaw::cone) {
        cone(block, g, still, verdict);
      } else {
        for (int i = 0; i < block.tangents(); ++i)
          interval(n + 1 + i, block.mu[i] * lam[n], g, true, still, verdict);
      }
    }
    return verdict;
  }
};

// Bodies that were apart touch. What approaches less than it slips, as friction weighs it, slides at once.
void close(const Block& block, FrictionLaw law, double still, const double* soft, RowMode* mode,
           SlideState& slide) {
  const int n = block.first;
  const double approach = std::max(-soft[n], 0.0);
  std::fill(mode + n, mode + n + block.dim, RowMode::hold);
  if (law == FrictionLaw::pyramid) {
    for (int i = 0; i < block.tangents(); ++i) {
      const double slip = soft[n + 1 + i];
      if (std::abs(slip) <= block.mu[i] * approach) continue;
      if (std::abs(slip) <= still)
        mode[n + 1 + i] = slip > 0.0 ? RowMode::yield_lower : RowMode::yield_upper;
      else
        mode[n + 1 + i] = slip > 0.0 ? RowMode::lower : RowMode::upper;
    }
    return;
  }
  double length = 0.0, w = 0.0;
  for (int i = 0; i < block.tangents(); ++i) {
    length += std::pow(soft[n + 1 + i] / block.mu[i], 2);
    w += std::pow(block.mu[i] * soft[n + 1 + i], 2);
  }
  if (std::sqrt(length) <= approach || w == 0.0) return;
  w = std::sqrt(w);
  for (int i = 0; i < block.tangents(); ++i) slide.d[i] = block.mu[i] * soft[n + 1 + i] / w;
  slide.speed = w;
  std::fill(mode + n + 1, mode + n + block.dim,
            w <= largest_mu(block) * still ? RowMode::yield : RowMode::slide);
}

// A contact that comes onto its cone slides against its force.
void apply(const Verdict& verdict, const ContactProblem& problem, const Block& block, double still,
           const double* lam, const double* soft, RowMode* mode, SlideState& slide) {
  if (block.kind == BlockKind::contact && block.dim > 1 && verdict.row == block.first &&
      verdict.next == RowMode::hold) {
    close(block, problem.law, still, soft, mode, slide);
    slide.normal = std::max(-soft[block.first], 1e-6 * problem.velocity_scale) / problem.mobility(block);
    return;
  }
  if (verdict.next == RowMode::slide && mode[verdict.row] == RowMode::hold) {
    const double force = slip_of(block, lam, lam).force;
    for (int i = 0; i < block.tangents(); ++i)
      slide.d[i] = force > 0.0 ? -lam[block.first + 1 + i] / (block.mu[i] * force) : (i == 0);
    slide.speed = 0.0;
    slide.normal = std::max(lam[block.first], 1e-300);
  }
  std::fill(mode + verdict.row, mode + verdict.row + verdict.rows, verdict.next);
}

}  // namespace

int update_modes(const ContactProblem& problem, double softness, const double* lam, const double* soft,
                 const std::vector<KnownMotion>& motion, bool only_worst, RowMode* mode, SlideState* slides) {
  int violations = 0, worst_block = -1;
  Verdict worst;
  const Judge judge{problem, lam, soft, mode, soft_tolerances(problem, softness, lam)};
  for (std::size_t k = 0; k < problem.blocks.size(); ++k) {
    const Block& block = problem.blocks[k];
    const Verdict verdict = judge(block, motion[k]);
    if (verdict.violation == 0.0) continue;
    ++violations;
    if (!only_worst) {
      apply(verdict, problem, block, judge.still(motion[k]), lam, soft, mode, slides[k]);
    } else if (verdict.violation > worst.violation) {
      worst = verdict;
      worst_block = static_cast<int>(k);
    }
  }
  if (worst_block >= 0)
    apply(worst, problem, problem.blocks[worst_block], judge.still(motion[worst_block]), lam, soft, mode,
          slides[worst_block]);
  return violations;
}

int hold_undecided(const ContactProblem& problem, double softness, const double* lam, const double* soft,
                   const std::vector<KnownMotion>& motion, RowMode* mode, SlideState* slides) {
  const Judge judge{problem, lam, soft, mode, soft_tolerances(problem, softness, lam)};
  const double undecided = 3.0 * judge.tolerance.velocity;
  int held = 0;
  for (std::size_t k = 0; k < problem.blocks.size(); ++k) {
    const Block& block = problem.blocks[k];
    const int n = block.first;
    if (block.kind == BlockKind::equality) continue;
    if (block.kind == BlockKind::interval) {
      for (int i = n; i < n + block.dim; ++i) {
        if (mode[i] == RowMode::hold || std::abs(soft[i]) > undecided) continue;
        mode[i] = RowMode::hold;
        ++held;
      }
      continue;
    }
    const double still = judge.still(motion[k]);
    if (mode[n] == RowMode::free) {
      if (judge.clearance(block, still) > undecided) continue;
      apply({1.0, RowMode::hold, n, block.dim}, problem, block, still, lam, soft, mode, slides[k]);
      ++held;
    } else if (block.dim > 1 && mode[n + 1] == RowMode::yield) {
      if (slip_of(block, lam, soft).w > largest_mu(block) * undecided) continue;
      std::fill(mode + n + 1, mode + n + block.dim, RowMode::hold);
      ++held;
    } else {
      for (int i = n + 1; i < n + block.dim; ++i) {
        if (mode[i] != RowMode::yield_upper && mode[i] != RowMode::yield_lower) continue;
        if (std::abs(soft[i]) > undecided) continue;
        mode[i] = RowMode::hold;
        ++held;
      }
    }
  }
  return held;
}

namespace {

// Whether friction of this block is on its cone.
bool has_direction(const Block& block, const RowMode* mode) {
  if (block.kind != BlockKind::contact || block.dim == 1 || mode[block.first] == RowMode::free) return false;
  return mode[block.first + 1] == RowMode::slide || mode[block.first + 1] == RowMode::yield;
}

double cell_of(const Block& block, const RowMode* mode) {
  return mode[block.first + 1] == RowMode::yield ? yielding_cell : cell;
}

// Compliances |w| / lam_N keep six binary digits.
double compliance_digits(double ratio) {
  return std::pow(2.0, 6.0 - std::ceil(std::log2(std::max(ratio, 1e-300))));
}

double compliance_of(const SlideState& slide) { return slide.speed / std::max(slide.normal, 1e-300); }

// How far x is from the middle between two whole numbers, where rounding decides.
double from_edge(double x) { return std::abs(x - std::floor(x) - 0.5); }

}  // namespace

void round_directions(const ContactProblem& problem, const RowMode* mode, SlideState* slides) {
  for (std::size_t k = 0; k < problem.blocks.size(); ++k) {
    if (!has_direction(problem.blocks[k], mode)) continue;
    SlideState& slide = slides[k];
    const double size = cell_of(problem.blocks[k], mode);
    double squared = 0.0;
    for (double& d : slide.d) {
      d = std::round(d / size) * size;
      squared += d * d;
    }
    for (double& d : slide.d) d = squared > 0.0 ? d / std::sqrt(squared) : d;
    const double ratio = compliance_of(slide), digits = compliance_digits(ratio);
    slide.speed = std::round(ratio * digits) / digits;
    slide.normal = 1.0;
  }
}

bool near_edge(const ContactProblem& problem, const RowMode* mode, const SlideState* slides, double error) {
  for (std::size_t k = 0; k < problem.blocks.size(); ++k) {
    const Block& block = problem.blocks[k];
    if (!has_direction(block, mode)) continue;
    const double size = cell_of(block, mode);
    for (int i = 0; i < block.tangents(); ++i) {
      if (from_edge(slides[k].d[i] / size) * size <= error) return true;
    }
    const double ratio = compliance_of(slides[k]), scaled = ratio * compliance_digits(ratio);
    if (from_edge(scaled) <= scaled * error) return true;
  }
  return false;
}

void read_modes(const ContactProblem& problem, const double* lam, const double* sigma, double tolerance,
                RowMode* mode, SlideState* slides) {
  for (std::size_t k = 0; k < problem.blocks.size(); ++k) {
    const Block& block = problem.blocks[k];
    const int n = block.first;
    const double g = problem.mobility(block);
    if (block.kind == BlockKind::equality) continue;
    if (block.kind == BlockKind::interval) {
      const bool at_end = g * (block.bound - std::abs(lam[n])) <= tolerance && std::abs(sigma[n]) > tolerance;
      mode[n] = !at_end ? RowMode::hold : lam[n] > 0.0 ? RowMode::upper : RowMode::lower;
    } else if (g * lam[n] <= tolerance) {
      std::fill(mode + n, mode + n + block.dim, RowMode::free);
    } else {
      std::fill(mode + n, mode + n + block.dim, RowMode::hold);
      if (!has_friction(block)) continue;
      if (problem.law == FrictionLaw::pyramid) {
        for (int i = 0; i < block.tangents(); ++i) {
          const bool at_end = g * (block.mu[i] * lam[n] - std::abs(lam[n + 1 + i])) <= tolerance;
          if (at_end) mode[n + 1 + i] = lam[n + 1 + i] > 0.0 ? RowMode::upper : RowMode::lower;
        }
        continue;
      }
      const Slip slip = slip_of(block, lam, sigma);
      const double mu = largest_mu(block);
      if (g * mu * (lam[n] - slip.force) > tolerance) continue;
      const bool still = slip.w <= mu * tolerance;
      std::fill(mode + n + 1, mode + n + block.dim, RowMode::hold);
      apply({1.0, RowMode::slide, n + 1, block.tangents()}, problem, block, 0.0, lam, sigma, mode, slides[k]);
      slides[k].speed = slip.w;
      slides[k].normal = lam[n];
      if (still) std::fill(mode + n + 1, mode + n + block.dim, RowMode::yield);
    }
  }
}

int mark_motion(const ContactProblem& problem, const double* sigma, double tolerance, const RowMode* mode,
                std::vector<KnownMotion>& motion) {
  int found = 0;
  for (std::size_t k = 0; k < problem.blocks.size(); ++k) {
    const Block& block = problem.blocks[k];
    if (block.kind != BlockKind::contact || motion[k] == KnownMotion::moves) continue;
    bool moves = false, yields_and_moves = false, slides = false;
    for (int i = block.first + 1; i < block.first + block.dim; ++i) {
      const bool yields =
          mode[i] == RowMode::yield || mode[i] == RowMode::yield_upper || mode[i] == RowMode::yield_lower;
      const bool moves_here = std::abs(sigma[i]) > tolerance;
      moves = moves || moves_here;
      yields_and_moves = yields_and_moves || (yields && moves_here);
      slides = slides || mode[i] == RowMode::slide || mode[i] == RowMode::upper || mode[i] == RowMode::lower;
    }
    const bool slides_and_rests = slides && !moves && motion[k] == KnownMotion::unknown;
    if (yields_and_moves) motion[k] = KnownMotion::moves;
    if (slides_and_rests) motion[k] = KnownMotion::rests;
    if (yields_and_moves || slides_and_rests) ++found;
  }
  return found;
}

bool release_weakest(const ContactProblem& problem, const double* lam, const double* sigma, double tolerance,
                     RowMode* mode, SlideState* slides, std::vector<KnownMotion>& motion) {
  int weakest = -1;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < problem.blocks.size(); ++k) {
    const Block& block = problem.blocks[k];
    const int n = block.first;
    if (!has_friction(block) || mode[n] == RowMode::free || motion[k] == KnownMotion::moves) continue;
    double speed = 0.0;
    for (int i = n + 1; i < n + block.dim; ++i)
      if (mode[i] == RowMode::hold) speed = std::max(speed, std::abs(sigma[i]));
    const double strength = largest_mu(block) * lam[n];
    if (speed <= tolerance || strength >= least) continue;
    least = strength;
    weakest = static_cast<int>(k);
  }
  if (weakest < 0) return false;
  const Block& block = problem.blocks[weakest];
  const int n = block.first;
  motion[weakest] = KnownMotion::moves;
  if (problem.law == FrictionLaw::pyramid) {
    for (int i = n + 1; i < n + block.dim; ++i) {
      if (mode[i] == RowMode::hold && std::abs(sigma[i]) > tolerance)
        mode[i] = sigma[i] > 0.0 ? RowMode::lower : RowMode::upper;
    }
    return true;
  }
  const double w = slip_of(block, lam, sigma).w;
  for (int i = 0; i < block.tangents(); ++i) slides[weakest].d[i] = block.mu[i] * sigma[n + 1 + i] / w;
  slides[weakest].speed = w;
  slides[weakest].normal = std::max(lam[n], 1e-300);
  std::fill(mode + n + 1, mode + n + block.dim, RowMode::slide);
  return true;
}

namespace {

// Outside ± bound: at that bound, sliding or yielding.
RowMode side_of(double z, double bound, bool still) {
  if (std::abs(z) <= bound) return RowMode::hold;
  if (still) return z > 0.0 ? RowMode::yield_upper : RowMode::yield_lower;
  return z > 0.0 ? RowMode::upper : RowMode::lower;
}

void cone_mode_at(const Block& block, double g, double still, const double* z, const double* soft,
                  RowMode* mode, SlideState& slide) {
  double force = 0.0, slip = 0.0, d[5];
  for (int i = 0; i < block.tangents(); ++i) {
    d[i] = -z[1 + i] / block.mu[i];
    force += d[i] * d[i];
    slip += std::pow(block.mu[i] * soft[1 + i], 2);
  }
  force = std::sqrt(force);
  if (force <= z[0]) return;
  for (int i = 0; i < block.tangents(); ++i) slide.d[i] = d[i] / force;
  slide.normal = z[0];
  slide.speed = std::max(std::sqrt(slip), g * std::pow(largest_mu(block), 2) * (force - z[0]));
  std::fill(mode + 1, mode + block.dim,
            std::sqrt(slip) <= largest_mu(block) * still ? RowMode::yield : RowMode::slide);
}

}  // namespace

void modes_at(const ContactProblem& problem, double softness, const double* lam, const double* soft,
              RowMode* mode, SlideState* slides) {
  const double still = soft_tolerances(problem, softness, lam).still;
  for (std::size_t k = 0; k < problem.blocks.size(); ++k) {
    const Block& block = problem.blocks[k];
    const int n = block.first;
    if (block.kind == BlockKind::equality) continue;
    const double g = problem.mobility(block);
    double z[6];
    for (int i = 0; i < block.dim; ++i)
      z[i] = lam[n + i] - soft[n + i] / std::max(problem.g(n + i, n + i), 1e-6 * g);
    if (block.kind == BlockKind::interval) {
      mode[n] = side_of(z[0], block.bound, false);
      continue;
    }
    std::fill(mode + n, mode + n + block.dim, z[0] > 0.0 ? RowMode::hold : RowMode::free);
    if (block.kind != BlockKind::contact || block.dim == 1 || z[0] <= 0.0) continue;
    if (problem.law == FrictionLaw::cone) {
      cone_mode_at(block, g, still, z, soft + n, mode + n, slides[k]);
      continue;
    }
    for (int i = 1; i < block.dim; ++i)
      mode[n + i] = side_of(z[i], block.mu[i - 1] * z[0], std::abs(soft[n + i]) <= still);
  }
}

void modes_of_motion(const ContactProblem& problem, const double* lam, const double* sigma, double tolerance,
                     RowMode* mode) {
  const auto bounded = [&](int row) {
    return sigma[row] > tolerance ? RowMode::lower : sigma[row] < -tolerance ? RowMode::upper : RowMode::hold;
  };
  for (const Block& block : problem.blocks) {
    const int n = block.first;
    std::fill(mode + n, mode + n + block.dim, RowMode::hold);
    if (block.kind == BlockKind::equality) continue;
    if (block.kind == BlockKind::interval) {
      mode[n] = bounded(n);
    } else if (sigma[n] > tolerance && problem.mobility(block) * lam[n] <= tolerance) {
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
