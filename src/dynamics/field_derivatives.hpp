#pragma once
// How the wrenches on one body change: drag, and compensation of gravity.
//
// The body is displaced by Z, and its velocity changes by m beyond turning along (displacements.hpp); numbers
// of theta change by dtheta (null: none). Against a motion Y of the body, gradients of Y . (change of the
// wrench) are added.

#include "displacements.hpp"
#include "fluid.hpp"

namespace articula {

inline Mat3 body_axes(const Model& model, const Data& data, int body) {
  return data.link_R[model.structure().bodies[body].link] * model.constants().body_in_link[body].R;
}

struct BodyChange {
  Motion Z, m;
  const double* theta = nullptr;
};
struct BodyCovector {
  Force Z, m;
  double* theta = nullptr;
};

Force drag_along(const Model& model, const Data& data, int body, const BodyChange& change);
void drag_against(const Model& model, const Data& data, int body, const Motion& Y, BodyCovector& to);

Force compensation_along(const Model& model, const Data& data, int body, const BodyChange& change);
void compensation_against(const Model& model, const Data& data, int body, const Motion& Y, BodyCovector& to);

// Row by row, how much of the compensation of gravity arrives at the joint.
void compensation_scale(const Model& model, const ForceWork& forces, VectorX& scale);

// d(wrench of drag)/dm:  moment = rotational m.w + coupling^T m.l,  force = coupling m.w + linear m.l; and
// how the wind, which does not turn with the body, adds to it.
struct DragRate {
  ArticulatedInertia by_motion;
  TurnRate by_turn;
};
DragRate drag_rate(const BodyDrag& drag, Vec3 wind);

}  // namespace articula
