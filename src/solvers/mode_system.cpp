#include "articula/solvers/mode_system.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "articula/math/strips.hpp"

namespace articula {

namespace {

constexpr int most_newton_steps = 30;
constexpr int most_corrections = 12;
constexpr int pile = 100;                 // rows from which on not all digits of equations are to be had
constexpr double soft_precision = 1e-13;  // of velocities in equations that give way, relative
constexpr double settled = 1e-12, rough = 1e-6;  // directions of forces, at the end and before

bool at_upper(RowMode mode) { return mode == RowMode::upper || mode == RowMode::yield_upper; }
bool at_lower(RowMode mode) { return mode == RowMode::lower || mode == RowMode::yield_lower; }
bool yields(RowMode mode) {
  return mode == RowMode::yield || mode == RowMode::yield_upper || mode == RowMode::yield_lower;
}

// A contact whose friction has a direction that is to be found.
bool on_cone(const Block& block, const RowMode* mode, RowMode wanted) {
  return block.kind == BlockKind::contact && block.dim > 1 && mode[block.first] != RowMode::free &&
         mode[block.first + 1] == wanted;
}

// Columns 1.. of the Householder reflection that takes the first axis to d: an orthonormal basis across d.
struct BasisAcross {
  double v[5], squared = 0.0;
  int dim;

