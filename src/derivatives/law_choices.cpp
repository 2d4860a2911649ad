// How redundant contacts that slide could share their load otherwise (law_system.hpp).

#include <algorithm>
#include <cmath>

#include "articula/math/strips.hpp"
#include "law_system.hpp"

namespace articula {

namespace {

constexpr double counts = 1e-8;  // of a null vector: what slides has a share in it

// What moves under its own force: its equation is not that of its impulse, or has a compliance.
bool sliding(const ModeUnknown& u) {
  return u.across || u.compliance != 0.0 || !std::equal(u.along, u.along + u.tangents, u.equation);
}

}  // namespace

// The largest impulse of what slides in a null vector, relative to the largest of all, as weights measure
// them.
double LawSystem::sliding_share(const double* z) const {
  double largest = 0.0, slides = 0.0;
  for (std::size_t k = 0; k < unknowns_.size(); ++k) {
    const double squared = z[k] * z[k] * unknowns_[k].weight;
    largest = std::max(largest, squared);
    if (sliding(unknowns_[k])) slides = std::max(slides, squared);
  }
  return largest > 0.0 ? std::sqrt(slides / largest) : 0.0;
}

void LawSystem::find_yielding(const double* lam) {
  constexpr double all = 1.0 - 1e-9;
  yields_ = false;
  for (const Block& block : problem_.blocks) {
    const int n = block.first;
    if (block.kind != BlockKind::contact || block.dim == 1 || !(lam[n] > 0.0)) continue;
    double squared = 0.0;
    for (int i = 0; i < block.tangents(); ++i) {
      if (mode_[n + 1 + i] != RowMode::hold) continue;
      const double used = lam[n + 1 + i] / (block.mu[i] * lam[n]);
      squared += used * used;
      yields_ |= problem_.law == FrictionLaw::pyramid && std::abs(used) >= all;
    }
    yields_ |= problem_.law == FrictionLaw::cone && squared >= all * all;
  }
}

// Combines vectors so that all but the first few are zero where something slides; returns how many those are.
int LawSystem::put_sliding_first(std::vector<double>& vectors) const {
  const int n = unknowns(), many = n == 0 ? 0 : static_cast<int>(vectors.size()) / n;
  const auto vector = [&](int j) { return vectors.data() + static_cast<std::size_t>(j) * n; };
  std::vector<double> scale(n);
  std::vector<int> slide;
  for (int k = 0; k < n; ++k) {
    scale[k] = std::sqrt(unknowns_[k].weight);
    if (sliding(unknowns_[k])) slide.push_back(k);
  }
  const auto size = [&](int j, int k) { return std::abs(vector(j)[k]) * scale[k]; };
  for (int j = 0; j < many; ++j) {
    double largest = 0.0;
    for (int k = 0; k < n; ++k) largest = std::max(largest, size(j, k));
    for (int k = 0; k < n && largest > 0.0; ++k) vector(j)[k] /= largest;
  }
  for (int first = 0; first < many; ++first) {
    int row = -1, pivot = -1;
    double best = counts;
    for (int j = first; j < many; ++j) {
      for (int k : slide) {
        if (size(j, k) > best) best = size(j, k), row = j, pivot = k;
      }
    }
    if (row < 0) return first;
    std::swap_ranges(vector(first), vector(first) + n, vector(row));
    for (int j = first + 1; j < many; ++j)
      strip_add(vector(j), vector(first), -vector(j)[pivot] / vector(first)[pivot], n);
  }
  return many;
}

// What does not slide has Z0 = Y0. Then  Z <- Z - Z0 (Z0^T Q Z0)^-1 Z0^T Q Z, and Y alike: choices apart.
int LawSystem::find_choices(bool all) {
  if (choices_found_ == all) return choices();
  choices_found_ = all;
  choice_z_.clear();
  choice_y_.clear();
  if (regular() || symmetric_) return 0;
  find_null_spaces();
  if (sliding_share_ <= counts) return 0;
  const int n = unknowns();
  std::vector<double> Z = Z_, Y = Y_, Q(n);
  const int count = put_sliding_first(Z), others = n - rank() - count;
  if (count == 0 || put_sliding_first(Y) != count) return 0;
  if (all) {
    choice_z_ = std::move(Z);
    choice_y_ = std::move(Y);
    return choices();
  }
  const double* Z0 = Z.data() + static_cast<std::size_t>(count) * n;
  const auto still = [&](int j) { return Z0 + static_cast<std::size_t>(j) * n; };
  RankFactor H0;
  H0.resize(others);
  for (int j = 0; j < others; ++j) {
    soften(still(j), false, Q.data());
    for (int i = 0; i < others; ++i) H0.row(i)[j] = strip_dot(still(i), Q.data(), n);
  }
  if (!H0.factor(1e-12, true)) return 0;
  std::vector<double> part(others);
  const auto clear_of_others = [&](double* x, bool transposed) {
    soften(x, transposed, Q.data());
    for (int j = 0; j < others; ++j) part[j] = strip_dot(still(j), Q.data(), n);
    H0.solve(part.data());
    for (int j = 0; j < others; ++j) strip_add(x, still(j), -part[j], n);
  };
  for (int j = 0; j < count; ++j) {
    clear_of_others(Z.data() + static_cast<std::size_t>(j) * n, false);
    clear_of_others(Y.data() + static_cast<std::size_t>(j) * n, true);
  }
  choice_z_.assign(Z.begin(), Z.begin() + static_cast<std::ptrdiff_t>(count) * n);
  choice_y_.assign(Y.begin(), Y.begin() + static_cast<std::ptrdiff_t>(count) * n);
  return count;
}

void LawSystem::choice_impulses(int choice, double* lam) const {
  spread(unknowns_, choice_z_.data() + static_cast<std::size_t>(choice) * unknowns(), lam);
}

void LawSystem::choice_covectors(int choice, double* c_bar, double* rho_bar) {
  const double* y = choice_y_.data() + static_cast<std::size_t>(choice) * unknowns();
  x_.assign(y, y + unknowns());
  std::vector<double> none(problem_.size, 0.0);
  take_back(none.data(), c_bar, rho_bar);
}

void LawSystem::against(const double* rho_bar, double* sigma_bar, double* lam_bar) const {
  std::vector<double> minus(problem_.size, 0.0);
  add_explicit_transposed(rho_bar, minus.data());
  for (int i = 0; i < problem_.size; ++i) sigma_bar[i] -= minus[i];
  for (size_t k = 0; k < problem_.blocks.size(); ++k) {
    const Block& block = problem_.blocks[k];
    const int n = block.first;
    const bool contact = block.kind == BlockKind::contact;
    for (int i = n; i < n + block.dim; ++i) {
      if (mode_[i] == RowMode::hold) continue;
      lam_bar[i] += rho_bar[i];
      if (!contact || i == n) continue;
      const double mu = block.mu[i - n - 1];
      if (mode_[i] == RowMode::slide) lam_bar[n] += mu * slides_[k].d[i - n - 1] * rho_bar[i];
      if (mode_[i] == RowMode::upper || mode_[i] == RowMode::yield_upper) lam_bar[n] -= mu * rho_bar[i];
      if (mode_[i] == RowMode::lower || mode_[i] == RowMode::yield_lower) lam_bar[n] += mu * rho_bar[i];
    }
  }
}

}  // namespace articula
