#include "articula/kinematics/motion.hpp"

#include "articula/kinematics/link_point.hpp"
#include "motion_sweep.hpp"

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
    Motion acceleration = link.root ? parent_acceleration(model, data, link) : data.link_a[link.parent];
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

void motion_rates(const Model& model, Data& data, const double* v, const double* a) {
  const Structure& s = model.structure();
  for (int k = 1; k < model.nlink(); ++k) {
    const LinkIndex& link = s.links[k];
    if (link.dof_begin == link.dof_end) continue;
    Motion velocity = link.root ? parent_velocity(data, link, k) : data.link_v[link.parent];
    Motion acceleration = link.root ? parent_acceleration(model, data, link) : data.link_a[link.parent];
    for (int begin = link.dof_begin; begin < link.dof_end;) {
      const int end = s.dofs[begin].block_end;
      Motion joint{}, joint_acceleration{};
      for (int d = begin; d < end; ++d) {
        data.dof_v[d] = velocity;
        data.dof_a[d] = acceleration;
        data.psi_dot[d] = cross(velocity, data.S[d]);
        joint += data.S[d] * v[d];
        if (a != nullptr) joint_acceleration += data.S[d] * a[d];
      }
      acceleration += joint_acceleration + cross(velocity, joint);
      velocity += joint;
      // A ball's axes turn with the child; a hinge's or slide's own motion leaves its axis alone.
      for (int d = begin; d < end; ++d) {
        data.S_dot[d] = end - begin > 1 ? cross(velocity, data.S[d]) : data.psi_dot[d];
      }
      begin = end;
    }
  }
}

void sweep_velocities(const Model& model, const Data& at, const double* v, Data& to) {
  const Structure& s = model.structure();
  for (int k = 1; k < model.nlink(); ++k) {
    const LinkIndex& link = s.links[k];
    if (link.kind == LinkKind::kinematic) {
      to.link_v[k] = at.kinematic_twist[s.bodies[link.body].kinematic];
      continue;
    }
    Motion velocity = to.link_v[link.parent];
    if (link.root)
      velocity.linear += cross(velocity.angular, at.link_reference[k] - at.link_reference[link.parent]);
    for (int begin = link.dof_begin; begin < link.dof_end;) {
      const int end = s.dofs[begin].block_end;
      Motion joint{};
      for (int d = begin; d < end; ++d) {
        to.psi_dot[d] = cross(velocity, at.S[d]);
        joint += at.S[d] * v[d];
      }
      velocity += joint;
      begin = end;
    }
    to.link_v[k] = velocity;
  }
}

PointMotion point_motion(const Model& model, const Data& data, int body, Vec3 offset) {
  const LinkPoint at = body_point(model, data, body, offset);
  const Vector6 acceleration = acceleration_at(model, data, at);
  return {data.link_reference[at.link] + at.r, point_velocity(data.link_v[at.link], at.r),
          load3(acceleration.data())};
}

}  // namespace articula
