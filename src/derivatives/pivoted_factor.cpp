#include "pivoted_factor.hpp"

#include <algorithm>
#include <cmath>

#include "articula/math/strips.hpp"

namespace articula {

void PivotedFactor::resize(int n) {
  n_ = n;
  stride_ = (n + 3) / 4 * 4;
  a_.resize(static_cast<std::size_t>(n) * stride_);
  order_.resize(n);
  place_.resize(n);
  inverse_pivot_.resize(n);
  diagonal_.resize(n);
  permuted_.resize(n);
}

// Row k of U is what is left of the row with the largest share of its diagonal; all rows below lose their
// part of it. Columns keep their places, so that nothing but rows is exchanged.
bool PivotedFactor::factor(double least) {
  for (int i = 0; i < n_; ++i) {
    order_[i] = i;
    diagonal_[i] = row(i)[i];
    if (!std::isfinite(diagonal_[i])) return false;
    std::fill(row(i) + n_, row(i) + stride_, 0.0);
  }
  rank_ = 0;
  smallest_ = 1e300;
  largest_ = 0.0;
  for (int k = 0; k < n_; ++k) {
    int best = -1;
    double share = least;
    for (int i = k; i < n_; ++i) {
      const int r = order_[i];
      if (!(diagonal_[r] > 0.0)) continue;
      const double left = row(i)[r] / diagonal_[r];
      if (left > share) best = i, share = left;
    }
    if (best < 0) break;
    if (best != k) {
      std::swap_ranges(row(k), row(k) + stride_, row(best));
      std::swap(order_[k], order_[best]);
    }
    const double* pivot_row = row(k);
    const int c = order_[k];
    const double pivot = pivot_row[c];
    smallest_ = std::min(smallest_, pivot);
    largest_ = std::max(largest_, pivot);
    inverse_pivot_[k] = 1.0 / pivot;
    ++rank_;
    for (int i = k + 1; i < n_; ++i) {
      double* target = row(i);
      strip_add(target, pivot_row, -target[c] * inverse_pivot_[k], stride_);
    }
  }
  for (int i = 0; i < n_; ++i) place_[order_[i]] = i;
  // U in its own order of columns, so that solves run along rows.
  for (int k = 0; k < rank_; ++k) {
    for (int j = 0; j < n_; ++j) permuted_[j] = row(k)[order_[j]];
    std::copy(permuted_.begin(), permuted_.end(), row(k));
  }
  return true;
}

void PivotedFactor::solve(double* x) const {
  for (int k = 0; k < rank_; ++k) permuted_[k] = x[order_[k]];
  double* y = permuted_.data();
  const auto u = [&](int k) { return a_.data() + static_cast<std::size_t>(k) * stride_; };
  for (int k = 0; k < rank_; ++k)
    strip_add(y + k + 1, u(k) + k + 1, -y[k] * inverse_pivot_[k], rank_ - k - 1);
  for (int k = rank_ - 1; k >= 0; --k)
    y[k] = (y[k] - strip_dot(u(k) + k + 1, y + k + 1, rank_ - k - 1)) * inverse_pivot_[k];
  std::fill(x, x + n_, 0.0);
  for (int k = 0; k < rank_; ++k) x[order_[k]] = y[k];
}

void PivotedFactor::solve_columns(double* x, int stride, int columns) {
  const auto at = [&](int k) { return x + static_cast<std::size_t>(order_[k]) * stride; };
  for (int k = 0; k < rank_; ++k) {
    const double* u = row(k);
    for (int j = k + 1; j < rank_; ++j) strip_add(at(j), at(k), -u[j] * inverse_pivot_[k], columns);
  }
  for (int k = rank_ - 1; k >= 0; --k) {
    const double* u = row(k);
    for (int j = k + 1; j < rank_; ++j) strip_add(at(k), at(j), -u[j], columns);
    for (int c = 0; c < columns; ++c) at(k)[c] *= inverse_pivot_[k];
  }
  for (int k = rank_; k < n_; ++k) std::fill(at(k), at(k) + columns, 0.0);
}

}  // namespace articula
