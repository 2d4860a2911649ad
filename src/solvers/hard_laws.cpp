// The laws of an assignment, hard: from the solution of soft laws, what is soft iterated away, and directions
// in which contacts slide or yield turned to where they belong.

#include <algorithm>
#include <cmath>

#include "articula/solvers/mode_system.hpp"
#include "mode_directions.hpp"

namespace articula {

namespace {

constexpr int most_corrections = 12;
constexpr int pile = 100;  // rows from which on not all digits of equations are to be had

}  // namespace

// Of what slides the slowest |w| / max mu: velocities that are off by less hardly turn it.
double ModeSystem::slowest_slip(const ContactProblem& problem, const RowMode* mode, const double* sigma) {
  double slowest = 1e300;
  for (const Block& block : problem.blocks) {
    if (!on_cone(block, mode, RowMode::slide)) continue;
    double fastest = 0.0, widest = 0.0;
    for (int i = 0; i < block.tangents(); ++i) {
      fastest = std::max(fastest, block.mu[i] * std::abs(sigma[block.first + 1 + i]));
      widest = std::max(widest, block.mu[i]);
    }
    slowest = std::min(slowest, fastest / widest);
  }
  return slowest;
}

// By how much equations may be missed: what slides slowly is turned by it. In piles something always slides
// slowly, and more digits of so many equations, which share loads in many ways, are not to be had.
double ModeSystem::close_enough(const ContactProblem& problem, const RowMode* mode,
                                const double* sigma) const {
  constexpr double close = 1e-11, of_loops = 1e-14, of_slip = 1e-9, rounding = 2e-15;
  if (problem.size > pile) return close * problem.velocity_scale;
  const bool loops = std::any_of(problem.blocks.begin(), problem.blocks.end(),
                                 [](const Block& block) { return block.kind == BlockKind::equality; });
  if (pulls_) return rounding * problem.velocity_scale;
  if (loops) return of_loops * problem.velocity_scale;
  return problem.velocity_scale *
         std::clamp(of_slip * slowest_slip(problem, mode, sigma) / problem.velocity_scale, rounding, close);
}

// Once more with what is nearly null taken for null; unless it told something, without which equations are
// missed by more.
bool ModeSystem::solve_purely(const ContactProblem& problem, double* lam, double* sigma) {
  constexpr double hardly_more = 2.0;
  const double before = equation_error_;
  kept_ = x_;
  pure_ = true;
  keep_range(problem.size);
  if (!solve_linear(problem, 0.0, most_corrections, lam, sigma)) return false;
  if (equation_error_ <= hardly_more * before) return true;
  pure_ = false;
  x_ = kept_;
  return solve_linear(problem, 0.0, 0, lam, sigma);
}

// Where K has something of the order of eps, softness is not iterated away: less of it is. What is missed all
// the same contradicts itself, and stays as it was.
bool ModeSystem::solve_hard(const ContactProblem& problem, const RowMode* mode, double* lam, double* sigma) {
  constexpr double hardest = 1e-13, contradiction = 1e-12;
  if (!solve_linear(problem, 0.0, most_corrections, lam, sigma)) return false;
  const double enough = close_enough(problem, mode, sigma);
  if (!(equation_error_ > enough)) return true;
  const bool contradicts = equation_error_ > contradiction * problem.velocity_scale;
  if (shares_ && !pure_ && contradicts && problem.size <= pile && nearly_null(problem.size)) {
    if (!solve_purely(problem, lam, sigma)) return false;
    if (!(equation_error_ > enough)) return true;
  }
  const double usual = softness_;
  bool better = true;
  while (better && softness_ > 10.0 * hardest && equation_error_ > enough) {
    const double before = equation_error_;
    kept_ = x_;
    scale_softness(1e-2);
    better = factor_system(problem, softness_) && solve_linear(problem, 0.0, most_corrections, lam, sigma) &&
             equation_error_ < 0.1 * before;
    if (!better) {
      x_ = kept_;
      equation_error_ = before;
    }
  }
  scale_softness(usual / softness_);
  softness_ = usual;
  std::copy(fixed_.begin(), fixed_.end(), lam);
  articula::spread(unknowns_, x_.data(), lam);
  contact_velocities(problem, lam, sigma);
  return factor_system(problem, softness_);
}

// x without what is a matter of choice.
void ModeSystem::keep_range(int rows) {
  step_.swap(x_);
  remove_null_part(rows);
  if (is_nearly_all(null_part_, step_)) remove_null_part(rows);
  step_.swap(x_);
}

void ModeSystem::scale_softness(double factor) {
  softness_ *= factor;
  for (Unknown& u : unknowns_) {
    if (u.yields) u.compliance *= factor;
  }
}

// What slides or yields turns a little.
bool ModeSystem::harden(const ContactProblem& problem, const RowMode* mode, SlideState* slides,
                        bool directions_settled, double* lam, double* sigma) {
  const auto any = [&](RowMode wanted) {
    return std::any_of(problem.blocks.begin(), problem.blocks.end(),
                       [&](const Block& block) { return on_cone(block, mode, wanted); });
  };
  const bool sliding = any(RowMode::slide), yielding = any(RowMode::yield);
  if (!directions_settled && yielding && !settle_directions(problem, mode, slides, lam, sigma)) return false;
  if (!turn_hard(problem, mode, slides, sliding, false, lam, sigma)) return false;
  return !yielding || !turns_off_cone(problem, mode) ||
         return_to_cones(problem, mode, slides, sliding, lam, sigma);
}

// What yields with directions that are not those of its forces: with these directions all the same; or with
// those of the forces; or as well as can be with the first. False if numbers overflow.
bool ModeSystem::return_to_cones(const ContactProblem& problem, const RowMode* mode, SlideState* slides,
                                 bool sliding, double* lam, double* sigma) {
  constexpr double little = 3e-10;  // of the velocities
  const double before = contact_residual(problem, lam, sigma),
               enough = std::min(before, little * problem.velocity_scale);
  turned_lam_.assign(lam, lam + problem.size);
  turned_slides_.assign(slides, slides + problem.blocks.size());
  constexpr bool with_forces[] = {false, true, false};
  for (int attempt = 0; attempt < 3; ++attempt) {
    const bool turns = with_forces[attempt];
    if (turns) turn_yielding(problem, mode, lam, slides);
    list(problem, mode, slides);
    if (!turns) fix_yielding_directions(mode);
    start_from(lam);
    if (factor_system(problem, softness_) && turn_hard(problem, mode, slides, sliding, !turns, lam, sigma) &&
        contact_residual(problem, lam, sigma) < (attempt < 2 ? enough : before))
      return true;
    std::copy(turned_lam_.begin(), turned_lam_.end(), lam);
    if (attempt < 2) std::copy(turned_slides_.begin(), turned_slides_.end(), slides);
  }
  contact_velocities(problem, lam, sigma);
  return set_modes(problem, mode, slides);
}

// What yields, in the directions of its forces; returns by how much these differ from what it had.
double ModeSystem::turn_yielding(const ContactProblem& problem, const RowMode* mode, const double* lam,
                                 SlideState* slides) {
  double turned = 0.0;
  for (std::size_t k = 0; k < problem.blocks.size(); ++k) {
    const Block& block = problem.blocks[k];
    if (!on_cone(block, mode, RowMode::yield)) continue;
    const double pushes = lam[block.first] < 0.0 ? -1.0 : 1.0;
    double d[5], squared = 0.0, change = 0.0;
    for (int i = 0; i < block.tangents(); ++i) {
      d[i] = -pushes * lam[block.first + 1 + i] / block.mu[i];
      squared += d[i] * d[i];
    }
    for (int i = 0; i < block.tangents() && squared > 0.0; ++i) {
      d[i] /= std::sqrt(squared);
      change += (d[i] - slides[k].d[i]) * (d[i] - slides[k].d[i]);
      slides[k].d[i] = d[i];
    }
    turned = std::max(turned, std::sqrt(change));
  }
  return turned;
}

// y of what yields vanishes as it turns. Where it does not come to rest, because biases contradict each other
// and something is left of sigma, forces are beyond their cone by half the square of y.
bool ModeSystem::turns_off_cone(const ContactProblem& problem, const RowMode* mode) const {
  constexpr double borne = 1e-10;  // relative to the velocities
  for (std::size_t k = 0; k < unknowns_.size(); ++k) {
    const Unknown& u = unknowns_[k];
    if (!u.across || mode[u.row + 1] != RowMode::yield) continue;
    const auto normal = std::find_if(unknowns_.begin(), unknowns_.end(),
                                     [&](const Unknown& other) { return other.row == u.row; });
    const double load = x_[normal - unknowns_.begin()];
    if (u.weight * x_[k] * x_[k] > 2.0 * borne * problem.velocity_scale * load) return true;
  }
  return false;
}

// y = -E^T sigma / R: nothing, as long as sigma is; a compliance of hard laws.
void ModeSystem::fix_yielding_directions(const RowMode* mode) {
  for (Unknown& u : unknowns_) {
    if (!u.across || mode[u.row + 1] != RowMode::yield) continue;
    u.compliance = u.weight;
    u.yields = false;
  }
}

// Newton's method on the directions of what slides, with hard laws; and, unless these are fixed, of what
// yields. Its y moves nothing where it is a choice, Y^T Q x = 0 with C / eps in Q: to first order in y.
bool ModeSystem::turn_hard(const ContactProblem& problem, const RowMode* mode, SlideState* slides,
                           bool sliding, bool fixed, double* lam, double* sigma) {
  // The soft laws left rounding errors of b, over eps, in the null space of K. Where friction is at its bound
  // the motion feels them: loads are shared as Y^T Q x = 0 says (Y^T K = 0, Q = A^T R B).
  const bool shared = maybe_null(problem.size) &&
                      !std::all_of(unknowns_.begin(), unknowns_.end(), same_equation) &&
                      std::all_of(centre_.begin(), centre_.end(), [](double c) { return c == 0.0; });
  constexpr double clearly = 1e4, hardly = 1e-9;  // turned by less, forces are on their cones to rounding
  const bool turns = !fixed && std::any_of(problem.blocks.begin(), problem.blocks.end(),
                                           [&](const Block& b) { return on_cone(b, mode, RowMode::yield); });
  // Modes that are held may be next to where no solution has them: there motion feels every digit, of which
  // piles have fewer.
  constexpr double rounding = 1e-15;
  const double enough = pulls_ && problem.size <= pile ? rounding : settled;
  shares_ = shared;
  double previous = 1e300;
  for (int step = 0; step < most_newton_steps; ++step) {
    if (shared) keep_range(problem.size);
    // Directions begin on a grid, and turn: impulses of those need not be exact, where what slides does so
    // clearly.
    bool exact = !sliding || step > 0;
    if (!exact) {
      if (!solve_linear(problem, 0.0, 1, lam, sigma)) return false;
      exact = !(slowest_slip(problem, mode, sigma) > clearly * equation_error_);
    }
    double turned = 0.0;
    for (;; exact = true) {
      if (exact && !solve_hard(problem, mode, lam, sigma)) return false;
      if (!sliding && !turns) return true;
      // What slides very slowly has a direction of few digits.
      turned = sliding ? set_directions(problem, mode, lam, sigma, false, slides) : 0.0;
      const double yielding = turns ? turn_yielding(problem, mode, lam, slides) : 0.0;
      if (yielding > hardly) turned = std::max(turned, yielding);
      if (turned >= enough && turned <= 0.25 * previous) break;
      if (exact) return true;
    }
    previous = turned;
    list(problem, mode, slides);
    if (fixed) fix_yielding_directions(mode);
    start_from(lam);
    if (!factor_system(problem, softness_)) return false;
  }
  return false;
}

void ModeSystem::missed(const double* sigma, std::vector<double>& v) const {
  std::fill(v.begin(), v.end(), 0.0);
  for (std::size_t k = 0; k < unknowns_.size(); ++k) {
    const Unknown& u = unknowns_[k];
    const double miss = gather(u, sigma) + (u.yields ? 0.0 : u.compliance * x_[k]);
    if (!u.across) {
      v[u.row] += miss;
      continue;
    }
    double squared = 0.0;
    for (int i = 0; i < u.tangents; ++i) squared += u.equation[i] * u.equation[i];
    for (int i = 0; i < u.tangents; ++i) v[u.row + 1 + i] += miss * u.equation[i] / squared;
  }
}

bool ModeSystem::stand_still(const ContactProblem& problem, const RowMode* mode, const SlideState* slides,
                             double* lam, double* sigma) {
  const double rounding = problem.size > pile ? 1e-13 : 2e-15;
  shares_ = false;  // loads are known
  fix_bounds(problem, mode);
  list(problem, mode, slides);
  start_from(lam);
  if (!factor_system(problem, softness_) || !solve_linear(problem, 0.0, 1, lam, sigma)) return false;
  return equation_error_ <= rounding * problem.velocity_scale || solve_hard(problem, mode, lam, sigma);
}

bool ModeSystem::solve(const ContactProblem& problem, const RowMode* mode, SlideState* slides, double* lam,
                       double* sigma, const double* centre) {
  begin(problem, centre);
  for (int step = 0; step < most_newton_steps; ++step) {
    double turned = 0.0;
    if (!soft_step(problem, mode, slides, lam, sigma, turned)) return false;
    if (turned < rough) return harden(problem, mode, slides, false, lam, sigma);
  }
  return false;
}

// Near them velocities of soft laws are those of hard ones, however slow. What is left open is chosen as
// everywhere, with the directions found.
bool ModeSystem::solve_near(const ContactProblem& problem, const RowMode* mode, SlideState* slides,
                            double* lam, double* sigma, const double* near) {
  if (!solve(problem, mode, slides, lam, sigma, near)) return false;
  std::fill(centre_.begin(), centre_.end(), 0.0);
  list(problem, mode, slides);
  start_from(lam);
  return factor_system(problem, softness_) && harden(problem, mode, slides, false, lam, sigma);
}

bool ModeSystem::begin_beside(const ContactProblem& problem, const RowMode* mode, const SlideState* slides,
                              const double* lam, double softness, bool keeps_loads) {
  begin(problem, keeps_loads ? lam : nullptr, softness);
  fix_bounds(problem, mode);
  list(problem, mode, slides);
  start_from(lam);
  return factor_system(problem, softness_);
}

bool ModeSystem::solve_beside(const ContactProblem& problem, const RowMode* mode, SlideState* slides,
                              double* lam, double* sigma, double softness, bool keeps_loads) {
  return begin_beside(problem, mode, slides, lam, softness, keeps_loads) &&
         harden(problem, mode, slides, true, lam, sigma);
}

bool ModeSystem::solve_linearised(const ContactProblem& problem, const RowMode* mode, SlideState* slides,
                                  double* lam, double* sigma, double softness, bool keeps_loads) {
  return begin_beside(problem, mode, slides, lam, softness, keeps_loads) &&
         turn_hard(problem, mode, slides, false, false, lam, sigma);
}

}  // namespace articula
