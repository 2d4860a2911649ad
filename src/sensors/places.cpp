#include "places.hpp"

namespace articula {

namespace {

// In the frame of the link.
struct InLink {
  Mat3 R;
  Vec3 p;
};

InLink in_link(const Model& model, ObjectType type, int index, int body) {
  const Structure& s = model.structure();
  const Placement& own = model.constants().body_in_link[body];
  if (type == ObjectType::body) return {own.R, own.p};
  if (type == ObjectType::body_inertial)
    return {own.R * model.constants().body_box[body].axes, model.constants().body_com[body]};
  const int placement = type == ObjectType::frame ? s.frames[index].placement : s.geometries[index].placement;
  const double* p = model.theta().data() + placement;
  return {own.R * rotation_matrix(load_quaternion(p + 3)), own.p + own.R * load3(p)};
}

Quat joint_quaternion(const Model& model, const double* q, int joint) {
  const JointIndex& index = model.structure().joints[joint];
  const JointConstants& c = model.constants().joints[joint];
  switch (index.type) {
    case JointType::hinge: {
      const double half = 0.5 * (q[index.q] - c.reference);
      return {std::cos(half), c.axis * std::sin(half)};
    }
    case JointType::ball: return load_quaternion(q + index.q);
    case JointType::free: return load_quaternion(q + index.q + 3);
    case JointType::slide:
    case JointType::fixed: break;
  }
  return {};
}

// In its parent, joints included; a free or kinematic body's is that in the world.
Quat step_quaternion(const Model& model, const Data& data, const double* q, int body) {
  const Structure& s = model.structure();
  const BodyIndex& index = s.bodies[body];
  if (index.kinematic >= 0) return rotation_quaternion(data.kinematic_pose[index.kinematic].R);
  const LinkIndex& link = s.links[index.link];
  const bool moves = link.body == body && index.link != 0;
  if (moves && link.kind == LinkKind::free) return joint_quaternion(model, q, link.joint_begin);
  Quat result = load_quaternion(model.theta().data() + index.placement + 3);
  if (!moves) return result;
  for (int j = link.joint_begin; j < link.joint_end; ++j) result = result * joint_quaternion(model, q, j);
  return result;
}

}  // namespace

int body_of_place(const Model& model, ObjectType type, int index) {
  const Structure& s = model.structure();
  if (type == ObjectType::frame) return s.frames[index].body;
  if (type == ObjectType::geometry) return s.geometries[index].body;
  return index;
}

Place find_place(const Model& model, const Data& data, ObjectType type, int index) {
  const int body = body_of_place(model, type, index);
  const int k = model.structure().bodies[body].link;
  const InLink local = in_link(model, type, index, body);
  const Mat3& R = data.link_R[k];
  return {{k, data.link_r[k] + R * local.p}, R * local.R, data.link_reference[k]};
}

Quat place_quaternion(const Model& model, const Data& data, const double* q, ObjectType type, int index) {
  const Structure& s = model.structure();
  const int body = body_of_place(model, type, index);
  Quat result;
  if (type == ObjectType::body_inertial) result = rotation_quaternion(model.constants().body_box[body].axes);
  if (type == ObjectType::frame || type == ObjectType::geometry) {
    const int placement =
        type == ObjectType::frame ? s.frames[index].placement : s.geometries[index].placement;
    result = load_quaternion(model.theta().data() + placement + 3);
  }
  for (int b = body; b > 0; b = s.bodies[b].parent) {
    result = step_quaternion(model, data, q, b) * result;
    const bool from_world = s.bodies[b].kinematic >= 0 || (s.links[s.bodies[b].link].kind == LinkKind::free &&
                                                           s.links[s.bodies[b].link].body == b);
    if (from_world) break;
  }
  return result;
}

Motion felt_acceleration(const Model& model, const Data& data, int link) {
  const LinkKind kind = model.structure().links[link].kind;
  if (kind == LinkKind::world) return {Vec3(), -model.gravity()};
  const Motion& v = data.link_v[link];
  if (kind == LinkKind::kinematic) return {Vec3(), -model.gravity() - cross(v.angular, v.linear)};
  return data.link_a[link];
}

Vec3 felt_acceleration_at(const Model& model, const Data& data, const LinkPoint& at) {
  const Motion& v = data.link_v[at.link];
  return point_velocity(felt_acceleration(model, data, at.link), at.r) +
         cross(v.angular, point_velocity(v, at.r));
}

Inertia body_inertia(const Model& model, const Data& data, int body) {
  if (body == 0) return {};  // the world has none
  const int k = model.structure().bodies[body].link;
  const InertiaBox& box = model.constants().body_box[body];
  const Mat3 R = data.link_R[k] * model.constants().body_in_link[body].R * box.axes;
  const Mat3 scaled{R.x * box.moments[0], R.y * box.moments[1], R.z * box.moments[2]};
  const Inertia about_com{scaled * transpose(R), Vec3(),
                          model.theta()[model.structure().bodies[body].inertia]};
  return shifted(about_com, data.link_r[k] + data.link_R[k] * model.constants().body_com[body]);
}

int body_subtree_end(const Structure& s, int body) {
  int end = body + 1;
  // Depth first: whatever has a parent in the range belongs to it.
  while (end < static_cast<int>(s.bodies.size()) && s.bodies[end].parent >= body) ++end;
  return body == 0 ? static_cast<int>(s.bodies.size()) : end;
}

}  // namespace articula
