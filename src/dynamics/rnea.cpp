#include "articula/dynamics/rnea.hpp"

#include "articula/dynamics/gyroscopic.hpp"
#include "articula/model/sizes.hpp"

namespace articula {

Motion parent_velocity(const Data& data, const LinkIndex& root, int link) {
  const Motion& v = data.link_v[root.parent];
  const Vec3 shift = data.link_reference[link] - data.link_reference[root.parent];
  return {v.angular, v.linear + cross(v.angular, shift)};
}

// A kinematic body moves on with constant twist: its spatial acceleration is (0, -w x v).
Motion parent_acceleration(const Model& model, const Data& data, const LinkIndex& root) {
  const Motion& v = data.link_v[root.parent];
  return {Vec3(), -model.gravity() - cross(v.angular, v.linear)};
}

// v = v_parent + sum S_d v_d,   a = a_parent + sum S_d a_d + (v before the block) x S_d v_d
void propagate_motion(const Model& model, Data& data, const double* v, const double* a) {
  const Structure& s = model.structure();
  const int nlink = model.nlink();
  for (int k = 1; k < nlink; ++k) {
    const LinkIndex& link = s.links[k];
    if (link.kind == LinkKind::kinematic) {
      data.link_v[k] = data.kinematic_twist[s.bodies[link.body].kinematic];
      continue;
    }
    Motion velocity = link.root ? parent_velocity(data, link, k) : data.link_v[link.parent];
    Motion acceleration =
        link.root ? parent_acceleration(model, data, link) : data.link_a[link.parent];
    for (int d = link.dof_begin; d < link.dof_end;) {
      const int end = s.dofs[d].block_end;
      Motion joint{};
      for (; d < end; ++d) {
        joint += data.S[d] * v[d];
        if (a != nullptr) acceleration += data.S[d] * a[d];
      }
      acceleration += cross(velocity, joint);
      velocity += joint;
    }
    data.link_v[k] = velocity;
    data.link_a[k] = acceleration;
  }
}

Force external_wrench(const Model& model, const Data& data, const ExternalWrenches& external,
                      int link) {
  Force sum{};
  for (int b : model.structure().links[link].bodies) {
    const double* wrench = external.data() + 6 * b;
    const Vec3 force = load3(wrench);
    const Vec3 at = data.link_r[link] + data.link_R[link] * model.constants().body_com[b];
    sum += Force{load3(wrench + 3) + cross(at, force), force};
  }
  return sum;
}

// f = I a + v x* I v - f_external, then towards the root.
void gather_forces(const Model& model, Data& data, const DynamicsOptions& options) {
  const Structure& s = model.structure();
  const int nlink = model.nlink();
  if (options.external != nullptr) {
    require_size("external", options.external->cols(), model.nbody());
  }
  for (int k = 1; k < nlink; ++k) {
    const Inertia& inertia = data.link_inertia[k];
    const Motion& v = data.link_v[k];
    Force f = inertia * data.link_a[k] + cross(v, inertia * v);
    if (options.gyroscopic_step > 0.0 && turns_freely(s, s.links[k])) {
      const Mat3& R = data.link_R[k];
      f.moment += R * implicit_gyroscopic(inertia_about_com(model.constants().links[k].inertia),
                                          transpose_times(R, v.angular), options.gyroscopic_step)
                          .torque;
    }
    if (options.external != nullptr) f -= external_wrench(model, data, *options.external, k);
    data.link_force[k] = f;
  }
  for (int k = nlink - 1; k > 0; --k) {
    if (!s.links[k].root) data.link_force[s.links[k].parent] += data.link_force[k];
  }
}

namespace {

void inverse_dynamics(const Model& model, Data& data, const ConstVectorRef& q,
                      const ConstVectorRef& v, const double* a, VectorRef tau,
                      const DynamicsOptions& options) {
  const Structure& s = model.structure();
  require_size("v", v.size(), s.nv);
  require_size("tau", tau.size(), s.nv);
  forward_kinematics(model, data, q);
  place_inertias(model, data);
  propagate_motion(model, data, v.data(), a);
  gather_forces(model, data, options);
  for (int d = 0; d < s.nv; ++d) {
    const double projected = dot(data.S[d], data.link_force[s.dofs[d].link]);
    tau[d] = a == nullptr ? projected : projected + model.constants().armature[d] * a[d];
  }
}

}  // namespace

void rnea(const Model& model, Data& data, const ConstVectorRef& q, const ConstVectorRef& v,
          const ConstVectorRef& a, VectorRef tau, const DynamicsOptions& options) {
  require_size("a", a.size(), model.nv());
  inverse_dynamics(model, data, q, v, a.data(), tau, options);
}

void bias_forces(const Model& model, Data& data, const ConstVectorRef& q, const ConstVectorRef& v,
                 VectorRef c, const DynamicsOptions& options) {
  inverse_dynamics(model, data, q, v, nullptr, c, options);
}

}  // namespace articula
