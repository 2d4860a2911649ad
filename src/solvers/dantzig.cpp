#include "articula/solvers/dantzig.hpp"

#include <cmath>
#include <limits>

namespace articula {

namespace {

bool is_tangent(const Block& block, int row) { return block.kind == BlockKind::contact && row > block.first; }

bool at_bound(RowMode mode) { return mode == RowMode::upper || mode == RowMode::lower; }

}  // namespace

void Dantzig::reserve(int rows) {
  block_of_.reserve(rows);
  placed_.reserve(rows);
  for (std::vector<double>* vector : {&sigma_, &step_, &x_, &dsigma_}) vector->reserve(rows);
}

// What the impulses do when the driven one grows: K dx = -A^T G e.
void Dantzig::find_direction(const ContactProblem& problem, ModeSystem& system, int driven, double sign) {
  const auto& unknowns = system.unknowns();
  x_.resize(unknowns.size());
  for (std::size_t k = 0; k < unknowns.size(); ++k)
    x_[k] = -sign * system.gather(unknowns[k], problem.row(driven));
  system.solve_factored(x_.data());
  step_.assign(problem.size, 0.0);
  system.spread(x_.data(), step_.data());
  step_[driven] += sign;
  contact_velocities(problem, step_.data(), dsigma_.data());
  for (int i = 0; i < problem.size; ++i) dsigma_[i] -= problem.b[i];
}

Dantzig::Event Dantzig::first_event(const ContactProblem& problem, int driven, const RowMode* mode,
                                    const double* lam) const {
  Event first{.length = std::numeric_limits<double>::infinity()};
  // A gap that closes at a rate; what is closed already closes at once.
  const auto offer = [&](double gap, double rate, int row, RowMode next) {
    if (!(rate > 0.0)) return;
    const double length = std::max(gap, 0.0) / rate;
    if (length < first.length) first = {length, row, next};
  };
  for (int i = 0; i < problem.size; ++i) {
    const Block& block = problem.blocks[block_of_[i]];
    const bool tangent = is_tangent(block, i);
    if (block.kind == BlockKind::equality && i != driven) continue;
    if (i == driven) offer(std::abs(sigma_[i]), sigma_[i] > 0.0 ? -dsigma_[i] : dsigma_[i], i, RowMode::hold);
    if (i == driven || mode[i] == RowMode::hold) {
      if (tangent || block.kind == BlockKind::interval) {
        const double mu = tangent ? block.mu[i - block.first - 1] : 0.0;
        const double bound = tangent ? mu * lam[block.first] : block.bound;
        const double widening = tangent ? mu * step_[block.first] : 0.0;
        offer(bound - lam[i], step_[i] - widening, i, RowMode::upper);
        offer(bound + lam[i], -step_[i] - widening, i, RowMode::lower);
      } else if (block.kind != BlockKind::equality) {
        offer(lam[i], -step_[i], i, RowMode::free);
      }
    } else if (placed_[i] && mode[i] == RowMode::free && !tangent) {
      offer(sigma_[i], -dsigma_[i], i, RowMode::hold);
    } else if (at_bound(mode[i])) {
      const double away = mode[i] == RowMode::upper ? -1.0 : 1.0;  // sigma points there
      offer(away * sigma_[i], -away * dsigma_[i], i, RowMode::hold);
    }
  }
  return first;
}

// Contacts open and close as a whole; the tangents of one that closes have no force yet and oppose the slip.
void Dantzig::change(const ContactProblem& problem, const Event& event, RowMode* mode, double* lam) {
  const Block& block = problem.blocks[block_of_[event.row]];
  mode[event.row] = event.next;
  if (block.kind != BlockKind::contact || event.row != block.first) return;
  for (int i = block.first; i < block.first + block.dim; ++i) {
    if (event.next == RowMode::free) {
      mode[i] = RowMode::free;
      lam[i] = 0.0;
    } else if (i > block.first && placed_[i]) {
      mode[i] = sigma_[i] > 0.0 ? RowMode::lower : sigma_[i] < 0.0 ? RowMode::upper : RowMode::hold;
    }
  }
}

bool Dantzig::drive(const ContactProblem& problem, ModeSystem& system, int row, RowMode* mode,
                    SlideState* slides, double* lam) {
  const Block& block = problem.blocks[block_of_[row]];
  const bool one_sided =
      block.kind == BlockKind::unilateral || (block.kind == BlockKind::contact && row == block.first);
  placed_[row] = true;
  mode[row] = RowMode::free;
  if (is_tangent(block, row) && mode[block.first] == RowMode::free) return true;
  contact_velocities(problem, lam, sigma_.data());
  if (one_sided && sigma_[row] >= 0.0) return true;
  const double sign = sigma_[row] > 0.0 ? -1.0 : 1.0;
  while (pivots_left_-- > 0) {
    if (!system.linearise(problem, mode, slides)) return false;
    find_direction(problem, system, row, sign);
    const Event event = first_event(problem, row, mode, lam);
    if (!std::isfinite(event.length)) return false;
    for (int i = 0; i < problem.size; ++i) {
      lam[i] += event.length * step_[i];
      sigma_[i] += event.length * dsigma_[i];
    }
    change(problem, event, mode, lam);
    if (event.row == row || (is_tangent(block, row) && mode[block.first] == RowMode::free)) return true;
  }
  return false;
}

bool Dantzig::solve(const ContactProblem& problem, ModeSystem& system, RowMode* mode, SlideState* slides,
                    double* lam) {
  const int n = problem.size;
  block_of_.resize(n);
  placed_.assign(n, false);
  sigma_.resize(n);
  dsigma_.resize(n);
  std::fill(lam, lam + n, 0.0);
  pivots_left_ = 20 + 6 * n;
  for (std::size_t k = 0; k < problem.blocks.size(); ++k) {
    const Block& block = problem.blocks[k];
    std::fill_n(block_of_.begin() + block.first, block.dim, static_cast<int>(k));
    if (block.kind != BlockKind::equality) std::fill_n(mode + block.first, block.dim, RowMode::free);
  }
  // Equalities first, all at once; then everything but tangents.
  if (!system.linearise(problem, mode, slides)) return false;
  const auto& unknowns = system.unknowns();
  x_.resize(unknowns.size());
  for (std::size_t k = 0; k < unknowns.size(); ++k) x_[k] = -system.gather(unknowns[k], problem.b);
  system.solve_factored(x_.data());
  system.spread(x_.data(), lam);
  for (const bool tangents : {false, true}) {
    for (int i = 0; i < n; ++i) {
      const Block& block = problem.blocks[block_of_[i]];
      if (block.kind == BlockKind::equality || is_tangent(block, i) != tangents) continue;
      if (!drive(problem, system, i, mode, slides, lam)) return false;
    }
  }
  return true;
}

}  // namespace articula
