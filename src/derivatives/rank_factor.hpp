#pragma once
// P S A S Q = L U by complete pivoting, of a square matrix that may be singular; S makes its diagonal one.
// Elimination ends where less than a given share is left: what follows depends on the rows before it.

#include "articula/math/lu.hpp"

namespace articula {

class RankFactor {
 public:
  // Starts a matrix of n rows, of which the caller fills all entries.
  void resize(int n);
  double* row(int i) { return a_.data() + static_cast<std::size_t>(i) * stride_; }

  // False if an entry is not a number. Of symmetric, positive semi-definite matrices the largest entry is on
  // the diagonal.
  [[nodiscard]] bool factor(double least, bool symmetric);
  int size() const { return n_; }
  int rank() const { return rank_; }
  double pivot_ratio() const { return rank_ == 0 ? 1.0 : smallest_ / largest_; }

  // x <- A^g x, A^g A A^g = A^g: what the first `rank` pivots determine; other unknowns are zero.
  void solve(double* x);
  void solve_transposed(double* x);
  // All columns of a row-major matrix of n rows; columns: a multiple of four.
  void solve_columns(double* x, int columns);

  // The unknown of pivot k < rank; others are zero in solutions.
  int unknown_of(int k) const { return columns_[k]; }

  // Bases of z: A z = 0 and, if wanted, y: A^T y = 0, n - rank rows of n numbers.
  void null_spaces(std::vector<double>& right, std::vector<double>* left);

 private:
  bool scale();
  void find_pivot(int k, bool symmetric, int& row, int& column) const;
  void exchange(int k, int row, int column);
  void eliminate(int k);
  template <int registers>
  void solve_strip(double* x, int columns);
  template <int registers>
  void solve_tile(const double* x, int columns, double* y) const;
  const double* at(int i) const { return a_.data() + static_cast<std::size_t>(i) * stride_; }

  int n_ = 0, stride_ = 0, rank_ = 0;
  double smallest_ = 0.0, largest_ = 0.0;
  AlignedVector a_;                  // L below the diagonal (its own is one), U on and above it
  std::vector<int> rows_, columns_;  // which of A's they are
  std::vector<double> inverse_pivot_;
  AlignedVector scale_, work_;  // padded
  AlignedVector tile_;
};

}  // namespace articula
