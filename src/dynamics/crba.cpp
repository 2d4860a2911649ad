#include "articula/dynamics/crba.hpp"

#include "articula/error.hpp"
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

// Composite inertias travel to the parents' origins. M_de = S_e . F with the force F = I_composite S_d
// taken to the origin of each ancestor's link.
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
    const Force F = data.composite[dof.link] * data.S_local[d];
    data.dof_force[d] = F;
    double* row = data.mass.data() + dof.row;
    int k = dof.link, m = dof.depth;
    for (int e = d; m >= 0; k = s.links[k].parent, e = s.links[k].dof_end - 1) {
      const Force here = shifted(F, data.link_r[dof.link] - data.link_r[k]);
      for (; e >= s.links[k].dof_begin; --e, --m) row[m] = dot(data.S_local[e], here);
    }
    row[dof.depth] += model.constants().armature[d];
  }
}

void crba(const Model& model, Data& data, const ConstVectorRef& q) {
  forward_kinematics(model, data, q);
  rotate_inertias(model, data);
  composite_mass_matrix(model, data);
}

namespace {

// y[0..count) -= a x[0..count) + b z[0..count)
void subtract_two_scaled(double* y, const double* x, double a, const double* z, double b, int count) {
  for (int i = 0; i < count; i += 4) {
    Lanes sum, first, second;
    __builtin_memcpy(&sum, y + i, sizeof sum);
    __builtin_memcpy(&first, x + i, sizeof first);
    __builtin_memcpy(&second, z + i, sizeof second);
    sum -= first * broadcast(a) + second * broadcast(b);
    __builtin_memcpy(y + i, &sum, sizeof sum);
  }
}

}  // namespace

// From the leaves to the root: row d, finished, is subtracted from the rows of its ancestors,
//   M_ij -= M_di M_dj / M_dd   for i, j ancestors of d;
// the row of an ancestor is a prefix of the same path. A dof and its parent, when they are neighbours,
// are subtracted together.
bool factor_mass_matrix(const Model& model, Data& data, const double* extra) {
  const Structure& s = model.structure();
  data.factor = data.mass;
  if (extra != nullptr) {
    for (int d = 0; d < s.nv; ++d) data.factor[s.dofs[d].row + s.dofs[d].depth] += extra[d];
  }
  bool positive = true;
  double* factor = data.factor.data();
  const auto invert_pivot = [&](int d) {
    const double pivot = factor[s.dofs[d].row + s.dofs[d].depth];
    positive = positive && pivot > 0.0;
    return data.inverse_diagonal[d] = 1.0 / pivot;
  };
  for (int d = s.nv - 1; d >= 0; --d) {
    const DofIndex& dof = s.dofs[d];
    double* row = factor + dof.row;
    const int* path = s.path.data() + dof.row;
    const double inverse = invert_pivot(d);
    if (d == 0 || dof.parent != d - 1) {
      for (int m = dof.depth - 1; m >= 0; --m) {
        subtract_scaled(factor + s.dofs[path[m]].row, row, row[m] * inverse, m + 1);
      }
      for (int m = 0; m < dof.depth; ++m) row[m] *= inverse;
      continue;
    }
    const int depth = dof.depth - 1;  // of the parent
    double* parent = factor + s.dofs[d - 1].row;
    subtract_scaled(parent, row, row[depth] * inverse, depth + 1);
    const double parent_inverse = invert_pivot(--d);
    for (int m = depth - 1; m >= 0; --m) {
      subtract_two_scaled(factor + s.dofs[path[m]].row, row, row[m] * inverse, parent,
                          parent[m] * parent_inverse, m + 1);
    }
    for (int m = 0; m <= depth; ++m) row[m] *= inverse;
    for (int m = 0; m < depth; ++m) parent[m] *= parent_inverse;
  }
  return positive;
}

namespace {

// M^-1 = L^-1 D^-1 L^-T on one column; `at(d)` is its entry d.
template <class Entry>
void eliminate_vector(const Structure& s, const Data& data, Entry at) {
  for (int d = s.nv - 1; d >= 0; --d) {
    const DofIndex& dof = s.dofs[d];
    const double* row = data.factor.data() + dof.row;
    const int* path = s.path.data() + dof.row;
    const double xd = at(d);
    for (int m = 0; m < dof.depth; ++m) at(path[m]) -= row[m] * xd;
  }
}

template <class Entry>
void substitute_vector(const Structure& s, const Data& data, const double* scale, Entry at) {
  for (int d = 0; d < s.nv; ++d) {
    const DofIndex& dof = s.dofs[d];
    const double* row = data.factor.data() + dof.row;
    const int* path = s.path.data() + dof.row;
    double sum = at(d) * scale[d];
    for (int m = 0; m < dof.depth; ++m) sum -= row[m] * at(path[m]);
    at(d) = sum;
  }
}

template <class Entry>
void solve_vector(const Structure& s, const Data& data, Entry at) {
  eliminate_vector(s, data, at);
  substitute_vector(s, data, data.inverse_diagonal.data(), at);
}

}  // namespace

