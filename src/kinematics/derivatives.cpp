// A virtual displacement of dof j moves everything behind it by S_j, as one rigid body; what is before
// it stays. With dof_v, dof_a the motion of what j's block hangs on, the motion relative to that turns
// along, for hinges, slides and balls (as one block) alike:
//   dv = S x (v - dof_v)                        = S x v + psi_dot
//   da = S x (a - dof_a) + psi_dot x (v - dof_v) = S x a + psi_dot x v + psi_ddot
//   psi_dot = dof_v x S,   psi_ddot = dof_a x S + dof_v x psi_dot
// and a change of velocity v_j, with v_after = dof_v + the block's own motion, S_dot = v_after x S:
//   dv = S,   da = dof_v x S + S x (v - v_after) = S x v + psi_dot + S_dot
//
// These are about a point fixed in space. The place at r moves itself, by dr = S.linear + S.angular x r.
// With w, alpha its angular velocity and acceleration, u its velocity, b = p'' - g its acceleration
// minus gravity, m|r = m.linear + m.angular x r, and s the angular part of S, what dr adds cancels what
// S x v and S x a have of it, and there remains
//   du = s x u + psi_dot|r                                     dw     = s x w + psi_dot.angular
//   db = s x b + 2 psi_dot.angular x u + psi_ddot|r            dalpha = s x alpha + psi_dot.angular x w
//                                                                       + psi_ddot.angular
// by q, and by v
//   du = S|r,   db = 2 s x u + (psi_dot + S_dot)|r             dalpha = s x w + (psi_dot + S_dot).angular

#include "articula/kinematics/derivatives.hpp"

#include "articula/model/sizes.hpp"

namespace articula {

namespace {

// The place with its motion, and the last dof that moves it.
struct MovingPlace {
  Vec3 r, u, w, b, alpha;
  int dof;
};

MovingPlace velocities_of(const Model& model, const Data& data, const LinkPoint& at) {
  const Motion& v = data.link_v[at.link];
  return {at.r, point_velocity(v, at.r), v.angular, Vec3(), Vec3(), last_dof(model.structure(), at.link)};
}

MovingPlace motion_of(const Model& model, const Data& data, const LinkPoint& at) {
  MovingPlace place = velocities_of(model, data, at);
  const Motion& a = data.link_a[at.link];
  place.b = point_velocity(a, at.r) + cross(place.w, place.u);
  place.alpha = a.angular;
  return place;
}

Motion psi_ddot(const Data& data, int d) {
  return cross(data.dof_a[d], data.S[d]) + cross(data.dof_v[d], data.psi_dot[d]);
}

// The rates at which things turn and move along a path, added up: of one dof, or of a direction.
struct PathRates {
  Vec3 turn;         // S.angular dq
  Vec3 turn_rate;    // psi_dot.angular dq + S.angular dv
  Motion remainder;  // psi_dot dq + S dv for velocities; psi_ddot dq + (psi_dot + S_dot) dv + S da
};

Vector6 velocity_change(const MovingPlace& place, const PathRates& rates) {
  Vector6 change;
  change << (cross(rates.turn, place.u) + point_velocity(rates.remainder, place.r)).eigen(),
      (cross(rates.turn, place.w) + rates.remainder.angular).eigen();
  return change;
}

Vector6 acceleration_change(const MovingPlace& place, const PathRates& rates) {
  Vector6 change;
  change << (cross(rates.turn, place.b) + 2.0 * cross(rates.turn_rate, place.u) +
             point_velocity(rates.remainder, place.r))
                .eigen(),
      (cross(rates.turn, place.alpha) + cross(rates.turn_rate, place.w) + rates.remainder.angular).eigen();
  return change;
}

// A covector on (linear, angular) at the place.
struct Covector {
  Vec3 f, n;
  Force wrench;  // about the reference point

