// The drag of fluid.hpp is  W = R law(R^T (w, u)),  u the velocity of the centre r through the medium. A body
// that is displaced by Z and whose velocity changes by Z x v + m carries W along but for
//     dw = m.w,   du = m|r + Z.w x wind        (the wind stays),
// so that dW = Z x* W + (the law's slope times that). Changed inertial numbers move the box in the body: one
// more displacement E behind all others, with v x E added to m.

#include <numbers>

#include "articula/dynamics/gyroscopic.hpp"
#include "field_derivatives.hpp"
#include "inertial_terms.hpp"
#include "model/inertia_box.hpp"

namespace articula {

namespace {

constexpr double pi = std::numbers::pi;

// d(drag_law)/d(velocity), per axis
Vec3 law_slope(double viscous, Vec3 quadratic, Vec3 velocity) {
  Vec3 slope;
  for (int i = 0; i < 3; ++i) slope.lanes[i] = -(viscous + 2.0 * quadratic[i] * std::abs(velocity[i]));
  return slope;
}

Force wrench_of(const BodyDrag& drag) { return {drag.moment + cross(drag.r, drag.force), drag.force}; }

// Changes of the coefficients when the box's size changes; density and viscosity as given.
DragCoefficients size_change(Vec3 b, Vec3 db, double density, double viscosity) {
  const double diameter = sum(b) / 3.0, ddiameter = sum(db) / 3.0;
  DragCoefficients d;
  d.viscous_turn = 3.0 * pi * diameter * diameter * ddiameter * viscosity;
  d.viscous_shift = 3.0 * pi * ddiameter * viscosity;
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    const double bj3 = b[j] * b[j] * b[j], bk3 = b[k] * b[k] * b[k];
    d.turn.lanes[i] =
        density / 64.0 * (db[i] * (bj3 * b[j] + bk3 * b[k]) + 4.0 * b[i] * (bj3 * db[j] + bk3 * db[k]));
    d.shift.lanes[i] = 0.5 * density * (db[j] * b[k] + b[j] * db[k]);
  }
  return d;
}

// Its transpose.
Vec3 size_gradient(Vec3 b, const DragCoefficients& bar, double density, double viscosity) {
  const double diameter = sum(b) / 3.0;
  const double common = pi * viscosity * (diameter * diameter * bar.viscous_turn + bar.viscous_shift);
  Vec3 size_bar(common, common, common);
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    const double bj3 = b[j] * b[j] * b[j], bk3 = b[k] * b[k] * b[k], turn = density / 64.0 * bar.turn[i];
    size_bar.lanes[i] += turn * (bj3 * b[j] + bk3 * b[k]);
    size_bar.lanes[j] += 4.0 * turn * b[i] * bj3 + 0.5 * density * bar.shift[i] * b[k];
    size_bar.lanes[k] += 4.0 * turn * b[i] * bk3 + 0.5 * density * bar.shift[i] * b[j];
  }
  return size_bar;
}

Inertia inertia_of(const double* pi_numbers) {
  const double* six = pi_numbers + 4;
  return {{Vec3(six[0], six[1], six[2]), Vec3(six[1], six[3], six[4]), Vec3(six[2], six[4], six[5])},
          load3(pi_numbers + 1),
          pi_numbers[0]};
}

// How the box sits in its body.
struct BoxChange {
  Motion E;  // displacement
  Vec3 size;
};

BoxChange box_change(const Model& model, const Data& data, int body, const BodyDrag& drag,
                     const double* dtheta) {
  const int offset = model.structure().bodies[body].inertia;
  const Inertia inertia = inertia_of(model.theta().data() + offset), d = inertia_of(dtheta + offset);
  const InertiaBox& box = model.constants().body_box[body];
  const Mat3 dI = transpose(box.axes) * inertia_about_com_change(inertia, d) * box.axes;
  const Vec3 dc = (d.moment - inertia.moment * (d.mass / inertia.mass)) * (1.0 / inertia.mass);
  const Vec3 turn = drag.R * principal_turn(box, dI);
  return {shifted(Motion{turn, body_axes(model, data, body) * dc}, drag.r),
          box_size_change(box, inertia.mass, Vec3(dI.x[0], dI.y[1], dI.z[2]), d.mass)};
}

void box_against(const Model& model, const Data& data, int body, const BodyDrag& drag, const Force& E_bar,
                 Vec3 size_bar, double* theta_bar) {
  const int offset = model.structure().bodies[body].inertia;
  const Inertia inertia = inertia_of(model.theta().data() + offset);
  const InertiaBox& box = model.constants().body_box[body];
  const Force at_centre = shifted(E_bar, -drag.r);
  const BoxGradient by_size = box_size_gradient(box, inertia.mass, size_bar);
  Mat3 I_bar = principal_turn_gradient(box, transpose_times(drag.R, at_centre.moment));
  I_bar += {Vec3(by_size.moments[0], 0, 0), Vec3(0, by_size.moments[1], 0), Vec3(0, 0, by_size.moments[2])};
  const Inertia g = inertia_about_com_gradient(inertia, box.axes * I_bar * transpose(box.axes));
  const Vec3 c_bar = transpose_times(body_axes(model, data, body), at_centre.linear) * (1.0 / inertia.mass);
  double* out = theta_bar + offset;
  out[0] += g.mass + by_size.mass - dot(c_bar, inertia.moment) / inertia.mass;
  for (int i = 0; i < 3; ++i) out[1 + i] += g.moment[i] + c_bar[i];
  const Mat3& G = g.rotational;
  out[4] += G.x[0], out[7] += G.y[1], out[9] += G.z[2];
  out[5] += G.x[1] + G.y[0], out[6] += G.x[2] + G.z[0], out[8] += G.y[2] + G.z[1];
}

}  // namespace