  BasisAcross(const double* d, int size) : dim(size) {
    std::copy(d, d + dim, v);
    v[0] += d[0] >= 0.0 ? 1.0 : -1.0;
    for (int i = 0; i < dim; ++i) squared += v[i] * v[i];
  }
  void column(int j, double* e) const {
    for (int i = 0; i < dim; ++i) e[i] = (i == j + 1 ? 1.0 : 0.0) - 2.0 * v[i] * v[j + 1] / squared;
  }
};

}  // namespace

void ModeSystem::reserve(int rows, int blocks, int columns, int groups) {
  grouped_.reserve(rows + blocks, columns, groups);
  unknowns_.reserve(rows + blocks);
  factored_.reserve(rows + blocks);
  rows_.reserve(rows + blocks);
  mixed_.reserve(rows + blocks);
  mixed_blocks_.reserve(rows + blocks);
  columns_.reserve(static_cast<std::size_t>(rows) * rows);
  order_.reserve(blocks);
  lu_.reserve(rows);
  condensed_.reserve(rows);
  leading_.reserve(rows);
  others_.reserve(rows);
  for (std::vector<double>* vector :
       {&x_, &kept_, &step_, &null_part_, &combined_, &fixed_, &moved_, &centre_, &turned_lam_})
    vector->reserve(rows);
  turned_slides_.reserve(blocks);
}

namespace {

void add_row(int row, int block, double weight, std::vector<ModeUnknown>& unknowns) {
  ModeUnknown& u = unknowns.emplace_back();
  u.row = row;
  u.block = block;
  u.weight = weight;
}

// The normal of a contact on its cone, and what may move across its direction.
void add_on_cone(const ContactProblem& problem, int index, bool yielding, const SlideState& slide,
                 std::vector<ModeUnknown>& unknowns) {
  const Block& block = problem.blocks[index];
  const int tangents = block.tangents();
  const auto add = [&]() -> ModeUnknown& {
    ModeUnknown& u = unknowns.emplace_back();
    u.row = block.first;
    u.block = index;
    u.tangents = tangents;
    u.weight = problem.mobility(block);
    return u;
  };
  ModeUnknown& normal = add();
  for (int i = 0; i < tangents; ++i) {
    normal.along[i] = -block.mu[i] * slide.d[i];
    normal.equation[i] = yielding ? normal.along[i] : 0.0;
  }
  const BasisAcross basis(slide.d, tangents);
  for (int j = 0; j + 1 < tangents; ++j) {
    ModeUnknown& across = add();
    across.across = true;
    basis.column(j, across.along);
    for (int i = 0; i < tangents; ++i) across.equation[i] = across.along[i] *= block.mu[i];
    across.compliance = slide.speed / slide.normal;
  }
}

void add_contact(const ContactProblem& problem, int index, const RowMode* mode, const SlideState& slide,
                 std::vector<ModeUnknown>& unknowns) {
  const Block& block = problem.blocks[index];
  const int n = block.first, tangents = block.tangents();
  if (mode[n] == RowMode::free) return;
  const RowMode first = tangents > 0 ? mode[n + 1] : RowMode::free;
  if (first == RowMode::slide || first == RowMode::yield) {
    add_on_cone(problem, index, first == RowMode::yield, slide, unknowns);
    return;
  }
  const double weight = problem.mobility(block);
  ModeUnknown& normal = unknowns.emplace_back(ModeUnknown{.row = n, .block = index, .weight = weight});
  for (int i = 0; i < tangents; ++i) {
    const RowMode tangent = mode[n + 1 + i];
    if (!at_upper(tangent) && !at_lower(tangent)) continue;
    normal.tangents = tangents;
    normal.along[i] = at_upper(tangent) ? block.mu[i] : -block.mu[i];
    normal.equation[i] = yields(tangent) ? normal.along[i] : 0.0;
  }
  for (int i = 0; i < tangents; ++i) {
    // A tangent along which nothing can move (out of the plane of a planar robot) carries nothing.
    if (mode[n + 1 + i] == RowMode::hold && problem.g(n + 1 + i, n + 1 + i) > 1e-20 * weight)
      add_row(n + 1 + i, index, weight, unknowns);
  }
}

}  // namespace

namespace {

// Of blocks that do not slide A = B: their part of K is symmetric.
bool block_slides(const Block& block, const RowMode* mode) {
  if (block.kind != BlockKind::contact || mode[block.first] == RowMode::free) return false;
  return std::any_of(mode + block.first + 1, mode + block.first + block.dim, [](RowMode m) {
    return m == RowMode::slide || m == RowMode::upper || m == RowMode::lower;
  });
}

}  // namespace

void list_unknowns(const ContactProblem& problem, const RowMode* mode, const SlideState* slides,
                   std::vector<ModeUnknown>& unknowns, const std::vector<bool>* late, const int* order) {
  unknowns.clear();
  const int count = static_cast<int>(problem.blocks.size());
  const auto add = [&](int k) {
    const Block& block = problem.blocks[k];
    if (block.kind == BlockKind::contact) {
      add_contact(problem, k, mode, slides[k], unknowns);
      return;
    }
    for (int i = block.first; i < block.first + block.dim; ++i) {
      if (mode[i] == RowMode::hold) add_row(i, k, problem.mobility(block), unknowns);
    }
  };
  const auto place = [&](int i) { return order == nullptr ? i : order[i]; };
  bool some_slide = false;
  for (int i = 0; i < count; ++i) {
    const int k = place(i);
    const bool slides_here = block_slides(problem.blocks[k], mode);
    some_slide = some_slide || slides_here;
    if (!slides_here && !(late != nullptr && (*late)[k])) add(k);
  }
  for (int i = 0; late != nullptr && i < count; ++i) {
    const int k = place(i);
    if ((*late)[k] && !block_slides(problem.blocks[k], mode)) add(k);
  }
  for (int i = 0; some_slide && i < count; ++i) {
    if (block_slides(problem.blocks[place(i)], mode)) add(place(i));
  }
}

void spread(const std::vector<ModeUnknown>& unknowns, const double* x, double* lam) {
  for (std::size_t k = 0; k < unknowns.size(); ++k) {
    const ModeUnknown& u = unknowns[k];
    if (!u.across) lam[u.row] += x[k];
    for (int i = 0; i < u.tangents; ++i) lam[u.row + 1 + i] += u.along[i] * x[k];
  }
}

void ModeSystem::spread_equations(const double* x, double* sigma) const {
  for (std::size_t k = 0; k < unknowns_.size(); ++k) {
    const Unknown& u = unknowns_[k];
    if (!u.across) sigma[u.row] += x[k];
    for (int i = 0; i < u.tangents; ++i) sigma[u.row + 1 + i] += u.equation[i] * x[k];
  }
}

// Almost without the proximal term first: where K is regular one solve is exact.
bool ModeSystem::linearise(const ContactProblem& problem, const RowMode* mode, const SlideState* slides) {
  list(problem, mode, slides);
  regular_ = factor_system(problem, 1e-15) && lu_.pivot_ratio() > 1e-9;
  return regular_ || factor_system(problem, usual_softness);
}

namespace {

bool is_nearly_all(const std::vector<double>& part, const std::vector<double>& rest) {
  constexpr double nearly = 1e3;
  const auto largest = [](double x, double y) { return std::max(x, std::abs(y)); };
  return std::accumulate(part.begin(), part.end(), 0.0, largest) >
         nearly * std::accumulate(rest.begin(), rest.end(), 0.0, largest);
}

}  // namespace

// From x on, until A^T velocity + C x = 0 with velocity = sigma + soft R (lam - centre).
bool ModeSystem::solve_linear(const ContactProblem& problem, double soft, int most_rounds, double* lam,
                              double* velocity) {
  const int n = static_cast<int>(unknowns_.size());
  const bool null = soft == 0.0 && maybe_null(problem.size);
  const double enough =
      (soft > 0.0 ? std::max(precision_, soft_precision) : precision_) * problem.velocity_scale;
  step_.resize(n);
  double previous = 1e300;
  for (int round = 0;; ++round) {
    std::fill(lam, lam + problem.size, 0.0);
    articula::spread(unknowns_, x_.data(), lam);
    for (int i = 0; i < problem.size; ++i) velocity[i] = problem.b[i] + moved_[i];
    add_velocities(problem, lam, velocity);
    for (int i = 0; i < problem.size; ++i) lam[i] += fixed_[i];
    if (soft > 0.0) {
      for (const Block& block : problem.blocks) {
        const double give = soft * problem.mobility(block);
        for (int i = block.first; i < block.first + block.dim; ++i)
          velocity[i] += give * (lam[i] - centre_[i]);
      }
    }
    double error = 0.0;
    for (int k = 0; k < n; ++k) {
      step_[k] = -gather(unknowns_[k], velocity) - unknowns_[k].compliance * x_[k];
      if (!std::isfinite(step_[k])) return false;
      error = std::max(error, std::abs(step_[k]));
    }
    equation_error_ = error;
    if (round == most_rounds || error <= enough || error > 0.5 * previous) return true;
    previous = round == 0 ? 1e300 : error;  // the first step goes all the way: nothing to compare it with
    solve_factored(step_.data());
    if (null) {
      remove_null_part(problem.size);
      if (pulls_ && is_nearly_all(null_part_, step_)) {
        // Modes that are held beside their step: what contradicts had loads of order 1 / eps, which leave
        // some of order one, and no digits. Once more without it:  eps Q n of these loads n is what it
        // misses.
        combined_.assign(problem.size, 0.0);
        articula::spread(unknowns_, null_part_.data(), combined_.data());
        for (int k = 0; k < n; ++k) {
          const ModeUnknown& u = unknowns_[k];
          step_[k] = -gather(u, velocity) - u.compliance * x_[k] -
                     softness_ * u.weight * gather(u, combined_.data());
        }
        solve_factored(step_.data());
        remove_null_part(problem.size);
      }
    }
    for (int k = 0; k < n; ++k) x_[k] += step_[k];
  }
}

// (K + eps R)^-1 eps R is one where K is null, and next to nothing elsewhere. Biases that contradict each
// other by a rounding error must not move loads about.
void ModeSystem::remove_null_part(int rows) {
  combined_.assign(rows, 0.0);
  articula::spread(unknowns_, step_.data(), combined_.data());
  null_part_.resize(step_.size());
  for (std::size_t k = 0; k < unknowns_.size(); ++k)
    null_part_[k] = softness_ * unknowns_[k].weight * gather(unknowns_[k], combined_.data());
  solve_factored(null_part_.data());
  for (std::size_t k = 0; k < step_.size(); ++k) step_[k] -= null_part_[k];
}

// Whether K is null somewhere. Pivots that were chosen among rows alone may hide it, if the last unknowns
// have little share in it: then the null part of a vector that is nothing special tells.
bool ModeSystem::maybe_null(int rows) {
  constexpr double counts = 1e-3;
  if (null_known_) return maybe_null_;
  null_known_ = true;
  step_.resize(unknowns_.size());
  double turn = 0.5;
  for (std::size_t k = 0; k < step_.size(); ++k) {
    turn = std::fmod(turn + 0.6180339887498949, 1.0);
    step_[k] = (turn < 0.5 ? -0.5 - turn : turn) / std::sqrt(unknowns_[k].weight);
  }
  remove_null_part(rows);
  for (std::size_t k = 0; k < step_.size(); ++k)
    maybe_null_ = maybe_null_ || std::abs(null_part_[k]) * std::sqrt(unknowns_[k].weight) > counts;
  return maybe_null_;
}

// New directions from the velocities; returns by how much the forces differ from them. A contact that does
// not move keeps the direction it had.
double ModeSystem::set_directions(const ContactProblem& problem, const RowMode* mode, const double* lam,
                                  const double* velocity, bool also_yielding, SlideState* slides) {
  double turned = 0.0;
  for (std::size_t k = 0; k < problem.blocks.size(); ++k) {
    const Block& block = problem.blocks[k];
    const int n = block.first;
    if (!on_cone(block, mode, RowMode::slide) && !(also_yielding && on_cone(block, mode, RowMode::yield)))
      continue;
    double w[5], squared = 0.0;
    for (int i = 0; i < block.tangents(); ++i) {
      w[i] = block.mu[i] * velocity[n + 1 + i];
      squared += w[i] * w[i];
    }
    SlideState& slide = slides[k];
    slide.speed = std::sqrt(squared);
    const double least = 1e-300 + 1e-14 * problem.velocity_scale / problem.mobility(block);
    slide.normal = pulls_ && lam[n] < -least ? lam[n] : std::max(lam[n], least);
    if (slide.speed < 1e-16 * problem.velocity_scale) continue;
    double change = 0.0;
    for (int i = 0; i < block.tangents(); ++i) {
      const double d = w[i] / slide.speed;
      const double off = d + lam[n + 1 + i] / (block.mu[i] * slide.normal);
      change += off * off;
      slide.d[i] = d;
    }
    turned = std::max(turned, std::sqrt(change));
  }
  return turned;
}

void ModeSystem::begin(const ContactProblem& problem, const double* centre, double softness) {
  softness_ = softness;
  factorisations_ = 0;
  centre_.assign(problem.size, 0.0);
  if (centre != nullptr) std::copy(centre, centre + problem.size, centre_.begin());
}

void ModeSystem::start_from(const double* lam) {
  x_.resize(unknowns_.size());
  for (std::size_t k = 0; k < unknowns_.size(); ++k)
    x_[k] = unknowns_[k].across ? 0.0 : lam[unknowns_[k].row];
}

// G fixed stays while no row comes to another bound.
const std::vector<double>& ModeSystem::fix_bounds(const ContactProblem& problem, const RowMode* mode) {
  bool same = fixed_matrix_ == problem.G;
  if (!same) fixed_.assign(problem.size, 0.0);
  for (const Block& block : problem.blocks) {
    if (block.kind != BlockKind::interval) continue;
    const RowMode m = mode[block.first];
    const double load = m == RowMode::upper ? block.bound : m == RowMode::lower ? -block.bound : 0.0;
    same = same && fixed_[block.first] == load;
    fixed_[block.first] = load;
  }
  if (same) return moved_;
  fixed_matrix_ = problem.G;
  moved_.assign(problem.size, 0.0);
  add_velocities(problem, fixed_.data(), moved_.data());
  return moved_;
}

bool ModeSystem::soft_step(const ContactProblem& problem, const RowMode* mode, SlideState* slides,
                           double* lam, double* soft, double& turned) {
  fix_bounds(problem, mode);
  list(problem, mode, slides);
  start_from(centre_.data());
  if (!factor_system(problem, softness_) || !solve_linear(problem, softness_, 2, lam, soft)) return false;
  turned = set_directions(problem, mode, lam, soft, true, slides);
  return true;
}

bool ModeSystem::set_modes(const ContactProblem& problem, const RowMode* mode, const SlideState* slides) {
  list(problem, mode, slides);
  return factor_system(problem, softness_);
}

// What yields keeps its direction from here on. What slides beside it feels where it pushes to, and the rest
// of y, times a compliance of order eps, would be motion.
bool ModeSystem::settle_directions(const ContactProblem& problem, const RowMode* mode, SlideState* slides,
                                   double* lam, double* soft) {
  double previous = 1e300, turned = 1e299;
  for (int step = 0; step < most_newton_steps && turned >= settled; ++step) {
    if (turned < rough && turned > 0.25 * previous) break;
    previous = turned;
    if (!soft_step(problem, mode, slides, lam, soft, turned)) return false;
  }
  return turned < rough;
}

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
  constexpr double close = 1e-11, of_slip = 1e-9, rounding = 2e-15;
  if (problem.size > pile) return close * problem.velocity_scale;
  return problem.velocity_scale *
         std::clamp(of_slip * slowest_slip(problem, mode, sigma) / problem.velocity_scale, rounding, close);
}

