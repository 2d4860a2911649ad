#include "fluid.hpp"

#include <numbers>

#include "force_terms.hpp"

namespace articula {

DragCoefficients drag_coefficients(Vec3 b, double density, double viscosity) {
  constexpr double pi = std::numbers::pi;
  const double diameter = sum(b) / 3.0;
  const Vec3 b2 = elementwise(b, b), b4 = elementwise(b2, b2);
  DragCoefficients c;
  c.viscous_turn = pi * diameter * diameter * diameter * viscosity;
  c.viscous_shift = 3.0 * pi * diameter * viscosity;
  c.turn = elementwise(b, Vec3(b4[1] + b4[2], b4[0] + b4[2], b4[0] + b4[1])) * (density / 64.0);
  c.shift = Vec3(b[1] * b[2], b[0] * b[2], b[0] * b[1]) * (0.5 * density);
  return c;
}

Vec3 drag_law(double viscous, Vec3 quadratic, Vec3 velocity) {
  Vec3 force;
  for (int i = 0; i < 3; ++i) {
    force.lanes[i] = -(viscous + quadratic[i] * std::abs(velocity[i])) * velocity[i];
  }
  return force;
}

BodyDrag body_drag(const Model& model, const Data& data, int body) {
  const Structure& s = model.structure();
  const int k = s.bodies[body].link;
  const double* theta = model.theta().data();
  const InertiaBox& box = model.constants().body_box[body];
  BodyDrag drag;
  drag.R = data.link_R[k] * model.constants().body_in_link[body].R * box.axes;
  drag.r = com_from_reference(model, data, body);
  drag.coefficients = drag_coefficients(box.size, theta[s.density], theta[s.viscosity]);
  drag.w = transpose_times(drag.R, data.link_v[k].angular);
  drag.u = transpose_times(drag.R, point_velocity(data.link_v[k], drag.r) - load3(theta + s.wind));
  drag.moment = drag.R * drag_law(drag.coefficients.viscous_turn, drag.coefficients.turn, drag.w);
  drag.force = drag.R * drag_law(drag.coefficients.viscous_shift, drag.coefficients.shift, drag.u);
  return drag;
}

bool in_medium(const Model& model) {
  const Structure& s = model.structure();
  return model.theta()[s.density] != 0.0 || model.theta()[s.viscosity] != 0.0;
}

bool has_drag(const Model& model, int body) {
  return model.constants().body_box[body].size[0] > 0.0 && moved_by_joints(model.structure(), body);
}

void add_drag(const Model& model, const Data& data, WrenchField& field) {
  for (int b = 1; b < model.nbody(); ++b) {
    if (!has_drag(model, b)) continue;
    const BodyDrag drag = body_drag(model, data, b);
    field.own[b] += Force{drag.moment + cross(drag.r, drag.force), drag.force};
  }
}

}  // namespace articula
