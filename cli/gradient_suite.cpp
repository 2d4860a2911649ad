#include "cli/gradient_suite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "articula/model/builder.hpp"
#include "articula/simulation/rollout_gradient.hpp"

namespace articula::cli {

double SuiteCase::error() const { return std::abs(found - expected) / std::max(std::abs(expected), 1e-3); }

namespace {

constexpr double g = 9.81;

struct World {
  Description d;

  World() { d.name = "suite"; }

  void geometry(const std::string& name, const std::string& body, ShapeType type, const Vector3& size,
                double friction, double restitution, double tilt = 0.0) {
    GeometryDescription shape;
    shape.name = name;
    if (!body.empty()) shape.body = body;
    shape.type = type;
    shape.size = size;
    shape.pose.rotation = Quaternion(Eigen::AngleAxisd(tilt, Vector3::UnitY()));
    shape.friction = {friction, 0.0, 0.0};
    shape.restitution = restitution;
    shape.condim = friction > 0.0 ? 3 : 1;
    d.geometries.push_back(shape);
  }
  void body(const std::string& name, double mass, const Vector3& position, double tilt = 0.0) {
    BodyDescription body;
    body.name = name;
    body.pose = {position, Quaternion(Eigen::AngleAxisd(tilt, Vector3::UnitY()))};
    JointDescription joint;
    joint.name = name + "_joint";
    joint.type = JointType::free;
    body.joints.push_back(joint);
    body.inertia.mass = mass;
    body.inertia.inertia = Vector3::Constant(0.01 * mass).asDiagonal();
    d.bodies.push_back(body);
  }
};

constexpr GradientMode elastic = GradientMode::elastic;

void bounce(std::vector<SuiteCase>& cases) {
  constexpr double e = 0.6, h = 0.01;
  World w;
  w.geometry("floor", "", ShapeType::plane, Vector3::Zero(), 0.0, e);
  w.body("ball", 0.5, {0, 0, 0.102});
  w.geometry("shape", "ball", ShapeType::sphere, {0.1, 0, 0}, 0.0, e);
  const Simulation simulation(build(w.d), {.dt = h});
  State x = neutral_state(simulation.model());
  x.v[2] = -2.0;
  const Step step = simulation.step(x);
  const StepJacobians discrete = simulation.jacobians(step),
                      timed = simulation.jacobians(step, {.mode = elastic});
  const char* rule = "z+ = z + h v+, v+ = -e v";
  cases.push_back({"bounce/exact/dz_dz", 1.0, discrete.by_state(2, 2), rule});
  cases.push_back({"bounce/exact/dv_dv", -e, discrete.by_state(8, 8), rule});
  cases.push_back({"bounce/exact/dz_dv", -e * h, discrete.by_state(2, 8), rule});
  const char* event = "z+ = e v (h - t), t = -z/v: continuous time";
  cases.push_back({"bounce/elastic/dz_dz", -e, timed.by_state(2, 2), event});
  cases.push_back({"bounce/elastic/dz_dv", -e * h, timed.by_state(2, 8), event});
}

void two_balls(std::vector<SuiteCase>& cases) {
  constexpr double e = 0.8, m1 = 1.0, m2 = 3.0;
  World w;
  w.d.gravity = Vector3::Zero();
  for (const auto& [name, mass, at] : {std::tuple("one", m1, 0.0), std::tuple("two", m2, 0.203)}) {
    w.body(name, mass, {at, 0, 0});
    w.geometry(std::string(name) + "_ball", name, ShapeType::sphere, {0.1, 0, 0}, 0.0, e);
  }
  const Simulation simulation(build(w.d), {.dt = 0.01});
  State x = neutral_state(simulation.model());
  x.v[0] = 1.5;
  const Step step = simulation.step(x);
  const StepJacobians J = simulation.jacobians(step), T = simulation.jacobians(step, {.mode = elastic});
  const double one = 1.0 - (1.0 + e) * m2 / (m1 + m2), two = (1.0 + e) * m1 / (m1 + m2);
  const char* rule = "v1+ = v1 - (1 + e) m2/(m1 + m2) (v1 - v2), Newton";
  cases.push_back({"two_balls/exact/dv1_dv1", one, J.by_state(12, 12), rule});
  cases.push_back({"two_balls/exact/dv2_dv1", two, J.by_state(18, 12), rule});
  cases.push_back({"two_balls/elastic/dx1_dx1", one, T.by_state(0, 0), "1 - (1 + e) M^-1 J^T G^-1 J"});
  cases.push_back({"two_balls/elastic/dx2_dx1", two, T.by_state(6, 0), "1 - (1 + e) M^-1 J^T G^-1 J"});
}

// While it slides v falls by mu g h a step; it stops within the step after the last whole one.
void sliding_to_rest(std::vector<SuiteCase>& cases) {
  constexpr double mu = 0.4, h = 0.005, v0 = 1.013;
  World w;
  w.geometry("floor", "", ShapeType::plane, Vector3::Zero(), mu, 0.0);
  w.body("block", 2.0, {0, 0, 0.05});
  w.geometry("shape", "block", ShapeType::box, {0.1, 0.1, 0.05}, mu, 0.0);
  const Simulation simulation(build(w.d), {.dt = h});
  const Model& model = simulation.model();
  State x = neutral_state(model);
  x.v[0] = v0;
  const int whole = static_cast<int>(v0 / (mu * g * h)), steps = whole + 5;
  const auto loss = [&](int i, const State& state, const ConstVectorRef&, LossCovector& covector) {
    if (i < steps) return 0.0;
    covector.q[0] = 1.0;
    return state.q[0];
  };
  RolloutGradientSettings settings;
  settings.gradient.parameters = model.parameters().matching("*/friction");
  const RolloutGradient gradient = rollout_gradient(simulation, x, MatrixX(0, steps), loss, settings);
  double by_mu = 0.0;
  for (Eigen::Index i = 0; i < gradient.parameters.size(); i += 3) by_mu += gradient.parameters[i];
  cases.push_back(
      {"sliding_to_rest/dx_dv0", whole * h, gradient.v[0], "x = h sum (v0 - k mu g h), k = 1..N"});
  cases.push_back({"sliding_to_rest/dx_dmu", -g * h * h * whole * (whole + 1) / 2.0, by_mu,
                   "x = h sum (v0 - k mu g h), k = 1..N"});
}

void incline(std::vector<SuiteCase>& cases) {
  constexpr double mu = 0.5, h = 0.005;
  for (const double tilt : {0.4, 0.5}) {  // atan(mu) = 0.4636
    World w;
    w.geometry("floor", "", ShapeType::plane, Vector3::Zero(), mu, 0.0, tilt);
    const Vector3 normal(std::sin(tilt), 0.0, std::cos(tilt)), along(std::cos(tilt), 0.0, -std::sin(tilt));
    w.body("block", 1.0, 0.05 * normal, tilt);
    w.geometry("shape", "block", ShapeType::box, {0.1, 0.1, 0.05}, mu, 0.0);
    const Simulation simulation(build(w.d), {.dt = h});
    const Model& model = simulation.model();
    Step step = simulation.step(neutral_state(model));
    for (int i = 0; i < 20; ++i) simulation.step(step.next, step.input, step);
    StepCovector covector;
    covector.v = VectorX::Zero(6);
    covector.v.head<3>() = along;
    GradientSettings settings{.parameters = model.parameters().matching("*/friction")};
    const StepGradient gradient = simulation.pullback(step, covector, settings);
    const bool slides = std::tan(tilt) > mu;
    const std::string name = slides ? "incline/slides/" : "incline/sticks/";
    cases.push_back({name + "dv_dv", slides ? 1.0 : 0.0, along.dot(gradient.v.head<3>()),
                     "v+ = v + h g (sin - mu cos), or 0 below the angle of friction"});
    cases.push_back({name + "dv_dmu", slides ? -h * g * std::cos(tilt) : 0.0,
                     gradient.parameters[0] + gradient.parameters[3],
                     "v+ = v + h g (sin - mu cos), or 0 below the angle of friction"});
    cases.push_back(
        {name + "dv_df", slides ? h : 0.0, along.dot(gradient.force.head<3>()), "h / m, or held"});
  }
}

// A hinge that runs into its limit ends there, whatever it started with: q+ = q + h v+, v+ = (end - q)/h.
void limit(std::vector<SuiteCase>& cases) {
  constexpr double h = 0.005;
  Description d;
  d.name = "pendulum";
  BodyDescription body;
  body.name = "rod";
  JointDescription joint;
  joint.name = "hinge";
  joint.type = JointType::hinge;
  joint.axis = Vector3::UnitY();
  joint.range = Vector2(-1.0, 0.5);
  body.joints.push_back(joint);
  body.inertia.mass = 1.0;
  body.inertia.com = {0, 0, -0.5};
  body.inertia.inertia = Vector3::Constant(0.02).asDiagonal();
  d.bodies.push_back(body);
  const Simulation simulation(build(d), {.dt = h});
  State x = neutral_state(simulation.model());
  x.q[0] = 0.499;
  x.v[0] = 2.0;
  const StepJacobians J = simulation.jacobians(simulation.step(x));
  cases.push_back({"pendulum_at_limit/dq_dq", 0.0, J.by_state(0, 0), "q+ = end of the range"});
  cases.push_back({"pendulum_at_limit/dv_dq", -1.0 / h, J.by_state(1, 0), "v+ = (end - q) / h"});
  cases.push_back({"pendulum_at_limit/dv_dv", 0.0, J.by_state(1, 1), "v+ = (end - q) / h"});
}

// On top of a fixed ball the normal turns with the position: v+ = v_free + n lam, lam = -n . v_free, n_x = x
// / R.
void curved_surface(std::vector<SuiteCase>& cases) {
  constexpr double h = 0.005, R = 0.3;
  World w;
  w.geometry("hill", "", ShapeType::sphere, {0.2, 0, 0}, 0.0, 0.0);
  w.body("ball", 1.0, {0, 0, R});
  w.geometry("shape", "ball", ShapeType::sphere, {0.1, 0, 0}, 0.0, 0.0);
  const Simulation simulation(build(w.d), {.dt = h});
  const StepJacobians J = simulation.jacobians(simulation.step(neutral_state(simulation.model())));
  cases.push_back({"curved_surface/dvx_dx", g * h / R, J.by_state(6, 0), "n turns: v+_x = (x / R) g h"});
  cases.push_back({"curved_surface/dvz_dz", -1.0 / h, J.by_state(8, 2), "v+_z = -phi / h"});
}

// Four corners carry what three could: the push of a block that sticks moves nothing, and harder friction
// neither.
void clamped(std::vector<SuiteCase>& cases) {
  World w;
  w.geometry("floor", "", ShapeType::plane, Vector3::Zero(), 0.8, 0.0);
  for (int i = 0; i < 2; ++i) {
    const std::string name = i == 0 ? "lower" : "upper";
    w.body(name, 1.0, {0, 0, 0.05 + 0.1 * i});
    w.geometry(name + "_box", name, ShapeType::box, {0.1, 0.1, 0.05}, 0.8, 0.0);
  }
  const Simulation simulation(build(w.d), {.dt = 0.005});
  Step step = simulation.step(neutral_state(simulation.model()));
  step.input.forces = VectorX::Zero(12);
  step.input.forces[6] = 2.0;
  for (int i = 0; i < 10; ++i) simulation.step(step.next, step.input, step);
  const StepGradient gradient = simulation.pullback(step, {{}, VectorX::Ones(12), {}});
  cases.push_back(
      {"clamped_stack/dv_df", 0.0, gradient.force.cwiseAbs().maxCoeff(), "friction holds: v+ = 0"});
  cases.push_back({"clamped_stack/redundant", 1.0, gradient.certificate.redundant ? 1.0 : 0.0,
                   "rank 6 per body, 12 rows per face"});
}

// A box on a rough floor, tilted about its edge along y; in the plane across it the edge is at the origin.
struct BoxOnEdge {
  static constexpr double m = 2.0, I_c = 0.01 * m, half_width = 0.1, half_height = 0.3;
  double x, z;  // of its centre
  Simulation simulation;

