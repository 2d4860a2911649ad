#include "articula/dynamics/crba.hpp"

#include "articula/model/sizes.hpp"

namespace articula {

namespace {

// y[0..count) -= scale * x[0..count), in whole registers: rows are padded.
void subtract_scaled(double* y, const double* x, double scale, int count) {
  for (int i = 0; i < count; i += 4) {
    Lanes a, b;
    __builtin_memcpy(&a, y + i, sizeof a);
    __builtin_memcpy(&b, x + i, sizeof b);
    a -= b * broadcast(scale);
    __builtin_memcpy(y + i, &a, sizeof a);
  }
}

}  // namespace

void composite_mass_matrix(const Model& model, Data& data) {
  const Structure& s = model.structure();
  const int nlink = model.nlink();
  for (int k = 1; k < nlink; ++k) data.composite[k] = data.link_inertia[k];
  for (int k = nlink - 1; k > 0; --k) {
    if (!s.links[k].root) data.composite[s.links[k].parent] += data.composite[k];
  }
  // M_de = S_e . (I_composite S_d) for e an ancestor of d
  for (int d = 0; d < s.nv; ++d) {
    const DofIndex& dof = s.dofs[d];
    const Force F = data.composite[dof.link] * data.S[d];
    data.dof_force[d] = F;
    double* row = data.mass.data() + dof.row;
    const int* path = s.path.data() + dof.row;
    for (int m = 0; m <= dof.depth; ++m) row[m] = dot(data.S[path[m]], F);
    row[dof.depth] += model.constants().armature[d];
  }
}

void crba(const Model& model, Data& data, const ConstVectorRef& q) {
  forward_kinematics(model, data, q);
  place_inertias(model, data);
  composite_mass_matrix(model, data);
}

// From the leaves to the root: row d, finished, is subtracted from the rows of its ancestors,
//   M_ij -= M_di M_dj / M_dd   for i, j ancestors of d;
// the row of an ancestor is a prefix of the same path.
bool factor_mass_matrix(const Model& model, Data& data, const double* extra) {
  const Structure& s = model.structure();
  data.factor = data.mass;
  if (extra != nullptr) {
    for (int d = 0; d < s.nv; ++d) data.factor[s.dofs[d].row + s.dofs[d].depth] += extra[d];
  }
  bool positive = true;
  double* factor = data.factor.data();
  for (int d = s.nv - 1; d >= 0; --d) {
    const DofIndex& dof = s.dofs[d];
    double* row = factor + dof.row;
    const int* path = s.path.data() + dof.row;
    const double pivot = row[dof.depth];
    positive = positive && pivot > 0.0;
    const double inverse = 1.0 / pivot;
    data.inverse_diagonal[d] = inverse;
    for (int m = dof.depth - 1; m >= 0; --m) {
      subtract_scaled(factor + s.dofs[path[m]].row, row, row[m] * inverse, m + 1);
    }
    for (int m = 0; m < dof.depth; ++m) row[m] *= inverse;
  }
  return positive;
}

// M^-1 = L^-1 D^-1 L^-T
void solve_mass_matrix(const Model& model, const Data& data, VectorRef x) {
  const Structure& s = model.structure();
  require_size("x", x.size(), s.nv);
  for (int d = s.nv - 1; d >= 0; --d) {
    const DofIndex& dof = s.dofs[d];
    const double* row = data.factor.data() + dof.row;
    const int* path = s.path.data() + dof.row;
    const double xd = x[d];
    for (int m = 0; m < dof.depth; ++m) x[path[m]] -= row[m] * xd;
  }
  for (int d = 0; d < s.nv; ++d) {
    const DofIndex& dof = s.dofs[d];
    const double* row = data.factor.data() + dof.row;
    const int* path = s.path.data() + dof.row;
    double sum = x[d] * data.inverse_diagonal[d];
    for (int m = 0; m < dof.depth; ++m) sum -= row[m] * x[path[m]];
    x[d] = sum;
  }
}

void solve_mass_matrix_columns(const Model& model, const Data& data, RowMatrixRef x) {
  const Structure& s = model.structure();
  require_size("rows of x", x.rows(), s.nv);
  for (int d = s.nv - 1; d >= 0; --d) {
    const DofIndex& dof = s.dofs[d];
    const double* row = data.factor.data() + dof.row;
    const int* path = s.path.data() + dof.row;
    for (int m = 0; m < dof.depth; ++m) x.row(path[m]) -= row[m] * x.row(d);
  }
  for (int d = 0; d < s.nv; ++d) {
    const DofIndex& dof = s.dofs[d];
    const double* row = data.factor.data() + dof.row;
    const int* path = s.path.data() + dof.row;
    x.row(d) *= data.inverse_diagonal[d];
    for (int m = 0; m < dof.depth; ++m) x.row(d) -= row[m] * x.row(path[m]);
  }
}

void multiply_mass_matrix(const Model& model, const Data& data, const ConstVectorRef& x, VectorRef y) {
  const Structure& s = model.structure();
  require_size("x", x.size(), s.nv);
  require_size("y", y.size(), s.nv);
  y.setZero();
  for (int d = 0; d < s.nv; ++d) {
    const DofIndex& dof = s.dofs[d];
    const double* row = data.mass.data() + dof.row;
    const int* path = s.path.data() + dof.row;
    for (int m = 0; m < dof.depth; ++m) {
      y[d] += row[m] * x[path[m]];
      y[path[m]] += row[m] * x[d];
    }
    y[d] += row[dof.depth] * x[d];
  }
}

void dense_mass_matrix(const Model& model, const Data& data, MatrixRef M) {
  const Structure& s = model.structure();
  require_size("rows of M", M.rows(), s.nv);
  require_size("columns of M", M.cols(), s.nv);
  M.setZero();
  for (int d = 0; d < s.nv; ++d) {
    const DofIndex& dof = s.dofs[d];
    for (int m = 0; m <= dof.depth; ++m) {
      const int e = s.path[dof.row + m];
      M(d, e) = M(e, d) = data.mass[dof.row + m];
    }
  }
}

}  // namespace articula
