#include "articula/math/lie.hpp"
#include "force_terms.hpp"

namespace articula {

namespace {

// The nearest link above both, or 0.
int common_link(const Structure& s, int a, int b) {
  while (a != b) (a > b ? a : b) = s.links[a > b ? a : b].parent;
  return a;
}

struct FramePose {
  Mat3 R;
  Vec3 r;         // from the reference point of its tree
  Vec3 position;  // in the world
};

FramePose frame_pose(const Model& model, const Data& data, int frame) {
  const FrameIndex& index = model.structure().frames[frame];
  const int k = model.structure().bodies[index.body].link;
  const Placement& in_link = model.constants().body_in_link[index.body];
  const double* own = model.theta().data() + index.placement;
  const Mat3 R = data.link_R[k] * in_link.R;
  const Vec3 r = data.link_r[k] + data.link_R[k] * in_link.p + R * load3(own);
  return {R * rotation_matrix(load_quaternion(own + 3)), r, data.link_reference[k] + r};
}

const Motion& body_velocity(const Model& model, const Data& data, int body) {
  return data.link_v[model.structure().bodies[body].link];
}

// What `force` at r and `moment` are about the reference point.
Force wrench_at(Vec3 r, Vec3 force, Vec3 moment) { return {moment + cross(r, force), force}; }

}  // namespace

std::vector<FrameTransmission> find_frame_transmissions(const Model& model) {
  const Structure& s = model.structure();
  std::vector<FrameTransmission> found;
  for (int i = 0; i < s.nu; ++i) {
    if (model.description().actuators[i].transmission != TransmissionType::frame) continue;
    FrameTransmission t;
    t.actuator = i;
    t.body = s.frames[s.actuators[i].target].body;
    if (s.actuators[i].reference_frame >= 0) {
      t.reference_body = s.frames[s.actuators[i].reference_frame].body;
      const int link = common_link(s, s.bodies[t.body].link, s.bodies[t.reference_body].link);
      if (link > 0) t.common_body = s.links[link].body;
    }
    found.push_back(t);
  }
  return found;
}

// With reference frame (2):  l = g_shift . R2^T (p1 - p2) + g_turn . log(R2^T R1);  without:  l = 0
void measure_frames(const Model& model, const Data& data, ForceWork& work) {
  for (FrameTransmission& t : work.frames) {
    const ActuatorIndex& actuator = model.structure().actuators[t.actuator];
    const Vec3 shift = load3(model.theta().data() + actuator.gear);
    const Vec3 turn = load3(model.theta().data() + actuator.gear + 3);
    const FramePose pose = frame_pose(model, data, actuator.target);
    t.R = t.axes = pose.R;
    t.r = pose.r;
    t.motion = body_velocity(model, data, t.body);
    if (t.reference_body >= 0) {
      const FramePose reference = frame_pose(model, data, actuator.reference_frame);
      t.axes = reference.R;
      t.reference_r = reference.r;
      t.apart = pose.position - reference.position;
      t.turn = log_rotation(rotation_quaternion(transpose(reference.R) * pose.R));
      t.reference_motion = body_velocity(model, data, t.reference_body);
    }
    if (t.common_body >= 0) {
      const Motion& common = body_velocity(model, data, t.common_body);
      t.motion -= shifted(common, -reference_shift(model, data, t.body, t.common_body));
      t.reference_motion -= shifted(common, -reference_shift(model, data, t.reference_body, t.common_body));
    }
    t.wrench = wrench_at(t.r, t.axes * shift, t.axes * turn);
    work.length[t.actuator] = 0.0;
    work.velocity[t.actuator] = dot(t.motion, t.wrench);
    if (t.reference_body < 0) continue;
    t.reaction = wrench_at(t.reference_r, t.axes * shift, t.axes * turn);
    work.length[t.actuator] = dot(t.axes * shift, t.apart) + dot(turn, t.turn);
    work.velocity[t.actuator] -= dot(t.reference_motion, t.reaction);
  }
}

void add_transmitted_wrench(const Model& model, const Data& data, const FrameTransmission& t,
                            const Force& wrench, const Force& reaction, std::vector<Force>& own) {
  own[t.body] += wrench;
  if (t.reference_body >= 0) own[t.reference_body] -= reaction;
  if (t.common_body < 0) return;
  own[t.common_body] -= shifted(wrench, reference_shift(model, data, t.body, t.common_body));
  own[t.common_body] += shifted(reaction, reference_shift(model, data, t.reference_body, t.common_body));
}

void transmit_to_frames(const Data& data, const Model& model, ForceWork& work) {
  for (const FrameTransmission& t : work.frames) {
    const double f = work.force[t.actuator];
    add_transmitted_wrench(model, data, t, t.wrench * f, t.reaction * f, work.thrust.own);
  }
}

}  // namespace articula
