#include "articula/math/lu.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "articula/math/strips.hpp"

namespace articula {

namespace {

constexpr int panel = 4;  // columns eliminated together: one pass over the rest for every four pivots

int padded(int n) { return (n + 3) / 4 * 4; }

}  // namespace

void LuFactor::reserve(int capacity) {
  a_.reserve(static_cast<std::size_t>(capacity) * padded(capacity));
  inverse_pivot_.reserve(capacity);
  swap_.reserve(capacity);
}

// Rows stay where they are while they fit: a factor may be reused.
void LuFactor::resize(int n) {
  constexpr int spare = 8;
  n_ = n;
  width_ = padded(n);
  if (width_ > stride_ || reusable_ == 0) {
    const auto fits = [&](int stride) { return static_cast<std::size_t>(n) * stride <= a_.capacity(); };
    stride_ = fits(width_ + spare) ? width_ + spare : width_;
    reusable_ = 0;
  }
  reusable_ = std::min(reusable_, n / panel * panel);
  a_.resize(static_cast<std::size_t>(n) * stride_);
  inverse_pivot_.resize(n);
  swap_.resize(n);
  for (int i = 0; i < n; ++i) std::fill(row(i) + n, row(i) + width_, 0.0);
}

bool LuFactor::accept_pivot(int k) {
  const double pivot = row(k)[k], size = std::abs(pivot);
  if (!(size > 0.0) || !std::isfinite(size)) return false;
  smallest_ = std::min(smallest_, size);
  largest_ = std::max(largest_, size);
  if (pivot < 0.0) sign_ = -sign_;
  inverse_pivot_[k] = 1.0 / pivot;
  return true;
}

// Row i, from column `from` on, loses the multiples of the panel's rows that stand in its columns k...
void LuFactor::subtract_panel(int k, int i, int from) {
  double* target = row(i);
  const Lanes m0 = broadcast(target[k]), m1 = broadcast(target[k + 1]), m2 = broadcast(target[k + 2]),
              m3 = broadcast(target[k + 3]);
  const double *r0 = row(k), *r1 = row(k + 1), *r2 = row(k + 2), *r3 = row(k + 3);
  for (int j = from; j < width_; j += 4) {
    Lanes x = load_lanes(target + j);
    x = x - m0 * load_lanes(r0 + j);
    x = x - m1 * load_lanes(r1 + j);
    x = x - m2 * load_lanes(r2 + j);
    x = x - m3 * load_lanes(r3 + j);
    store_lanes(target + j, x);
  }
}

// The same for rows `begin` to `end`, two at a time: each number of the panel is loaded for both. `group`:
// from where a row's own group of four columns begins.
void LuFactor::subtract_whole_panel(int k, int begin, int end, int from, bool group) {
  int i = begin;
  for (; i + 1 < end; i += 2) {
    double *first = row(i), *second = row(i + 1);
    Lanes m[4], w[4];
    for (int p = 0; p < panel; ++p) {
      m[p] = broadcast(first[k + p]);
      w[p] = broadcast(second[k + p]);
    }
    const double *r0 = row(k), *r1 = row(k + 1), *r2 = row(k + 2), *r3 = row(k + 3);
    for (int j = group ? i / 4 * 4 : from; j < width_; j += 4) {
      const Lanes a = load_lanes(r0 + j), b = load_lanes(r1 + j), c = load_lanes(r2 + j),
                  d = load_lanes(r3 + j);
      Lanes x = load_lanes(first + j), y = load_lanes(second + j);
      x = x - m[0] * a;
      y = y - w[0] * a;
      x = x - m[1] * b;
      y = y - w[1] * b;
      x = x - m[2] * c;
      y = y - w[2] * c;
      store_lanes(first + j, x - m[3] * d);
      store_lanes(second + j, y - w[3] * d);
    }
  }
  if (i < end) subtract_panel(k, i, group ? i / 4 * 4 : from);
}

// Columns k to k + width of L and of the pivots.
bool LuFactor::factor_panel(int k, int width) {
  for (int c = k; c < k + width; ++c) {
    int best = c;
    for (int i = c + 1; i < n_; ++i) {
      if (std::abs(row(i)[c]) > std::abs(row(best)[c])) best = i;
    }
    swap_[c] = best;
    if (best != c) {
      std::swap_ranges(row(c), row(c) + width_, row(best));
      sign_ = -sign_;
    }
    if (!accept_pivot(c)) return false;
    const double* pivot_row = row(c);
    for (int i = c + 1; i < n_; ++i) {
      double* target = row(i);
      target[c] *= inverse_pivot_[c];
      for (int j = c + 1; j < k + width; ++j) target[j] -= target[c] * pivot_row[j];
    }
  }
  return true;
}

void LuFactor::start(bool symmetric) {
  symmetric_ = symmetric;
  reusable_ = 0;
  smallest_ = 1e300;
  largest_ = 0.0;
  sign_ = 1.0;
}

bool LuFactor::factor_from(int first) {
  for (int k = first; k < n_; k += panel) {
    const int width = std::min(panel, n_ - k);
    if (!factor_panel(k, width)) return false;
    for (int c = k + 1; c < k + width; ++c) {
      for (int p = k; p < c; ++p)
        strip_add(row(c) + k + width, row(p) + k + width, -row(c)[p], width_ - k - width);
    }
    if (width == panel) subtract_whole_panel(k, k + width, n_, k + width, false);
  }
  return true;
}

bool LuFactor::factor() {
  start(false);
  return factor_from(0);
}

// Rows below the symmetric part lose their multiples of the panel's rows, and keep these.
void LuFactor::eliminate_border(int k, int width, int rows) {
  for (int i = rows; i < n_; ++i) {
    double* target = row(i);
    for (int p = k; p < k + width; ++p) {
      target[p] *= inverse_pivot_[p];
      for (int j = p + 1; j < k + width; ++j) target[j] -= target[p] * row(p)[j];
    }
  }
  if (width == panel) subtract_whole_panel(k, rows, n_, k + width, false);
}

// Row k of U is what is left of row k; row i loses (u_ki / u_kk) times it. Below the diagonal stand the
// multipliers.
bool LuFactor::eliminate_panel(int k, int width, int rows) {
  for (int c = k; c < k + width; ++c) {
    for (int p = k; p < c; ++p) {
      row(c)[p] = row(p)[c] * inverse_pivot_[p];
      strip_add(row(c) + c, row(p) + c, -row(c)[p], width_ - c);
    }
    if (!(row(c)[c] > 0.0) || !accept_pivot(c)) return false;
  }
  for (int i = k + width; i < rows; ++i) {
    for (int p = k; p < k + width; ++p) row(i)[p] = row(p)[i] * inverse_pivot_[p];
  }
  if (width == panel) subtract_whole_panel(k, k + width, rows, 0, true);
  eliminate_border(k, width, rows);
  return true;
}

// The same where the first `kept` columns of rows k to kept are factors already: new columns follow them.
bool LuFactor::keep_panel(int k, int kept) {
  for (int c = k; c < k + panel; ++c) {
    for (int p = k; p < c; ++p) strip_add(row(c) + kept, row(p) + kept, -row(c)[p], width_ - kept);
    if (!accept_pivot(c)) return false;
  }
  subtract_whole_panel(k, k + panel, kept, kept, false);
  return true;
}

bool LuFactor::eliminate_symmetric(int rows, int kept) {
  for (int k = 0; k < kept; k += panel) {
    if (!keep_panel(k, kept)) return false;
    for (int i = kept; i < rows; ++i) {
      for (int p = k; p < k + panel; ++p) row(i)[p] = row(p)[i] * inverse_pivot_[p];
    }
    subtract_whole_panel(k, kept, rows, 0, true);
    eliminate_border(k, panel, rows);
  }
  for (int k = kept; k < rows; k += panel) {
    if (!eliminate_panel(k, std::min(panel, rows - k), rows)) return false;
  }
  return true;
}

bool LuFactor::factor_symmetric(int kept) {
  start(true);
  if (!eliminate_symmetric(n_, kept)) return false;
  reusable_ = n_ / panel * panel;
  return true;
}

// Panels are whole: what is left of the symmetric part joins the rest.
bool LuFactor::factor_bordered(int symmetric, int kept) {
  start(false);
  const int rows = symmetric / panel * panel;
  for (int i = rows; i < symmetric; ++i) {
    for (int j = 0; j < i; ++j) row(i)[j] = row(j)[i];
  }
  for (int k = 0; k < rows; ++k) swap_[k] = k;
  if (!eliminate_symmetric(rows, kept)) return false;
  reusable_ = rows;
  return factor_from(rows);
}

// L y = P x, then U x = y; four rows at a time.
void LuFactor::solve(double* x) const {
  for (int k = 0; k < n_ && !symmetric_; ++k) std::swap(x[k], x[swap_[k]]);
  const int whole = n_ / panel * panel;
  for (int k = 0; k < whole; k += panel) {
    const Lanes sums = strip_dot_four(row(k), stride_, x, k);
    for (int i = 0; i < panel; ++i) {
      double rest = x[k + i] - sums[i];
      for (int j = 0; j < i; ++j) rest -= row(k + i)[k + j] * x[k + j];
      x[k + i] = rest;
    }
  }
  for (int i = whole; i < n_; ++i) x[i] -= strip_dot(row(i), x, i);
  for (int i = n_ - 1; i >= whole; --i)
    x[i] = (x[i] - strip_dot(row(i) + i + 1, x + i + 1, n_ - i - 1)) * inverse_pivot_[i];
  for (int k = whole - panel; k >= 0; k -= panel) {
    const int after = k + panel;
    const Lanes sums = strip_dot_four(row(k) + after, stride_, x + after, n_ - after);
    for (int i = panel - 1; i >= 0; --i) {
      double rest = x[k + i] - sums[i];
      for (int j = i + 1; j < panel; ++j) rest -= row(k + i)[k + j] * x[k + j];
      x[k + i] = rest * inverse_pivot_[k + i];
    }
  }
}

void LuFactor::solve_columns(double* x, int stride, int columns) const {
  const auto at = [&](int i) { return x + static_cast<std::size_t>(i) * stride; };
  for (int k = 0; k < n_ && !symmetric_; ++k) {
    if (swap_[k] != k) std::swap_ranges(at(k), at(k) + columns, at(swap_[k]));
  }
  for (int i = 1; i < n_; ++i) {
    for (int j = 0; j < i; ++j) {
      const double multiplier = symmetric_ ? row(j)[i] * inverse_pivot_[j] : row(i)[j];
      strip_add(at(i), at(j), -multiplier, columns);
    }
  }
  for (int i = n_ - 1; i >= 0; --i) {
    for (int j = i + 1; j < n_; ++j) strip_add(at(i), at(j), -row(i)[j], columns);
    for (int c = 0; c < columns; ++c) at(i)[c] *= inverse_pivot_[i];
  }
}

// A^T = U^T L^T P: row by row, what is known is subtracted from all that follows.
void LuFactor::solve_transposed(double* x) const {
  if (symmetric_) {
    solve(x);
    return;
  }
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
