#include "articula/solvers/mode_system.hpp"

#include <algorithm>
#include <cmath>

#include "articula/math/strips.hpp"

namespace articula {

namespace {

constexpr double proximal = 1e-8;  // eps, relative to R
constexpr int most_newton_steps = 30;
constexpr int most_corrections = 12;

bool moves_with_normal(RowMode mode) { return mode == RowMode::upper || mode == RowMode::lower; }

// Columns 1.. of the Householder reflection that takes the first axis to d: an orthonormal basis across d.
void basis_across(const double* d, int dim, int column, double* e) {
  double v[5];
  const double sign = d[0] >= 0.0 ? 1.0 : -1.0;
  for (int i = 0; i < dim; ++i) v[i] = d[i];
  v[0] += sign;
  double squared = 0.0;
  for (int i = 0; i < dim; ++i) squared += v[i] * v[i];
  for (int i = 0; i < dim; ++i) e[i] = (i == column + 1 ? 1.0 : 0.0) - 2.0 * v[i] * v[column + 1] / squared;
}

}  // namespace

void ModeSystem::reserve(int rows, int blocks) {
  unknowns_.reserve(rows + blocks);
  lu_.reserve(rows);
  for (std::vector<double>* vector : {&x_, &step_, &combined_, &fixed_}) vector->reserve(rows);
}

namespace {

void add_contact(const ContactProblem& problem, int index, const RowMode* mode, const SlideState& slide,
                 bool directions_known, std::vector<ModeUnknown>& unknowns) {
  const Block& block = problem.blocks[index];
  const int n = block.first, tangents = block.tangents();
  if (mode[n] == RowMode::free) return;
  const double weight = problem.mobility(block);
  ModeUnknown normal{.row = n, .block = index, .weight = weight};
  const RowMode first = tangents > 0 ? mode[n + 1] : RowMode::free;
  if (first == RowMode::slide || first == RowMode::yield) {
    if (first == RowMode::yield || directions_known) {
      normal.tangents = tangents;
      for (int i = 0; i < tangents; ++i) normal.along[i] = -block.mu[i] * slide.d[i];
    }
    unknowns.push_back(normal);
    if (first == RowMode::yield || !directions_known) return;
    for (int j = 0; j + 1 < tangents; ++j) {
      ModeUnknown across{.row = n, .block = index, .tangents = tangents, .across = true};
      basis_across(slide.d, tangents, j, across.along);
      double squared = 0.0;
      for (int i = 0; i < tangents; ++i) {
        across.along[i] *= block.mu[i];
        squared += across.along[i] * across.along[i];
      }
      across.weight = weight * squared;
      across.compliance = slide.speed / slide.normal;
      unknowns.push_back(across);
    }
    return;
  }
  for (int i = 0; i < tangents; ++i) {
    if (!moves_with_normal(mode[n + 1 + i])) continue;
    normal.tangents = tangents;
    normal.along[i] = mode[n + 1 + i] == RowMode::upper ? block.mu[i] : -block.mu[i];
  }
  unknowns.push_back(normal);
  for (int i = 0; i < tangents; ++i) {
    // A tangent along which nothing can move (out of the plane of a planar robot) carries nothing.
    if (mode[n + 1 + i] == RowMode::hold && problem.g(n + 1 + i, n + 1 + i) > 1e-20 * weight)
      unknowns.push_back({.row = n + 1 + i, .block = index, .weight = weight});
  }
}

}  // namespace

void list_unknowns(const ContactProblem& problem, const RowMode* mode, const SlideState* slides,
                   bool directions_known, std::vector<ModeUnknown>& unknowns) {
  unknowns.clear();
  const int count = static_cast<int>(problem.blocks.size());
  for (int k = 0; k < count; ++k) {
    const Block& block = problem.blocks[k];
    if (block.kind == BlockKind::contact) {
      add_contact(problem, k, mode, slides[k], directions_known, unknowns);
      continue;
    }
    const double weight = problem.mobility(block);
    for (int i = block.first; i < block.first + block.dim; ++i) {
      if (mode[i] == RowMode::hold) unknowns.push_back({.row = i, .block = k, .weight = weight});
    }
  }
}

double gather(const ModeUnknown& u, const double* sigma) {
  if (!u.across) return sigma[u.row];
  double sum = 0.0;
  for (int i = 0; i < u.tangents; ++i) sum += u.along[i] * sigma[u.row + 1 + i];
  return sum;
}

double dot_spread(const ModeUnknown& u, const double* g) {
  double sum = u.across ? 0.0 : g[u.row];
  for (int i = 0; i < u.tangents; ++i) sum += u.along[i] * g[u.row + 1 + i];
  return sum;
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
    if (!u.across) {
      sigma[u.row] += x[k];
      continue;
    }
    for (int i = 0; i < u.tangents; ++i) sigma[u.row + 1 + i] += u.along[i] * x[k];
  }
}

// Row k of K is (G A_k)^T B. Without ties and slides A = B, and K is symmetric.
bool ModeSystem::factor_system(const ContactProblem& problem, double eps, bool may_be_symmetric) {
  const int n = static_cast<int>(unknowns_.size());
  lu_.resize(n);
  combined_.resize(problem.size);
  symmetric_ = may_be_symmetric;
  for (const ModeUnknown& u : unknowns_) symmetric_ = symmetric_ && u.tangents == 0;
  for (int k = 0; k < n; ++k) {
    const ModeUnknown& u = unknowns_[k];
    const double* pulled = problem.row(u.row);
    if (u.across) {
      std::fill(combined_.begin(), combined_.end(), 0.0);
      for (int i = 0; i < u.tangents; ++i)
        strip_add(combined_.data(), problem.row(u.row + 1 + i), u.along[i], problem.size);
      pulled = combined_.data();
    }
    double* row = lu_.row(k);
    for (int w = symmetric_ ? k : 0; w < n; ++w) row[w] = dot_spread(unknowns_[w], pulled);
    row[k] += u.compliance + eps * u.weight;
  }
  ++factorisations_;
  return symmetric_ ? lu_.factor_symmetric() : lu_.factor();
}