void solve_mass_matrix(const Model& model, const Data& data, VectorRef x) {
  require_size("x", x.size(), model.nv());
  double* values = x.data();
  solve_vector(model.structure(), data, [=](int d) -> double& { return values[d]; });
}

namespace {

// Some columns of one row, in registers.
template <int registers>
struct RowTile {
  Lanes x[registers];

  static RowTile load(const double* from) {
    RowTile tile;
    __builtin_memcpy(tile.x, from, sizeof tile.x);
    return tile;
  }
  void store(double* to) const { __builtin_memcpy(to, x, sizeof x); }
  void subtract(const RowTile& source, double scale) {
    for (int r = 0; r < registers; ++r) x[r] -= source.x[r] * broadcast(scale);
  }
  void subtract(const double* from, double scale) { subtract(load(from), scale); }
};

// Row d of the solution takes in all its sources before it is stored; a dof and its parent, when they
// are neighbours, go together, because their sources are the same but for the dof itself.

// x_d -= sum_k L_kd x_k over the dofs k behind d, from the leaves to the root.
template <int registers>
void eliminate_inwards(const Structure& s, const double* factor, int rows, double* x, long stride) {
  using Tile = RowTile<registers>;
  for (int d = rows - 1; d >= 0; --d) {
    const DofIndex& dof = s.dofs[d];
    const int end = std::min(dof.subtree_end, rows);
    Tile own = Tile::load(x + d * stride);
    if (d == 0 || dof.parent != d - 1) {
      for (int k = d + 1; k < end; ++k) {
        own.subtract(x + k * stride, factor[s.dofs[k].row + dof.depth]);
      }
      own.store(x + d * stride);
      continue;
    }
    Tile parent = Tile::load(x + (d - 1) * stride);
    const int parent_end = std::min(s.dofs[d - 1].subtree_end, rows);
    for (int k = d + 1; k < end; ++k) {
      const double* row = factor + s.dofs[k].row + dof.depth;
      const Tile source = Tile::load(x + k * stride);
      own.subtract(source, row[0]);
      parent.subtract(source, row[-1]);
    }
    own.store(x + d * stride);
    parent.subtract(own, factor[dof.row + dof.depth - 1]);
    for (int k = end; k < parent_end; ++k) {
      parent.subtract(x + k * stride, factor[s.dofs[k].row + dof.depth - 1]);
    }
    parent.store(x + --d * stride);
  }
}

// x_d *= scale_d, then x_d -= sum_m L_dm x_m over the ancestors m of d, from the root to the leaves.
template <int registers>
void substitute_outwards(const Structure& s, const Data& data, const double* scale, int rows, double* x,
                         long stride) {
  using Tile = RowTile<registers>;
  const auto scaled_row = [&](int d) {
    Tile tile = Tile::load(x + d * stride);
    for (Lanes& lanes : tile.x) lanes *= broadcast(scale[d]);
    return tile;
  };
  for (int d = 0; d < rows; ++d) {
    const DofIndex& dof = s.dofs[d];
    const int* path = s.path.data() + dof.row;
    const double* row = data.factor.data() + dof.row;
    Tile own = scaled_row(d);
    if (d + 1 == rows || s.dofs[d + 1].parent != d) {
      for (int m = 0; m < dof.depth; ++m) own.subtract(x + path[m] * stride, row[m]);
      own.store(x + d * stride);
      continue;
    }
    Tile child = scaled_row(d + 1);
    const double* child_row = data.factor.data() + s.dofs[d + 1].row;
    for (int m = 0; m < dof.depth; ++m) {
      const Tile source = Tile::load(x + path[m] * stride);
      own.subtract(source, row[m]);
      child.subtract(source, child_row[m]);
    }
    own.store(x + d * stride);
    child.subtract(own, child_row[dof.depth]);
    child.store(x + ++d * stride);
  }
}

// The first `rows` rows of some columns; those behind must be zero on entry and are left alone.
template <int registers>
void solve_tile(const Structure& s, const Data& data, int rows, double* x, long stride) {
  eliminate_inwards<registers>(s, data.factor.data(), rows, x, stride);
  substitute_outwards<registers>(s, data, data.inverse_diagonal.data(), rows, x, stride);
}

void require_multiple_of_four(long columns) {
  if (columns % 4 != 0) throw Error("columns are {}; they must be a multiple of four", columns);
}

// Calls work(registers, column) for tiles of 16, 8 and 4 columns; returns how many columns they have.
template <class Work>
long for_each_tile(long columns, const Work& work) {
  long c = 0;
  for (; c + 16 <= columns; c += 16) work(std::integral_constant<int, 4>{}, c);
  for (; c + 8 <= columns; c += 8) work(std::integral_constant<int, 2>{}, c);
  for (; c + 4 <= columns; c += 4) work(std::integral_constant<int, 1>{}, c);
  return c;
}

}  // namespace

