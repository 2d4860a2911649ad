#include "articula/solvers/continuation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "articula/math/strips.hpp"

namespace articula {

namespace {

constexpr int most_events = 40;
constexpr double farthest_back = 1.0;  // of t, beyond where the path began
constexpr double inside = 1e-3;  // of the velocity scale: how far from a change of modes the path begins

bool upper(RowMode mode) { return mode == RowMode::upper || mode == RowMode::yield_upper; }
bool lower(RowMode mode) { return mode == RowMode::lower || mode == RowMode::yield_lower; }
bool curved(RowMode mode) { return mode == RowMode::slide || mode == RowMode::yield; }

bool has_friction(const Block& block) { return block.kind == BlockKind::contact && block.dim > 1; }

// mu o sigma_T along d
double slip_along(const Block& block, const SlideState& slide, const double* velocity) {
  double sum = 0.0;
  for (int i = 0; i < block.tangents(); ++i) sum += slide.d[i] * block.mu[i] * velocity[block.first + 1 + i];
  return sum;
}

// Where |lam_T / mu| first grows beyond lam_N.
double way_to_cone(const Block& block, const double* lam, const double* dlam) {
  double a = -dlam[0] * dlam[0], half_b = -lam[0] * dlam[0], c = -lam[0] * lam[0];
  for (int i = 0; i < block.tangents(); ++i) {
    const double x = lam[1 + i] / block.mu[i], dx = dlam[1 + i] / block.mu[i];
    a += dx * dx;
    half_b += x * dx;
    c += x * x;
  }
  const double never = std::numeric_limits<double>::infinity();
  if (c >= 0.0) return half_b > 0.0 ? 0.0 : never;
  const double inner = half_b * half_b - a * c;
  if (inner < 0.0) return never;
  const double root = std::sqrt(inner);
  if (a > 0.0) return half_b > 0.0 ? -c / (half_b + root) : (root - half_b) / a;
  return half_b > 0.0 ? -c / (half_b + root) : never;
}

}  // namespace

void Continuation::reserve(int rows) {
  for (std::vector<double>* vector : {&b_, &d_, &lam_, &x_, &dlam_, &dsoft_}) vector->reserve(rows);
}

namespace {

// Impulses of one block that its modes allow, a little inside of their bounds.
void fit_impulses(const ContactProblem& problem, const Block& block, double least, RowMode* mode,
                  const SlideState& slide, double* lam) {
  if (block.kind == BlockKind::equality) return;
  if (block.kind == BlockKind::interval) {
    const double within = (1.0 - inside) * block.bound;
    lam[0] = upper(mode[0])   ? block.bound
             : lower(mode[0]) ? -block.bound
                              : std::clamp(lam[0], -within, within);
    return;
  }
  if (mode[0] == RowMode::free) {
    std::fill(lam, lam + block.dim, 0.0);
    return;
  }
  lam[0] = std::max(lam[0], least);
  double used = 0.0;
  for (int i = 0; i < block.tangents(); ++i) {
    RowMode& m = mode[1 + i];
    double& x = lam[1 + i];
    const double bound = block.mu[i] * lam[0], within = (1.0 - inside) * bound;
    if (m == RowMode::yield) m = RowMode::slide;
    if (m == RowMode::yield_upper) m = RowMode::upper;
    if (m == RowMode::yield_lower) m = RowMode::lower;
    x = m == RowMode::slide   ? -bound * slide.d[i]
        : m == RowMode::upper ? bound
        : m == RowMode::lower ? -bound
                              : std::clamp(x, -within, within);
    used += x / within * (x / within);
  }
  if (problem.law == FrictionLaw::pyramid || block.dim == 1 || mode[1] == RowMode::slide || used <= 1.0)
    return;
  for (int i = 0; i < block.tangents(); ++i) lam[1 + i] /= std::sqrt(used);
}

// The velocity nearest to the one there is that a row's mode allows, a little inside.
double fit_velocity(const Block& block, int row, RowMode mode, const SlideState& slide, double least,
                    double velocity) {
  const int tangent = row - block.first - 1;
  switch (mode) {
    case RowMode::free: return tangent < 0 ? std::max(velocity, least) : velocity;
    case RowMode::upper: return std::min(velocity, -least);
    case RowMode::lower: return std::max(velocity, least);
    case RowMode::slide: return slide.speed * slide.d[tangent] / block.mu[tangent];
    default: return 0.0;
  }
}

}  // namespace

// d = soft velocities that the modes allow - those of the impulses.
void Continuation::begin(const ContactProblem& problem, const double* start, RowMode* mode,
                         SlideState* slides) {
  const double least = inside * problem.velocity_scale;
  const std::size_t n = problem.size;
  lam_.assign(start, start + n);
  for (std::vector<double>* vector : {&b_, &d_, &dlam_, &dsoft_}) vector->resize(n);
  for (std::size_t k = 0; k < problem.blocks.size(); ++k) {
    const Block& block = problem.blocks[k];
    fit_impulses(problem, block, least / problem.mobility(block), mode + block.first, slides[k],
                 lam_.data() + block.first);
  }
  contact_velocities(problem, lam_.data(), d_.data());
  for (std::size_t k = 0; k < problem.blocks.size(); ++k) {
    const Block& block = problem.blocks[k];
    SlideState& slide = slides[k];
    const double give = usual_softness * problem.mobility(block);
    if (has_friction(block) && mode[block.first + 1] == RowMode::slide) {
      slide.speed = std::max(slip_along(block, slide, d_.data()), least);
      slide.normal = lam_[block.first];
    }
    for (int i = block.first; i < block.first + block.dim; ++i) {
      const double velocity = d_[i] + give * lam_[i];
      const bool repeats = block.kind == BlockKind::equality && mode[i] == RowMode::free;
      d_[i] = repeats ? 0.0 : fit_velocity(block, i, mode[i], slide, least, velocity) - velocity;
    }
  }
}

// K dx = A^T d,  dlam = B dx,  dsoft = (G + eps R) dlam - d
void Continuation::find_direction(const ContactProblem& problem, const ModeSystem& system) {
  const auto& unknowns = system.unknowns();
  x_.resize(unknowns.size());
  for (std::size_t k = 0; k < unknowns.size(); ++k) x_[k] = system.gather(unknowns[k], d_.data());
  system.factor().solve(x_.data());
  std::fill(dlam_.begin(), dlam_.end(), 0.0);
  system.spread(x_.data(), dlam_.data());
  for (const Block& block : problem.blocks) {
    const double give = system.softness() * problem.mobility(block);
    for (int i = block.first; i < block.first + block.dim; ++i)
      dsoft_[i] = strip_dot(problem.row(i), dlam_.data(), problem.size) + give * dlam_[i] - d_[i];
  }
}

// Whether the row that changed last moves into its new mode as t grows.
bool Continuation::leads_into(const ContactProblem& problem, const Event& last, const RowMode* mode,
                              const SlideState* slides) const {
  const Block& block = problem.blocks[last.block];
  const int i = last.row, n = block.first;
  const bool tangent = block.kind == BlockKind::contact && i > n;
  if (mode[i] == RowMode::slide) return slip_along(block, slides[last.block], dsoft_.data()) >= 0.0;
  if (mode[i] == RowMode::free) return dsoft_[i] >= 0.0;
  if (mode[i] == RowMode::upper) return dsoft_[i] <= 0.0;
  if (mode[i] == RowMode::lower) return dsoft_[i] >= 0.0;
  if (!tangent && block.kind != BlockKind::interval) return dlam_[i] >= 0.0;
  if (problem.law == FrictionLaw::cone && tangent) {
    double used = 0.0;
    for (int k = 0; k < block.tangents(); ++k)
      used -= slides[last.block].d[k] * dlam_[n + 1 + k] / block.mu[k];
    return used <= dlam_[n];
  }
  const double widening = tangent ? block.mu[i - n - 1] * dlam_[n] : 0.0;
  return last.next == RowMode::upper ? dlam_[i] <= widening : dlam_[i] >= -widening;
}

Continuation::Event Continuation::first_event(const ContactProblem& problem, const RowMode* mode,
                                              const SlideState* slides, const double* lam,
                                              const double* soft) const {
  Event first{.length = std::numeric_limits<double>::infinity()};
  for (std::size_t k = 0; k < problem.blocks.size(); ++k) {
    const Block& block = problem.blocks[k];
    const int n = block.first;
    // A gap that closes at a rate; what is closed already closes at once.
    const auto offer = [&](double gap, double rate, int row, RowMode next) {
      if (!(rate > 0.0)) return;
      const double length = std::max(gap, 0.0) / rate;
      if (length < first.length) first = {length, static_cast<int>(k), row, next};
    };
    const auto bounded = [&](int i, double bound, double widening) {
      if (mode[i] == RowMode::upper) {
        offer(-soft[i], dsoft_[i], i, RowMode::hold);
      } else if (mode[i] == RowMode::lower) {
        offer(soft[i], -dsoft_[i], i, RowMode::hold);
      } else if (mode[i] == RowMode::hold) {
        offer(bound - lam[i], dlam_[i] - widening, i, RowMode::upper);
        offer(bound + lam[i], -dlam_[i] - widening, i, RowMode::lower);
      }
    };
    if (block.kind == BlockKind::equality) continue;
    if (block.kind == BlockKind::interval) {
      bounded(n, block.bound, 0.0);
    } else if (mode[n] == RowMode::free) {
      offer(soft[n], -dsoft_[n], n, RowMode::hold);
    } else {
      offer(lam[n], -dlam_[n], n, RowMode::free);
      if (!has_friction(block)) continue;
      if (problem.law == FrictionLaw::pyramid) {
        for (int i = 0; i < block.tangents(); ++i)
          bounded(n + 1 + i, block.mu[i] * lam[n], block.mu[i] * dlam_[n]);
      } else if (curved(mode[n + 1])) {
        offer(slip_along(block, slides[k], soft), -slip_along(block, slides[k], dsoft_.data()), n + 1,
              RowMode::hold);
      } else {
        const double length = way_to_cone(block, lam + n, dlam_.data() + n);
        if (length < first.length) first = {length, static_cast<int>(k), n + 1, RowMode::slide};
      }
    }
  }
  return first;
}

// Contacts open and close as a whole; one that closes has no force yet and slides if it moves.
void Continuation::change(const ContactProblem& problem, const Event& event, const double* lam,
                          const double* soft, RowMode* mode, SlideState* slides) const {
  const Block& block = problem.blocks[event.block];
  const int n = block.first;
  SlideState& slide = slides[event.block];
  if (!has_friction(block) || (event.row > n && problem.law == FrictionLaw::pyramid)) {
    mode[event.row] = event.next;
    return;
  }
  if (event.row > n) {
    std::fill(mode + n + 1, mode + n + block.dim, event.next);
    if (event.next == RowMode::hold) return;
    double force = 0.0;
    for (int i = 0; i < block.tangents(); ++i) {
      slide.d[i] = -lam[n + 1 + i] / block.mu[i];
      force += slide.d[i] * slide.d[i];
    }
    for (int i = 0; i < block.tangents(); ++i) slide.d[i] /= std::sqrt(force);
    slide.speed = 0.0;
    slide.normal = std::max(lam[n], 1e-300);
    return;
  }
  std::fill(mode + n, mode + n + block.dim, event.next);
  if (event.next == RowMode::free) return;
  double squared = 0.0;
  for (int i = 0; i < block.tangents(); ++i) {
    const double slip = soft[n + 1 + i];
    slide.d[i] = block.mu[i] * slip;
    squared += slide.d[i] * slide.d[i];
    if (problem.law == FrictionLaw::pyramid && slip != 0.0)
      mode[n + 1 + i] = slip > 0.0 ? RowMode::lower : RowMode::upper;
  }
  if (problem.law == FrictionLaw::pyramid || squared == 0.0) return;
  slide.speed = std::sqrt(squared);
  for (int i = 0; i < block.tangents(); ++i) slide.d[i] /= slide.speed;
  slide.normal = 1e-6 * problem.velocity_scale / problem.mobility(block);
  std::fill(mode + n + 1, mode + n + block.dim, RowMode::slide);
}

bool Continuation::solve(const ContactProblem& problem, ModeSystem& system, const double* start,
                         RowMode* mode, SlideState* slides, double* lam, double* soft) {
  begin(problem, start, mode, slides);
  ContactProblem shifted = problem;
  shifted.b = b_.data();
  system.begin(shifted, nullptr);
  double t = 0.0;
  int idle = 0;  // events at one place
  Event last;
  for (int events = 0; events < most_events; ++events) {
    // Under the pyramid law the path is straight from event to event: only the modes have changed.
    const bool straight = events > 0 && problem.law == FrictionLaw::pyramid;
    for (int i = 0; i < problem.size; ++i) b_[i] = problem.b[i] + (1.0 - t) * d_[i];
    double turned = 0.0;
    if (straight ? !system.set_modes(problem, mode, slides)
                 : !system.soft_step(shifted, mode, slides, lam, soft, turned))
      return false;
    find_direction(problem, system);
    const bool forward = last.block < 0 || leads_into(problem, last, mode, slides);
    if (!forward) {
      for (double& x : dlam_) x = -x;
      for (double& x : dsoft_) x = -x;
    }
    last = first_event(problem, mode, slides, lam, soft);
    const double rest = forward ? 1.0 - t : t + farthest_back;
    const bool ends = last.length >= rest;
    if (ends && !forward) return false;
    const double length = ends ? rest : last.length;
    for (int i = 0; i < problem.size; ++i) {
      lam[i] += length * dlam_[i];
      soft[i] += length * dsoft_[i];
    }
    if (ends) return true;
    t += forward ? length : -length;
    idle = length > 0.0 ? 0 : idle + 1;
    if (idle > 2) return false;
    const RowMode before = mode[last.row];
    change(problem, last, lam, soft, mode, slides);
    if (last.next == RowMode::hold) last.next = before;  // the side from which a bound was left
  }
  return false;
}

}  // namespace articula