Force drag_along(const Model& model, const Data& data, int body, const BodyChange& change) {
  const Structure& s = model.structure();
  const double* theta = model.theta().data();
  const BodyDrag drag = body_drag(model, data, body);
  const DragCoefficients& c = drag.coefficients;
  Motion Z = change.Z, m = change.m;
  Vec3 air = cross(Z.angular, load3(theta + s.wind));
  Vec3 moment, force;
  if (change.theta != nullptr) {
    const BoxChange box = box_change(model, data, body, drag, change.theta);
    Z += box.E;
    m += cross(data.link_v[s.bodies[body].link], box.E);
    air = cross(Z.angular, load3(theta + s.wind)) - load3(change.theta + s.wind);
    const Vec3 size = model.constants().body_box[body].size;
    const DragCoefficients resized = size_change(size, box.size, theta[s.density], theta[s.viscosity]);
    const DragCoefficients filled =
        drag_coefficients(size, change.theta[s.density], change.theta[s.viscosity]);
    moment = drag_law(resized.viscous_turn + filled.viscous_turn, resized.turn + filled.turn, drag.w);
    force = drag_law(resized.viscous_shift + filled.viscous_shift, resized.shift + filled.shift, drag.u);
  }
  const Vec3 w = transpose_times(drag.R, m.angular);
  const Vec3 u = transpose_times(drag.R, point_velocity(m, drag.r) + air);
  moment = drag.R * (moment + elementwise(law_slope(c.viscous_turn, c.turn, drag.w), w));
  force = drag.R * (force + elementwise(law_slope(c.viscous_shift, c.shift, drag.u), u));
  return cross(Z, wrench_of(drag)) + Force{moment + cross(drag.r, force), force};
}

void drag_against(const Model& model, const Data& data, int body, const Motion& Y, BodyCovector& to) {
  const Structure& s = model.structure();
  const double* theta = model.theta().data();
  const BodyDrag drag = body_drag(model, data, body);
  const DragCoefficients& c = drag.coefficients;
  const Vec3 y_w = transpose_times(drag.R, Y.angular);
  const Vec3 y_u = transpose_times(drag.R, point_velocity(Y, drag.r));
  const Vec3 w_bar = drag.R * elementwise(law_slope(c.viscous_turn, c.turn, drag.w), y_w);
  const Vec3 u_bar = drag.R * elementwise(law_slope(c.viscous_shift, c.shift, drag.u), y_u);
  const Force m_bar{w_bar + cross(drag.r, u_bar), u_bar};
  Force Z_bar = Force{} - cross(Y, wrench_of(drag));
  Z_bar.moment += cross(load3(theta + s.wind), u_bar);
  to.Z += Z_bar;
  to.m += m_bar;
  if (to.theta == nullptr) return;
  DragCoefficients bar;
  bar.viscous_turn = -dot(y_w, drag.w);
  bar.viscous_shift = -dot(y_u, drag.u);
  for (int i = 0; i < 3; ++i) {
    bar.turn.lanes[i] = -std::abs(drag.w[i]) * drag.w[i] * y_w[i];
    bar.shift.lanes[i] = -std::abs(drag.u[i]) * drag.u[i] * y_u[i];
    to.theta[s.wind + i] -= u_bar[i];
  }
  const Vec3 size = model.constants().body_box[body].size;
  const DragCoefficients thick = drag_coefficients(size, 0.0, 1.0), dense = drag_coefficients(size, 1.0, 0.0);
  to.theta[s.viscosity] += thick.viscous_turn * bar.viscous_turn + thick.viscous_shift * bar.viscous_shift;
  to.theta[s.density] += dot(dense.turn, bar.turn) + dot(dense.shift, bar.shift);
  const Force E_bar = Z_bar - cross(data.link_v[s.bodies[body].link], m_bar);
  box_against(model, data, body, drag, E_bar, size_gradient(size, bar, theta[s.density], theta[s.viscosity]),
              to.theta);
}

// With K = R slope R^T:  moment = (K_w - r x K_u r x) m.w + r x K_u m.l,  force = -K_u r x m.w + K_u m.l
DragRate drag_rate(const BodyDrag& drag, Vec3 wind) {
  const DragCoefficients& c = drag.coefficients;
  const Vec3 slope_w = law_slope(c.viscous_turn, c.turn, drag.w);
  const Vec3 slope_u = law_slope(c.viscous_shift, c.shift, drag.u);
  const auto turned = [&](Vec3 slope) {
    const Mat3 scaled{drag.R.x * slope[0], drag.R.y * slope[1], drag.R.z * slope[2]};
    return scaled * transpose(drag.R);
  };
  const Mat3 K_u = turned(slope_u), coupling = K_u * skew(drag.r) * -1.0;
  const Mat3 by_turn = K_u * skew(wind) * -1.0;
  return {{turned(slope_w) + skew(drag.r) * coupling, coupling, K_u}, {skew(drag.r) * by_turn, by_turn}};
}

}  // namespace articula
