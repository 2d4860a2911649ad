#include "articula/kinematics/forward.hpp"

#include "articula/math/lie.hpp"
#include "articula/math/sincos.hpp"
#include "articula/model/sizes.hpp"

namespace articula {

namespace {

// A hinge or slide at `anchor` (from the reference point) along `axis`.
Motion hinge_motion(Vec3 axis, Vec3 anchor) { return {axis, cross(anchor, axis)}; }
Motion slide_motion(Vec3 axis) { return {Vec3(), axis}; }

// The turning dofs of a ball: about the child's own axes, through the anchor.
void ball_motions(Motion* S, const Mat3& R, Vec3 anchor) {
  S[0] = hinge_motion(R.x, anchor);
  S[1] = hinge_motion(R.y, anchor);
  S[2] = hinge_motion(R.z, anchor);
}

struct LinkPose {
  Mat3 R;
  Vec3 p;
};

// Joints one after the other, each turning about its anchor. Positions, and the points S is written
// about, are from where `at` counts from.
LinkPose apply_joints(const Model& model, Data& data, const double* q, const LinkIndex& link, LinkPose at) {
  const Structure& s = model.structure();
  for (int j = link.joint_begin; j < link.joint_end; ++j) {
    const JointIndex& joint = s.joints[j];
    const JointConstants& c = model.constants().joints[j];
    Motion* S = data.S.data() + joint.dof;
    const Vec3 anchor = at.p + at.R * c.anchor;
    switch (joint.type) {
      case JointType::slide: {
        const Vec3 axis = at.R * c.axis;
        at.p += axis * (q[joint.q] - c.reference);
        *S = slide_motion(axis);
        break;
      }
      case JointType::hinge: {
        const size_t a = joint.angle;
        *S = hinge_motion(at.R * c.axis, anchor);
        at.R = at.R * rotation_about(c.axis, data.sine[a], data.cosine[a]);
        at.p = anchor - at.R * c.anchor;
        break;
      }
      case JointType::ball:
        at.R = at.R * rotation_matrix(load_quaternion(q + joint.q));
        at.p = anchor - at.R * c.anchor;
        ball_motions(S, at.R, anchor);
        break;
      case JointType::free:
      case JointType::fixed: break;  // free links have their own path; fixed ones are no links
    }
  }
  return at;
}

// The root of a tree: its origin becomes the reference point of the tree. Its joints are taken from
// where it hangs, so that the distance from the world's origin costs no digits.
void place_root(const Model& model, Data& data, const double* q, const LinkIndex& link, size_t k) {
  const LinkConstants& c = model.constants().links[k];
  const size_t parent = link.parent;
  Motion* S = data.S.data() + link.dof_begin;
  if (link.kind == LinkKind::free) {
    const double* values = q + model.structure().joints[link.joint_begin].q;
    data.link_R[k] = rotation_matrix(load_quaternion(values + 3));
    data.link_reference[k] = load3(values);
    for (int i = 0; i < 3; ++i) S[i] = slide_motion(Mat3::identity().column(i));
    ball_motions(S + 3, data.link_R[k], Vec3());
  } else {
    const Vec3 hung = data.link_reference[parent] + data.link_R[parent] * c.position;
    const LinkPose at = apply_joints(model, data, q, link, {data.link_R[parent] * c.rotation, Vec3()});
    for (int d = 0; d < link.dof_end - link.dof_begin; ++d) S[d] = shifted(S[d], -at.p);
    data.link_R[k] = at.R;
    data.link_reference[k] = hung + at.p;
  }
  for (int d = link.dof_begin; d < link.dof_end; ++d) data.S_local[d] = data.S[d];
  data.link_r[k] = Vec3();
}

void place_kinematic(Data& data, const Structure& s, const LinkIndex& link, size_t k) {
  const int which = s.bodies[link.body].kinematic;
  const Placement& pose = data.kinematic_pose[which];
  data.link_R[k] = pose.R;
  data.link_reference[k] = pose.p;
  data.link_r[k] = Vec3();
}

}  // namespace

void forward_kinematics(const Model& model, Data& data, const ConstVectorRef& q) {
  const Structure& s = model.structure();
  const Constants& constants = model.constants();
  require_size("q", q.size(), s.nq);
  for (size_t i = 0; i < s.hinge_joints.size(); ++i) {
    const size_t j = s.hinge_joints[i];
    data.angle[i] = q[s.joints[j].q] - constants.joints[j].reference;
  }
  sincos({data.angle.data(), s.hinge_joints.size()}, data.sine.data(), data.cosine.data());

  for (size_t k = 1; k < s.links.size(); ++k) {
    const LinkIndex& link = s.links[k];
    if (link.kind == LinkKind::kinematic) {
      place_kinematic(data, s, link, k);
      continue;
    }
    if (link.root) {
      place_root(model, data, q.data(), link, k);
      continue;
    }
    const LinkConstants& c = constants.links[k];
    const size_t parent = link.parent;
    const Mat3 R = data.link_R[parent];
    const Vec3 r = data.link_r[parent];
    data.link_reference[k] = data.link_reference[parent];
    if (link.kind == LinkKind::hinge) {
      const size_t a = s.joints[static_cast<size_t>(link.joint_begin)].angle;
      const double cosine = data.cosine[a], sine = data.sine[a];
      const Mat3 local{c.hinge_fixed.x + c.hinge_cos.x * cosine + c.hinge_sin.x * sine,
                       c.hinge_fixed.y + c.hinge_cos.y * cosine + c.hinge_sin.y * sine,
                       c.hinge_fixed.z + c.hinge_cos.z * cosine + c.hinge_sin.z * sine};
      data.link_R[k] = R * local;
      data.link_r[k] = r + R * (c.anchor_in_parent - local * c.anchor);
      const Vec3 axis = R * c.axis_in_parent;
      data.S[link.dof_begin] = hinge_motion(axis, r + R * c.anchor_in_parent);
      data.S_local[link.dof_begin] = hinge_motion(axis, data.link_R[k] * c.anchor);
    } else if (link.kind == LinkKind::slide) {
      const size_t j = link.joint_begin;
      const Vec3 axis = R * c.axis_in_parent;
      data.link_R[k] = R * c.rotation;
      data.link_r[k] = r + R * c.position + axis * (q[s.joints[j].q] - constants.joints[j].reference);
      data.S[link.dof_begin] = data.S_local[link.dof_begin] = slide_motion(axis);
    } else {
      const LinkPose pose = apply_joints(model, data, q.data(), link, {R * c.rotation, r + R * c.position});
      data.link_R[k] = pose.R;
      data.link_r[k] = pose.p;
      for (int d = link.dof_begin; d < link.dof_end; ++d) data.S_local[d] = shifted(data.S[d], -pose.p);
    }
  }
}

void rotate_inertias(const Model& model, Data& data) {
  const std::vector<LinkConstants>& links = model.constants().links;
  for (int k = 1; k < model.nlink(); ++k) data.local_inertia[k] = rotated(links[k].inertia, data.link_R[k]);
}

void place_inertias(const Model& model, Data& data) {
  rotate_inertias(model, data);
  for (int k = 1; k < model.nlink(); ++k) {
    data.link_inertia[k] = shifted(data.local_inertia[k], data.link_r[k]);
  }
}

Placement body_placement(const Model& model, const Data& data, int body) {
  const size_t b = body;
  const size_t k = model.structure().bodies[b].link;
  const Placement& in_link = model.constants().body_in_link[b];
  return {data.link_R[k] * in_link.R, data.link_reference[k] + (data.link_r[k] + data.link_R[k] * in_link.p)};
}

Placement frame_placement(const Model& model, const Data& data, int frame) {
  const FrameIndex& index = model.structure().frames[frame];
  const Placement body = body_placement(model, data, index.body);
  const double* own = model.theta().data() + index.placement;
  return {body.R * rotation_matrix(load_quaternion(own + 3)), body.p + body.R * load3(own)};
}

}  // namespace articula
