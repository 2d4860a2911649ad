#include "articula/math/lu.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "articula/math/strips.hpp"
#include "math/transpose.hpp"

namespace articula {

namespace {

constexpr int sparse_from = 128;  // rows: matrices of many bodies, in which most numbers are zero
constexpr int panel = 4;          // columns eliminated together: one pass over the rest for every four pivots

int padded(int n) { return (n + 3) / 4 * 4; }

}  // namespace

void LuFactor::reserve(int capacity) {
  a_.reserve(static_cast<std::size_t>(capacity) * padded(capacity));
  inverse_pivot_.reserve(capacity);
  swap_.reserve(capacity);
  groups_.reserve(padded(capacity) / panel);
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

// The groups of four columns, from that of `first` on, in which some row of the panel has a number that is
// not zero.
void LuFactor::list_groups(int k, int first) {
  groups_.clear();
  const double *r0 = row(k), *r1 = row(k + 1), *r2 = row(k + 2), *r3 = row(k + 3);
  for (int j = first / panel * panel; j < width_; j += panel) {
    bool any = false;
    for (int c = j; c < j + panel; ++c)
      any |= (r0[c] != 0.0) | (r1[c] != 0.0) | (r2[c] != 0.0) | (r3[c] != 0.0);
    if (any) groups_.push_back(j);
  }
}

// subtract_whole_panel where most numbers are zero: rows that take nothing from the panel, and columns in
// which it has nothing, stay as they are.
void LuFactor::subtract_sparse_panel(int k, int begin, int end, int from, bool group) {
  list_groups(k, group ? begin : from);
  const double *r0 = row(k), *r1 = row(k + 1), *r2 = row(k + 2), *r3 = row(k + 3);
  const auto takes_nothing = [&](int i) {
    const double* m = row(i) + k;
    return m[0] == 0.0 && m[1] == 0.0 && m[2] == 0.0 && m[3] == 0.0;
  };
  for (int i = begin; i < end; i += 2) {
    const int next = std::min(i + 1, end - 1);  // the last one may be its own partner
    if (takes_nothing(i) && takes_nothing(next)) continue;
    double *first = row(i), *second = row(next);
    Lanes m[4], w[4];
    for (int p = 0; p < panel; ++p) {
      m[p] = broadcast(first[k + p]);
      w[p] = broadcast(second[k + p]);
    }
    const int column = group ? i / panel * panel : from;
    for (auto j = std::lower_bound(groups_.begin(), groups_.end(), column); j != groups_.end(); ++j) {
      const Lanes a = load_lanes(r0 + *j), b = load_lanes(r1 + *j), c = load_lanes(r2 + *j),
                  d = load_lanes(r3 + *j);
      Lanes x = load_lanes(first + *j), y = load_lanes(second + *j);
      x = x - m[0] * a;
      y = y - w[0] * a;
      x = x - m[1] * b;
      y = y - w[1] * b;
      x = x - m[2] * c;
      y = y - w[2] * c;
      store_lanes(first + *j, x - m[3] * d);
      if (next != i) store_lanes(second + *j, y - w[3] * d);
    }
  }
}

// The same for rows `begin` to `end`, two at a time: each number of the panel is loaded for both. `group`:
// from where a row's own group of four columns begins.
void LuFactor::subtract_whole_panel(int k, int begin, int end, int from, bool group) {
  if (n_ >= sparse_from) {
    subtract_sparse_panel(k, begin, end, from, group);
    return;
  }
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

// Rows i (a multiple of four) to i + 4, before `end`: what they take from the panel's rows, D^-1 U,
// transposed. `upper`: U of the panel in columns i...
void LuFactor::store_multipliers(int k, int i, int end, const Lanes (&upper)[4]) {
  Lanes tile[4];
  for (int p = 0; p < panel; ++p) tile[p] = upper[p] * broadcast(inverse_pivot_[k + p]);
  transpose_four(tile);
  for (int r = 0; r < std::min(panel, end - i); ++r) store_lanes(row(i + r) + k, tile[r]);
}

void LuFactor::scale_panel(int k, int begin, int end) {
  for (int i = begin; i < end; i += panel) {
    const Lanes upper[4] = {load_lanes(row(k) + i), load_lanes(row(k + 1) + i), load_lanes(row(k + 2) + i),
                            load_lanes(row(k + 3) + i)};
    store_multipliers(k, i, end, upper);
  }
}

// The panel's rows of U from column `from` (a multiple of four) on, and of rows up to `rows` what they take
// from it. The panel's own multipliers are known.
void LuFactor::complete_panel(int k, int from, int rows) {
  double *r0 = row(k), *r1 = row(k + 1), *r2 = row(k + 2), *r3 = row(k + 3);
  const Lanes m10 = broadcast(r1[k]), m20 = broadcast(r2[k]), m21 = broadcast(r2[k + 1]),
              m30 = broadcast(r3[k]), m31 = broadcast(r3[k + 1]), m32 = broadcast(r3[k + 2]);
  for (int j = from; j < width_; j += panel) {
    Lanes u[4] = {load_lanes(r0 + j), load_lanes(r1 + j), load_lanes(r2 + j), load_lanes(r3 + j)};
    u[1] = u[1] - m10 * u[0];
    u[2] = u[2] - m20 * u[0];
    u[2] = u[2] - m21 * u[1];
    u[3] = u[3] - m30 * u[0];
    u[3] = u[3] - m31 * u[1];
    u[3] = u[3] - m32 * u[2];
    store_lanes(r1 + j, u[1]);
    store_lanes(r2 + j, u[2]);
    store_lanes(r3 + j, u[3]);
    if (j < rows) store_multipliers(k, j, rows, u);
  }
}

// Row k of U is what is left of row k; row i loses (u_ki / u_kk) times it. Below the diagonal stand the
// multipliers.
bool LuFactor::eliminate_panel(int k, int width, int rows) {
  const int end = width == panel ? k + panel : width_;
  for (int c = k; c < k + width; ++c) {
    for (int p = k; p < c; ++p) {
      row(c)[p] = row(p)[c] * inverse_pivot_[p];
      for (int j = c; j < end; ++j) row(c)[j] -= row(c)[p] * row(p)[j];
    }
    if (!(row(c)[c] > 0.0) || !accept_pivot(c)) return false;
  }
  if (width == panel) {
    complete_panel(k, k + panel, rows);
    subtract_whole_panel(k, k + panel, rows, 0, true);
  }
  eliminate_border(k, width, rows);
  return true;
}

// The same where the first `kept` columns of rows k to kept are factors already: new columns follow them.
bool LuFactor::keep_panel(int k, int kept, int rows) {
  for (int c = k; c < k + panel; ++c) {
    if (!accept_pivot(c)) return false;
  }
  complete_panel(k, kept, rows);
  subtract_whole_panel(k, k + panel, kept, kept, false);
  return true;
}

// Panels from `first` to `kept` are factors among themselves: what stands behind `kept` follows.
bool LuFactor::follow_kept(int rows, int kept, int first) {
  for (int k = first; k < kept; k += panel) {
    if (!keep_panel(k, kept, rows)) return false;
    subtract_whole_panel(k, kept, rows, 0, true);
    eliminate_border(k, panel, rows);
  }
  return true;
}

bool LuFactor::eliminate_symmetric(int rows, int kept, int done) {
  for (int k = 0; k < done; ++k) {
    if (!accept_pivot(k)) return false;
  }
  if (!follow_kept(rows, kept, done)) return false;
  for (int k = kept; k < rows; k += panel) {
    if (!eliminate_panel(k, std::min(panel, rows - k), rows)) return false;
  }
  return true;
}

bool LuFactor::factor_symmetric(int kept, int done) {
  start(true);
  if (!eliminate_symmetric(n_, kept, done)) return false;
  reusable_ = n_ / panel * panel;
  return true;
}

// Panels are whole: what is left of the symmetric part joins the rest.
bool LuFactor::factor_bordered(int symmetric, int kept, int done) {
  start(false);
  const int rows = symmetric / panel * panel;
  for (int i = rows; i < symmetric; ++i) {
    for (int j = done; j < i; ++j) row(i)[j] = row(j)[i];
  }
  for (int k = 0; k < rows; ++k) swap_[k] = k;
  if (!eliminate_symmetric(rows, kept, done)) return false;
  reusable_ = rows;
  return factor_from(rows);
}

// A_22 -= (D^-1 U)^T U, four rows by eight columns at a time, and its mirror image.
void LuFactor::subtract_products(int lead) {
  const auto put = [&](Lanes* tile, int i, int j) {
    // On the diagonal the two images are rounded differently: which of them an entry is must not depend on
    // where it stands among four.
    for (int r = 1; i == j && r < panel; ++r) {
      for (int c = 0; c < r; ++c) tile[r][c] = tile[c][r];
    }
    for (int r = 0; r < std::min(panel, n_ - i); ++r) store_lanes(row(i + r) + j, tile[r]);
    if (i == j) return;
    transpose_four(tile);
    for (int r = 0; r < std::min(panel, n_ - j); ++r) store_lanes(row(j + r) + i, tile[r]);
  };
  for (int i = lead; i < n_; i += panel) {
    const double* left[4];
    for (int r = 0; r < panel; ++r) left[r] = row(std::min(i + r, n_ - 1));
    int j = i;
    for (; j + panel < width_; j += 2 * panel) {
      Lanes a[4], b[4];
      for (int r = 0; r < panel; ++r) {
        a[r] = load_lanes(left[r] + j);
        b[r] = load_lanes(left[r] + j + panel);
      }
      for (int p = 0; p < lead; ++p) {
        const Lanes x = load_lanes(row(p) + j), y = load_lanes(row(p) + j + panel);
        for (int r = 0; r < panel; ++r) {
          const Lanes m = broadcast(left[r][p]);
          a[r] = a[r] - m * x;
          b[r] = b[r] - m * y;
        }
      }
      put(a, i, j);
      put(b, i, j + panel);
    }
    if (j < width_) {
      Lanes a[4];
      for (int r = 0; r < panel; ++r) a[r] = load_lanes(left[r] + j);
      for (int p = 0; p < lead; ++p) {
        const Lanes x = load_lanes(row(p) + j);
        for (int r = 0; r < panel; ++r) a[r] = a[r] - broadcast(left[r][p]) * x;
      }
      put(a, i, j);
    }
  }
}

bool LuFactor::condense(int lead, int kept) {
  start(true);
  const int all = std::exchange(n_, lead);  // rows below follow at the end, all panels at once
  bool positive = follow_kept(lead, kept, 0);
  for (int k = kept; positive && k < lead; k += panel) positive = eliminate_panel(k, panel, lead);
  n_ = all;
  if (!positive) return false;
  for (int k = 0; k < lead; k += panel) scale_panel(k, lead, n_);
  subtract_products(lead);
  reusable_ = lead;
  return true;
}

namespace {

// As strip_dot_four, the last numbers first: in back substitution those of x that were found last come last.
Lanes strip_dot_four_back(const double* rows, int stride, const double* x, int n) {
  const double *r0 = rows, *r1 = r0 + stride, *r2 = r1 + stride, *r3 = r2 + stride;
  const int whole = n / 4 * 4;
  Lanes rest{};
  for (int i = n - 1; i >= whole; --i) rest += Lanes{r0[i], r1[i], r2[i], r3[i]} * broadcast(x[i]);
  Lanes a{}, b{}, c{}, d{};
  for (int i = whole - 4; i >= 0; i -= 4) {
    const Lanes here = load_lanes(x + i);
    a += load_lanes(r0 + i) * here;
    b += load_lanes(r1 + i) * here;
    c += load_lanes(r2 + i) * here;
    d += load_lanes(r3 + i) * here;
  }
  Lanes sums[4] = {a, b, c, d};
  transpose_four(sums);
  return rest + ((sums[0] + sums[1]) + (sums[2] + sums[3]));
}

}  // namespace

// L y = P x, then U x = y; four rows at a time, and stored as they will be loaded.
void LuFactor::solve(double* x) const {
  for (int k = 0; k < n_ && !symmetric_; ++k) std::swap(x[k], x[swap_[k]]);
  const int whole = n_ / panel * panel;
  for (int k = 0; k < whole; k += panel) {
    const Lanes rest = load_lanes(x + k) - strip_dot_four(row(k), stride_, x, k);
    const double *r1 = row(k + 1) + k, *r2 = row(k + 2) + k, *r3 = row(k + 3) + k;
    const double x0 = rest[0], x1 = rest[1] - r1[0] * x0, x2 = rest[2] - r2[0] * x0 - r2[1] * x1;
    const double x3 = rest[3] - r3[0] * x0 - r3[1] * x1 - r3[2] * x2;
    store_lanes(x + k, Lanes{x0, x1, x2, x3});
  }
  for (int i = whole; i < n_; ++i) x[i] -= strip_dot(row(i), x, i);
  for (int i = n_ - 1; i >= whole; --i)
    x[i] = (x[i] - strip_dot(row(i) + i + 1, x + i + 1, n_ - i - 1)) * inverse_pivot_[i];
  for (int k = whole - panel; k >= 0; k -= panel) {
    const int after = k + panel;
    const Lanes rest =
        load_lanes(x + k) - strip_dot_four_back(row(k) + after, stride_, x + after, n_ - after);
    const double *r0 = row(k) + k, *r1 = row(k + 1) + k, *r2 = row(k + 2) + k, *inverse = &inverse_pivot_[k];
    const double x3 = rest[3] * inverse[3], x2 = (rest[2] - r2[3] * x3) * inverse[2];
    const double x1 = (rest[1] - r1[3] * x3 - r1[2] * x2) * inverse[1];
    const double x0 = (rest[0] - r0[3] * x3 - r0[2] * x2 - r0[1] * x1) * inverse[0];
    store_lanes(x + k, Lanes{x0, x1, x2, x3});
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
