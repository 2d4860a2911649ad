#include "articula/dynamics/aba.hpp"

#include "articula/dynamics/gyroscopic.hpp"
#include "articula/model/sizes.hpp"

namespace articula {

namespace {

// moment = A w + K^T v,   force = K w + C v
Force operator*(const ArticulatedInertia& inertia, const Motion& m) {
  return {inertia.rotational * m.angular + transpose_times(inertia.coupling, m.linear),
          inertia.coupling * m.angular + inertia.linear * m.linear};
}

// I <- I - scale U U^T
void subtract_rank_one(ArticulatedInertia& inertia, const Force& U, double scale) {
  const Force scaled = U * scale;
  inertia.rotational -= outer(U.moment, scaled.moment);
  inertia.coupling -= outer(U.linear, scaled.moment);
  inertia.linear -= outer(U.linear, scaled.linear);
}

ArticulatedInertia articulated(const Inertia& rigid) {
  return {rigid.rotational, skew(-rigid.moment), Mat3::diagonal(rigid.mass)};
}

// Adds to `parent` an inertia about a point that lies at r from the parent's:
//   K' = K + (r x C)^T,   A' = A + r x K + (r x K')^T,   C' = C
void add_shifted(ArticulatedInertia& parent, const ArticulatedInertia& child, Vec3 r) {
  const Mat3 K = child.coupling + transpose(cross(r, child.linear));
  parent.rotational += child.rotational + cross(r, child.coupling) + transpose(cross(r, K));
  parent.coupling += K;
  parent.linear += child.linear;
}

// From a link's origin to its parent's.
Vec3 reach(const Data& data, const LinkIndex& link, int k) {
  return data.link_r[k] - data.link_r[link.parent];
}

// Velocities, velocity-product accelerations, and each link's own inertia and bias force.
void outward_pass(const Model& model, Data& data, const double* v, const DynamicsOptions& options) {
  const Structure& s = model.structure();
  const int nlink = model.nlink();
  for (int k = 1; k < nlink; ++k) {
    const LinkIndex& link = s.links[k];
    if (link.kind == LinkKind::kinematic) {
      data.link_v[k] = data.kinematic_twist[s.bodies[link.body].kinematic];
      continue;
    }
    Motion velocity =
        link.root ? parent_velocity(data, link, k) : shifted(data.aba_v[link.parent], -reach(data, link, k));
    Motion bias{};
    for (int d = link.dof_begin; d < link.dof_end;) {
      const int end = s.dofs[d].block_end;
      Motion joint{};
      for (; d < end; ++d) joint += data.S_local[d] * v[d];
      bias += cross(velocity, joint);
      velocity += joint;
    }
    data.aba_v[k] = velocity;
    data.aba_bias[k] = bias;
    const Inertia inertia = rotated(model.constants().links[k].inertia, data.link_R[k]);
    data.articulated[k] = articulated(inertia);
    Force force = cross(velocity, inertia * velocity);
    if (options.gyroscopic_step > 0.0 && turns_freely(s, link)) {
      const Mat3& R = data.link_R[k];
      force.moment += R * implicit_gyroscopic(inertia_about_com(model.constants().links[k].inertia),
                                              transpose_times(R, velocity.angular), options.gyroscopic_step)
                              .torque;
    }
    if (options.external != nullptr) {
      force -= shifted(external_wrench(model, data, *options.external, k), -data.link_r[k]);
    }
    data.articulated_bias[k] = force;
  }
}

// Degrees of freedom are eliminated one at a time, the last one of a link first:
//   U = I S,  D = S . U + armature,  u = tau - S . p,   I <- I - U U^T / D,   p <- p + U u / D
bool inward_pass(const Model& model, Data& data, const double* tau) {
  const Structure& s = model.structure();
  bool positive = true;
  for (int k = model.nlink() - 1; k > 0; --k) {
    const LinkIndex& link = s.links[k];
    ArticulatedInertia inertia = data.articulated[k];
    Force force = data.articulated_bias[k];
    for (int d = link.dof_end - 1; d >= link.dof_begin; --d) {
      const Motion& S = data.S_local[d];
      const Force U = inertia * S;
      const double D = dot(S, U) + model.constants().armature[d];
      positive = positive && D > 0.0;
      const double inverse = 1.0 / D;
      const double u = tau[d] - dot(S, force);
      subtract_rank_one(inertia, U, inverse);
      force += U * (u * inverse);
      data.dof_U[d] = U;
      data.dof_inverse_D[d] = inverse;
      data.dof_u[d] = u;
    }
    if (link.root) continue;
    const Vec3 r = reach(data, link, k);
    add_shifted(data.articulated[link.parent], inertia, r);
    data.articulated_bias[link.parent] += shifted(force + inertia * data.aba_bias[k], r);
  }
  return positive;
}

// a_d = (u - U . a') / D with a' the acceleration reached so far.
void acceleration_pass(const Model& model, Data& data, double* a) {
  const Structure& s = model.structure();
  const int nlink = model.nlink();
  for (int k = 1; k < nlink; ++k) {
    const LinkIndex& link = s.links[k];
    if (link.kind == LinkKind::kinematic) continue;
    Motion acceleration = link.root ? parent_acceleration(model, data, link)
                                    : shifted(data.aba_a[link.parent], -reach(data, link, k));
    acceleration += data.aba_bias[k];
    for (int d = link.dof_begin; d < link.dof_end; ++d) {
      a[d] = (data.dof_u[d] - dot(acceleration, data.dof_U[d])) * data.dof_inverse_D[d];
      acceleration += data.S_local[d] * a[d];
    }
    data.aba_a[k] = acceleration;
  }
}

}  // namespace

bool aba(const Model& model, Data& data, const ConstVectorRef& q, const ConstVectorRef& v,
         const ConstVectorRef& tau, VectorRef a, const DynamicsOptions& options) {
  require_size("v", v.size(), model.nv());
  require_size("tau", tau.size(), model.nv());
  require_size("a", a.size(), model.nv());
  if (options.external != nullptr) {
    require_size("external", options.external->cols(), model.nbody());
  }
  forward_kinematics(model, data, q);
  outward_pass(model, data, v.data(), options);
  const bool positive = inward_pass(model, data, tau.data());
  acceleration_pass(model, data, a.data());
  return positive;
}

// aba without velocities and weight: inwards  u = x - S . p,  p += U u / D;  outwards  x = (u - U . a) / D.
void aba_solve(const Model& model, Data& data, VectorRef x) {
  const Structure& s = model.structure();
  require_size("x", x.size(), s.nv);
  std::vector<Force>& p = data.articulated_bias;
  std::vector<Motion>& a = data.aba_a;
  const int nlink = model.nlink();
  for (int k = 1; k < nlink; ++k) p[k] = {};
  for (int k = nlink - 1; k > 0; --k) {
    const LinkIndex& link = s.links[k];
    Force force = p[k];
    for (int d = link.dof_end - 1; d >= link.dof_begin; --d) {
      x[d] -= dot(data.S_local[d], force);
      force += data.dof_U[d] * (x[d] * data.dof_inverse_D[d]);
    }
    if (!link.root) p[link.parent] += shifted(force, reach(data, link, k));
  }
  for (int k = 1; k < nlink; ++k) {
    const LinkIndex& link = s.links[k];
    Motion acceleration = link.root ? Motion{} : shifted(a[link.parent], -reach(data, link, k));
    for (int d = link.dof_begin; d < link.dof_end; ++d) {
      x[d] = (x[d] - dot(acceleration, data.dof_U[d])) * data.dof_inverse_D[d];
      acceleration += data.S_local[d] * x[d];
    }
    a[k] = acceleration;
  }
}

}  // namespace articula
