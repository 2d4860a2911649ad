#include <fmt/format.h>

#include <cmath>

#include "articula/error.hpp"
#include "articula/model/model.hpp"
#include "inertia_box.hpp"
#include "reflected.hpp"
#include "validation.hpp"

namespace articula {

namespace {

Placement placement_at(const VectorX& theta, int offset) {
  const double* t = theta.data() + offset;
  const Quaternion rotation = Quaternion(t[3], t[4], t[5], t[6]).normalized();
  return {Mat3::from(rotation.toRotationMatrix()), load3(t)};
}

Inertia inertia_at(const VectorX& theta, int offset) {
  const double* t = theta.data() + offset;
  return {{Vec3(t[4], t[5], t[6]), Vec3(t[5], t[7], t[8]), Vec3(t[6], t[8], t[9])}, load3(t + 1), t[0]};
}

void require_real_body(const BodyIndex& body, const Inertia& inertia) {
  const std::string element = fmt::format("body '{}'", body.name);
  if (inertia.mass == 0.0) return require_real_inertia(0.0, inertia.rotational.eigen(), element);
  const Vector3 com = inertia.moment.eigen() / inertia.mass;
  const Matrix3 about_com = inertia.rotational.eigen() -
                            inertia.mass * (com.squaredNorm() * Matrix3::Identity() - com * com.transpose());
  // What the shift of the reference point leaves in rounding is no defect of the body.
  const double noise = 64 * 2.2e-16 * inertia.rotational.eigen().cwiseAbs().maxCoeff();
  require_real_inertia(inertia.mass, about_com + noise * Matrix3::Identity(), element);
}

void require_finite(const Structure& s, const VectorX& theta) {
  if (theta.allFinite()) return;
  for (const ParameterSlice& slice : s.parameters.slices()) {
    if (theta.segment(slice.offset, slice.size).allFinite()) continue;
    throw Error(fmt::format("parameter '{}' is not a finite number", slice.name));
  }
}

// Placements of bodies, frames and geometries end in a quaternion.
void require_rotations(const Structure& s, const VectorX& theta) {
  constexpr int placement_size = 7;
  for (const ParameterSlice& slice : s.parameters.slices()) {
    const bool placement = slice.size == placement_size &&
                           (slice.kind == ParameterKind::placement || slice.kind == ParameterKind::geometry);
    if (placement && theta.segment<4>(slice.offset + 3).norm() < 1e-12) {
      throw Error(fmt::format("parameter '{}' has a zero quaternion", slice.name));
    }
  }
}

// Contact laws make no sense for these below zero. Damping and armature may pass through zero, so that
// they can be differentiated there; a mass matrix that loses its factor is noticed by the step.
void require_not_negative(const Structure& s, const VectorX& theta) {
  for (const ParameterSlice& slice : s.parameters.slices()) {
    const bool must = slice.kind == ParameterKind::dry_friction || slice.kind == ParameterKind::friction ||
                      slice.kind == ParameterKind::restitution;
    if (must && theta.segment(slice.offset, slice.size).minCoeff() < 0.0) {
      throw Error(fmt::format("parameter '{}' is negative", slice.name));
    }
  }
  if (theta[s.timestep] <= 0.0) throw Error("parameter 'timestep' must be positive");
}

Vec3 unit_axis(const VectorX& theta, const JointIndex& joint) {
  const Vec3 axis = load3(theta.data() + joint.axis);
  const double length = norm(axis);
  if (length < 1e-10) throw Error(fmt::format("parameter 'joint/{}/axis' is zero", joint.name));
  return axis * (1.0 / length);
}

// R_tree Rot(k, a) = R_tree k k^T + cos a R_tree (1 - k k^T) + sin a R_tree [k]x
void derive_hinge(LinkConstants& link, const JointConstants& joint) {
  const Mat3 along = link.rotation * outer(joint.axis, joint.axis);
  link.hinge_fixed = along;
  link.hinge_cos = link.rotation - along;
  link.hinge_sin = link.rotation * skew(joint.axis);
}

void derive_link(const Structure& s, const VectorX& theta, Constants& c, size_t k) {
  const LinkIndex& index = s.links[k];
  LinkConstants& link = c.links[k];
  const BodyIndex& body = s.bodies[index.body];
  // The parent body may itself be welded to the parent link.
  const Placement& parent = c.body_in_link[body.parent];
  const Placement own = placement_at(theta, body.placement);
  link.rotation = parent.R * own.R;
  link.position = parent.p + parent.R * own.p;
  if (index.kind == LinkKind::hinge || index.kind == LinkKind::slide) {
    const JointConstants& joint = c.joints[index.joint_begin];
    link.anchor = joint.anchor;
    link.anchor_in_parent = link.position + link.rotation * joint.anchor;
    link.axis_in_parent = link.rotation * joint.axis;
    if (index.kind == LinkKind::hinge) derive_hinge(link, joint);
  }
}

void derive_joints(const Structure& s, const VectorX& theta, Constants& c) {
  const Description& d = *s.description;
  c.q_reference = VectorX::Zero(s.nq);
  for (size_t j = 0; j < s.joints.size(); ++j) {
    const JointIndex& index = s.joints[j];
    JointConstants& joint = c.joints[j];
    const BodyDescription& body = d.bodies[index.body - 1];
    const size_t nth = j - s.links[static_cast<size_t>(index.link)].joint_begin;
    double* q = c.q_reference.data() + index.q;
    if (index.axis >= 0) {
      joint.axis = unit_axis(theta, index);
      joint.reference = body.joints[nth].reference;
      q[0] = joint.reference;
    }
    if (index.anchor >= 0) joint.anchor = load3(theta.data() + index.anchor);
    if (index.type == JointType::ball) q[0] = 1.0;
    if (index.type == JointType::free) {
      const double* t = theta.data() + s.bodies[index.body].placement;
      const double length = Eigen::Map<const Eigen::Vector4d>(t + 3).norm();
      for (int i = 0; i < 7; ++i) q[i] = i < 3 ? t[i] : t[i] / length;
    }
    const int end = j + 1 < s.joints.size() ? s.joints[j + 1].dof : s.nv;
    for (int dof = index.dof; dof < end; ++dof) {
      const size_t i = dof;
      c.armature[i] = theta[index.armature];
      c.damping[i] = theta[index.damping];
      c.dry_friction[i] = theta[index.dry_friction];
    }
  }
}

}  // namespace

Constants derive_constants(const Structure& s, const VectorX& theta) {
  require_finite(s, theta);
  require_not_negative(s, theta);
  require_rotations(s, theta);
  Constants c;
  c.links.resize(s.links.size());
  c.joints.resize(s.joints.size());
  c.body_in_link.resize(s.bodies.size(), {Mat3::identity(), Vec3()});
  c.body_com.resize(s.bodies.size());
  c.body_box.resize(s.bodies.size());
  const size_t nv = s.nv;
  c.armature.resize(nv), c.damping.resize(nv), c.dry_friction.resize(nv);
  derive_joints(s, theta, c);
  add_reflected(s, theta, c);
  c.links[0].rotation = Mat3::identity();
  for (size_t b = 1; b < s.bodies.size(); ++b) {
    const BodyIndex& body = s.bodies[b];
    const size_t link = body.link;
    if (s.links[link].body == static_cast<int>(b)) {
      derive_link(s, theta, c, link);
    } else {
      const Placement own = placement_at(theta, body.placement);
      const Placement& parent = c.body_in_link[body.parent];
      c.body_in_link[b] = {parent.R * own.R, parent.p + parent.R * own.p};
    }
    const Inertia inertia = inertia_at(theta, body.inertia);
    const InertiaDescription& described = s.description->bodies[b - 1].inertia;
    if (!described.as_given) require_real_body(body, inertia);
    c.body_box[b] = inertia_box(inertia, described.principal_axes);
    const Inertia in_link = placed(inertia, c.body_in_link[b].R, c.body_in_link[b].p);
    const Placement& at = c.body_in_link[b];
    c.body_com[b] =
        inertia.mass > 0.0 ? in_link.moment * (1.0 / inertia.mass) : at.p + at.R * Vec3(described.com);
    c.links[link].inertia += in_link;
  }
  return c;
}

}  // namespace articula
