#include "limits.hpp"

#include "articula/math/lie.hpp"

namespace articula {

namespace {

NearLimit near_limit(double value, const std::optional<Vector2>& range, double margin) {
  if (!range) return {};
  const double below = value - (*range)[0], above = (*range)[1] - value;
  if (below < margin) return {below - margin, 1.0};
  if (above < margin) return {above - margin, -1.0};
  return {};
}

const JointDescription& described_joint(const Model& model, int joint) {
  const Structure& s = model.structure();
  const JointIndex& index = s.joints[joint];
  return model.description().bodies[index.body - 1].joints[joint - s.links[index.link].joint_begin];
}

}  // namespace

NearLimit near_joint_limit(const Model& model, const SensorInputs& in, int joint) {
  const JointDescription& described = described_joint(model, joint);
  const JointIndex& index = model.structure().joints[joint];
  if (index.type != JointType::ball)
    return near_limit(in.q[index.q], described.range, described.limit_margin);
  if (!described.range) return {};
  const double angle = norm(log_rotation(load_quaternion(in.q + index.q)));
  const double above = (*described.range)[1] - angle;
  return above < described.limit_margin ? NearLimit{above - described.limit_margin, -1.0} : NearLimit{};
}

// d angle / dt of a ball is along the axis it is turned about.
double joint_limit_velocity(const Model& model, const SensorInputs& in, int joint) {
  const JointIndex& index = model.structure().joints[joint];
  const NearLimit limit = near_joint_limit(model, in, joint);
  if (limit.sign == 0.0) return 0.0;
  if (index.type != JointType::ball) return limit.sign * in.v[index.dof];
  const Vec3 turn = log_rotation(load_quaternion(in.q + index.q));
  const double angle = norm(turn);
  return angle > 0.0 ? -dot(turn, load3(in.v + index.dof)) / angle : 0.0;
}

NearLimit near_tendon_limit(const Model& model, const SensorInputs& in, int tendon) {
  const TendonDescription& described = model.description().tendons[tendon];
  return near_limit(in.forces->tendon_length[tendon], described.range, described.limit_margin);
}

bool is_cut(SensorType type) {
  using enum SensorType;
  switch (type) {
    case frame_quaternion:
    case ball_quaternion:
    case frame_x_axis:
    case frame_y_axis:
    case frame_z_axis: return false;
    default: return true;
  }
}

}  // namespace articula
