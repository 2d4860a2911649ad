#include "articula/solvers/continuation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "articula/math/strips.hpp"
#include "mode_update.hpp"

namespace articula {

namespace {

constexpr int most_events = 80, most_steps = 150;
constexpr double farthest_back = 1.0;  // of t, beyond where the path began

bool upper(RowMode mode) { return mode == RowMode::upper || mode == RowMode::yield_upper; }
bool lower(RowMode mode) { return mode == RowMode::lower || mode == RowMode::yield_lower; }
bool curved(RowMode mode) { return mode == RowMode::slide || mode == RowMode::yield; }

// mu o sigma_T along d; velocities from the first row of the block on
double slip_along(const Block& block, const SlideState& slide, const double* velocity) {
  double sum = 0.0;
  for (int i = 0; i < block.tangents(); ++i) sum += slide.d[i] * block.mu[i] * velocity[1 + i];
  return sum;
}

// Where |x_T| first grows beyond x_N, with x and its rate dx.
double way_to_cone(const double* x, const double* dx, int tangents) {
  double a = -dx[0] * dx[0], half_b = -x[0] * dx[0], c = -x[0] * x[0];
  for (int i = 1; i <= tangents; ++i) {
    a += dx[i] * dx[i];
    half_b += x[i] * dx[i];
    c += x[i] * x[i];
  }
  const double never = std::numeric_limits<double>::infinity();
  if (c >= 0.0) return half_b > 0.0 ? 0.0 : never;
  const double inner = half_b * half_b - a * c;
  if (inner < 0.0) return never;
  const double root = std::sqrt(inner);
  if (a > 0.0) return half_b > 0.0 ? -c / (half_b + root) : (root - half_b) / a;
  return half_b > 0.0 ? -c / (half_b + root) : never;
}

double way_to_friction_cone(const Block& block, const double* lam, const double* dlam) {
  double x[6] = {lam[0]}, dx[6] = {dlam[0]};
  for (int i = 1; i < block.dim; ++i) {
    x[i] = lam[i] / block.mu[i - 1];
    dx[i] = dlam[i] / block.mu[i - 1];
  }
  return way_to_cone(x, dx, block.tangents());
}

// What soft_N has to exceed where a contact that does not move is open: mu |soft_T|.
double needed_to_part(FrictionLaw law, const Block& block, const double* soft) {
  double sum = 0.0;
  for (int i = 0; i < block.tangents(); ++i) {
    const double slip = block.mu[i] * std::abs(soft[1 + i]);
    sum += law == FrictionLaw::cone ? slip * slip : slip;
  }
  return law == FrictionLaw::cone ? std::sqrt(sum) : sum;
}

// Where it no longer does. Under the pyramid law mu |soft_T| is bent where a tangent changes its sign.
double way_to_dual_cone(FrictionLaw law, const Block& block, const double* soft, const double* dsoft) {
  double x[6] = {soft[0]}, dx[6] = {dsoft[0]};
  for (int i = 1; i < block.dim; ++i) {
    x[i] = block.mu[i - 1] * soft[i];
    dx[i] = block.mu[i - 1] * dsoft[i];
  }
  if (law == FrictionLaw::cone) return way_to_cone(x, dx, block.tangents());
  const double never = std::numeric_limits<double>::infinity();
  double done = 0.0;
  for (int pieces = 0; pieces <= block.tangents(); ++pieces) {
    double gap = x[0] + done * dx[0], rate = dx[0], piece = never;
    for (int i = 1; i < block.dim; ++i) {
      const double here = x[i] + done * dx[i];
      const bool grows = here > 0.0 ? dx[i] > 0.0 : here < 0.0 ? dx[i] < 0.0 : true;
      gap -= std::abs(here);
      rate -= grows ? std::abs(dx[i]) : -std::abs(dx[i]);
      if (!grows) piece = std::min(piece, std::abs(here / dx[i]));
    }
    if (rate < 0.0 && std::max(gap, 0.0) <= -rate * piece) return done + std::max(gap, 0.0) / -rate;
    if (piece == never) break;
    done = done * (1.0 + 1e-15) + piece;
  }
  return never;
}

}  // namespace

void Continuation::reserve(int rows) {
  for (std::vector<double>* vector : {&b_, &d_, &lam_, &x_, &dlam_, &dsoft_, &soft_}) vector->reserve(rows);
  slides_.reserve(rows);
  late_.reserve(rows);
}

namespace {

// Of a contact at the bound of its friction.
RowMode sliding(RowMode mode) {
  return mode == RowMode::yield         ? RowMode::slide
         : mode == RowMode::yield_upper ? RowMode::upper
         : mode == RowMode::yield_lower ? RowMode::lower
                                        : mode;
}
RowMode yielding(RowMode mode) {
  return mode == RowMode::slide   ? RowMode::yield
         : mode == RowMode::upper ? RowMode::yield_upper
         : mode == RowMode::lower ? RowMode::yield_lower
                                  : mode;
}

// Impulses of one block that its modes allow, a little inside of their bounds.
void fit_impulses(const ContactProblem& problem, const Block& block, double inside, const RowMode* mode,
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
  lam[0] = std::max(lam[0], inside * problem.velocity_scale / problem.mobility(block));
  double used = 0.0;
  for (int i = 0; i < block.tangents(); ++i) {
    const RowMode m = mode[1 + i];
    double& x = lam[1 + i];
    const double bound = block.mu[i] * lam[0], within = (1.0 - inside) * bound;
    x = curved(m)  ? -bound * slide.d[i]
        : upper(m) ? bound
        : lower(m) ? -bound
                   : std::clamp(x, -within, within);
    used += within > 0.0 ? x / within * (x / within) : 0.0;
  }
  if (problem.law == FrictionLaw::pyramid || block.dim == 1 || curved(mode[1]) || used <= 1.0) return;
  for (int i = 0; i < block.tangents(); ++i) lam[1 + i] /= std::sqrt(used);
}

// The velocity nearest to the one there is that a row's mode allows, a little inside.
double fit_velocity(const Block& block, int row, RowMode mode, const SlideState& slide, double least,
                    double velocity) {
  const int tangent = row - block.first - 1;
  if (mode == RowMode::free) return tangent < 0 ? std::max(velocity, least) : velocity;
  if (upper(mode)) return std::min(velocity, -least);
  if (lower(mode)) return std::max(velocity, least);
  if (curved(mode)) return slide.speed * slide.d[tangent] / block.mu[tangent];
  return 0.0;
}

// Of soft_T in soft_N = mu |soft_T|, where friction yields.
double yielding_weight(const Block& block, int tangent, const RowMode* mode, const SlideState& slide) {
  const double mu = block.mu[tangent];
  switch (mode[1 + tangent]) {
    case RowMode::yield: return mu * slide.d[tangent];
    case RowMode::yield_upper: return -mu;
    case RowMode::yield_lower: return mu;
    default: return 0.0;
  }
}

}  // namespace

// d = soft velocities that the modes allow - those of the impulses.
void Continuation::begin(const ContactProblem& problem, const Start& start, Place& at) {
  const double least = start.inside * problem.velocity_scale;
  const std::size_t n = problem.size;
  moves_ = start.moves;
  most_factorisations_ = start.most_factorisations;
  lam_.assign(start.lam, start.lam + n);
  for (std::vector<double>* vector : {&b_, &d_, &dlam_, &dsoft_, &soft_}) vector->resize(n);
  for (std::size_t k = 0; k < problem.blocks.size(); ++k) {
    const Block& block = problem.blocks[k];
    for (int i = block.first; block.kind == BlockKind::contact && i < block.first + block.dim; ++i)
      at.mode[i] = at_bound(at.mode[i], static_cast<int>(k));
    fit_impulses(problem, block, start.inside, at.mode + block.first, at.slides[k],
                 lam_.data() + block.first);
  }
  contact_velocities(problem, lam_.data(), soft_.data());
  for (std::size_t k = 0; k < problem.blocks.size(); ++k) {
    const Block& block = problem.blocks[k];
    const int first = block.first;
    SlideState& slide = at.slides[k];
    const double give = start.softness * problem.mobility(block);
    for (int i = first; i < first + block.dim; ++i) soft_[i] += give * lam_[i];
    if (has_friction(block) && at.mode[first] != RowMode::free && curved(at.mode[first + 1])) {
      slide.speed = std::max(slip_along(block, slide, soft_.data() + first), least);
      slide.normal = std::max(lam_[first], 1e-14 * problem.velocity_scale / problem.mobility(block));
    }
    double wanted[6];
    for (int i = 0; i < block.dim; ++i)
      wanted[i] = fit_velocity(block, first + i, at.mode[first + i], slide, least, soft_[first + i]);
    if (has_friction(block) && at.mode[first] == RowMode::free && !slides_at_once(static_cast<int>(k)))
      wanted[0] = std::max(wanted[0], needed_to_part(problem.law, block, wanted));
    for (int i = 0; block.kind == BlockKind::contact && i < block.tangents(); ++i)
      wanted[0] += yielding_weight(block, i, at.mode + first, slide) * wanted[1 + i];
    for (int i = 0; i < block.dim; ++i) {
      const bool repeats = block.kind == BlockKind::equality && at.mode[first + i] == RowMode::free;
      d_[first + i] = repeats ? 0.0 : wanted[i] - soft_[first + i];
    }
  }
}

// K dx = A^T d,  dlam = B dx,  dsoft = (G + eps R) dlam - d
void Continuation::find_direction(const ContactProblem& problem, ModeSystem& system) {
  const auto& unknowns = system.unknowns();
  x_.resize(unknowns.size());
  for (std::size_t k = 0; k < unknowns.size(); ++k) x_[k] = system.gather(unknowns[k], d_.data());
  system.solve_factored(x_.data());
  std::fill(dlam_.begin(), dlam_.end(), 0.0);
  system.spread(x_.data(), dlam_.data());
  for (int i = 0; i < problem.size; ++i) dsoft_[i] = -d_[i];
  add_velocities(problem, dlam_.data(), dsoft_.data());
  for (const Block& block : problem.blocks) {
    const double give = system.softness() * problem.mobility(block);
    for (int i = block.first; i < block.first + block.dim; ++i) dsoft_[i] += give * dlam_[i];
  }
}

// Whether the row that changed last moves into its new mode as t grows.
bool Continuation::leads_into(const ContactProblem& problem, const Event& last, const RowMode* mode,
                              const SlideState* slides) const {
  const Block& block = problem.blocks[last.block];
  const int i = last.row, n = block.first;
  const bool tangent = block.kind == BlockKind::contact && i > n;
  if (curved(mode[i])) return slip_along(block, slides[last.block], dsoft_.data() + n) >= 0.0;
  if (mode[i] == RowMode::free) {
    double rest = dsoft_[i];
    for (int k = 0; k < block.tangents(); ++k) rest -= last.yielded[k] * dsoft_[n + 1 + k];
    return rest >= 0.0;
  }
  if (upper(mode[i])) return dsoft_[i] <= 0.0;
  if (lower(mode[i])) return dsoft_[i] >= 0.0;
  if (!tangent && block.kind != BlockKind::interval) return dlam_[i] >= 0.0;
  if (problem.law == FrictionLaw::cone && tangent) {
    double used = 0.0;
    for (int k = 0; k < block.tangents(); ++k)
      used -= slides[last.block].d[k] * dlam_[n + 1 + k] / block.mu[k];
    return used <= dlam_[n];
  }
  const double widening = tangent ? block.mu[i - n - 1] * dlam_[n] : 0.0;
  return upper(last.next) ? dlam_[i] <= widening : dlam_[i] >= -widening;
}

void Continuation::offer_events(const ContactProblem& problem, int k, const Place& at, Event& first) const {
  const Block& block = problem.blocks[k];
  const int n = block.first;
  const RowMode* mode = at.mode;
  const double *lam = at.lam, *soft = at.soft;
  const auto offer_at = [&](double length, int row, RowMode next) {
    if (length < first.length) first = {length, k, row, next};
  };
  // A gap that closes at a rate; what is closed already closes at once.
  const auto offer = [&](double gap, double rate, int row, RowMode next) {
    if (rate > 0.0) offer_at(std::max(gap, 0.0) / rate, row, next);
  };
  const auto bounded = [&](int i, double bound, double widening) {
    if (upper(mode[i])) {
      offer(-soft[i], dsoft_[i], i, RowMode::hold);
    } else if (lower(mode[i])) {
      offer(soft[i], -dsoft_[i], i, RowMode::hold);
    } else if (mode[i] == RowMode::hold) {
      offer(bound - lam[i], dlam_[i] - widening, i, RowMode::upper);
      offer(bound + lam[i], -dlam_[i] - widening, i, RowMode::lower);
    }
  };
  if (block.kind == BlockKind::equality) return;
  if (block.kind == BlockKind::interval) {
    bounded(n, block.bound, 0.0);
    return;
  }
  if (mode[n] == RowMode::free) {
    if (has_friction(block) && !slides_at_once(k))
      offer_at(way_to_dual_cone(problem.law, block, soft + n, dsoft_.data() + n), n, RowMode::hold);
    else
      offer(soft[n], -dsoft_[n], n, RowMode::hold);
    return;
  }
  offer(lam[n], -dlam_[n], n, RowMode::free);
  if (!has_friction(block)) return;
  if (problem.law == FrictionLaw::pyramid) {
    for (int i = 0; i < block.tangents(); ++i)
      bounded(n + 1 + i, block.mu[i] * lam[n], block.mu[i] * dlam_[n]);
  } else if (curved(mode[n + 1])) {
    const SlideState& slide = at.slides[k];
    offer(slip_along(block, slide, soft + n), -slip_along(block, slide, dsoft_.data() + n), n + 1,
          RowMode::hold);
  } else {
    offer_at(way_to_friction_cone(block, lam + n, dlam_.data() + n), n + 1, RowMode::slide);
  }
}

Continuation::Event Continuation::first_event(const ContactProblem& problem, const Place& at) const {
  Event first{.length = std::numeric_limits<double>::infinity()};
  for (std::size_t k = 0; k < problem.blocks.size(); ++k)
    offer_events(problem, static_cast<int>(k), at, first);
  return first;
}

// Blocks that may change on the way come last: of one factor to the next, what stands before them stays.
void Continuation::order_blocks(const ContactProblem& problem, const Place& at, ModeSystem& system) {
  constexpr double far = 2.0;  // of t
  late_.assign(problem.blocks.size(), false);
  for (std::size_t k = 0; k < problem.blocks.size(); ++k) {
    Event first{.length = far};
    offer_events(problem, static_cast<int>(k), at, first);
    late_[k] = first.length < far;
  }
  system.put_last(&late_);
}

void Continuation::move(const ContactProblem& problem, bool forward, double length, Place& at) const {
  for (int i = 0; i < problem.size; ++i) {
    at.lam[i] += length * dlam_[i];
    at.soft[i] += length * dsoft_[i];
  }
  at.t += forward ? length : -length;
}

namespace {

// How far a block is from leaving its modes, in m/s: by its normal, or its only row, and by its friction.
struct Gaps {
  double normal = 0.0, friction = 0.0;
};

Gaps gaps_of(const ContactProblem& problem, const Block& block, bool slides_at_once, const SlideState& slide,
             const RowMode* mode, const double* lam, const double* soft) {
  const int n = block.first;
  const double g = problem.mobility(block);
  if (block.kind == BlockKind::equality) return {};
  if (block.kind == BlockKind::interval) {
    return {.normal = upper(mode[n])   ? -soft[n]
                      : lower(mode[n]) ? soft[n]
                                       : g * (block.bound - std::abs(lam[n]))};
  }
  if (mode[n] == RowMode::free)
    return {.normal = soft[n] - (slides_at_once ? 0.0 : needed_to_part(problem.law, block, soft + n))};
  if (!has_friction(block)) return {.normal = g * lam[n]};
  if (curved(mode[n + 1])) return {.normal = g * lam[n], .friction = slip_along(block, slide, soft + n)};
  double force = 0.0;
  for (int i = 0; i < block.tangents(); ++i) force += std::pow(lam[n + 1 + i] / block.mu[i], 2);
  return {.normal = g * lam[n], .friction = g * (lam[n] - std::sqrt(force))};
}

}  // namespace

// The part of a step after which the first law was broken; more than one if none was.
double Continuation::part_obeyed(const ContactProblem& problem, const Place& at) const {
  const double rounding = 1e-9 * problem.velocity_scale;
  double part = 2.0;
  const auto compare = [&](double before, double now) {
    if (now < -rounding) part = std::min(part, std::max(before, 0.0) / (std::max(before, 0.0) - now));
  };
  for (std::size_t k = 0; k < problem.blocks.size(); ++k) {
    const Block& block = problem.blocks[k];
    const bool at_once = slides_at_once(static_cast<int>(k));
    const Gaps before = gaps_of(problem, block, at_once, slides_[k], at.mode, lam_.data(), soft_.data());
    const Gaps now = gaps_of(problem, block, at_once, at.slides[k], at.mode, at.lam, at.soft);
    compare(before.normal, now.normal);
    compare(before.friction, now.friction);
  }
  return part;
}

// Contacts open and close as a whole; one that closes has no force yet and slides if it moves.
void Continuation::change(const ContactProblem& problem, Event& event, Place& at) {
  const double *lam = at.lam, *soft = at.soft;
  RowMode* mode = at.mode;
  const RowMode before = mode[event.row];
  const Block& block = problem.blocks[event.block];
  const int n = block.first;
  late_[event.block] = true;
  SlideState& slide = at.slides[event.block];
  const RowMode next = has_friction(block) ? at_bound(event.next, event.block) : event.next;
  for (int i = 0; i < block.tangents(); ++i) event.yielded[i] = yielding_weight(block, i, mode + n, slide);
  if (next == RowMode::hold) event.next = before;  // the side from which a bound was left
  if (!has_friction(block) || (event.row > n && problem.law == FrictionLaw::pyramid)) {
    mode[event.row] = next;
    return;
  }
  if (event.row > n) {
    std::fill(mode + n + 1, mode + n + block.dim, next);
    if (next == RowMode::hold) return;
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
  std::fill(mode + n, mode + n + block.dim, next);
  if (next == RowMode::free) return;
  double squared = 0.0;
  for (int i = 0; i < block.tangents(); ++i) {
    const double slip = soft[n + 1 + i];
    slide.d[i] = block.mu[i] * slip;
    squared += slide.d[i] * slide.d[i];
    if (problem.law == FrictionLaw::pyramid && slip != 0.0)
      mode[n + 1 + i] = at_bound(slip > 0.0 ? RowMode::lower : RowMode::upper, event.block);
  }
  if (problem.law == FrictionLaw::pyramid || squared == 0.0) return;
  slide.speed = std::sqrt(squared);
  for (int i = 0; i < block.tangents(); ++i) slide.d[i] /= slide.speed;
  slide.normal = 1e-6 * problem.velocity_scale / problem.mobility(block);
  std::fill(mode + n + 1, mode + n + block.dim, at_bound(RowMode::slide, event.block));
}

// A contact that is not known to move yields where its friction comes to its bound.
RowMode Continuation::at_bound(RowMode mode, int block) const {
  return slides_at_once(block) ? sliding(mode) : yielding(mode);
}

void Continuation::turn_back() {
  for (double& x : dlam_) x = -x;
  for (double& x : dsoft_) x = -x;
}

void Continuation::set_velocities(const ContactProblem& problem, double t) {
  for (int i = 0; i < problem.size; ++i) b_[i] = problem.b[i] + (1.0 - t) * d_[i];
}

// From event to event: only the modes change.
bool Continuation::follow_straight(const ContactProblem& problem, ModeSystem& system, Place& at) {
  ContactProblem shifted = problem;
  shifted.b = b_.data();
  set_velocities(problem, at.t);
  int idle = 0;  // events at one place
  Event last;
  for (int events = 0; events < most_events; ++events) {
    if (system.factorisations() > most_factorisations_) return false;
    double turned = 0.0;
    if (events == 0 ? !system.soft_step(shifted, at.mode, at.slides, at.lam, at.soft, turned)
                    : !system.set_modes(problem, at.mode, at.slides))
      return false;
    find_direction(problem, system);
    const bool forward = last.block < 0 || leads_into(problem, last, at.mode, at.slides);
    if (!forward) turn_back();
    if (events == 0) order_blocks(problem, at, system);
    last = first_event(problem, at);
    const double rest = forward ? 1.0 - at.t : at.t + farthest_back;
    const bool ends = last.length >= rest;
    if (ends && !forward) return false;
    const double length = ends ? rest : last.length;
    move(problem, forward, length, at);
    if (ends) return true;
    idle = length > 0.0 ? 0 : idle + 1;
    if (idle > 2) return false;
    change(problem, last, at);
  }
  return false;
}

namespace {

// The direction that friction is pressed against, w - r lam_T / mu with w = mu o soft_T: that of the slip,
// and of the force where the slip ends. Returns by how much the force differs from it.
double direct(const ContactProblem& problem, const Block& block, const double* lam, const double* soft,
              SlideState& slide) {
  const double g = problem.mobility(block);
  double d[5], squared = 0.0;
  for (int i = 0; i < block.tangents(); ++i) {
    d[i] = block.mu[i] * (soft[1 + i] - g * lam[1 + i]);
    squared += d[i] * d[i];
  }
  if (!(squared > 0.0)) return 0.0;
  slide.normal = std::max(lam[0], 1e-300 + 1e-14 * problem.velocity_scale / g);
  double off = 0.0;
  for (int i = 0; i < block.tangents(); ++i) {
    slide.d[i] = d[i] / std::sqrt(squared);
    off += std::pow(slide.d[i] + lam[1 + i] / (block.mu[i] * slide.normal), 2);
  }
  slide.speed = std::max(slip_along(block, slide, soft), 0.0);
  return std::sqrt(off);
}

}  // namespace

// Newton's method on directions, with the modes held.
bool Continuation::correct(const ContactProblem& problem, ModeSystem& system, Place& at) {
  constexpr int most_corrections = 6;
  constexpr double enough = 1e-6;
  ContactProblem shifted = problem;
  shifted.b = b_.data();
  set_velocities(problem, at.t);
  for (int step = 0; step < most_corrections; ++step) {
    double turned = 0.0, unused = 0.0;
    if (!system.soft_step(shifted, at.mode, at.slides, at.lam, at.soft, unused)) return false;
    for (std::size_t k = 0; k < problem.blocks.size(); ++k) {
      const Block& block = problem.blocks[k];
      if (has_friction(block) && at.mode[block.first] != RowMode::free && curved(at.mode[block.first + 1]))
        turned = std::max(turned,
                          direct(problem, block, at.lam + block.first, at.soft + block.first, at.slides[k]));
    }
    if (turned < enough) return true;
  }
  return false;
}

// Directions of what slides at the end of a straight step.
void Continuation::predict(const ContactProblem& problem, double length, Place& at) const {
  for (std::size_t k = 0; k < problem.blocks.size(); ++k) {
    const Block& block = problem.blocks[k];
    const int n = block.first;
    if (!has_friction(block) || at.mode[n] == RowMode::free || !curved(at.mode[n + 1])) continue;
    double lam[6], soft[6];
    for (int i = 0; i < block.dim; ++i) {
      lam[i] = lam_[n + i] + length * dlam_[n + i];
      soft[i] = soft_[n + i] + length * dsoft_[n + i];
    }
    direct(problem, block, lam, soft, at.slides[k]);
  }
}

// Goes on by `length`, or by less if the path bends too much for that or would break a law.
bool Continuation::advance(const ContactProblem& problem, ModeSystem& system, bool forward, double& length,
                           Place& at) {
  constexpr int most_tries = 6;
  lam_.assign(at.lam, at.lam + problem.size);
  soft_.assign(at.soft, at.soft + problem.size);
  slides_.assign(at.slides, at.slides + problem.blocks.size());
  const double before = at.t;
  for (int tries = 0; tries < most_tries; ++tries) {
    at.t = before + (forward ? length : -length);
    predict(problem, length, at);
    const double part = correct(problem, system, at) ? part_obeyed(problem, at) : 0.3;
    if (part > 1.0) return true;
    length *= std::clamp(0.98 * part, 0.1, 0.9);
    std::copy(slides_.begin(), slides_.end(), at.slides);
  }
  return false;
}

bool Continuation::follow_curve(const ContactProblem& problem, ModeSystem& system, Place& at) {
  constexpr double before_event = 1e-3, near_event = 2e-3;
  if (!correct(problem, system, at)) return false;
  int idle = 0;
  bool forward = true, changed = false;
  Event last;
  for (int steps = 0; steps < most_steps; ++steps) {
    if (system.factorisations() > most_factorisations_) return false;
    if (changed && !system.set_modes(problem, at.mode, at.slides)) return false;
    find_direction(problem, system);
    if (changed) forward = leads_into(problem, last, at.mode, at.slides);
    if (!forward) turn_back();
    if (steps == 0) order_blocks(problem, at, system);
    const Event next = first_event(problem, at);
    const double rest = forward ? 1.0 - at.t : at.t + farthest_back;
    changed = next.length < std::min(rest, near_event);
    if (changed) {
      idle = next.length > 1e-9 ? 0 : idle + 1;
      if (idle > 3) return false;
      move(problem, forward, next.length, at);
      last = next;
      change(problem, last, at);
      continue;
    }
    double length = std::min(rest, (1.0 - before_event) * next.length);
    const bool ends = length == rest;
    if (!advance(problem, system, forward, length, at)) return false;
    if (ends && length == rest) return forward;
  }
  return false;
}

bool Continuation::solve(const ContactProblem& problem, ModeSystem& system, const Start& start, RowMode* mode,
                         SlideState* slides, double* lam, double* soft) {
  Place at{mode, slides, lam, soft};
  begin(problem, start, at);
  system.begin(problem, nullptr, start.softness);
  const bool arrived = problem.law == FrictionLaw::pyramid ? follow_straight(problem, system, at)
                                                           : follow_curve(problem, system, at);
  system.put_last(nullptr);
  return arrived;
}

}  // namespace articula
