#include "rank_factor.hpp"

#include <algorithm>
#include <cmath>

#include "articula/math/strips.hpp"

namespace articula {

void RankFactor::resize(int n) {
  n_ = n;
  stride_ = (n + 3) / 4 * 4;
  a_.resize(static_cast<std::size_t>(n) * stride_);
  rows_.resize(n);
  columns_.resize(n);
  scale_.resize(stride_);
  inverse_pivot_.resize(n);
  work_.resize(stride_);
}

bool RankFactor::scale() {
  for (int i = 0; i < n_; ++i) {
    const double diagonal = std::abs(at(i)[i]);
    if (!std::isfinite(diagonal)) return false;
    scale_[i] = diagonal > 0.0 ? 1.0 / std::sqrt(diagonal) : 1.0;
    rows_[i] = columns_[i] = i;
  }
  for (int i = n_; i < stride_; ++i) scale_[i] = 0.0;
  for (int i = 0; i < n_; ++i) {
    double* entries = row(i);
    const Lanes own = broadcast(scale_[i]);
    int j = 0;
    for (; j + 4 <= n_; j += 4)
      store_lanes(entries + j, load_lanes(entries + j) * (own * load_lanes(scale_.data() + j)));
    if (j < n_)
      store_lanes(entries + j,
                  lanes_before(load_lanes(entries + j), n_ - j) * (own * load_lanes(scale_.data() + j)));
  }
  return true;
}

// The largest entry of the diagonal while it is large enough; then of all.
void RankFactor::find_pivot(int k, bool symmetric, int& row, int& column) const {
  constexpr double large = 1e-2;
  double best = 0.0;
  const double* diagonal = at(k) + k;
  for (int i = k; i < n_; ++i, diagonal += stride_ + 1) {
    const double size = std::abs(*diagonal);
    if (size > best) best = size, row = column = i;
  }
  if (symmetric || best > large) return;
  for (int i = k; i < n_; ++i) {
    for (int j = k; j < n_; ++j) {
      const double size = std::abs(at(i)[j]);
      if (size > best) best = size, row = i, column = j;
    }
  }
}

void RankFactor::exchange(int k, int other, int column) {
  if (other != k) {
    for (int j = 0; j < stride_; j += 4) {
      const Lanes kept = load_lanes(row(k) + j);
      store_lanes(row(k) + j, load_lanes(row(other) + j));
      store_lanes(row(other) + j, kept);
    }
    std::swap(rows_[k], rows_[other]);
  }
  if (column == k) return;
  for (int i = 0; i < n_; ++i) std::swap(row(i)[k], row(i)[column]);
  std::swap(columns_[k], columns_[column]);
}

// Rows behind k lose their multiples of row k, in whole registers: rows are padded with zeros. The register
// that holds column k is stored once, with the multiplier in it: to load it again right after a store of one
// number would be to wait for that.
void RankFactor::eliminate(int k) {
  const double* from = at(k);
  const int begin = (k + 1) / 4 * 4, lane = (k + 1) % 4;  // of the first column behind k
  const Lanes head = begin < n_ ? lanes_from(load_lanes(from + begin), lane) : Lanes{};
  double* to = row(k);
  for (int i = k + 1; i < n_; ++i) {
    to += stride_;
    const double share = to[k] * inverse_pivot_[k];
    if (share == 0.0) {
      to[k] = share;
      continue;
    }
    const Lanes minus = broadcast(-share), first = load_lanes(to + begin) + head * minus;
    if (lane > 0) {
      store_lanes(to + begin, with_lane(first, lane - 1, share));
    } else {
      to[k] = share;
      store_lanes(to + begin, first);
    }
    for (int j = begin + 4; j < n_; j += 4)
      store_lanes(to + j, load_lanes(to + j) + load_lanes(from + j) * minus);
  }
}

bool RankFactor::factor(double least, bool symmetric) {
  if (!scale()) return false;
  rank_ = 0;
  smallest_ = 1e300;
  largest_ = 0.0;
  for (int k = 0; k < n_; ++k) {
    int pivot_row = k, pivot_column = k;
    find_pivot(k, symmetric, pivot_row, pivot_column);
    const double pivot = at(pivot_row)[pivot_column];
    if (!(std::abs(pivot) > least)) return std::isfinite(pivot);
    exchange(k, pivot_row, pivot_column);
    smallest_ = std::min(smallest_, std::abs(pivot));
    largest_ = std::max(largest_, std::abs(pivot));
    inverse_pivot_[k] = 1.0 / pivot;
    ++rank_;
    eliminate(k);
  }
  return true;
}

void RankFactor::solve(double* x) {
  double* y = work_.data();
  for (int k = 0; k < rank_; ++k) y[k] = x[rows_[k]] * scale_[rows_[k]] - strip_dot(at(k), y, k);
  for (int k = rank_ - 1; k >= 0; --k)
    y[k] = (y[k] - strip_dot(at(k) + k + 1, y + k + 1, rank_ - k - 1)) * inverse_pivot_[k];
  std::fill(x, x + n_, 0.0);
  for (int k = 0; k < rank_; ++k) x[columns_[k]] = y[k] * scale_[columns_[k]];
}

void RankFactor::solve_transposed(double* x) {
  double* y = work_.data();
  for (int k = 0; k < stride_; ++k) y[k] = k < rank_ ? x[columns_[k]] * scale_[columns_[k]] : 0.0;
  for (int k = 0; k < rank_; ++k) {
    y[k] *= inverse_pivot_[k];
    padded_add_from(y, at(k), -y[k], k + 1, rank_);
  }
  for (int k = rank_ - 1; k > 0; --k) padded_add_before(y, at(k), -y[k], k);
  std::fill(x, x + n_, 0.0);
  for (int k = 0; k < rank_; ++k) x[rows_[k]] = y[k] * scale_[rows_[k]];
}

// Some columns at a time, so that rows are summed up in registers: two together, as one alone would wait for
// each of its sums.
template <int registers>
void RankFactor::solve_tile(const double* x, int columns, double* y) const {
  constexpr int width = 4 * registers;
  struct Row {
    Lanes sum[registers];

    void load(const double* from, double factor) {
      for (int r = 0; r < registers; ++r) sum[r] = load_lanes(from + 4 * r) * broadcast(factor);
    }
    void subtract(const double* from, double factor) {
      for (int r = 0; r < registers; ++r) sum[r] -= load_lanes(from + 4 * r) * broadcast(factor);
    }
    void store(double* to, double factor) const {
      for (int r = 0; r < registers; ++r) store_lanes(to + 4 * r, sum[r] * broadcast(factor));
    }
  };
  const auto part = [&](int k) { return y + static_cast<std::size_t>(k) * width; };
  const auto load_given = [&](Row& row, int k) {
    row.load(x + static_cast<std::size_t>(rows_[k]) * columns, scale_[rows_[k]]);
  };
  Row one, two;
  int k = 0;
  for (; k + 1 < rank_; k += 2) {
    load_given(one, k);
    load_given(two, k + 1);
    const double *l = at(k), *below = at(k + 1);
    for (int m = 0; m < k; ++m) {
      one.subtract(part(m), l[m]);
      two.subtract(part(m), below[m]);
    }
    one.store(part(k), 1.0);
    two.subtract(part(k), below[k]);
    two.store(part(k + 1), 1.0);
  }
  if (k < rank_) {
    load_given(one, k);
    for (int m = 0; m < k; ++m) one.subtract(part(m), at(k)[m]);
    one.store(part(k), 1.0);
  }
  for (k = rank_ - 1; k > 0; k -= 2) {
    one.load(part(k), 1.0);
    two.load(part(k - 1), 1.0);
    const double *u = at(k), *above = at(k - 1);
    for (int m = k + 1; m < rank_; ++m) {
      one.subtract(part(m), u[m]);
      two.subtract(part(m), above[m]);
    }
    one.store(part(k), inverse_pivot_[k]);
    two.subtract(part(k), above[k]);
    two.store(part(k - 1), inverse_pivot_[k - 1]);
  }
  if (k == 0) {
    one.load(part(0), 1.0);
    for (int m = 1; m < rank_; ++m) one.subtract(part(m), at(0)[m]);
    one.store(part(0), inverse_pivot_[0]);
  }
}

template <int registers>
void RankFactor::solve_strip(double* x, int columns) {
  constexpr int width = 4 * registers;
  solve_tile<registers>(x, columns, tile_.data());
  for (int i = 0; i < n_; ++i) {
    double* to = x + static_cast<std::size_t>(columns_[i]) * columns;
    const double* from = tile_.data() + static_cast<std::size_t>(i) * width;
    const Lanes scale = broadcast(scale_[columns_[i]]);
    for (int r = 0; r < registers; ++r)
      store_lanes(to + 4 * r, i < rank_ ? load_lanes(from + 4 * r) * scale : Lanes{});
  }
}

void RankFactor::solve_columns(double* x, int columns) {
  if (n_ == 0) return;
  tile_.resize(static_cast<std::size_t>(n_) * 16);
  int c = 0;
  for (; c + 16 <= columns; c += 16) solve_strip<4>(x + c, columns);
  for (; c + 8 <= columns; c += 8) solve_strip<2>(x + c, columns);
  for (; c + 4 <= columns; c += 4) solve_strip<1>(x + c, columns);
}

// L U = [L1; L2] [U1 U2]:   z = (-U1^-1 U2 e_j, e_j),   y = (-L1^-T L2^T e_j, e_j);   four j at a time
void RankFactor::null_spaces(std::vector<double>& right, std::vector<double>* left) {
  const int many = n_ - rank_;
  tile_.resize(static_cast<std::size_t>(n_) * 16);
  const auto part = [&](int k) { return tile_.data() + 4 * k; };
  const auto spread = [&](const std::vector<int>& places, int j, std::vector<double>& to) {
    for (int r = 0; r < std::min(4, many - j); ++r) {
      double* row = to.data() + static_cast<std::size_t>(j + r) * n_;
      for (int k = 0; k < rank_; ++k) row[places[k]] = part(k)[r] * scale_[places[k]];
      row[places[rank_ + j + r]] = scale_[places[rank_ + j + r]];
    }
  };
  right.assign(static_cast<std::size_t>(many) * n_, 0.0);
  for (int j = 0; j < many; j += 4) {
    for (int k = rank_ - 1; k >= 0; --k) {
      Lanes sum{};
      for (int r = 0; r < std::min(4, many - j); ++r) sum[r] = -at(k)[rank_ + j + r];
      Lanes other{};  // two sums: one alone would wait for each of its terms
      int m = k + 1;
      for (; m + 1 < rank_; m += 2) {
        sum -= load_lanes(part(m)) * broadcast(at(k)[m]);
        other -= load_lanes(part(m + 1)) * broadcast(at(k)[m + 1]);
      }
      if (m < rank_) sum -= load_lanes(part(m)) * broadcast(at(k)[m]);
      store_lanes(part(k), (sum + other) * broadcast(inverse_pivot_[k]));
    }
    spread(columns_, j, right);
  }
  if (left == nullptr) return;
  left->assign(static_cast<std::size_t>(many) * n_, 0.0);
  for (int j = 0; j < many; j += 4) {
    for (int k = 0; k < rank_; ++k) {
      Lanes sum{};
      for (int r = 0; r < std::min(4, many - j); ++r) sum[r] = -at(rank_ + j + r)[k];
      store_lanes(part(k), sum);
    }
    for (int k = rank_ - 1; k >= 0; --k) {
      const Lanes known = load_lanes(part(k));
      for (int m = 0; m < k; ++m) store_lanes(part(m), load_lanes(part(m)) - known * broadcast(at(k)[m]));
    }
    spread(rows_, j, *left);
  }
}

}  // namespace articula