// Where K has something of the order of eps, softness is not iterated away: less of it is. What is missed all
// the same contradicts itself, and stays as it was.
bool ModeSystem::solve_hard(const ContactProblem& problem, const RowMode* mode, double* lam, double* sigma) {
  constexpr double hardest = 1e-13;
  if (!solve_linear(problem, 0.0, most_corrections, lam, sigma)) return false;
  const double enough = close_enough(problem, mode, sigma);
  if (!(equation_error_ > enough)) return true;
  const double usual = softness_;
  bool better = true;
  while (better && softness_ > 10.0 * hardest && equation_error_ > enough) {
    const double before = equation_error_;
    kept_ = x_;
    softness_ *= 1e-2;
    better = factor_system(problem, softness_) && solve_linear(problem, 0.0, most_corrections, lam, sigma) &&
             equation_error_ < 0.1 * before;
    if (!better) {
      x_ = kept_;
      equation_error_ = before;
    }
  }
  softness_ = usual;
  std::copy(fixed_.begin(), fixed_.end(), lam);
  articula::spread(unknowns_, x_.data(), lam);
  contact_velocities(problem, lam, sigma);
  return factor_system(problem, softness_);
}

// Yielding contacts keep their direction; what slides turns a little.
bool ModeSystem::harden(const ContactProblem& problem, const RowMode* mode, SlideState* slides,
                        bool directions_settled, double* lam, double* sigma) {
  const auto any = [&](RowMode wanted) {
    return std::any_of(problem.blocks.begin(), problem.blocks.end(),
                       [&](const Block& block) { return on_cone(block, mode, wanted); });
  };
  const bool sliding = any(RowMode::slide), yielding = any(RowMode::yield);
  if (!directions_settled && yielding && !settle_directions(problem, mode, slides, lam, sigma)) return false;
  if (!turn_hard(problem, mode, slides, sliding, false, lam, sigma)) return false;
  if (!yielding || !turns_off_cone(problem, mode)) return true;
  const double before = contact_residual(problem, lam, sigma);
  turned_lam_.assign(lam, lam + problem.size);
  turned_slides_.assign(slides, slides + problem.blocks.size());
  for (const bool fixed : {false, true}) {
    if (!fixed) turn_yielding(problem, mode, lam, slides);
    list(problem, mode, slides);
    if (fixed) fix_yielding_directions(mode);
    start_from(lam);
    if (factor_system(problem, softness_) && turn_hard(problem, mode, slides, sliding, fixed, lam, sigma) &&
        contact_residual(problem, lam, sigma) < (fixed ? 1.0 : 0.1) * before)
      return true;
    std::copy(turned_lam_.begin(), turned_lam_.end(), lam);
    std::copy(turned_slides_.begin(), turned_slides_.end(), slides);
  }
  contact_velocities(problem, lam, sigma);
  return set_modes(problem, mode, slides);
}

