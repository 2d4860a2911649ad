#include "articula/solvers/impulse_choice.hpp"

#include <algorithm>
#include <cmath>

#include "articula/math/strips.hpp"
#include "mode_update.hpp"

namespace articula {

namespace {

constexpr double proximal = 1e-7;  // eps
constexpr int most_passes = 150;
constexpr double settled = 1e-13;  // directions on cones

struct Change {
  double violation = 0.0;
  RowMode next = RowMode::free;
  int row = 0, rows = 0, block = 0;
};

void worse(Change& change, const Change& other) {
  if (other.violation > change.violation) change = other;
}

double product(const ModeUnknown& a, const ModeUnknown& b) {
  double sum = a.across || b.across || a.row != b.row ? 0.0 : 1.0;
  for (int i = 0; i < std::min(a.tangents, b.tangents); ++i) sum += a.along[i] * b.along[i];
  return sum;
}

}  // namespace

void ImpulseChoice::reserve(int rows, int blocks) {
  touching_.reserve(rows);
  directions_.reserve(blocks);
  unknowns_.reserve(rows + blocks);
  seen_.reserve(most_passes);
  for (std::vector<double>* vector :
       {&given_, &lam_, &x_, &step_, &residual_, &multiplier_, &difference_, &combined_, &scale_})
    vector->reserve(rows);
  lu_.reserve(rows);
}

bool ImpulseChoice::solve_touching(const ContactProblem& problem, int corrections) {
  list_unknowns(problem, touching_.data(), directions_.data(), true, unknowns_);
  const int n = static_cast<int>(unknowns_.size());
  lu_.resize(n);
  scale_.resize(n);
  combined_.resize(problem.size);
  for (int k = 0; k < n; ++k) {
    const double weight = problem.mobility(problem.blocks[unknowns_[k].block]);
    scale_[k] = 1.0 / std::sqrt(weight * product(unknowns_[k], unknowns_[k]));
  }
  for (int k = 0; k < n; ++k) {
    const ModeUnknown& u = unknowns_[k];
    std::fill(combined_.begin(), combined_.end(), 0.0);
    if (!u.across) strip_add(combined_.data(), problem.row(u.row), 1.0, problem.size);
    for (int i = 0; i < u.tangents; ++i)
      strip_add(combined_.data(), problem.row(u.row + 1 + i), u.along[i], problem.size);
    const double weight = problem.mobility(problem.blocks[u.block]);
    for (int w = k; w < n; ++w) {
      double entry = dot_spread(unknowns_[w], combined_.data());
      if (unknowns_[w].block == u.block) entry += proximal * weight * product(u, unknowns_[w]);
      lu_.row(k)[w] = entry * (scale_[k] * scale_[w]);
    }
    lu_.row(k)[k] += proximal * u.compliance * scale_[k] * scale_[k];
  }
  if (!lu_.factor_symmetric()) return false;

  x_.assign(n, 0.0);
  step_.resize(n);
  multiplier_.assign(problem.size, 0.0);
  residual_.resize(problem.size);
  difference_.resize(problem.size);
  lam_.assign(problem.size, 0.0);
  for (const Block& block : problem.blocks) {
    if (block.kind != BlockKind::interval) continue;
    if (touching_[block.first] == RowMode::upper) lam_[block.first] = block.bound;
    if (touching_[block.first] == RowMode::lower) lam_[block.first] = -block.bound;
  }
  for (int round = 0;; ++round) {
    for (int i = 0; i < problem.size; ++i) difference_[i] = given_[i] - lam_[i];
    for (int i = 0; i < problem.size; ++i) {
      residual_[i] = strip_dot(problem.row(i), difference_.data(), problem.size);
      if (round > 0) multiplier_[i] += residual_[i] / proximal;
      if (!std::isfinite(residual_[i])) return false;
    }
    if (round == corrections) return true;
    for (int k = 0; k < n; ++k) step_[k] = dot_spread(unknowns_[k], residual_.data()) * scale_[k];
    lu_.solve(step_.data());
    for (int k = 0; k < n; ++k) step_[k] *= scale_[k];
    spread(unknowns_, step_.data(), lam_.data());
  }
}

// Bounds that are broken become touching; touching bounds whose multiplier has the wrong sign are let go.
int ImpulseChoice::update_touching(const ContactProblem& problem, const RowMode* mode, bool only_first) {
  double largest = 0.0;
  for (const Block& block : problem.blocks) {
    for (int i = block.first; i < block.first + block.dim; ++i)
      largest = std::max(largest, problem.mobility(block) * std::abs(given_[i]));
  }
  const double broken = 1e-12 * largest, wrong = 1e-6 * largest;
  int changes = 0;
  turned_ = 0.0;
  const auto apply = [&](const Change& c) {
    std::fill(touching_.begin() + c.row, touching_.begin() + c.row + c.rows, c.next);
  };
  for (int k = 0; k < static_cast<int>(problem.blocks.size()); ++k) {
    const Block& block = problem.blocks[k];
    const int n = block.first;
    if (block.kind == BlockKind::equality || mode[n] == RowMode::free) continue;
    const double R = problem.mobility(block);
    const auto gradient = [&](int row) { return R * lam_[row] - multiplier_[row]; };
    const auto interval = [&](int row, double bound, double excess_of, Change& change) {
      if (touching_[row] == RowMode::hold) {
        const double excess = R * (std::abs(excess_of) - bound);
        if (excess > broken)
          worse(change, {excess, excess_of > 0.0 ? RowMode::upper : RowMode::lower, row, 1, k});
      } else {
        const double pull = touching_[row] == RowMode::upper ? gradient(row) : -gradient(row);
        if (pull > wrong) worse(change, {pull, RowMode::hold, row, 1, k});
      }
    };
    Change change;
    const int tangents = block.kind == BlockKind::contact ? block.tangents() : 0;
    if (block.kind == BlockKind::interval) {
      if (mode[n] == RowMode::hold) interval(n, block.bound, lam_[n], change);
    } else if (touching_[n] == RowMode::free) {
      double pull = -gradient(n), sideways = 0.0;
      for (int i = 0; i < tangents; ++i) {
        const double t = block.mu[i] * gradient(n + 1 + i);
        // What slides is tied to its normal, whichever way the multiplier points.
        if (mode[n + 1] == RowMode::slide)
          pull += t * directions_[k].d[i];
        else if (mode[n + 1 + i] == RowMode::upper || mode[n + 1 + i] == RowMode::lower)
          pull -= mode[n + 1 + i] == RowMode::upper ? t : -t;
        else if (problem.law == FrictionLaw::pyramid)
          pull += std::abs(t);
        else
          sideways += t * t;
      }
      pull += std::sqrt(sideways);
      if (pull > wrong) {
        worse(change, {pull, RowMode::hold, n, block.dim, k});
      }
    } else if (R * lam_[n] < -broken) {
      worse(change, {-R * lam_[n], RowMode::free, n, block.dim, k});
    } else if (tangents > 0 && problem.law == FrictionLaw::pyramid) {
      for (int i = 0; i < tangents; ++i) {
        if (mode[n + 1 + i] == RowMode::hold)
          interval(n + 1 + i, block.mu[i] * std::max(lam_[n], 0.0), lam_[n + 1 + i], change);
      }
    } else if (tangents > 0 && mode[n + 1] == RowMode::hold) {
      double force = 0.0, along = 0.0;
      for (int i = 0; i < tangents; ++i) {
        const double beta = lam_[n + 1 + i] / block.mu[i];
        force += beta * beta;
      }
      force = std::sqrt(force);
      SlideState& direction = directions_[k];
      const bool on_cone = touching_[n + 1] == RowMode::slide;
      if (on_cone || R * (force - lam_[n]) > broken) {
        double squared = 0.0;
        for (int i = 0; i < tangents; ++i) {
          const double d = force > 0.0 ? -lam_[n + 1 + i] / (block.mu[i] * force) : (i == 0);
          squared += (d - direction.d[i]) * (d - direction.d[i]);
          direction.d[i] = d;
          along -= d * block.mu[i] * gradient(n + 1 + i);
        }
        direction.normal = std::max(lam_[n], 1e-300);
        direction.speed = on_cone ? std::max(-along, 0.0) : 0.0;
        if (on_cone) turned_ = std::max(turned_, std::sqrt(squared));
      }
      if (!on_cone && R * (force - lam_[n]) > broken)
        worse(change, {R * (force - lam_[n]), RowMode::slide, n + 1, tangents, k});
      if (on_cone && along > wrong) worse(change, {along, RowMode::hold, n + 1, tangents, k});
    }
    if (change.violation == 0.0) continue;
    ++changes;
    apply(change);
    if (only_first) break;
  }
  // A contact that was let go comes back with its ties.
  for (int k = 0; k < static_cast<int>(problem.blocks.size()); ++k) {
    const Block& block = problem.blocks[k];
    if (block.kind != BlockKind::contact || touching_[block.first] == RowMode::free) continue;
    for (int i = 1; i < block.dim; ++i) {
      const RowMode moved = mode[block.first + i];
      if (moved != RowMode::hold)
        touching_[block.first + i] = moved == RowMode::slide ? RowMode::yield : moved;
    }
  }
  return changes;
}

bool ImpulseChoice::choose(const ContactProblem& problem, const RowMode* mode, const SlideState* slides,
                           double* lam) {
  given_.assign(lam, lam + problem.size);
  touching_.assign(mode, mode + problem.size);
  std::replace(touching_.begin(), touching_.end(), RowMode::slide, RowMode::yield);
  directions_.assign(slides, slides + problem.blocks.size());
  seen_.clear();
  bool careful = false;  // after a cycle one bound at a time, the first: on plain bounds this always ends
  for (int pass = 0; pass < most_passes; ++pass) {
    if (!solve_touching(problem, 3)) return false;
    const std::uint64_t hash = hash_modes(touching_.data(), problem.size);
    if (update_touching(problem, mode, careful) == 0) {
      if (turned_ > settled) continue;
      if (!solve_touching(problem, 12)) return false;
      std::copy(lam_.begin(), lam_.end(), lam);
      return true;
    }
    if (std::find(seen_.begin(), seen_.end(), hash) != seen_.end()) {
      if (!careful) seen_.clear();
      careful = true;
    }
    seen_.push_back(hash);
  }
  return false;
}

}  // namespace articula