  Covector(const Vector6& y, Vec3 r)
      : f(load3(y.data())),
        n(load3(y.data() + 3)),
        wrench{n + cross(r, f), f} {}
};

// Checked, and zero where no dof moves the place.
void start(const Model& model, MatrixRef& J) {
  if (J.rows() != 3) require_size("rows of a derivative", J.rows(), 6);
  require_size("columns of a derivative", J.cols(), model.nv());
  J.setZero();
}

void store(MatrixRef& J, int column, const Vector6& change) { J.col(column) = change.head(J.rows()); }

}  // namespace

void velocity_derivatives(const Model& model, const Data& data, const LinkPoint& at, MatrixRef by_q,
                          MatrixRef by_v) {
  const Structure& s = model.structure();
  start(model, by_q);
  jacobian_at(model, data, at, by_v);
  const MovingPlace place = velocities_of(model, data, at);
  for (int d = place.dof; d >= 0; d = s.dofs[d].parent) {
    store(by_q, d, velocity_change(place, {data.S[d].angular, Vec3(), data.psi_dot[d]}));
  }
}

void acceleration_derivatives(const Model& model, const Data& data, const LinkPoint& at, MatrixRef by_q,
                              MatrixRef by_v, MatrixRef by_a) {
  const Structure& s = model.structure();
  start(model, by_q);
  start(model, by_v);
  jacobian_at(model, data, at, by_a);
  const MovingPlace place = motion_of(model, data, at);
  for (int d = place.dof; d >= 0; d = s.dofs[d].parent) {
    const Motion& S = data.S[d];
    const Motion& psi_dot = data.psi_dot[d];
    store(by_q, d, acceleration_change(place, {S.angular, psi_dot.angular, psi_ddot(data, d)}));
    store(by_v, d, acceleration_change(place, {Vec3(), S.angular, psi_dot + data.S_dot[d]}));
  }
}

Vector6 position_directional(const Model& model, const Data& data, const LinkPoint& at,
                             const ConstVectorRef& dq) {
  const Structure& s = model.structure();
  require_size("dq", dq.size(), s.nv);
  Motion sum{};
  for (int d = last_dof(s, at.link); d >= 0; d = s.dofs[d].parent) sum += data.S[d] * dq[d];
  Vector6 change;
  change << point_velocity(sum, at.r).eigen(), sum.angular.eigen();
  return change;
}

Vector6 velocity_directional(const Model& model, const Data& data, const LinkPoint& at,
                             const ConstVectorRef& dq, const ConstVectorRef& dv) {
  const Structure& s = model.structure();
  require_size("dq", dq.size(), s.nv);
  require_size("dv", dv.size(), s.nv);
  const MovingPlace place = velocities_of(model, data, at);
  PathRates rates{};
  for (int d = place.dof; d >= 0; d = s.dofs[d].parent) {
    const Motion& S = data.S[d];
    rates.turn += S.angular * dq[d];
    rates.remainder += data.psi_dot[d] * dq[d] + S * dv[d];
  }
  return velocity_change(place, rates);
}

Vector6 acceleration_directional(const Model& model, const Data& data, const LinkPoint& at,
                                 const ConstVectorRef& dq, const ConstVectorRef& dv,
                                 const ConstVectorRef& da) {
  const Structure& s = model.structure();
  require_size("dq", dq.size(), s.nv);
  require_size("dv", dv.size(), s.nv);
  require_size("da", da.size(), s.nv);
  const MovingPlace place = motion_of(model, data, at);
  PathRates rates{};
  for (int d = place.dof; d >= 0; d = s.dofs[d].parent) {
    const Motion& S = data.S[d];
    const Motion& psi_dot = data.psi_dot[d];
    rates.turn += S.angular * dq[d];
    rates.turn_rate += psi_dot.angular * dq[d] + S.angular * dv[d];
    rates.remainder += psi_ddot(data, d) * dq[d] + (psi_dot + data.S_dot[d]) * dv[d] + S * da[d];
  }
  return acceleration_change(place, rates);
}

void add_position_adjoint(const Model& model, const Data& data, const LinkPoint& at, const Vector6& y,
                          VectorRef q_bar) {
  const Structure& s = model.structure();
  require_size("q_bar", q_bar.size(), s.nv);
  const Covector covector(y, at.r);
  for (int d = last_dof(s, at.link); d >= 0; d = s.dofs[d].parent) {
    q_bar[d] += dot(data.S[d], covector.wrench);
  }
}

// f . (s x u + psi_dot|r) + n . (s x w + psi_dot.angular) = s . (u x f + w x n) + psi_dot . wrench
void add_velocity_adjoint(const Model& model, const Data& data, const LinkPoint& at, const Vector6& y,
                          VectorRef q_bar, VectorRef v_bar) {
  const Structure& s = model.structure();
  require_size("q_bar", q_bar.size(), s.nv);
  require_size("v_bar", v_bar.size(), s.nv);
  const MovingPlace place = velocities_of(model, data, at);
  const Covector covector(y, at.r);
  const Vec3 turn = cross(place.u, covector.f) + cross(place.w, covector.n);
  for (int d = place.dof; d >= 0; d = s.dofs[d].parent) {
    q_bar[d] += dot(data.S[d].angular, turn) + dot(data.psi_dot[d], covector.wrench);
    v_bar[d] += dot(data.S[d], covector.wrench);
  }
}

void add_acceleration_adjoint(const Model& model, const Data& data, const LinkPoint& at, const Vector6& y,
                              VectorRef q_bar, VectorRef v_bar, VectorRef a_bar) {
  const Structure& s = model.structure();
  require_size("q_bar", q_bar.size(), s.nv);
  require_size("v_bar", v_bar.size(), s.nv);
  require_size("a_bar", a_bar.size(), s.nv);
  const MovingPlace place = motion_of(model, data, at);
  const Covector covector(y, at.r);
  const Vec3 turn = cross(place.b, covector.f) + cross(place.alpha, covector.n);
  const Vec3 turn_rate = 2.0 * cross(place.u, covector.f) + cross(place.w, covector.n);
  for (int d = place.dof; d >= 0; d = s.dofs[d].parent) {
    const Motion& S = data.S[d];
    const Motion& psi_dot = data.psi_dot[d];
    q_bar[d] +=
        dot(S.angular, turn) + dot(psi_dot.angular, turn_rate) + dot(psi_ddot(data, d), covector.wrench);
    v_bar[d] += dot(S.angular, turn_rate) + dot(psi_dot + data.S_dot[d], covector.wrench);
    a_bar[d] += dot(S, covector.wrench);
  }
}

}  // namespace articula