// What yields, in the directions of its forces.
void ModeSystem::turn_yielding(const ContactProblem& problem, const RowMode* mode, const double* lam,
                               SlideState* slides) {
  for (std::size_t k = 0; k < problem.blocks.size(); ++k) {
    const Block& block = problem.blocks[k];
    if (!on_cone(block, mode, RowMode::yield)) continue;
    double d[5], squared = 0.0;
    for (int i = 0; i < block.tangents(); ++i) {
      d[i] = -lam[block.first + 1 + i] / block.mu[i];
      squared += d[i] * d[i];
    }
    for (int i = 0; i < block.tangents() && squared > 0.0; ++i) slides[k].d[i] = d[i] / std::sqrt(squared);
  }
}

// y of what yields is E^T sigma over a compliance of order eps. Where biases contradict each other by 1e-12,
// so that something is left of sigma, forces turn by 1e-4, and are beyond their cone by half the square.
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

// y = -E^T sigma / R: nothing, as long as sigma is.
void ModeSystem::fix_yielding_directions(const RowMode* mode) {
  for (Unknown& u : unknowns_) {
    if (u.across && mode[u.row + 1] == RowMode::yield) u.compliance = u.weight;
  }
}

// Newton's method on the directions of what slides, with hard laws.
bool ModeSystem::turn_hard(const ContactProblem& problem, const RowMode* mode, SlideState* slides,
                           bool sliding, bool fixed, double* lam, double* sigma) {
  // The soft laws left rounding errors of b, over eps, in the null space of K. Where friction is at its bound
  // the motion feels them: loads are shared as Y^T Q x = 0 says (Y^T K = 0, Q = A^T R B).
  const bool shared = maybe_null(problem.size) &&
                      !std::all_of(unknowns_.begin(), unknowns_.end(), same_equation) &&
                      std::all_of(centre_.begin(), centre_.end(), [](double c) { return c == 0.0; });
  constexpr double clearly = 1e4;
  double previous = 1e300;
  for (int step = 0; step < most_newton_steps; ++step) {
    if (shared) {
      step_.swap(x_);
      remove_null_part(problem.size);
      if (is_nearly_all(null_part_, step_)) remove_null_part(problem.size);
      step_.swap(x_);
    }
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
      if (!sliding) return true;
      // What slides very slowly has a direction of few digits.
      turned = set_directions(problem, mode, lam, sigma, false, slides);
      if (turned >= settled && turned <= 0.25 * previous) break;
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
    const double miss = gather(u, sigma) + u.compliance * x_[k];
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