  BoxOnEdge(double tilt, Contact law, double h)
      : x(half_height * std::sin(tilt) - half_width * std::cos(tilt)),
        z(half_height * std::cos(tilt) + half_width * std::sin(tilt)),
        simulation(model(tilt), {.dt = h, .contact = law}) {}

  Model model(double tilt) const {
    World w;
    w.geometry("floor", "", ShapeType::plane, Vector3::Zero(), 1.0, 0.0);
    w.body("box", m, {x, 0, z}, tilt);
    w.geometry("shape", "box", ShapeType::box, {half_width, 0.15, half_height}, 1.0, 0.0);
    return build(w.d);
  }
  // Of the angular velocity after a step from rest under a force f on its centre.
  StepGradient turning(double f) const {
    const Model& model = simulation.model();
    Input input;
    input.forces = VectorX::Unit(6, 0) * f;
    const GradientSettings settings{.parameters = model.parameters().matching("body/box/inertia")};
    return simulation.pullback(simulation.step(neutral_state(model), input), {{}, VectorX::Unit(6, 4), {}},
                               settings);
  }
};

// Both corners of the edge hold, so that angular momentum about it changes by the torques alone:
//   I_e w+ = I_c w + m (z v_x - x v_z) + h (m g x + z f + torque),   I_e = I_c + m (x^2 + z^2)
void tipping(std::vector<SuiteCase>& cases) {
  constexpr double h = 0.005, f = 3.0, m = BoxOnEdge::m, I_c = BoxOnEdge::I_c;
  const char* rule = "I_e w+ = I_c w + m (z v_x - x v_z) + h (m g x + z f + torque), I_e = I_c + m r^2";
  for (const Contact law : {Contact::ncp, Contact::lcp}) {
    const BoxOnEdge box(0.4, law, h);
    const double x = box.x, z = box.z, I_e = I_c + m * (x * x + z * z), torque = m * g * x + z * f;
    const StepGradient d = box.turning(f);
    const std::string name = fmt::format("tipping/{}/", to_string(law));
    cases.push_back({name + "dw_df", h * z / I_e, d.force[0], rule});
    cases.push_back({name + "dw_dtorque", h / I_e, d.force[4], rule});
    cases.push_back({name + "dw_dw", I_c / I_e, d.v[4], rule});
    cases.push_back({name + "dw_dv_x", m * z / I_e, d.v[0], rule});
    cases.push_back(
        {name + "dw_dm", h * (g * x - torque * (x * x + z * z) / I_e) / I_e, d.parameters[0], rule});
    cases.push_back({name + "dw_dI_yy", -h * torque / (I_e * I_e), d.parameters[7], rule});
  }
}

// Flat on the floor, under the push f = m g (half width / height) that just does not tip it: the edge behind
// carries nothing and does not rise. Either side is a derivative, and the certificate says so.
void about_to_tip(std::vector<SuiteCase>& cases) {
  constexpr double h = 0.005, m = BoxOnEdge::m;
  for (const Contact law : {Contact::ncp, Contact::lcp}) {
    const BoxOnEdge box(0.0, law, h);
    const StepGradient d = box.turning(-m * g * box.x / box.z);
    const double I_e = BoxOnEdge::I_c + m * (box.x * box.x + box.z * box.z), tips = h * box.z / I_e;
    const std::string name = fmt::format("about_to_tip/{}/", to_string(law));
    cases.push_back({name + "dw_df_is_0_or_that_of_tipping", 0.0,
                     std::min(std::abs(d.force[0]), std::abs(tips - d.force[0])), "either side"});
    const double margin = std::min(d.certificate.impulse_margin, d.certificate.velocity_margin);
    cases.push_back({name + "margin", 0.0, margin, "it is at the switch"});
    cases.push_back({name + "one_sided", 1.0, d.certificate.one_sided ? 1.0 : 0.0, "it is at the switch"});
  }
}

// Exactly at a switch: touching, at rest, nothing pushes. Both sides are derivatives; the margin says so.
void tie(std::vector<SuiteCase>& cases) {
  World w;
  w.d.gravity = Vector3::Zero();
  w.geometry("floor", "", ShapeType::plane, Vector3::Zero(), 0.0, 0.0);
  w.body("ball", 1.0, {0, 0, 0.1});
  w.geometry("shape", "ball", ShapeType::sphere, {0.1, 0, 0}, 0.0, 0.0);
  const Simulation simulation(build(w.d), {.dt = 0.005});
  const StepJacobians J = simulation.jacobians(simulation.step(neutral_state(simulation.model())));
  const double slope = J.by_state(8, 8);
  cases.push_back(
      {"tie/dv_dv_is_0_or_1", 0.0, std::min(std::abs(slope), std::abs(1.0 - slope)), "either side"});
  const double margin = std::min(J.certificate.impulse_margin, J.certificate.velocity_margin);
  cases.push_back({"tie/margin", 0.0, margin, "it is at the switch"});
}

}  // namespace

std::vector<SuiteCase> gradient_suite() {
  std::vector<SuiteCase> cases;
  bounce(cases);
  two_balls(cases);
  sliding_to_rest(cases);
  incline(cases);
  limit(cases);
  curved_surface(cases);
  clamped(cases);
  tipping(cases);
  about_to_tip(cases);
  tie(cases);
  return cases;
}

}  // namespace articula::cli
