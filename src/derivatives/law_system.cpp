#include "law_system.hpp"

#include <algorithm>
#include <cmath>

#include "articula/math/strips.hpp"

namespace articula {

bool LawSystem::prepare(const ContactProblem& problem, const RowMode* mode, const double* lam,
                        const double* sigma) {
  problem_ = problem;
  mode_.assign(mode, mode + problem.size);
  slides_.assign(problem.blocks.size(), {});
  for (size_t k = 0; k < problem.blocks.size(); ++k) {
    const Block& block = problem.blocks[k];
    const int t = block.first + 1;
    if (block.kind != BlockKind::contact || block.dim == 1) continue;
    if (mode_[t] != RowMode::slide) continue;
    SlideState& slide = slides_[k];
    for (int i = 0; i < block.tangents(); ++i) slide.speed += std::pow(block.mu[i] * sigma[t + i], 2);
    slide.speed = std::sqrt(slide.speed);
    slide.normal = std::max(lam[block.first], 1e-300);
    for (int i = 0; i < block.tangents(); ++i) slide.d[i] = block.mu[i] * sigma[t + i] / slide.speed;
  }
  rows_.resize(problem.size);
  more_rows_.resize(problem.size);
  list_unknowns(problem_, mode_.data(), slides_.data(), rows_held_);
  symmetric_ = std::all_of(rows_held_.begin(), rows_held_.end(),
                           [](const ModeUnknown& u) { return u.tangents == 0 && u.compliance == 0.0; });
  unknowns_ = symmetric_ ? &rows_held_ : &system_.unknowns();
  idle_.clear();
  for (const Block& block : problem.blocks) {
    for (int i = block.first + 1; i < block.first + block.dim && block.kind == BlockKind::contact; ++i) {
      if (mode_[i] == RowMode::hold && problem.g(i, i) <= 1e-20 * problem.mobility(block)) idle_.push_back(i);
    }
  }
  return symmetric_ ? hold_rows() : system_.linearise(problem_, mode_.data(), slides_.data());
}

bool LawSystem::hold_rows() {
  const int n = static_cast<int>(rows_held_.size());
  held_.resize(n);
  for (int k = 0; k < n; ++k) {
    const double* g = problem_.row(rows_held_[k].row);
    double* row = held_.row(k);
    for (int w = 0; w < n; ++w) row[w] = g[rows_held_[w].row];
  }
  return held_.factor(1e-10);
}

// What the rows that were left out have to say tells whether all of them can be obeyed.
void LawSystem::solve_held() {
  const int n = unknowns();
  x_ = rhs_;
  held_.solve(x_.data());
  inconsistency_ = 0.0;
  if (held_.rank() == n) return;
  double scale = 0.0;
  for (double r : rhs_) scale = std::max(scale, std::abs(r));
  for (int k = 0; k < n && scale > 0.0; ++k) {
    if (held_.independent(k)) continue;
    double product = 0.0;
    for (int w = 0; w < n; ++w) product += problem_.g(rows_held_[k].row, rows_held_[w].row) * x_[w];
    inconsistency_ = std::max(inconsistency_, std::abs(rhs_[k] - product) / scale);
  }
}

// The proximal term of the factor is iterated away, as in the step itself. Residuals need K times x: G is at
// hand.
void LawSystem::solve_unknowns(bool transposed) {
  const auto& unknowns = *unknowns_;
  const int n = static_cast<int>(unknowns.size());
  x_.assign(n, 0.0);
  step_ = rhs_;
  if (symmetric_) {
    solve_held();
    return;
  }
  double scale = 0.0, previous = 1e300;
  for (double r : rhs_) scale = std::max(scale, std::abs(r));
  inconsistency_ = 0.0;
  if (!(scale > 0.0)) return;
  for (int round = 0; round < 6; ++round) {
    transposed ? system_.factor().solve_transposed(step_.data()) : system_.factor().solve(step_.data());
    for (int k = 0; k < n; ++k) x_[k] += step_[k];
    // K x = A^T G B x + C x, or its transpose
    std::fill(rows_.begin(), rows_.end(), 0.0);
    transposed ? spread_equations(x_.data(), rows_.data()) : spread(unknowns, x_.data(), rows_.data());
    for (int i = 0; i < problem_.size; ++i)
      more_rows_[i] = strip_dot(problem_.row(i), rows_.data(), problem_.size);
    double error = 0.0;
    for (int k = 0; k < n; ++k) {
      const double product =
          transposed ? dot_spread(unknowns[k], more_rows_.data()) : gather(unknowns[k], more_rows_.data());
      step_[k] = rhs_[k] - product - unknowns[k].compliance * x_[k];
      error = std::max(error, std::abs(step_[k]));
    }
    inconsistency_ = error / scale;
    if (inconsistency_ <= 1e-15 || error > 0.5 * previous) return;
    if (round == 1 && system_.regular()) return;
    previous = error;
  }
}

void LawSystem::spread_equations(const double* x, double* sigma) const {
  for (std::size_t k = 0; k < unknowns_->size(); ++k) {
    const ModeUnknown& u = (*unknowns_)[k];
    if (!u.across) sigma[u.row] += x[k];
    for (int i = 0; i < u.tangents; ++i) sigma[u.row + 1 + i] += u.equation[i] * x[k];
  }
}

void LawSystem::solve(const double* c, const double* rho, double* dlam) {
  const auto& unknowns = *unknowns_;
  std::fill(dlam, dlam + problem_.size, 0.0);
  for (size_t k = 0; k < problem_.blocks.size(); ++k) {
    const Block& block = problem_.blocks[k];
    for (int i = block.first; i < block.first + block.dim; ++i) {
      if (mode_[i] != RowMode::hold && mode_[i] != RowMode::slide) dlam[i] = rho[i];
    }
    const int t = block.first + 1;
    if (block.kind != BlockKind::contact || block.dim == 1 || mode_[t] != RowMode::slide) continue;
    double forward = 0.0;
    for (int i = 0; i < block.tangents(); ++i) forward += slides_[k].d[i] * rho[t + i] / block.mu[i];
    for (int i = 0; i < block.tangents(); ++i) dlam[t + i] = block.mu[i] * slides_[k].d[i] * forward;
  }
  for (int i = 0; i < problem_.size; ++i) rows_[i] = c[i] + strip_dot(problem_.row(i), dlam, problem_.size);
  rhs_.resize(unknowns.size());
  for (size_t k = 0; k < unknowns.size(); ++k) {
    const ModeSystem::Unknown& u = unknowns[k];
    rhs_[k] = -gather(u, rows_.data());
    if (!u.across) {
      rhs_[k] += rho[u.row];
      continue;
    }
    const Block& block = problem_.blocks[u.block];
    for (int i = 0; i < u.tangents; ++i)
      rhs_[k] += u.compliance * u.along[i] / (block.mu[i] * block.mu[i]) * rho[u.row + 1 + i];
  }
  solve_unknowns(false);
  spread(unknowns, x_.data(), dlam);
  double scale = 0.0;
  for (double r : rhs_) scale = std::max(scale, std::abs(r));
  for (int i : idle_) {
    const double off = std::abs(rho[i] - rows_[i]);
    if (off > 0.0) inconsistency_ = std::max(inconsistency_, off / std::max(off, scale));
  }
}

// Of all columns of right_ together, weighted so that they do not cancel.
void LawSystem::note_inconsistency(int columns) {
  inconsistency_ = 0.0;
  if (held_.rank() == unknowns()) return;
  rhs_.assign(unknowns(), 0.0);
  for (int k = 0; k < unknowns(); ++k) {
    double weight = 1.0;
    for (int c = 0; c < columns; ++c, weight = weight > 1.6 ? weight - 0.6180339887 : weight + 0.3819660113)
      rhs_[k] += weight * right_[static_cast<std::size_t>(k) * columns + c];
  }
  solve_held();
}

// As `solve`, with the explicit changes of sigma in c and no rho: what a law holds fixed stays so.
void LawSystem::solve_columns(double* rows, int stride) {
  const auto& unknowns = *unknowns_;
  const std::size_t n = unknowns.size(), columns = stride, size = problem_.size;
  right_.assign(n * columns, 0.0);
  for (std::size_t k = 0; k < n; ++k) {
    const ModeSystem::Unknown& u = unknowns[k];
    double* to = right_.data() + k * columns;
    if (!u.across) {
      for (std::size_t c = 0; c < columns; ++c) to[c] = -rows[u.row * columns + c];
      continue;
    }
    for (int i = 0; i < u.tangents; ++i) strip_add(to, rows + (u.row + 1 + i) * columns, -u.along[i], stride);
  }
  if (symmetric_) {
    note_inconsistency(stride);
    held_.solve_columns(right_.data(), stride, stride);
    std::fill(rows, rows + size * columns, 0.0);
    for (std::size_t k = 0; k < n; ++k)
      std::copy_n(right_.data() + k * columns, columns, rows + unknowns[k].row * columns);
    return;
  }
  solution_.assign(n * columns, 0.0);
  correction_ = right_;
  // Rows whose load others could carry make K singular: its proximal term is iterated away.
  const int rounds = system_.regular() ? 1 : 4;
  if (rounds > 1) list_active_rows();
  for (int round = 0; round < rounds; ++round) {
    system_.factor().solve_columns(correction_.data(), stride, stride);
    strip_add(solution_.data(), correction_.data(), 1.0, static_cast<int>(n * columns));
    if (round + 1 == rounds) break;
    product_.assign(size * columns, 0.0);
    std::fill(rows, rows + size * columns, 0.0);
    spread_columns(rows, stride);
    for (const int i : active_rows_) {
      for (const int j : active_rows_) {
        const double g = problem_.g(i, j);
        if (g != 0.0) strip_add(product_.data() + i * columns, rows + j * columns, g, stride);
      }
    }
    for (std::size_t k = 0; k < n; ++k) {
      const ModeSystem::Unknown& u = unknowns[k];
      double* to = correction_.data() + k * columns;
      for (std::size_t c = 0; c < columns; ++c)
        to[c] = right_[k * columns + c] - u.compliance * solution_[k * columns + c];
      if (!u.across) strip_add(to, product_.data() + u.row * columns, -1.0, stride);
      for (int i = 0; i < u.tangents && u.across; ++i)
        strip_add(to, product_.data() + (u.row + 1 + i) * columns, -u.along[i], stride);
    }
  }
  std::fill(rows, rows + size * columns, 0.0);
  spread_columns(rows, stride);
}

// Rows that unknowns act on, or whose velocities their equations ask for.
void LawSystem::list_active_rows() {
  active_rows_.clear();
  for (const ModeSystem::Unknown& u : *unknowns_) {
    if (!u.across) active_rows_.push_back(u.row);
    for (int i = 0; i < u.tangents; ++i) active_rows_.push_back(u.row + 1 + i);
  }
  std::sort(active_rows_.begin(), active_rows_.end());
  active_rows_.erase(std::unique(active_rows_.begin(), active_rows_.end()), active_rows_.end());
}

void LawSystem::spread_columns(double* rows, int stride) const {
  const auto& unknowns = *unknowns_;
  for (std::size_t k = 0; k < unknowns.size(); ++k) {
    const ModeSystem::Unknown& u = unknowns[k];
    const double* x = solution_.data() + k * stride;
    if (!u.across) strip_add(rows + static_cast<std::size_t>(u.row) * stride, x, 1.0, stride);
    for (int i = 0; i < u.tangents; ++i)
      strip_add(rows + static_cast<std::size_t>(u.row + 1 + i) * stride, x, u.along[i], stride);
  }
}

void LawSystem::solve_transposed(const double* lam_bar, double* c_bar, double* rho_bar) {
  const auto& unknowns = *unknowns_;
  rhs_.resize(unknowns.size());
  for (size_t k = 0; k < unknowns.size(); ++k) rhs_[k] = dot_spread(unknowns[k], lam_bar);
  solve_unknowns(true);
  std::fill(c_bar, c_bar + problem_.size, 0.0);
  spread_equations(x_.data(), c_bar);
  for (int i = 0; i < problem_.size; ++i) c_bar[i] = -c_bar[i];
  for (int i = 0; i < problem_.size; ++i)
    rows_[i] = lam_bar[i] + strip_dot(problem_.row(i), c_bar, problem_.size);
  std::fill(rho_bar, rho_bar + problem_.size, 0.0);
  for (size_t k = 0; k < problem_.blocks.size(); ++k) {
    const Block& block = problem_.blocks[k];
    for (int i = block.first; i < block.first + block.dim; ++i) {
      if (mode_[i] != RowMode::hold && mode_[i] != RowMode::slide) rho_bar[i] = rows_[i];
    }
    const int t = block.first + 1;
    if (block.kind != BlockKind::contact || block.dim == 1 || mode_[t] != RowMode::slide) continue;
    double forward = 0.0;
    for (int i = 0; i < block.tangents(); ++i) forward += block.mu[i] * slides_[k].d[i] * rows_[t + i];
    for (int i = 0; i < block.tangents(); ++i) rho_bar[t + i] = slides_[k].d[i] / block.mu[i] * forward;
  }
  for (size_t k = 0; k < unknowns.size(); ++k) {
    const ModeSystem::Unknown& u = unknowns[k];
    if (!u.across) {
      rho_bar[u.row] += x_[k];
      continue;
    }
    const Block& block = problem_.blocks[u.block];
    for (int i = 0; i < u.tangents; ++i)
      rho_bar[u.row + 1 + i] += u.compliance * u.along[i] / (block.mu[i] * block.mu[i]) * x_[k];
  }
}

namespace {

// y = (lam_N / |w|) mu o P (mu o x), symmetric
void slide_map(const Block& block, const SlideState& slide, const double* x, double* y, double sign) {
  double forward = 0.0;
  for (int i = 0; i < block.tangents(); ++i) forward += slide.d[i] * block.mu[i] * x[i];
  const double factor = sign * slide.normal / slide.speed;
  for (int i = 0; i < block.tangents(); ++i)
    y[i] += factor * block.mu[i] * (block.mu[i] * x[i] - slide.d[i] * forward);
}

}  // namespace

bool LawSystem::slides() const {
  for (const ModeSystem::Unknown& u : *unknowns_) {
    if (u.tangents > 0) return true;
  }
  return false;
}

int LawSystem::rank() const {
  if (symmetric_) return held_.rank();
  int rank = 0;
  for (int k = 0; k < unknowns(); ++k)
    rank += std::abs(system_.factor().pivot(k)) > 1e-6 * system_.unknowns()[k].weight;
  return rank;
}

void LawSystem::add_explicit(const double* dsigma, double* rho) const {
  for (size_t k = 0; k < problem_.blocks.size(); ++k) {
    const Block& block = problem_.blocks[k];
    for (int i = block.first; i < block.first + block.dim; ++i) {
      if (mode_[i] == RowMode::hold) rho[i] -= dsigma[i];
    }
    const int t = block.first + 1;
    if (block.kind == BlockKind::contact && block.dim > 1 && mode_[t] == RowMode::slide)
      slide_map(block, slides_[k], dsigma + t, rho + t, -1.0);
  }
}

void LawSystem::add_explicit_transposed(const double* rho_bar, double* sigma_bar) const {
  add_explicit(rho_bar, sigma_bar);
}

}  // namespace articula
