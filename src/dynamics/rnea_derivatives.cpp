#include "articula/dynamics/rnea_derivatives.hpp"

#include "articula/dynamics/gyroscopic.hpp"
#include "articula/model/sizes.hpp"
#include "rnea_couplings.hpp"

namespace articula {

namespace {

// Rows of RneaDerivativeWork::columns. For dof i, with the composite inertia I, coupling B and force
// f of its subtree:
constexpr int row_F = 0;   // 6: I S_i
constexpr int row_T = 6;   // 3: (2 B)^T S_i
constexpr int row_U = 9;   // 6: S_i x* f + I psi_ddot_i + 2 B psi_dot_i
constexpr int row_W = 15;  // 6: I (psi_dot_i + S_dot_i) + 2 B S_i
constexpr int row_X = 21;  // 3: external wrenches, as T; 6: with posed ones, -(rate^T S_i + S_i x* F)
constexpr int row_count = 27;

void store_vector(double* column, int stride, Vec3 a) {
  for (int k = 0; k < 3; ++k) column[k * stride] = a[k];
}
void store_force(double* column, int stride, const Force& f) {
  store_vector(column, stride, f.moment);
  store_vector(column + 3 * stride, stride, f.linear);
}

Force product(const PosedWrenches::Rate& rate, const Motion& Z, bool turns) {
  Force change{rate.moment_by_turn * Z.angular + rate.moment_by_shift * Z.linear, {}};
  if (turns) change.linear = rate.force_by_turn * Z.angular + rate.force_by_shift * Z.linear;
  return change;
}
Force transposed_product(const PosedWrenches::Rate& rate, const Motion& Z, bool turns) {
  Force change{transpose_times(rate.moment_by_turn, Z.angular),
               transpose_times(rate.moment_by_shift, Z.angular)};
  if (turns)
    change +=
        Force{transpose_times(rate.force_by_turn, Z.linear), transpose_times(rate.force_by_shift, Z.linear)};
  return change;
}

void gather_subtrees(const Model& model, PosedWrenches& posed) {
  const Structure& s = model.structure();
  for (int k = model.nlink() - 1; k > 0; --k) {
    if (!posed.any[k] || s.links[k].root) continue;
    const int parent = s.links[k].parent;
    posed.add(parent, posed.wrench[k]);
    posed.add(parent, posed.rate[k]);
  }
}

VelocityCoupling external_coupling(const Model& model, const Data& data, const ExternalWrenches& external,
                                   int link) {
  VelocityCoupling sum{};
  for (int b : model.structure().links[link].bodies) {
    const double* wrench = external.data() + 6 * b;
    const Vec3 r = data.link_r[link] + data.link_R[link] * model.constants().body_com[b];
    sum += wrench_coupling(load3(wrench), load3(wrench + 3), r);
  }
  return sum;
}

// Composite inertias and couplings of subtrees.
void gather_subtrees(const Model& model, const Data& data, RneaDerivativeWork& work, bool has_external) {
  const Structure& s = model.structure();
  const int nlink = model.nlink();
  for (int k = 1; k < nlink; ++k) {
    work.composite[k] = data.link_inertia[k];
    work.coupling[k] = work.own_coupling[k];
    if (has_external) work.external[k] = work.own_external[k];
  }
  for (int k = nlink - 1; k > 0; --k) {
    if (s.links[k].root) continue;
    const int parent = s.links[k].parent;
    work.composite[parent] += work.composite[k];
    work.coupling[parent] += work.coupling[k];
    if (has_external) work.external[parent] += work.external[k];
  }
}

// out[i] = sum_k rows[k][i] * c[k] over i in [begin, end)
struct Combination {
  const double* rows;
  int stride;

