#include "field_derivatives.hpp"

namespace articula {

// W = (r x F, F),  F = -c m g at the centre of mass
Force compensation_along(const Model& model, const Data& data, int body, const BodyChange& change) {
  const BodyIndex& index = model.structure().bodies[body];
  const double *theta = model.theta().data(), c = index.gravity_compensation, mass = theta[index.inertia];
  const Vec3 r = com_from_reference(model, data, body), F = model.gravity() * (-c * mass);
  Vec3 dr = point_velocity(change.Z, r), dF;
  if (change.theta != nullptr) {
    const double dmass = change.theta[index.inertia];
    dF = model.gravity() * (-c * dmass) + load3(change.theta + model.structure().gravity) * (-c * mass);
    if (mass > 0.0) {
      const Vec3 h = load3(theta + index.inertia + 1), dh = load3(change.theta + index.inertia + 1);
      dr += body_axes(model, data, body) * (dh - h * (dmass / mass)) * (1.0 / mass);
    }
  }
  return {cross(dr, F) + cross(r, dF), dF};
}

void compensation_against(const Model& model, const Data& data, int body, const Motion& Y, BodyCovector& to) {
  const BodyIndex& index = model.structure().bodies[body];
  const double *theta = model.theta().data(), c = index.gravity_compensation, mass = theta[index.inertia];
  const Vec3 r = com_from_reference(model, data, body), F = model.gravity() * (-c * mass);
  const Vec3 r_bar = cross(F, Y.angular);
  to.Z += Force{cross(r, r_bar), r_bar};
  if (to.theta == nullptr) return;
  const Vec3 F_bar = point_velocity(Y, r);
  double* pi_bar = to.theta + index.inertia;
  pi_bar[0] -= c * dot(model.gravity(), F_bar);
  for (int i = 0; i < 3; ++i) to.theta[model.structure().gravity + i] -= c * mass * F_bar[i];
  if (mass <= 0.0) return;
  const Vec3 c_bar = transpose_times(body_axes(model, data, body), r_bar) * (1.0 / mass);
  pi_bar[0] -= dot(c_bar, load3(theta + index.inertia + 1)) / mass;
  for (int i = 0; i < 3; ++i) pi_bar[1 + i] += c_bar[i];
}

}  // namespace articula
