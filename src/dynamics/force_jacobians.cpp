#include "actuator_terms.hpp"
#include "articula/dynamics/springs.hpp"
#include "articula/math/lie.hpp"
#include "articula/model/sizes.hpp"
#include "field_derivatives.hpp"
#include "model/reflected.hpp"

namespace articula {

namespace {

struct Entries {
  StridedMatrices out;
  double scale;
  void add_q(int i, int j, double x) const {
    out.dq[i * out.row_stride + j * out.column_stride] += scale * x;
  }
  void add_v(int i, int j, double x) const {
    out.dv[i * out.row_stride + j * out.column_stride] += scale * x;
  }
};

// d(raw force) by length, velocity and input of an actuator
struct RawRates {
  double by_length, by_velocity, by_input;
};
RawRates raw_rates(const Model& model, const ForceWork& forces, int i) {
  const ActuatorIndex& actuator = model.structure().actuators[i];
  const double *gain = model.theta().data() + actuator.gain, *bias = model.theta().data() + actuator.bias;
  const double a = forces.input[i];
  return {gain[1] * a + bias[1], gain[2] * a + bias[2],
          gain[0] + gain[1] * forces.length[i] + gain[2] * forces.velocity[i]};
}

// 1 where the force of an actuator is within its range.
double free_of_limits(const ForceWork& forces, int i) {
  return forces.saturation.actuator[i] == 0 ? 1.0 : 0.0;
}

void add_scalar_actuator(const Model& model, const ForceWork& forces, int i, const Entries& to) {
  const Structure& s = model.structure();
  const int d = s.joints[s.actuators[i].target].dof;
  const double gear = model.theta()[s.actuators[i].gear];
  const double free = free_of_limits(forces, i) * forces.unlimited[d] * gear * gear;
  const RawRates rates = raw_rates(model, forces, i);
  to.add_q(d, d, free * rates.by_length);
  to.add_v(d, d, free * rates.by_velocity);
}

// m f on a ball or free joint: m df + dm f, with dm = axis x turn where the gear is in the parent's axes.
void add_turning_actuator(const Model& model, const ForceWork& forces, const ForceArguments& at, int i,
                          const Entries& to) {
  const TurningGear gear = turning_gear(model, i, at.q);
  const bool free = gear.shifting >= 0;
  const double slope = free_of_limits(forces, i);
  const RawRates rates = raw_rates(model, forces, i);
  const Vec3 v = load3(at.v + gear.turning), g = load3(gear.gear);
  Vec3 f_by_turn;
  if (!free) f_by_turn += transpose_times(inverse_right_jacobian(gear.turn), g) * (slope * rates.by_length);
  if (gear.in_parent) f_by_turn += cross(v, gear.axis) * (slope * rates.by_velocity);
  const int blocks = free ? 2 : 1;
  const int first[2] = {gear.turning, gear.shifting};
  const Vec3 arm[2] = {gear.axis,
                       free ? load3(model.theta().data() + model.structure().actuators[i].gear) : Vec3()};
  for (int b = 0; b < blocks; ++b) {
    for (int k = 0; k < 3; ++k) {
      const int row = first[b] + k;
      const double felt = forces.unlimited[row];
      for (int c = 0; c < 3; ++c) to.add_q(row, gear.turning + c, felt * arm[b][k] * f_by_turn[c]);
      for (int b2 = 0; b2 < blocks; ++b2) {
        for (int c = 0; c < 3; ++c) {
          to.add_v(row, first[b2] + c, felt * arm[b][k] * slope * rates.by_velocity * arm[b2][c]);
        }
      }
    }
  }
  if (!gear.in_parent) return;
  const Mat3 carried = skew(gear.axis) * forces.force[i];
  for (int k = 0; k < 3; ++k) {
    for (int c = 0; c < 3; ++c) {
      to.add_q(gear.turning + k, gear.turning + c, forces.unlimited[gear.turning + k] * carried.column(c)[k]);
    }
  }
}

// What all actuators of a tendon add to its drive when their raw forces change by work.raw.
double drive_change(const Model& model, const ForceWork& forces, ForceDerivativeWork& work, int tendon) {
  const Structure& s = model.structure();
  limit_along(model, forces, work);
  double drive = 0.0;
  for (int i = 0; i < s.nu; ++i) {
    if (model.description().actuators[i].transmission != TransmissionType::tendon) continue;
    if (s.actuators[i].target == tendon) drive += model.theta()[s.actuators[i].gear] * work.force[i];
  }
  return drive;
}

void add_tendon(const Model& model, const ForceWork& forces, ForceDerivativeWork& work, int t,
                const Entries& to) {
  const Structure& s = model.structure();
  double drive_rate[2];
  for (const bool by_velocity : {false, true}) {
    work.raw.setZero();
    for (int i = 0; i < s.nu; ++i) {
      if (model.description().actuators[i].transmission != TransmissionType::tendon) continue;
      if (s.actuators[i].target != t) continue;
      const RawRates rates = raw_rates(model, forces, i);
      work.raw[i] = model.theta()[s.actuators[i].gear] * (by_velocity ? rates.by_velocity : rates.by_length);
    }
    drive_rate[by_velocity] = drive_change(model, forces, work, t);
  }
  const double spring = spring_rate(model, forces, t), damping = model.constants().tendon_damping[t];
  const double* c = model.theta().data() + s.tendons[t].coefficients;
  for (size_t i = 0; i < s.tendons[t].joints.size(); ++i) {
    const int row = s.joints[s.tendons[t].joints[i]].dof;
    for (size_t j = 0; j < s.tendons[t].joints.size(); ++j) {
      const int column = s.joints[s.tendons[t].joints[j]].dof;
      to.add_q(row, column, c[i] * c[j] * (forces.unlimited[row] * drive_rate[0] - spring));
      to.add_v(row, column, c[i] * c[j] * (forces.unlimited[row] * drive_rate[1] - damping));
    }
  }
}

ArticulatedInertia& operator+=(ArticulatedInertia& a, const ArticulatedInertia& b) {
  a.rotational += b.rotational, a.coupling += b.coupling, a.linear += b.linear;
  return a;
}

Force act(const ArticulatedInertia& a, const Motion& m) {
  return {a.rotational * m.angular + transpose_times(a.coupling, m.linear),
          a.coupling * m.angular + a.linear * m.linear};
}

// Wrenches W on bodies of which those behind dof j change by  S_j x* W + D psi'_j + X s_j  with q_j and by
// D S_j with v_j: the assembly of rnea_derivatives.cpp, without its inertias.
void add_field_jacobians(const Model& model, const Data& data, const WrenchField& field,
                         ForceDerivativeWork& work, const double* row_scale, const Entries& to) {
  const Structure& s = model.structure();
  for (int k = model.nlink() - 1; k > 0; --k) {
    const LinkIndex& link = s.links[k];
    if (link.root) continue;
    work.by_motion[link.parent] += work.by_motion[k];
    work.by_turn[link.parent].moment += work.by_turn[k].moment;
    work.by_turn[link.parent].force += work.by_turn[k].force;
  }
  for (int d = 0; d < s.nv; ++d) {
    const int k = s.dofs[d].link;
    const Motion& S = data.S[d];
    const TurnRate& X = work.by_turn[k];
    work.dof_rate[d] = act(work.by_motion[k], S);
    work.dof_turn[d] = transpose_times(X.moment, S.angular) + transpose_times(X.force, S.linear);
    work.dof_change[d] = cross(S, field.subtree[s.links[k].body]) + act(work.by_motion[k], data.psi_dot[d]) +
                         Force{X.moment * S.angular, X.force * S.angular};
  }
  for (int j = 0; j < s.nv; ++j) {
    const DofIndex& dof = s.dofs[j];
    const Motion& S = data.S[j];
    for (int i = dof.block_begin; i < dof.subtree_end; ++i) {
      to.add_q(i, j,
               row_scale[i] * (dot(data.psi_dot[j], work.dof_rate[i]) + dot(S.angular, work.dof_turn[i])));
      to.add_v(i, j, row_scale[i] * dot(S, work.dof_rate[i]));
    }
    for (int i = dof.block_end; i < dof.subtree_end; ++i) {
      to.add_q(j, i, row_scale[j] * dot(S, work.dof_change[i]));
      to.add_v(j, i, row_scale[j] * dot(S, work.dof_rate[i]));
    }
  }
}

void clear_rates(ForceDerivativeWork& work) {
  for (ArticulatedInertia& rate : work.by_motion) rate = {};
  for (TurnRate& rate : work.by_turn) rate = {};
}

void add_drag_jacobians(const Model& model, const Data& data, const ForceWork& forces,
                        ForceDerivativeWork& work, const Entries& to) {
  const Structure& s = model.structure();
  clear_rates(work);
  const Vec3 wind = load3(model.theta().data() + s.wind);
  for (int b = 1; b < model.nbody(); ++b) {
    if (!has_drag(model, b)) continue;
    const DragRate rate = drag_rate(body_drag(model, data, b), wind);
    TurnRate& turn = work.by_turn[s.bodies[b].link];
    work.by_motion[s.bodies[b].link] += rate.by_motion;
    turn.moment += rate.by_turn.moment;
    turn.force += rate.by_turn.force;
  }
  work.scaled.setOnes();
  add_field_jacobians(model, data, forces.drag, work, work.scaled.data(), to);
}

// A weight that stays vertical: what turns along but should not is taken off (wrench_coupling).
void add_compensation_jacobians(const Model& model, const Data& data, const ForceWork& forces,
                                ForceDerivativeWork& work, const Entries& to) {
  const Structure& s = model.structure();
  clear_rates(work);
  for (int b = 1; b < model.nbody(); ++b) {
    const BodyIndex& body = s.bodies[b];
    if (body.gravity_compensation == 0.0) continue;
    const Vec3 F = model.gravity() * (-body.gravity_compensation * model.theta()[body.inertia]);
    const VelocityCoupling X = wrench_coupling(F, Vec3(), com_from_reference(model, data, b));
    work.by_turn[body.link].moment -= X.N;
    work.by_turn[body.link].force += skew(X.two_P);
  }
  compensation_scale(model, forces, work.scaled);
  add_field_jacobians(model, data, forces.compensation, work, work.scaled.data(), to);
}

// Wrenches W that stay: only axes behind j move under them,  (S_j x S_i) . W = S_j . (S_i x* W).
void add_held_jacobians(const Model& model, const Data& data, ForceDerivativeWork& work, const Entries& to) {
  const Structure& s = model.structure();
  for (int d = 0; d < s.nv; ++d) {
    work.dof_change[d] = cross(data.S[d], work.held.subtree[s.links[s.dofs[d].link].body]);
  }
  for (int j = 0; j < s.nv; ++j) {
    for (int i = s.dofs[j].block_begin; i < s.dofs[j].subtree_end; ++i) {
      to.add_q(i, j, dot(data.S[j], work.dof_change[i]));
    }
  }
}

}  // namespace

void add_force_jacobians(const Model& model, const Data& data, const ForceWork& forces,
                         ForceDerivativeWork& work, const ForceArguments& at, double scale,
                         StridedMatrices out) {
  const Structure& s = model.structure();
  const Entries to{out, scale};
  for (int d = 0; d < s.nv; ++d) to.add_v(d, d, -model.constants().damping[d]);
  add_spring_jacobian(model, Eigen::Map<const VectorX>(at.q, s.nq), scale, out.dq, out.row_stride,
                      out.column_stride);
  for (int i = 0; i < s.nu; ++i) {
    if (on_scalar_joint(model, i)) {
      add_scalar_actuator(model, forces, i, to);
    } else if (drives_joint(model.description().actuators[i])) {
      add_turning_actuator(model, forces, at, i, to);
    }
  }
  for (size_t t = 0; t < s.tendons.size(); ++t) add_tendon(model, forces, work, static_cast<int>(t), to);
  if (forces.thrust.active) add_frame_jacobians(model, data, forces, work, scale, out);
  if (forces.drag.active) add_drag_jacobians(model, data, forces, work, to);
  if (forces.compensation.active) add_compensation_jacobians(model, data, forces, work, to);
  if (work.held.active) add_held_jacobians(model, data, work, to);
}

namespace {

// work.arms = d(joint forces)/d(input of actuator i), on a tendon, a frame or a turning joint: these have no
// slope.
void input_column(const Model& model, const Data& data, const ForceWork& forces, ForceDerivativeWork& work,
                  const ForceArguments& at, int i) {
  const Structure& s = model.structure();
  const ActuatorIndex& actuator = s.actuators[i];
  const double* gear = model.theta().data() + actuator.gear;
  const TransmissionType type = model.description().actuators[i].transmission;
  work.arms.setZero();
  work.raw.setZero();
  work.raw[i] = raw_rates(model, forces, i).by_input;
  if (type == TransmissionType::tendon) {
    const double drive = drive_change(model, forces, work, actuator.target);
    const double* c = model.theta().data() + s.tendons[actuator.target].coefficients;
    for (int j : s.tendons[actuator.target].joints) work.arms[s.joints[j].dof] += *c++ * drive;
  } else {
    const double df = free_of_limits(forces, i) * work.raw[i];
    if (type == TransmissionType::frame) {
      for (size_t k = 0; k < forces.frames.size(); ++k) {
        if (forces.frames[k].actuator == i) frame_arms(data, forces, work, k, work.arms.data());
      }
    } else {
      const TurningGear turning = turning_gear(model, i, at.q);
      store3(work.arms.data() + turning.turning, turning.axis);
      if (turning.shifting >= 0) store3(work.arms.data() + turning.shifting, load3(gear));
    }
    work.arms *= df;
  }
  work.arms.array() *= forces.unlimited.array();
}

}  // namespace

void add_force_input_jacobians(const Model& model, const Data& data, const ForceWork& forces,
                               ForceDerivativeWork& work, const ForceArguments& at,
                               const ConstVectorRef& weight, double scale, RowMatrixRef by_control,
                               RowMatrixRef by_activation) {
  const Structure& s = model.structure();
  require_size("weight", weight.size(), s.nv);
  require_size("columns of by_control", by_control.cols(), s.nu);
  require_size("columns of by_activation", by_activation.cols(), s.na);
  for (int i = 0; i < s.nu; ++i) {
    const InputRates rates = input_rates(model, i, at);
    const int joint = s.actuators[i].target, w = s.actuators[i].activation;
    if (on_scalar_joint(model, i)) {
      // One number: the force, and what the input does to the slope,  -gear^2 gain_2  (weight: h a).
      const double* theta = model.theta().data();
      const double gear = theta[s.actuators[i].gear];
      const int d = s.joints[joint].dof;
      const double by_input = raw_rates(model, forces, i).by_input;
      const double by_slope = gear * theta[s.actuators[i].gain + 2] * weight[d];
      const double arm = forces.unlimited[d] * free_of_limits(forces, i) * gear * (by_input + by_slope);
      by_control(d, i) += scale * rates.by_control * arm;
      if (w >= 0) by_activation(d, w) += scale * rates.by_activation * arm;
      continue;
    }
    input_column(model, data, forces, work, at, i);
    if (rates.by_control != 0.0) by_control.col(i) += (scale * rates.by_control) * work.arms;
    if (w >= 0 && rates.by_activation != 0.0) {
      by_activation.col(w) += (scale * rates.by_activation) * work.arms;
    }
  }
}

}  // namespace articula
