// Actuators on frames. The frame (1) is displaced by Z1, its reference frame (2) by Z2; the wrench has the
// axes A of the reference frame, or its own:  a = A g_shift,  b = A g_turn,  W1 = (b + r1 x a, a) and so W2.
//   da = z_A x a + A dg,   dr = Z|r,   dW = (db + dr x a + r x da, da)
//   l = a . (p1 - p2) + g_turn . log(R2^T R1),      l' = m1 . W1 - m2 . W2
// m1, m2 the velocities relative to the body that carries both.

#include "actuator_terms.hpp"
#include "articula/math/lie.hpp"
#include "field_derivatives.hpp"

namespace articula {

namespace {

Force wrench_change(Vec3 r, Vec3 dr, Vec3 a, Vec3 da, Vec3 db) {
  return {db + cross(dr, a) + cross(r, da), da};
}

// Covectors of r, a, b for  M . wrench_change.
struct WrenchCovector {
  Vec3 r, a, b;
  WrenchCovector(const Motion& M, Vec3 at, Vec3 a_)
      : r(cross(a_, M.angular)),
        a(point_velocity(M, at)),
        b(M.angular) {}
};

// The twist by which dtheta displaces a frame in its body.
Motion placed_twist(const Model& model, const Data& data, int frame, const Mat3& R, Vec3 r,
                    const double* dtheta) {
  const FrameIndex& index = model.structure().frames[frame];
  const double *own = model.theta().data() + index.placement, *d = dtheta + index.placement;
  const Mat3 axes = body_axes(model, data, index.body);
  return shifted(Motion{R * quaternion_turn(own + 3, d + 3), axes * load3(d)}, r);
}

void placed_against(const Model& model, const Data& data, int frame, const Mat3& R, Vec3 r,
                    const Force& covector, double* theta_bar) {
  const FrameIndex& index = model.structure().frames[frame];
  const double* own = model.theta().data() + index.placement;
  const Force at_frame = shifted(covector, -r);
  const Vec3 shift = transpose_times(body_axes(model, data, index.body), at_frame.linear);
  for (int i = 0; i < 3; ++i) theta_bar[index.placement + i] += shift[i];
  add_quaternion_covector(own + 3, transpose_times(R, at_frame.moment), theta_bar + index.placement + 3);
}

const Motion& velocity_of(const Model& model, const Data& data, int body) {
  return data.link_v[model.structure().bodies[body].link];
}

// Z x v + m of a body, about its own reference point
Motion velocity_change(const Model& model, const Data& data, const ForceDerivativeWork& work, int body) {
  return cross(work.displacement[body], velocity_of(model, data, body)) + work.change[body];
}

// The same relative to the body that carries both frames.
Motion relative_change(const Model& model, const Data& data, const ForceDerivativeWork& work, int body,
                       int common) {
  Motion change = velocity_change(model, data, work, body);
  if (common >= 0) {
    change -=
        shifted(velocity_change(model, data, work, common), -reference_shift(model, data, body, common));
  }
  return change;
}

// (Z x v) . W = Z . (v x* W)
void relative_against(const Model& model, const Data& data, ForceDerivativeWork& work, int body, int common,
                      const Force& W) {
  work.change_bar[body] += W;
  work.displacement_bar[body] += cross(velocity_of(model, data, body), W);
  if (common < 0) return;
  const Force at_common = shifted(W, reference_shift(model, data, body, common));
  work.change_bar[common] -= at_common;
  work.displacement_bar[common] -= cross(velocity_of(model, data, common), at_common);
}

struct Gear {
  Vec3 shift, turn;
  explicit Gear(const double* six) : shift(load3(six)), turn(load3(six + 3)) {}
};

// How a frame and its reference are displaced.
struct FrameChange {
  Motion frame, reference;  // displacements, about the reference points of their trees
  Motion m1, m2;            // of the relative velocities
  Vec3 dshift, dturn;       // of the gear
};

struct TransmissionChange {
  Force W1, W2;
  double length = 0.0, velocity = 0.0;
};

TransmissionChange transmission_change(const FrameTransmission& t, const Gear& gear, const FrameChange& d) {
  TransmissionChange out;
  const bool reference = t.reference_body >= 0;
  const Vec3 z = reference ? d.reference.angular : d.frame.angular;
  const Vec3 a = t.axes * gear.shift, b = t.axes * gear.turn;
  const Vec3 da = cross(z, a) + t.axes * d.dshift, db = cross(z, b) + t.axes * d.dturn;
  const Vec3 dr1 = point_velocity(d.frame, t.r);
  out.W1 = wrench_change(t.r, dr1, a, da, db);
  out.velocity = dot(d.m1, t.wrench) + dot(t.motion, out.W1);
  if (!reference) return out;
  const Vec3 dr2 = point_velocity(d.reference, t.reference_r);
  out.W2 = wrench_change(t.reference_r, dr2, a, da, db);
  out.velocity -= dot(d.m2, t.reaction) + dot(t.reference_motion, out.W2);
  const Vec3 dturn =
      inverse_right_jacobian(t.turn) * transpose_times(t.R, d.frame.angular - d.reference.angular);
  out.length = dot(da, t.apart) + dot(a, dr1 - dr2) + dot(d.dturn, t.turn) + dot(gear.turn, dturn);
  return out;
}

}  // namespace

void measure_frames_along(const Model& model, const Data& data, const ForceWork& forces,
                          ForceDerivativeWork& work, const ForceDirection& along) {
  for (size_t k = 0; k < forces.frames.size(); ++k) {
    const FrameTransmission& t = forces.frames[k];
    const ActuatorIndex& actuator = model.structure().actuators[t.actuator];
    const bool reference = t.reference_body >= 0;
    FrameChange d;
    d.frame = work.displacement[t.body];
    d.m1 = relative_change(model, data, work, t.body, t.common_body);
    if (reference) {
      d.reference = work.displacement[t.reference_body];
      d.m2 = relative_change(model, data, work, t.reference_body, t.common_body);
    }
    if (along.theta != nullptr) {
      d.frame += placed_twist(model, data, actuator.target, t.R, t.r, along.theta);
      if (reference) {
        d.reference +=
            placed_twist(model, data, actuator.reference_frame, t.axes, t.reference_r, along.theta);
      }
      d.dshift = load3(along.theta + actuator.gear);
      d.dturn = load3(along.theta + actuator.gear + 3);
    }
    const TransmissionChange change = transmission_change(t, Gear(model.theta().data() + actuator.gear), d);
    work.frame_wrench[k] = change.W1;
    work.frame_reaction[k] = change.W2;
    work.length[t.actuator] = change.length;
    work.velocity[t.actuator] = change.velocity;
  }
}

void transmit_frames_along(const Model& model, const Data& data, const ForceWork& forces,
                           ForceDerivativeWork& work) {
  clear(work.field);
  for (size_t k = 0; k < forces.frames.size(); ++k) {
    const FrameTransmission& t = forces.frames[k];
    const double f = forces.force[t.actuator], df = work.force[t.actuator];
    add_transmitted_wrench(model, data, t, work.frame_wrench[k] * f + t.wrench * df,
                           work.frame_reaction[k] * f + t.reaction * df, work.field.own);
  }
}

namespace {

// sum S y of a body relative to the one that carries both frames.
Motion relative_path(const Model& model, const Data& data, const ForceDerivativeWork& work, int body,
                     int common) {
  Motion Y = work.path[body];
  if (common >= 0) Y -= shifted(work.path[common], -reference_shift(model, data, body, common));
  return Y;
}

}  // namespace

void transmit_frames_against(const Model& model, const Data& data, const ForceWork& forces,
                             ForceDerivativeWork& work) {
  for (const FrameTransmission& t : forces.frames) {
    double bar = dot(relative_path(model, data, work, t.body, t.common_body), t.wrench);
    if (t.reference_body >= 0) {
      bar -= dot(relative_path(model, data, work, t.reference_body, t.common_body), t.reaction);
    }
    work.force[t.actuator] = bar;
  }
}

void measure_frames_against(const Model& model, const Data& data, const ForceWork& forces,
                            ForceDerivativeWork& work, ForceGradient& to) {
  for (const FrameTransmission& t : forces.frames) {
    const ActuatorIndex& actuator = model.structure().actuators[t.actuator];
    const Gear gear(model.theta().data() + actuator.gear);
    const bool reference = t.reference_body >= 0;
    const double f = forces.force[t.actuator];
    const double l_bar = work.length[t.actuator], rate_bar = work.velocity[t.actuator];
    const Vec3 a = t.axes * gear.shift, b = t.axes * gear.turn;
    const Motion Y1 = relative_path(model, data, work, t.body, t.common_body);
    const WrenchCovector first(Y1 * f + t.motion * rate_bar, t.r, a);
    Vec3 a_bar = first.a, b_bar = first.b, r1_bar = first.r, r2_bar, z1_bar, z2_bar, dturn_bar;
    relative_against(model, data, work, t.body, t.common_body, t.wrench * rate_bar);
    if (reference) {
      const Motion Y2 = relative_path(model, data, work, t.reference_body, t.common_body);
      const WrenchCovector second(Y2 * -f - t.reference_motion * rate_bar, t.reference_r, a);
      relative_against(model, data, work, t.reference_body, t.common_body, t.reaction * -rate_bar);
      a_bar += second.a + t.apart * l_bar;
      b_bar += second.b;
      r1_bar += a * l_bar;
      r2_bar = second.r - a * l_bar;
      const Vec3 turned = t.R * transpose_times(inverse_right_jacobian(t.turn), gear.turn) * l_bar;
      z1_bar += turned;
      z2_bar -= turned;
      dturn_bar = t.turn * l_bar;
    }
    (reference ? z2_bar : z1_bar) += cross(a, a_bar) + cross(b, b_bar);
    const Force Z1_bar{z1_bar + cross(t.r, r1_bar), r1_bar};
    const Force Z2_bar{z2_bar + cross(t.reference_r, r2_bar), r2_bar};
    work.displacement_bar[t.body] += Z1_bar;
    if (reference) work.displacement_bar[t.reference_body] += Z2_bar;
    if (to.theta == nullptr) continue;
    placed_against(model, data, actuator.target, t.R, t.r, Z1_bar, to.theta);
    if (reference) {
      placed_against(model, data, actuator.reference_frame, t.axes, t.reference_r, Z2_bar, to.theta);
    }
    const Vec3 shift_bar = transpose_times(t.axes, a_bar),
               turn_bar = transpose_times(t.axes, b_bar) + dturn_bar;
    for (int i = 0; i < 3; ++i) {
      to.theta[actuator.gear + i] += shift_bar[i];
      to.theta[actuator.gear + 3 + i] += turn_bar[i];
    }
  }
}

namespace {

// The dofs that move a body, from those of `common` on.
void add_path(const Structure& s, int body, int common, std::vector<int>& dofs) {
  const auto last_dof = [&](int b) {
    int link = s.bodies[b].link;
    while (link > 0 && s.links[link].dof_begin == s.links[link].dof_end) link = s.links[link].parent;
    return link > 0 ? s.links[link].dof_end - 1 : -1;
  };
  const int stop = common < 0 ? -1 : last_dof(common);
  for (int d = last_dof(body); d >= 0 && d != stop; d = s.dofs[d].parent) dofs.insert(dofs.begin(), d);
}

}  // namespace

void find_sides(const Model& model, const ForceWork& forces, ForceDerivativeWork& work) {
  for (const FrameTransmission& t : forces.frames) {
    ForceDerivativeWork::Sides sides;
    add_path(model.structure(), t.body, t.common_body, sides.frame);
    if (t.reference_body >= 0) {
      add_path(model.structure(), t.reference_body, t.common_body, sides.reference);
    }
    work.sides.push_back(std::move(sides));
  }
  work.frame_wrench.resize(forces.frames.size());
  work.frame_reaction.resize(forces.frames.size());
}

void frame_arms(const Data& data, const ForceWork& forces, const ForceDerivativeWork& work, size_t k,
                double* arms) {
  const FrameTransmission& t = forces.frames[k];
  for (int d : work.sides[k].frame) arms[d] += dot(data.S[d], t.wrench);
  for (int d : work.sides[k].reference) arms[d] -= dot(data.S[d], t.reaction);
}

// Column j: what a unit of dq_j or dv_j does to the dofs of both sides.
void add_frame_jacobians(const Model& model, const Data& data, const ForceWork& forces,
                         ForceDerivativeWork& work, double scale, StridedMatrices out) {
  const Structure& s = model.structure();
  for (size_t k = 0; k < forces.frames.size(); ++k) {
    const FrameTransmission& t = forces.frames[k];
    const int i = t.actuator;
    const ActuatorIndex& actuator = s.actuators[i];
    const Gear gear(model.theta().data() + actuator.gear);
    const double *gain = model.theta().data() + actuator.gain, *bias = model.theta().data() + actuator.bias;
    const double f = forces.force[i];
    work.raw.setZero();
    work.raw[i] = 1.0;
    limit_along(model, forces, work);
    const double free = work.force[i];
    const double by_l = free * (gain[1] * forces.input[i] + bias[1]);
    const double by_rate = free * (gain[2] * forces.input[i] + bias[2]);
    const auto add_column = [&](int j, bool on_frame) {
      const Motion& S = data.S[j];
      const auto column = [&](const FrameChange& d, bool turns, double* to) {
        const TransmissionChange change = transmission_change(t, gear, d);
        const double df = by_l * change.length + by_rate * change.velocity;
        const auto add = [&](const std::vector<int>& dofs, bool own, const Force& W, const Force& dW,
                             double sign) {
          for (int row : dofs) {
            Force total = dW * f + W * df;
            const bool carried = own && turns && row >= s.dofs[j].block_begin;
            if (carried) total -= cross(S, W) * f;
            to[row * out.row_stride + j * out.column_stride] +=
                scale * sign * forces.unlimited[row] * dot(data.S[row], total);
          }
        };
        add(work.sides[k].frame, on_frame, t.wrench, change.W1, 1.0);
        add(work.sides[k].reference, !on_frame, t.reaction, change.W2, -1.0);
      };
      FrameChange by_q, by_v;
      const Motion rate =
          cross(S, velocity_of(model, data, on_frame ? t.body : t.reference_body)) + data.psi_dot[j];
      (on_frame ? by_q.frame : by_q.reference) = S;
      (on_frame ? by_q.m1 : by_q.m2) = rate;
      (on_frame ? by_v.m1 : by_v.m2) = S;
      column(by_q, true, out.dq);
      column(by_v, false, out.dv);
    };
    for (int j : work.sides[k].frame) add_column(j, true);
    for (int j : work.sides[k].reference) add_column(j, false);
  }
}

}  // namespace articula
