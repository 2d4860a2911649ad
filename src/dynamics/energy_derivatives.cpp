// Inertia is carried along when dof j moves everything behind it by S: a body's kinetic energy changes
// only by what its velocity changes beyond turning along, dv - S x v = psi_dot (kinematics/derivatives.cpp).
// With I the inertia and P = sum I v the momentum of the subtree behind j, about the tree's reference
// point, m c its first moment, g gravity and f the spring forces:
//
//   T = sum v . I v / 2 + sum armature v_j^2 / 2:   dT/dq_j = psi_dot . P,   dT/dv_j = S . P + armature v_j
//   V = -g . sum m c:                               dV/dq_j = -g . (I S).linear
//   E = sum k |q (-) q_spring|^2 / 2:               dE/dq_j = -f_j
//   centre of mass:                                 dc/dq_j = (I S).linear / total mass
//   momentum:        dP/dq_j = S x* P + I psi_dot,  dP/dv_j = I S
//
// (I S).linear = m S.linear + S.angular x (m c) is the change of the first moment. On a ball, the
// derivative of |log R|^2 / 2 along R exp(d) is log R . Jr^-1(log R) d = log R . d.
// Momentum about the centre of mass, with r the way from there to the reference point and p the total
// linear momentum: L = sum P.moment + r x P.linear, where also the centre moves:
//   dL/dq_j = dP.moment + r x dP.linear - dc/dq_j x p

#include "articula/dynamics/energy_derivatives.hpp"

#include "articula/dynamics/springs.hpp"
#include "articula/model/sizes.hpp"

namespace articula {

namespace {

// One place for the formulas above, so that Jacobians and products cannot disagree.
class Columns {
 public:
  Columns(const Model& model, const Data& data, const EnergyDerivativeWork& work)
      : structure_(model.structure()),
        data_(data),
        work_(work),
        gravity_(model.gravity()) {}

  double kinetic_by_q(int d) const { return dot(data_.psi_dot[d], work_.momentum[link(d)]); }
  double kinetic_by_v(int d) const {
    return dot(data_.S[d], work_.momentum[link(d)]) + work_.rotor_momentum[d];
  }
  double potential_by_q(int d) const { return -dot(gravity_, first_moment_by_q(d)); }
  double elastic_by_q(int d) const { return -work_.spring_force[d]; }
  Vec3 centre_by_q(int d) const { return first_moment_by_q(d) * work_.inverse_mass; }

  Force momentum_by_v(int d) const { return about_centre(d, work_.composite[link(d)] * data_.S[d]); }
  Force momentum_by_q(int d) const {
    const int k = link(d);
    const Force change = cross(data_.S[d], work_.momentum[k]) + work_.composite[k] * data_.psi_dot[d];
    Force shifted_change = about_centre(d, change);
    shifted_change.moment -= cross(centre_by_q(d), work_.linear_momentum);
    return shifted_change;
  }

 private:
  int link(int d) const { return structure_.dofs[d].link; }
  Vec3 first_moment_by_q(int d) const {
    const Inertia& inertia = work_.composite[link(d)];
    return data_.S[d].linear * inertia.mass + cross(data_.S[d].angular, inertia.moment);
  }
  Force about_centre(int d, const Force& f) const {
    return shifted(f, data_.link_reference[link(d)] - work_.centre);
  }

