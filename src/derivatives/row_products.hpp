#pragma once
// Products of rows that carry something with many columns at once, in the coordinates z = D^-1/2 L^-T x in
// which J Mhat^-1 x = W z (contact/rows.hpp). Rows of one contact go together: what they multiply is loaded
// once for all of them.

#include "articula/contact/rows.hpp"

namespace articula {

class RowProducts {
 public:
  // Of the rows for which `wanted` is not zero (one number for each row of the step).
  void list(const ContactRows& rows, const Constraints& constraints, const std::vector<char>& wanted);

  // out(row) += W x. Row-major, `columns` (a multiple of four) numbers in a row.
  void add_velocities(const double* x, int columns, double* out) const;
  // z += W^T lam, lam(row) as above.
  void add_impulses(const double* lam, int columns, double* z) const;
  // out(row, d) += J(row, d) for every dof d
  void add_jacobian(int columns, double* out) const;

 private:
  // Dofs next to each other, and W and J for them.
  struct Run {
    int dof = 0, length = 0;
    const Lanes *W = nullptr, *J = nullptr;
  };
  // Up to four rows, in these lanes.
  struct Group {
    int row[4], lane[4];
    int rows = 0, begin = 0, end = 0;  // runs
  };
  std::vector<Group> groups_;
  std::vector<Run> runs_;
};

// y(i, :) += sum_k a(i, k) x(k, :), over `columns` numbers, a multiple of four.
void add_product(const double* a, int a_stride, int rows, int inner, const double* const* x, int columns,
                 double* y, int y_stride);

// to (column-major) = from (row-major), and `scaled` (as `to`) = factor from
void copy_transposed(const double* from, int from_stride, int rows, int columns, double* to, int to_stride);
void copy_transposed(const double* from, int from_stride, int rows, int columns, double* to, double* scaled,
                     double factor, int to_stride);

}  // namespace articula