  template <int count>
  void add(Lanes& sum, int i, const double* c, int first_row) const {
    for (int k = 0; k < count; ++k) {
      Lanes x;
      __builtin_memcpy(&x, rows + (first_row + k) * stride + i, sizeof x);
      sum += x * broadcast(c[k]);
    }
  }
};

// Up to four numbers to places `stride` apart.
void store_run(double* to, int stride, Lanes values, int count) {
  if (count >= 4 && stride == 1) {
    __builtin_memcpy(to, &values, sizeof values);
    return;
  }
  for (int i = 0; i < count && i < 4; ++i) to[i * stride] = values[i];
}

// A motion or covector as plain numbers, for broadcasting.
struct SixNumbers {
  double c[6];
  explicit SixNumbers(const Motion& m)
      : c{m.angular[0], m.angular[1], m.angular[2], m.linear[0], m.linear[1], m.linear[2]} {}
};

}  // namespace

// E = sum m u r^T with u = v + w x r:  v h^T + [w]x (tr I / 2 - I),   P = m v + w x h
VelocityCoupling rigid_coupling(const Inertia& inertia, const Motion& v) {
  Mat3 second_moment = inertia.rotational * -1.0;
  second_moment += Mat3::diagonal(0.5 * trace(inertia.rotational));
  const Mat3 E = outer(v.linear, inertia.moment) + cross(v.angular, second_moment);
  const Vec3 P = v.linear * inertia.mass + cross(v.angular, inertia.moment);
  return {Mat3::diagonal(2.0 * trace(E)) - E * 2.0, P * 2.0};
}

VelocityCoupling wrench_coupling(Vec3 F, Vec3 n, Vec3 r) {
  return {Mat3::diagonal(dot(r, F)) - outer(F, r) - skew(n), F};
}

PosedWrenches::PosedWrenches(const Model& model)
    : wrench(model.nlink()),
      rate(model.nlink()),
      any(model.nlink(), 0) {}

void PosedWrenches::clear() {
  for (std::size_t k = 0; k < any.size(); ++k) {
    if (!any[k]) continue;
    any[k] = 0;
    wrench[k] = {};
    rate[k].moment_by_turn = rate[k].moment_by_shift = {};
    if (turns) rate[k].force_by_turn = rate[k].force_by_shift = {};
  }
  turns = false;
}

void PosedWrenches::add(int link, const Force& more) {
  any[link] = 1;
  wrench[link] += more;
}

void PosedWrenches::add(int link, const Rate& more) {
  any[link] = 1;
  rate[link].moment_by_turn += more.moment_by_turn;
  rate[link].moment_by_shift += more.moment_by_shift;
  if (!turns) return;
  rate[link].force_by_turn += more.force_by_turn;
  rate[link].force_by_shift += more.force_by_shift;
}

RneaDerivativeWork::RneaDerivativeWork(const Model& model)
    : composite(model.nlink()),
      own_coupling(model.nlink()),
      coupling(model.nlink()),
      own_external(model.nlink()),
      external(model.nlink()),
      psi_ddot(model.nv()),
      stride((model.nv() + 3) / 4 * 4 + 4),
      columns(static_cast<size_t>(row_count * stride), 0.0),
      path_motion(model.nlink()),
      path_turn(model.nlink()),
      subtree_force(model.nlink()) {
  turning.reserve(model.nlink());
  gyroscopic.reserve(model.nlink());
}

void prepare_rnea_products(const Model& model, Data& data, RneaDerivativeWork& work, const double* v,
                           const double* a, const DynamicsOptions& options) {
  motion_rates(model, data, v, a);
  prepare_rnea_rates(model, data, work, options);
  prepare_rnea_couplings(model, data, work);
}

void prepare_rnea_rates(const Model& model, const Data& data, RneaDerivativeWork& work,
                        const DynamicsOptions& options) {
  const Structure& s = model.structure();
  for (int d = 0; d < s.nv; ++d) {
    work.psi_ddot[d] = cross(data.dof_a[d], data.S[d]) + cross(data.dof_v[d], data.psi_dot[d]);
  }
  work.turning.clear();
  work.gyroscopic.clear();
  for (int k = 1; options.gyroscopic_step > 0.0 && k < model.nlink(); ++k) {
    if (!turns_freely(s, s.links[k])) continue;
    work.turning.push_back(k);
    work.gyroscopic.push_back(implicit_gyroscopic(inertia_about_com(data.local_inertia[k]),
                                                  data.link_v[k].angular, options.gyroscopic_step)
                                  .derivative);
  }
  for (int k = 1; options.external != nullptr && k < model.nlink(); ++k) {
    work.own_external[k] = external_coupling(model, data, *options.external, k);
  }
}

void sweep_rnea_rates(const Model& model, Data& data, RneaDerivativeWork& work, const double* v,
                      const double* a, const DynamicsOptions& options) {
  const Structure& s = model.structure();
  const int nlink = model.nlink();
  work.turning.clear();
  work.gyroscopic.clear();
  for (int k = 1; k < nlink; ++k) {
    const LinkIndex& link = s.links[k];
    if (link.kind == LinkKind::kinematic) {
      data.link_v[k] = data.kinematic_twist[s.bodies[link.body].kinematic];
      data.link_force[k] = {};
      continue;
    }
    Motion velocity = link.root ? parent_velocity(data, link, k) : data.link_v[link.parent];
    Motion acceleration = link.root ? parent_acceleration(model, data, link) : data.link_a[link.parent];
    for (int begin = link.dof_begin; begin < link.dof_end;) {
      const int end = s.dofs[begin].block_end;
      Motion joint{}, joint_acceleration{};
      for (int d = begin; d < end; ++d) {
        const Motion& S = data.S[d];
        const Motion psi_dot = cross(velocity, S);
        data.psi_dot[d] = psi_dot;
        work.psi_ddot[d] = cross(acceleration, S) + cross(velocity, psi_dot);
        joint += S * v[d];
        joint_acceleration += S * a[d];
      }
      acceleration += joint_acceleration + cross(velocity, joint);
      velocity += joint;
      for (int d = begin; d < end; ++d)
        data.S_dot[d] = end - begin > 1 ? cross(velocity, data.S[d]) : data.psi_dot[d];
      begin = end;
    }
    data.link_v[k] = velocity;
    data.link_a[k] = acceleration;
    const Inertia& inertia = data.link_inertia[k];
    Force f = inertia * acceleration + cross(velocity, inertia * velocity);
    const bool one_axis = link.kind == LinkKind::hinge || link.kind == LinkKind::slide;
    if (!one_axis && options.gyroscopic_step > 0.0 && turns_freely(s, link)) {
      const GyroscopicTerm term = implicit_gyroscopic(inertia_about_com(data.local_inertia[k]),
                                                      velocity.angular, options.gyroscopic_step);
      f.moment += term.torque;
      work.turning.push_back(k);
      work.gyroscopic.push_back(term.derivative);
    }
    if (options.external != nullptr) {
      f -= external_wrench(model, data, *options.external, k);
      work.own_external[k] = external_coupling(model, data, *options.external, k);
    }
    data.link_force[k] = f;
  }
  for (int k = nlink - 1; k > 0; --k) {
    if (!s.links[k].root) data.link_force[s.links[k].parent] += data.link_force[k];
  }
}

void prepare_rnea_couplings(const Model& model, const Data& data, RneaDerivativeWork& work) {
  for (int k = 1; k < model.nlink(); ++k)
    work.own_coupling[k] = rigid_coupling(data.link_inertia[k], data.link_v[k]);
  for (size_t i = 0; i < work.turning.size(); ++i) work.own_coupling[work.turning[i]].N += work.gyroscopic[i];
}

void prepare_rnea_derivatives(const Model& model, Data& data, RneaDerivativeWork& work, const double* v,
                              const double* a, const DynamicsOptions& options) {
  prepare_rnea_products(model, data, work, v, a, options);
  prepare_rnea_columns(model, data, work, options.external != nullptr);
}

void prepare_rnea_columns(const Model& model, const Data& data, RneaDerivativeWork& work, bool has_external,
                          PosedWrenches* posed) {
  const Structure& s = model.structure();
  gather_subtrees(model, data, work, has_external);
  if (posed != nullptr) gather_subtrees(model, *posed);
  work.turn_rows = posed != nullptr ? 6 : has_external ? 3 : 0;
  for (int d = 0; d < s.nv; ++d) {
    const int k = s.dofs[d].link;
    const Motion& S = data.S[d];
    const VelocityCoupling& B = work.coupling[k];
    Force U =
        cross(S, data.link_force[k]) + work.composite[k] * work.psi_ddot[d] + B * data.psi_dot[d].angular;
    const Force W = work.composite[k] * (data.psi_dot[d] + data.S_dot[d]) + B * S.angular;
    double* column = work.columns.data() + d;
    const auto row = [&](int place) { return column + place * work.stride; };
    if (has_external) {
      U += work.external[k] * S.angular;
      store_vector(row(row_X), work.stride, transpose_times(work.external[k], S));
    }
    if (posed != nullptr) {
      Force X{};
      if (has_external) X.moment = transpose_times(work.external[k], S);
      if (posed->any[k]) {
        U -= product(posed->rate[k], S, posed->turns);
        X -= transposed_product(posed->rate[k], S, posed->turns) + cross(S, posed->wrench[k]);
      }
      store_force(row(row_X), work.stride, X);
    }
    store_force(row(row_F), work.stride, shifted(data.dof_force[d], data.link_r[k]));
    store_vector(row(row_T), work.stride, transpose_times(B, S));
    store_force(row(row_U), work.stride, U);
    store_force(row(row_W), work.stride, W);
  }
}

// For j and everything i it moves (the dofs of its own block included):
//   dtau_i/dq_j = F_i . psi_ddot_j + T_i . psi_dot_j,       dtau_i/dv_j = F_i . (psi_dot + S_dot)_j + T_i .
//   S_j
// and for i behind j's block:
//   dtau_j/dq_i = S_j . U_i,                                dtau_j/dv_i = S_j . W_i
namespace {

template <int turn_rows>
void assemble(const Structure& s, const Data& data, const RneaDerivativeWork& work, double sign,
              StridedMatrices out) {
  const Combination rows{work.columns.data(), work.stride};
  const int down = out.row_stride, across = out.column_stride;
  for (int j = 0; j < s.nv; ++j) {
    const DofIndex& dof = s.dofs[j];
    const SixNumbers psi_dot(data.psi_dot[j] * sign), psi_ddot(work.psi_ddot[j] * sign);
    const SixNumbers rate((data.psi_dot[j] + data.S_dot[j]) * sign), S(data.S[j] * sign);
    for (int i = dof.block_begin; i < dof.subtree_end; i += 4) {
      Lanes by_q{}, by_v{};
      rows.add<6>(by_q, i, psi_ddot.c, row_F);
      rows.add<3>(by_q, i, psi_dot.c, row_T);
      rows.add<6>(by_v, i, rate.c, row_F);
      rows.add<3>(by_v, i, S.c, row_T);
      rows.add<turn_rows>(by_q, i, S.c, row_X);
      store_run(out.dq + i * down + j * across, down, by_q, dof.subtree_end - i);
      store_run(out.dv + i * down + j * across, down, by_v, dof.subtree_end - i);
    }
    for (int i = dof.block_end; i < dof.subtree_end; i += 4) {
      Lanes by_q{}, by_v{};
      rows.add<6>(by_q, i, S.c, row_U);
      rows.add<6>(by_v, i, S.c, row_W);
      store_run(out.dq + j * down + i * across, across, by_q, dof.subtree_end - i);
      store_run(out.dv + j * down + i * across, across, by_v, dof.subtree_end - i);
    }
  }
}

}  // namespace

void assemble_rnea_derivatives(const Model& model, const Data& data, const RneaDerivativeWork& work,
                               double sign, StridedMatrices out) {
  const Structure& s = model.structure();
  switch (work.turn_rows) {
    case 0: return assemble<0>(s, data, work, sign, out);
    case 3: return assemble<3>(s, data, work, sign, out);
    default: return assemble<6>(s, data, work, sign, out);
  }
}

void rnea_derivatives(const Model& model, Data& data, RneaDerivativeWork& work, const ConstVectorRef& q,
                      const ConstVectorRef& v, const ConstVectorRef& a, MatrixRef dtau_dq, MatrixRef dtau_dv,
                      const DynamicsOptions& options) {
  const int nv = model.nv();
  require_size("v", v.size(), nv);
  require_size("a", a.size(), nv);
  require_size("rows of dtau_dq", dtau_dq.rows(), nv);
  require_size("columns of dtau_dq", dtau_dq.cols(), nv);
  require_size("rows of dtau_dv", dtau_dv.rows(), nv);
  require_size("columns of dtau_dv", dtau_dv.cols(), nv);
  require_size("stride of dtau_dv", dtau_dv.outerStride(), dtau_dq.outerStride());
  forward_kinematics(model, data, q);
  place_inertias(model, data);
  propagate_motion(model, data, v.data(), a.data());
  gather_forces(model, data, options);
  composite_mass_matrix(model, data);
  prepare_rnea_derivatives(model, data, work, v.data(), a.data(), options);
  dtau_dq.setZero();
  dtau_dv.setZero();
  assemble_rnea_derivatives(model, data, work, 1.0,
                            {dtau_dq.data(), dtau_dv.data(), 1, static_cast<int>(dtau_dq.outerStride())});
}

}  // namespace articula
