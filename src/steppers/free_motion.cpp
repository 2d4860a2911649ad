#include "articula/steppers/free_motion.hpp"

#include "articula/dynamics/crba.hpp"
#include "articula/dynamics/saturation.hpp"
#include "articula/kinematics/manifold.hpp"
#include "articula/model/sizes.hpp"

namespace articula {

FreeMotionWork::FreeMotionWork(const Model& model)
    : forces(model),
      q(model.nq()),
      v(model.nv()),
      activation(model.na()),
      control(VectorX::Zero(model.nu())),
      wrenches(Matrix6X::Zero(6, model.nbody())),
      bias(model.nv()),
      unbalanced(model.nv()),
      h_slope(model.nv()),
      acceleration(model.nv()),
      saturation(forces.saturation) {}

namespace {

bool empty_or(const char* what, long given, long expected) {
  if (given == 0) return true;
  require_size(what, given, expected);
  return false;
}

void require_sizes(const Model& model, const State& state, const Input& input) {
  require_size("q", state.q.size(), model.nq());
  require_size("v", state.v.size(), model.nv());
  require_size("activation", state.activation.size(), model.na());
  const long nkinematic = model.structure().nkinematic;
  empty_or("controls", input.controls.size(), model.nu());
  empty_or("forces", input.forces.size(), model.nv());
  empty_or("wrenches (columns)", input.wrenches.cols(), model.nbody());
  empty_or("kinematic_pose", static_cast<long>(input.kinematic_pose.size()), nkinematic);
  empty_or("kinematic_twist (columns)", input.kinematic_twist.cols(), nkinematic);
}

bool all_finite(const State& state, const Input& input) {
  for (const Pose& pose : input.kinematic_pose) {
    if (!pose.position.allFinite() || !has_direction(pose.rotation.coeffs().data())) return false;
  }
  return state.q.allFinite() && state.v.allFinite() && state.activation.allFinite() &&
         std::isfinite(state.time) && input.controls.allFinite() && input.forces.allFinite() &&
         input.wrenches.allFinite() && input.kinematic_twist.allFinite();
}

void place_kinematic_bodies(const Model& model, Data& data, const Input& input) {
  for (const BodyIndex& body : model.structure().bodies) {
    const int k = body.kinematic;
    if (k < 0) continue;
    const double* described = model.theta().data() + body.placement;
    const Pose pose = input.kinematic_pose.empty()
                          ? Pose{Vector3(described[0], described[1], described[2]),
                                 Quaternion(described[3], described[4], described[5], described[6])}
                          : input.kinematic_pose[k];
    data.kinematic_pose[k] = placement_of({pose.position, pose.rotation.normalized()});
    data.kinematic_twist[k] = {};
    if (input.kinematic_twist.cols() > 0) {
      const double* twist = input.kinematic_twist.col(k).data();
      data.kinematic_twist[k] = {load3(twist + 3), load3(twist)};
    }
    data.kinematic_placed[k] = input.kinematic_pose.empty();
  }
}

void keep_arguments(FreeMotionWork& work, const State& state, const Input& input) {
  work.q = state.q;
  work.v = state.v;
  work.activation = state.activation;
  if (input.controls.size() == 0)
    work.control.setZero();
  else
    work.control = input.controls;
  work.has_wrenches = input.wrenches.cols() > 0;
  if (work.has_wrenches) work.wrenches = input.wrenches;
}

// All that depends on which servos are at their limits.
StepStatus move_freely(const Model& model, Data& data, FreeMotionWork& work, double h, const Input& input,
                       VectorRef v_free) {
  work.unbalanced = work.forces.tau - work.bias;
  if (input.forces.size() > 0) work.unbalanced += input.forces;
  work.h_slope = h * work.forces.slope;
  if (!factor_mass_matrix(model, data, work.h_slope.data())) return StepStatus::singular_mass;
  work.acceleration = work.unbalanced;
  solve_mass_matrix(model, data, work.acceleration);
  v_free = work.v + h * work.acceleration;
  return v_free.allFinite() ? StepStatus::ok : StepStatus::result_not_finite;
}

}  // namespace

bool has_direction(const double* quaternion) {
  const double square = Eigen::Map<const Eigen::Vector4d>(quaternion).squaredNorm();
  return square > 0.0 && std::isfinite(square);
}

int joint_without_direction(const Model& model, const ConstVectorRef& q) {
  const std::vector<JointIndex>& joints = model.structure().joints;
  for (size_t i = 0; i < joints.size(); ++i) {
    const int dof = turning_dof(joints[i]);
    if (dof >= 0 && !has_direction(q.data() + joints[i].q + dof - joints[i].dof)) return static_cast<int>(i);
  }
  return -1;
}

StepStatus free_velocity(const Model& model, Data& data, FreeMotionWork& work, const StepSettings& settings,
                         const State& state, const Input& input, VectorRef v_free, const Saturation* held) {
  const double h = settings.dt;
  if (!(h > 0.0 && std::isfinite(h))) throw Error(fmt::format("dt must be positive, not {}", h));
  require_sizes(model, state, input);
  require_size("v_free", v_free.size(), model.nv());
  if (!all_finite(state, input) || joint_without_direction(model, state.q) >= 0)
    return StepStatus::input_not_finite;
  keep_arguments(work, state, input);
  place_kinematic_bodies(model, data, input);

  const DynamicsOptions options{work.external(), settings.implicit_gyroscopic ? h : 0.0};
  bias_forces(model, data, work.q, work.v, work.bias, options);
  applied_forces(model, data, work.forces, work.q, work.v, work.activation, work.control, h, held);
  composite_mass_matrix(model, data);
  StepStatus status = move_freely(model, data, work, h, input, v_free);
  // All at once that should change is fastest, one by one ends for certain; far more than is ever needed.
  const int together = 8, most = together + 16 * static_cast<int>(work.forces.saturable.size() + 1);
  for (int k = 0; held == nullptr && status == StepStatus::ok; ++k) {
    if (!measure_end_forces(model, work.forces, work.v, v_free) ||
        !next_saturation(model, work.forces, work.v, v_free, k >= together, work.saturation))
      break;
    if (k == most) return StepStatus::servos_not_settled;
    status = free_velocity_again(model, data, work, h, input, v_free, work.saturation);
  }
  return status;
}

StepStatus free_velocity_again(const Model& model, Data& data, FreeMotionWork& work, double h,
                               const Input& input, VectorRef v_free, const Saturation& held) {
  applied_forces(model, data, work.forces, work.q, work.v, work.activation, work.control, h, &held);
  return move_freely(model, data, work, h, input, v_free);
}

}  // namespace articula
