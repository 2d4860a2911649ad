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

// Composite inertias travel to the parents' origins; so does the force F = I_composite S_d on its way
// to the root, and M_de = S_e . F for each ancestor e it passes.
void composite_mass_matrix(const Model& model, Data& data) {
  const Structure& s = model.structure();
  const int nlink = model.nlink();
  for (int k = 1; k < nlink; ++k) data.composite[k] = data.local_inertia[k];
  for (int k = nlink - 1; k > 0; --k) {
    const LinkIndex& link = s.links[k];
    if (link.root) continue;
    data.composite[link.parent] += shifted(data.composite[k], data.link_r[k] - data.link_r[link.parent]);
  }
  for (int d = 0; d < s.nv; ++d) {
    const DofIndex& dof = s.dofs[d];
    Force F = data.composite[dof.link] * data.S_local[d];
    data.dof_force[d] = F;
    double* row = data.mass.data() + dof.row;
    int e = d, k = dof.link;
    for (int m = dof.depth;; k = s.links[k].parent) {
      for (; e >= s.links[k].dof_begin; --e, --m) row[m] = dot(data.S_local[e], F);
      if (s.links[k].root) break;
      F = shifted(F, data.link_r[k] - data.link_r[s.links[k].parent]);
      e = s.links[s.links[k].parent].dof_end - 1;
    }
    row[dof.depth] += model.constants().armature[d];
  }
}

void crba(const Model& model, Data& data, const ConstVectorRef& q) {
  forward_kinematics(model, data, q);
  rotate_inertias(model, data);
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

namespace {

// M^-1 = L^-1 D^-1 L^-T on one column; `at(d)` is its entry d.
template <class Entry>
void solve_vector(const Structure& s, const Data& data, Entry at) {
  for (int d = s.nv - 1; d >= 0; --d) {
    const DofIndex& dof = s.dofs[d];
    const double* row = data.factor.data() + dof.row;
    const int* path = s.path.data() + dof.row;
    const double xd = at(d);
    for (int m = 0; m < dof.depth; ++m) at(path[m]) -= row[m] * xd;
  }
  for (int d = 0; d < s.nv; ++d) {
    const DofIndex& dof = s.dofs[d];
    const double* row = data.factor.data() + dof.row;
    const int* path = s.path.data() + dof.row;
    double sum = at(d) * data.inverse_diagonal[d];
    for (int m = 0; m < dof.depth; ++m) sum -= row[m] * at(path[m]);
    at(d) = sum;
  }
}

}  // namespace

void solve_mass_matrix(const Model& model, const Data& data, VectorRef x) {
  require_size("x", x.size(), model.nv());
  double* values = x.data();
  solve_vector(model.structure(), data, [=](int d) -> double& { return values[d]; });
}

namespace {

// As many columns at once as stay in registers: row d takes in all its sources before it is stored.
//   x_d -= sum_k L_kd x_k over the dofs k behind d (leaves to root), x_d /= D_d,
//   x_d -= sum_m L_dm x_m over the ancestors m of d (root to leaves)
template <int registers>
void solve_tile(const Structure& s, const Data& data, double* x, long stride) {
  const double* factor = data.factor.data();
  Lanes sum[registers];
  const auto load = [&](const double* from) { __builtin_memcpy(sum, from, sizeof sum); };
  const auto subtract = [&](const double* from, double scale) {
    Lanes source[registers];
    __builtin_memcpy(source, from, sizeof source);
    for (int r = 0; r < registers; ++r) sum[r] -= source[r] * broadcast(scale);
  };
  for (int d = s.nv - 1; d >= 0; --d) {
    const DofIndex& dof = s.dofs[d];
    load(x + d * stride);
    for (int k = d + 1; k < dof.subtree_end; ++k) {
      subtract(x + k * stride, factor[s.dofs[k].row + dof.depth]);
    }
    __builtin_memcpy(x + d * stride, sum, sizeof sum);
  }
  for (int d = 0; d < s.nv; ++d) {
    const DofIndex& dof = s.dofs[d];
    const int* path = s.path.data() + dof.row;
    load(x + d * stride);
    for (int r = 0; r < registers; ++r) sum[r] *= broadcast(data.inverse_diagonal[d]);
    for (int m = 0; m < dof.depth; ++m) subtract(x + path[m] * stride, factor[dof.row + m]);
    __builtin_memcpy(x + d * stride, sum, sizeof sum);
  }
}

}  // namespace

void solve_mass_matrix_columns(const Model& model, const Data& data, RowMatrixRef x) {
  const Structure& s = model.structure();
  require_size("rows of x", x.rows(), s.nv);
  const long columns = x.cols(), stride = x.outerStride();
  long c = 0;
  for (; c + 40 <= columns; c += 40) solve_tile<10>(s, data, x.data() + c, stride);
  for (; c + 20 <= columns; c += 20) solve_tile<5>(s, data, x.data() + c, stride);
  for (; c + 8 <= columns; c += 8) solve_tile<2>(s, data, x.data() + c, stride);
  for (; c + 4 <= columns; c += 4) solve_tile<1>(s, data, x.data() + c, stride);
  for (; c < columns; ++c) {
    double* column = x.data() + c;
    solve_vector(s, data, [=](int d) -> double& { return column[d * stride]; });
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