void solve_mass_matrix_columns(const Model& model, const Data& data, RowMatrixRef x) {
  const Structure& s = model.structure();
  require_size("rows of x", x.rows(), s.nv);
  const long columns = x.cols(), stride = x.outerStride();
  long c = for_each_tile(columns, [&](auto registers, long at) {
    solve_tile<registers.value>(s, data, s.nv, x.data() + at, stride);
  });
  for (; c < columns; ++c) {
    double* column = x.data() + c;
    solve_vector(s, data, [=](int d) -> double& { return column[d * stride]; });
  }
}

void project_vector(const Model& model, const Data& data, const std::vector<double>& root_inverse,
                    VectorX& x) {
  require_size("x", x.size(), model.nv());
  double* values = x.data();
  eliminate_vector(model.structure(), data, [=](int d) -> double& { return values[d]; });
  for (int d = 0; d < model.nv(); ++d) values[d] *= root_inverse[d];
}

void recover_vector(const Model& model, const Data& data, const std::vector<double>& root_inverse,
                    VectorX& x) {
  require_size("x", x.size(), model.nv());
  double* values = x.data();
  substitute_vector(model.structure(), data, root_inverse.data(),
                    [=](int d) -> double& { return values[d]; });
}

void project_columns(const Model& model, const Data& data, const std::vector<double>& root_inverse,
                     RowMatrixRef x) {
  const Structure& s = model.structure();
  require_size("rows of x", x.rows(), s.nv);
  require_multiple_of_four(x.cols());
  const long stride = x.outerStride();
  for_each_tile(x.cols(), [&](auto registers, long at) {
    double* first = x.data() + at;
    eliminate_inwards<registers.value>(s, data.factor.data(), s.nv, first, stride);
    for (int d = 0; d < s.nv; ++d) {
      auto tile = RowTile<registers.value>::load(first + d * stride);
      for (Lanes& lanes : tile.x) lanes *= broadcast(root_inverse[d]);
      tile.store(first + d * stride);
    }
  });
}

void recover_columns(const Model& model, const Data& data, const std::vector<double>& root_inverse,
                     RowMatrixRef x) {
  const Structure& s = model.structure();
  require_size("rows of x", x.rows(), s.nv);
  require_multiple_of_four(x.cols());
  for_each_tile(x.cols(), [&](auto registers, long at) {
    substitute_outwards<registers.value>(s, data, root_inverse.data(), s.nv, x.data() + at, x.outerStride());
  });
}

// Columns of the unit matrix, down to the diagonal only; the rest is the transpose.
void inverse_mass_matrix(const Model& model, const Data& data, RowMatrixRef inverse) {
  const Structure& s = model.structure();
  require_size("rows of inverse", inverse.rows(), s.nv);
  require_size("columns of inverse", inverse.cols(), s.nv);
  inverse.setIdentity();
  const long stride = inverse.outerStride();
  long c = for_each_tile(s.nv, [&](auto registers, long at) {
    const int rows = static_cast<int>(at) + 4 * registers.value;
    solve_tile<registers.value>(s, data, rows, inverse.data() + at, stride);
  });
  for (; c < s.nv; ++c) {
    double* column = inverse.data() + c;
    solve_vector(s, data, [=](int d) -> double& { return column[d * stride]; });
  }
  for (int i = 1; i < s.nv; ++i) {
    for (int j = 0; j < i; ++j) inverse(i, j) = inverse(j, i);
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
