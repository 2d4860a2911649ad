#include "articula/solvers/mode_system.hpp"

#include <algorithm>
#include <cmath>

#include "articula/math/scattered.hpp"
#include "articula/math/strips.hpp"
#include "mode_directions.hpp"

namespace articula {

namespace {

constexpr double soft_precision = 1e-13;  // of velocities in equations that give way, relative

bool at_upper(RowMode mode) { return mode == RowMode::upper || mode == RowMode::yield_upper; }
bool at_lower(RowMode mode) { return mode == RowMode::lower || mode == RowMode::yield_lower; }
bool yields(RowMode mode) {
  return mode == RowMode::yield || mode == RowMode::yield_upper || mode == RowMode::yield_lower;
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
  for (std::vector<double>& vector : squared_) vector.reserve(rows);
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
    across.yields = yielding;
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
      const bool gives = soft > 0.0 || !unknowns_[k].yields;
      step_[k] = -gather(unknowns_[k], velocity) - (gives ? unknowns_[k].compliance * x_[k] : 0.0);
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
          step_[k] = -gather(u, velocity) - (u.yields ? 0.0 : u.compliance * x_[k]) -
                     give(u, combined_.data(), null_part_[k]);
        }
        solve_factored(step_.data());
        remove_null_part(problem.size);
      }
    }
    for (int k = 0; k < n; ++k) x_[k] += step_[k];
  }
}

// P = (K + eps Q)^-1 eps Q is one where K is null, and next to nothing elsewhere.
void ModeSystem::project(int rows, double* x) {
  combined_.assign(rows, 0.0);
  articula::spread(unknowns_, x, combined_.data());
  for (std::size_t k = 0; k < unknowns_.size(); ++k) x[k] = give(unknowns_[k], combined_.data(), x[k]);
  solve_factored(x);
}

// The same where P is neither, by 3 P^2 - 2 P^3 in place of P, and this again: what is larger than a half
// comes to one, what is smaller to nothing.
void ModeSystem::project_purely(int rows, int times, double* x) {
  if (times == 0) return project(rows, x);
  std::vector<double>& squared = squared_[static_cast<std::size_t>(times - 1)];
  project_purely(rows, times - 1, x);
  project_purely(rows, times - 1, x);
  squared.assign(x, x + unknowns_.size());
  project_purely(rows, times - 1, x);
  for (std::size_t k = 0; k < unknowns_.size(); ++k) x[k] = 3.0 * squared[k] - 2.0 * x[k];
}

// Biases that contradict each other by a rounding error must not move loads about.
void ModeSystem::remove_null_part(int rows) {
  null_part_ = step_;
  project_purely(rows, pure_ ? static_cast<int>(squared_.size()) : 0, null_part_.data());
  for (std::size_t k = 0; k < step_.size(); ++k) step_[k] -= null_part_[k];
}

namespace {

// The k-th number of a vector that is nothing special.
double nothing_special(std::size_t k) {
  const double x = scattered(k);
  return x < 0.5 ? -0.5 - x : x;
}

}  // namespace

// Whether P is neither one nor next to nothing somewhere: wheels whose axes are off by 1e-8 let four of them
// touch the ground a little more than three do.
bool ModeSystem::nearly_null(int rows) {
  constexpr double differs = 1e-6;
  std::vector<double>&once = squared_[0], &twice = squared_[1];
  once.resize(unknowns_.size());
  for (std::size_t k = 0; k < once.size(); ++k) once[k] = nothing_special(k) / std::sqrt(unknowns_[k].weight);
  project(rows, once.data());
  project(rows, once.data());
  twice = once;
  project(rows, twice.data());
  double largest = 0.0, change = 0.0;
  for (std::size_t k = 0; k < once.size(); ++k) {
    const double size = std::sqrt(unknowns_[k].weight);
    largest = std::max(largest, size * std::abs(once[k]));
    change = std::max(change, size * std::abs(twice[k] - once[k]));
  }
  return change > differs * largest;
}

// Whether K is null somewhere. Pivots that were chosen among rows alone may hide it, if the last unknowns
// have little share in it: then the null part of a vector that is nothing special tells.
bool ModeSystem::maybe_null(int rows) {
  constexpr double counts = 1e-3;
  if (null_known_) return maybe_null_;
  null_known_ = true;
  step_.resize(unknowns_.size());
  for (std::size_t k = 0; k < step_.size(); ++k)
    step_[k] = nothing_special(k) / std::sqrt(unknowns_[k].weight);
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

// What yields turns with eps; its compliance |w| / lam_N over eps is that of hard laws but for a share of
// this order.
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

}  // namespace articula
