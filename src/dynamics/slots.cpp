#include "slots.hpp"

#include "articula/math/lie.hpp"

namespace articula {

namespace {

// A body's frame while its joints are applied one by one, from the reference point of its link.
struct MovingFrame {
  Mat3 R;
  Vec3 p;
};

void apply(const Model& model, const Data& data, const ConstVectorRef& q, int j, MovingFrame& frame) {
  const JointIndex& joint = model.structure().joints[j];
  const JointConstants& c = model.constants().joints[j];
  if (joint.type == JointType::slide) {
    frame.p += frame.R * c.axis * (q[joint.q] - c.reference);
    return;
  }
  const Vec3 anchor = frame.p + frame.R * c.anchor;
  frame.R = frame.R * (joint.type == JointType::hinge
                           ? rotation_about(c.axis, data.sine[joint.angle], data.cosine[joint.angle])
                           : rotation_matrix(load_quaternion(q.data() + joint.q)));
  frame.p = anchor - frame.R * c.anchor;
}

// What a joint's axis turns about: its anchor, or the frame's own origin for a slide.
Vec3 turning_point(const Model& model, int j, const MovingFrame& frame) {
  if (model.structure().joints[j].type == JointType::slide) return frame.p;
  return frame.p + frame.R * model.constants().joints[j].anchor;
}

struct LinkMotion {
  Motion v, a;
};

LinkMotion motion_of_link(const Model& model, const Data& data, int link) {
  const LinkKind kind = model.structure().links[link].kind;
  if (kind != LinkKind::world && kind != LinkKind::kinematic) return {data.link_v[link], data.link_a[link]};
  const Motion& v = data.link_v[link];
  return {v, {Vec3(), -model.gravity() - cross(v.angular, v.linear)}};
}

void add_joint_slots(const Model& model, const Data& data, const ConstVectorRef& q, const LinkIndex& link,
                     int k, MovingFrame frame, std::vector<Slot>& slots) {
  const Structure& s = model.structure();
  for (int j = link.joint_begin; j < link.joint_end; ++j) {
    const int dof = s.joints[j].dof;
    slots.push_back({Slot::Kind::before_joint, j, data.dof_v[dof], data.dof_a[dof], frame.R, frame.R,
                     turning_point(model, j, frame)});
    apply(model, data, q, j, frame);
    const bool last = j + 1 == link.joint_end;
    const int next = last ? 0 : s.joints[j + 1].dof;
    slots.push_back({Slot::Kind::after_joint, j, last ? data.link_v[k] : data.dof_v[next],
                     last ? data.link_a[k] : data.dof_a[next], frame.R, frame.R,
                     turning_point(model, j, frame)});
  }
}

// Nor is that of a kinematic body, unless nobody moves it: then it goes where its placement goes. What a
// shift does to a spin is not in a slot: certificates tell (ImpulseDerivatives::examine).
Slot kinematic_slot(const Model& model, const Data& data, const BodyIndex& body) {
  const LinkMotion motion = motion_of_link(model, data, body.link);
  const bool spins = squared_norm(data.kinematic_twist[body.kinematic].angular) > 0.0;
  if (!data.kinematic_placed[body.kinematic] || spins)
    return {Slot::Kind::placement, -1, motion.v, motion.a, Mat3{}, Mat3{}, Vec3()};
  return {Slot::Kind::placement, -1, motion.v, motion.a, Mat3::identity(), data.link_R[body.link], Vec3()};
}

}  // namespace

void find_slots(const Model& model, const Data& data, const ConstVectorRef& q, ParameterWork& work) {
  const Structure& s = model.structure();
  work.slots.clear();
  work.slot_begin[0] = 0;
  for (int b = 1; b < model.nbody(); ++b) {
    work.slot_begin[b] = static_cast<int>(work.slots.size());
    const BodyIndex& body = s.bodies[b];
    const LinkIndex& link = s.links[body.link];
    const bool owns_link = link.body == b;
    // The pose of a free body is not the described one.
    if (owns_link && link.kind == LinkKind::free) continue;
    if (body.kinematic >= 0) {
      work.slots.push_back(kinematic_slot(model, data, body));
      continue;
    }
    const int parent_link = s.bodies[body.parent].link;
    const Placement parent = body_placement(model, data, body.parent);
    const double* own = model.theta().data() + body.placement;
    MovingFrame frame{parent.R * rotation_matrix(load_quaternion(own + 3)),
                      parent.p - data.link_reference[body.link] + parent.R * load3(own)};
    LinkMotion before = motion_of_link(model, data, parent_link);
    if (owns_link && link.root) before.v = parent_velocity(data, link, body.link);
    work.slots.push_back({Slot::Kind::placement, -1, before.v, before.a, parent.R, frame.R, frame.p});
    if (owns_link) add_joint_slots(model, data, q, link, body.link, frame, work.slots);
  }
  work.slot_begin[model.nbody()] = static_cast<int>(work.slots.size());
}

// An axis k = a/|a| turns by k x dk, dk = (1 - k k^T) da / |a|, that is k x da / |a|.
Motion slot_twist(const Model& model, const Slot& slot, int body, const double* dtheta) {
  const double* theta = model.theta().data();
  Vec3 shift, turn;
  if (slot.kind == Slot::Kind::placement) {
    const int offset = model.structure().bodies[body].placement;
    shift = load3(dtheta + offset);
    turn = quaternion_turn(theta + offset + 3, dtheta + offset + 3);
  } else {
    const JointIndex& joint = model.structure().joints[slot.joint];
    if (joint.anchor >= 0) shift = load3(dtheta + joint.anchor);
    if (joint.axis >= 0) {
      const Vec3 axis = load3(theta + joint.axis);
      turn = cross(axis, load3(dtheta + joint.axis)) * (1.0 / squared_norm(axis));
    }
  }
  const double sign = slot.kind == Slot::Kind::after_joint ? -1.0 : 1.0;
  return shifted(Motion{slot.turn_axes * turn * sign, slot.shift_axes * shift * sign}, slot.point);
}

void add_slot_covector(const Model& model, const Slot& slot, int body, const Force& g, double* theta_bar) {
  const double* theta = model.theta().data();
  const double sign = slot.kind == Slot::Kind::after_joint ? -1.0 : 1.0;
  const Force at_point = shifted(g, -slot.point);
  const Vec3 shift = transpose_times(slot.shift_axes, at_point.linear) * sign;
  const Vec3 turn = transpose_times(slot.turn_axes, at_point.moment) * sign;
  const auto add3 = [&](int offset, Vec3 a) {
    for (int i = 0; i < 3; ++i) theta_bar[offset + i] += a[i];
  };
  if (slot.kind == Slot::Kind::placement) {
    const int offset = model.structure().bodies[body].placement;
    add3(offset, shift);
    add_quaternion_covector(theta + offset + 3, turn, theta_bar + offset + 3);
    return;
  }
  const JointIndex& joint = model.structure().joints[slot.joint];
  if (joint.anchor >= 0) add3(joint.anchor, shift);
  if (joint.axis >= 0) {
    const Vec3 axis = load3(theta + joint.axis);
    add3(joint.axis, cross(turn, axis) * (1.0 / squared_norm(axis)));
  }
}

}  // namespace articula