bool ModeSystem::singular() const {
  for (int k = 0; k < lu_.size(); ++k) {
    if (std::abs(lu_.pivot(k)) < 1e-6 * unknowns_[k].weight) return true;
  }
  return false;
}

// Almost without the proximal term first: where K is regular one solve is exact.
bool ModeSystem::linearise(const ContactProblem& problem, const RowMode* mode, const SlideState* slides) {
  list_unknowns(problem, mode, slides, true, unknowns_);
  regular_ = factor_system(problem, 1e-15, false) && lu_.pivot_ratio() > 1e-9;
  return regular_ || factor_system(problem, proximal, false);
}

bool ModeSystem::solve_linear(const ContactProblem& problem, int corrections, const double* start,
                              double* lam, double* sigma) {
  const int n = static_cast<int>(unknowns_.size());
  x_.assign(n, 0.0);
  for (int k = 0; k < n && start != nullptr; ++k) x_[k] = unknowns_[k].across ? 0.0 : start[unknowns_[k].row];
  step_.resize(n);
  double previous = 1e300;
  for (int round = 0;; ++round) {
    std::copy(fixed_.begin(), fixed_.end(), lam);
    articula::spread(unknowns_, x_.data(), lam);
    contact_velocities(problem, lam, sigma);
    double error = 0.0;
    for (int k = 0; k < n; ++k) {
      step_[k] = -gather(unknowns_[k], sigma) - unknowns_[k].compliance * x_[k];
      if (!std::isfinite(step_[k])) return false;
      error = std::max(error, std::abs(step_[k]));
    }
    equation_error_ = error;
    if (round == corrections || error <= 1e-16 * problem.velocity_scale || error > 0.5 * previous)
      return true;
    previous = round == 0 ? 1e300 : error;  // the first step goes all the way: nothing to compare it with
    lu_.solve(step_.data());
    for (int k = 0; k < n; ++k) x_[k] += step_[k];
  }
}

// New directions from the velocities; returns by how much they turned. A contact that does not move keeps
// the direction it had.
double ModeSystem::set_directions(const ContactProblem& problem, const RowMode* mode, const double* lam,
                                  const double* sigma, SlideState* slides, bool first) {
  double turned = 0.0;
  for (std::size_t k = 0; k < problem.blocks.size(); ++k) {
    const Block& block = problem.blocks[k];
    const int n = block.first;
    if (block.kind != BlockKind::contact || block.dim == 1 || mode[n] == RowMode::free ||
        mode[n + 1] != RowMode::slide)
      continue;
    double w[5], squared = 0.0;
    for (int i = 0; i < block.tangents(); ++i) {
      w[i] = block.mu[i] * sigma[n + 1 + i];
      squared += w[i] * w[i];
    }
    SlideState& slide = slides[k];
    slide.speed = std::sqrt(squared);
    const double least = 1e-300 + 1e-14 * problem.velocity_scale / problem.mobility(block);
    slide.normal = std::max(lam[n], least);
    if (slide.speed < 1e-14 * problem.velocity_scale) continue;
    double change = 0.0;
    for (int i = 0; i < block.tangents(); ++i) {
      const double d = w[i] / slide.speed;
      change += (d - slide.d[i]) * (d - slide.d[i]);
      slide.d[i] = d;
    }
    turned = std::max(turned, first ? 1.0 : std::sqrt(change));
  }
  return turned;
}

bool ModeSystem::solve(const ContactProblem& problem, const RowMode* mode, SlideState* slides, double* lam,
                       double* sigma, const double* start) {
  factorisations_ = 0;
  equation_error_ = 0.0;
  fixed_.assign(problem.size, 0.0);
  bool sliding = false;
  for (const Block& block : problem.blocks) {
    if (block.kind == BlockKind::contact) {
      sliding |=
          block.dim > 1 && mode[block.first] != RowMode::free && mode[block.first + 1] == RowMode::slide;
    } else if (moves_with_normal(mode[block.first])) {
      fixed_[block.first] = mode[block.first] == RowMode::upper ? block.bound : -block.bound;
    }
  }
  double turned = 1.0;
  if (!sliding || start == nullptr) {
    list_unknowns(problem, mode, slides, false, unknowns_);
    if (!factor_system(problem, proximal, true) ||
        !solve_linear(problem, sliding ? 2 : most_corrections, start, lam, sigma))
      return false;
    if (!sliding) return true;
    turned = set_directions(problem, mode, lam, sigma, slides, true);
  }
  for (int step = 0; step < most_newton_steps; ++step) {
    const bool last = turned < 1e-9;
    list_unknowns(problem, mode, slides, true, unknowns_);
    if (!factor_system(problem, proximal, true) ||
        !solve_linear(problem, last ? most_corrections : 2, start, lam, sigma))
      return false;
    turned = set_directions(problem, mode, lam, sigma, slides, false);
    if (last) return true;
  }
  return false;
}

}  // namespace articula
