#pragma once
// P^T A P = U^T D^-1 U of a symmetric, positive semi-definite matrix, by pivots that fall; rows that depend
// on those before them are left out, and their unknowns are zero.

#include "articula/math/lu.hpp"

namespace articula {

class PivotedFactor {
 public:
  // Starts a matrix of n rows, of which the caller fills all entries.
  void resize(int n);
  double* row(int i) { return a_.data() + static_cast<std::size_t>(i) * stride_; }

  // False if an entry is not a number. A row is dependent where less than `least` of its diagonal is left.
  [[nodiscard]] bool factor(double least);
  int size() const { return n_; }
  int rank() const { return rank_; }
  double pivot_ratio() const { return rank_ == 0 ? 1.0 : smallest_ / largest_; }
  bool independent(int i) const { return place_[i] < rank_; }

  void solve(double* x) const;                             // x <- A^-1 x on independent rows
  void solve_columns(double* x, int stride, int columns);  // all columns of a row-major matrix

 private:
  int n_ = 0, stride_ = 0, rank_ = 0;
  double smallest_ = 0.0, largest_ = 0.0;
  AlignedVector a_;  // rows in the order of `order_`, columns as given; then of U, in that order
  std::vector<int> order_, place_;
  std::vector<double> inverse_pivot_, diagonal_;
  mutable std::vector<double> permuted_;
};

}  // namespace articula
