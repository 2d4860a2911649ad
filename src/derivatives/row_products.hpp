#pragma once
// Products of rows that carry something with many columns at once. Rows of one contact go together: what they
// multiply is loaded once for all of them.

#include "articula/contact/rows.hpp"

namespace articula {

class RowProducts {
 public:
  // Of the rows for which `wanted` is not zero (one number for each row of the step).
  void list(const ContactRows& rows, const Constraints& constraints, const std::vector<char>& wanted);
  int count() const { return static_cast<int>(rows_.size()); }
  int row(int k) const { return rows_[k]; }
  int entries() const { return static_cast<int>(dofs_.size()); }  // of J, over groups of rows

  // out(row) += J x. Row-major, `columns` (a multiple of four) numbers in a row.
  void add_velocities(const double* x, int columns, double* out) const;
  // force += J^T lam, lam(row) as above.
  void add_impulses(const double* lam, int columns, double* force) const;
  // columns(dof, k) += J(row k, dof): a matrix of `stride` numbers in a row.
  void add_transposed(double* columns, int stride) const;

 private:
  // Up to four rows, and the dofs that any of them sees.
  struct Group {
    int row[4];
    int first = 0;  // in rows_
    int rows = 0, begin = 0, end = 0;
  };
  std::vector<Group> groups_;
  std::vector<int> rows_, dofs_;
  LaneVector values_;
};

// y(i, :) += sum_k a(i, k) x(k, :), over `columns` numbers, a multiple of four.
void add_product(const double* a, int a_stride, int rows, int inner, const double* const* x, int columns,
                 double* y, int y_stride);

// to (column-major) = from (row-major)
void copy_transposed(const double* from, int from_stride, int rows, int columns, double* to, int to_stride);

}  // namespace articula
