#include "articula/math/lu.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "articula/math/strips.hpp"

namespace articula {

namespace {

int padded(int n) { return (n + 3) / 4 * 4; }

}  // namespace

void LuFactor::reserve(int capacity) {
  a_.reserve(static_cast<std::size_t>(capacity) * padded(capacity));
  inverse_pivot_.reserve(capacity);
  swap_.reserve(capacity);
}

void LuFactor::resize(int n) {
  n_ = n;
  stride_ = padded(n);
  a_.resize(static_cast<std::size_t>(n) * stride_);
  inverse_pivot_.resize(n);
  swap_.resize(n);
}

// Rows below k lose their k-th column: a_i -= (a_ik / a_kk) a_k, and keep the multiplier in its place.
void LuFactor::eliminate_below(int k) {
  const double* pivot_row = row(k);
  for (int i = k + 1; i < n_; ++i) {
    double* target = row(i);
    const double multiplier = target[k] * inverse_pivot_[k];
    target[k] = multiplier;
    if (multiplier != 0.0) strip_add(target + k + 1, pivot_row + k + 1, -multiplier, n_ - k - 1);
  }
}

bool LuFactor::factor() {
  double smallest = 1e300, largest = 0.0;
  for (int k = 0; k < n_; ++k) {
    int best = k;
    for (int i = k + 1; i < n_; ++i) {
      if (std::abs(row(i)[k]) > std::abs(row(best)[k])) best = i;
    }
    swap_[k] = best;
    if (best != k) std::swap_ranges(row(k), row(k) + n_, row(best));
    const double pivot = row(k)[k], size = std::abs(pivot);
    if (!(size > 0.0) || !std::isfinite(size)) return false;
    smallest = std::min(smallest, size);
    largest = std::max(largest, size);
    inverse_pivot_[k] = 1.0 / pivot;
    eliminate_below(k);
  }
  pivot_ratio_ = n_ == 0 ? 1.0 : smallest / largest;
  return true;
}

void LuFactor::solve(double* x) const {
  for (int k = 0; k < n_; ++k) std::swap(x[k], x[swap_[k]]);
  for (int i = 1; i < n_; ++i) x[i] -= strip_dot(row(i), x, i);
  for (int i = n_ - 1; i >= 0; --i) {
    x[i] = (x[i] - strip_dot(row(i) + i + 1, x + i + 1, n_ - i - 1)) * inverse_pivot_[i];
  }
}

void LuFactor::solve_columns(double* x, int stride, int columns) const {
  const auto at = [&](int i) { return x + static_cast<std::size_t>(i) * stride; };
  for (int k = 0; k < n_; ++k) {
    if (swap_[k] != k) std::swap_ranges(at(k), at(k) + columns, at(swap_[k]));
  }
  for (int i = 1; i < n_; ++i) {
    for (int j = 0; j < i; ++j) strip_add(at(i), at(j), -row(i)[j], columns);
  }
  for (int i = n_ - 1; i >= 0; --i) {
    for (int j = i + 1; j < n_; ++j) strip_add(at(i), at(j), -row(i)[j], columns);
    for (int c = 0; c < columns; ++c) at(i)[c] *= inverse_pivot_[i];
  }
}

// A^T = U^T L^T P: row by row, what is known is subtracted from all that follows.
void LuFactor::solve_transposed(double* x) const {
  for (int i = 0; i < n_; ++i) {
    const double* a = row(i);
    x[i] *= inverse_pivot_[i];
    strip_add(x + i + 1, a + i + 1, -x[i], n_ - i - 1);
  }
  for (int i = n_ - 1; i >= 0; --i) {
    strip_add(x, row(i), -x[i], i);
  }
  for (int k = n_ - 1; k >= 0; --k) std::swap(x[k], x[swap_[k]]);
}

}  // namespace articula