  const Structure& structure_;
  const Data& data_;
  const EnergyDerivativeWork& work_;
  Vec3 gravity_;
};

void store(double* column, const Force& momentum) {
  store3(column, momentum.linear);
  store3(column + 3, momentum.moment);
}

double dot(const Vector6& y, const Force& momentum) {
  return dot(load3(y.data()), momentum.linear) + dot(load3(y.data() + 3), momentum.moment);
}

}  // namespace

EnergyDerivativeWork::EnergyDerivativeWork(const Model& model)
    : composite(model.nlink()),
      momentum(model.nlink()),
      rotor_momentum(VectorX::Zero(model.nv())),
      spring_force(VectorX::Zero(model.nv())) {}

void prepare_energy_derivatives(const Model& model, const Data& data, EnergyDerivativeWork& work,
                                const ConstVectorRef& q, const ConstVectorRef& v) {
  const Structure& s = model.structure();
  require_size("v", v.size(), s.nv);
  const int nlink = model.nlink();
  for (int k = 1; k < nlink; ++k) {
    work.composite[k] = data.link_inertia[k];
    work.momentum[k] = data.link_inertia[k] * data.link_v[k];
  }
  double mass = 0.0;
  work.linear_momentum = Vec3();
  for (int k = nlink - 1; k > 0; --k) {
    const LinkIndex& link = s.links[k];
    if (!link.root) {
      work.composite[link.parent] += work.composite[k];
      work.momentum[link.parent] += work.momentum[k];
    } else if (link.kind != LinkKind::kinematic) {
      mass += work.composite[k].mass;
      work.linear_momentum += work.momentum[k].linear;
    }
  }
  work.inverse_mass = mass > 0.0 ? 1.0 / mass : 0.0;
  work.centre = Vec3(centre_of_mass(model, data));
  for (int d = 0; d < s.nv; ++d) work.rotor_momentum[d] = model.constants().armature[d] * v[d];
  work.spring_force.setZero();
  add_spring_forces(model, q, work.spring_force);
  add_tendon_spring_forces(model, q, work.spring_force);
}

void kinetic_energy_gradient(const Model& model, const Data& data, const EnergyDerivativeWork& work,
                             VectorRef by_q, VectorRef by_v) {
  require_size("by_q", by_q.size(), model.nv());
  require_size("by_v", by_v.size(), model.nv());
  const Columns columns(model, data, work);
  for (int d = 0; d < model.nv(); ++d) {
    by_q[d] = columns.kinetic_by_q(d);
    by_v[d] = columns.kinetic_by_v(d);
  }
}

void potential_energy_gradient(const Model& model, const Data& data, const EnergyDerivativeWork& work,
                               VectorRef by_q) {
  require_size("by_q", by_q.size(), model.nv());
  const Columns columns(model, data, work);
  for (int d = 0; d < model.nv(); ++d) by_q[d] = columns.potential_by_q(d);
}

void elastic_energy_gradient(const Model& model, const EnergyDerivativeWork& work, VectorRef by_q) {
  require_size("by_q", by_q.size(), model.nv());
  by_q = -work.spring_force;
}

void centre_of_mass_jacobian(const Model& model, const Data& data, const EnergyDerivativeWork& work,
                             Eigen::Ref<Matrix3X> by_q) {
  require_size("columns of by_q", by_q.cols(), model.nv());
  const Columns columns(model, data, work);
  for (int d = 0; d < model.nv(); ++d) store3(&by_q(0, d), columns.centre_by_q(d));
}

void momentum_derivatives(const Model& model, const Data& data, const EnergyDerivativeWork& work,
                          Eigen::Ref<Matrix6X> by_q, Eigen::Ref<Matrix6X> by_v) {
  require_size("columns of by_q", by_q.cols(), model.nv());
  require_size("columns of by_v", by_v.cols(), model.nv());
  const Columns columns(model, data, work);
  for (int d = 0; d < model.nv(); ++d) {
    store(&by_q(0, d), columns.momentum_by_q(d));
    store(&by_v(0, d), columns.momentum_by_v(d));
  }
}

Energy energy_directional(const Model& model, const Data& data, const EnergyDerivativeWork& work,
                          const ConstVectorRef& dq, const ConstVectorRef& dv) {
  require_size("dq", dq.size(), model.nv());
  require_size("dv", dv.size(), model.nv());
  const Columns columns(model, data, work);
  Energy change;
  for (int d = 0; d < model.nv(); ++d) {
    change.kinetic += columns.kinetic_by_q(d) * dq[d] + columns.kinetic_by_v(d) * dv[d];
    change.potential += columns.potential_by_q(d) * dq[d];
    change.elastic += columns.elastic_by_q(d) * dq[d];
  }
  return change;
}

Vector3 centre_of_mass_directional(const Model& model, const Data& data, const EnergyDerivativeWork& work,
                                   const ConstVectorRef& dq) {
  require_size("dq", dq.size(), model.nv());
  const Columns columns(model, data, work);
  Vec3 change;
  for (int d = 0; d < model.nv(); ++d) change += columns.centre_by_q(d) * dq[d];
  return change.eigen();
}

Vector6 momentum_directional(const Model& model, const Data& data, const EnergyDerivativeWork& work,
                             const ConstVectorRef& dq, const ConstVectorRef& dv) {
  require_size("dq", dq.size(), model.nv());
  require_size("dv", dv.size(), model.nv());
  const Columns columns(model, data, work);
  Force change{};
  for (int d = 0; d < model.nv(); ++d) {
    change += columns.momentum_by_q(d) * dq[d] + columns.momentum_by_v(d) * dv[d];
  }
  Vector6 both;
  store(both.data(), change);
  return both;
}

void add_energy_adjoint(const Model& model, const Data& data, const EnergyDerivativeWork& work,
                        const Energy& y, VectorRef q_bar, VectorRef v_bar) {
  require_size("q_bar", q_bar.size(), model.nv());
  require_size("v_bar", v_bar.size(), model.nv());
  const Columns columns(model, data, work);
  for (int d = 0; d < model.nv(); ++d) {
    q_bar[d] += columns.kinetic_by_q(d) * y.kinetic + columns.potential_by_q(d) * y.potential +
                columns.elastic_by_q(d) * y.elastic;
    v_bar[d] += columns.kinetic_by_v(d) * y.kinetic;
  }
}

void add_centre_of_mass_adjoint(const Model& model, const Data& data, const EnergyDerivativeWork& work,
                                const Vector3& y, VectorRef q_bar) {
  require_size("q_bar", q_bar.size(), model.nv());
  const Columns columns(model, data, work);
  for (int d = 0; d < model.nv(); ++d) q_bar[d] += dot(columns.centre_by_q(d), Vec3(y));
}

void add_momentum_adjoint(const Model& model, const Data& data, const EnergyDerivativeWork& work,
                          const Vector6& y, VectorRef q_bar, VectorRef v_bar) {
  require_size("q_bar", q_bar.size(), model.nv());
  require_size("v_bar", v_bar.size(), model.nv());
  const Columns columns(model, data, work);
  for (int d = 0; d < model.nv(); ++d) {
    q_bar[d] += dot(y, columns.momentum_by_q(d));
    v_bar[d] += dot(y, columns.momentum_by_v(d));
  }
}

}  // namespace articula
