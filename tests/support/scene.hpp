#pragma once
// Small worlds for tests of contact: floors, boxes, balls, and a simulation to run them.

#include "articula/model/builder.hpp"
#include "articula/steppers/impulse.hpp"

namespace articula::testing {

struct Material {
  double friction = 0.5;
  double restitution = 0.0;
  int condim = 3;
  double spinning = 0.0, rolling = 0.0;
};

Description empty_world();
// A plane through the origin, tilted about y.
void add_floor(Description& d, const Material& material = {}, double tilt = 0.0);
void add_box(Description& d, const std::string& name, const Vector3& half, double mass,
             const Vector3& position, const Material& material = {},
             const Quaternion& rotation = Quaternion::Identity());
void add_ball(Description& d, const std::string& name, double radius, double mass, const Vector3& position,
              const Material& material = {});

struct Scene {
  explicit Scene(const Description& description, double dt, FrictionLaw law = FrictionLaw::cone);

  Model model;
  Data data;
  ImpulseWork work;
  ImpulseSettings settings;
  Input input;
  State state;
  WarmStart warm;
  StepReport report;

  void step();  // fails the test if the step was not taken, or its laws do not hold
  void run(int steps);
  // First numbers of a free body's position and velocity, by its number among the free bodies.
  Eigen::Ref<Vector3> position(int body) { return state.q.segment<3>(7 * body); }
  Eigen::Ref<Vector3> velocity(int body) { return state.v.segment<3>(6 * body); }
};

}  // namespace articula::testing
