#pragma once
// Robots let go and watched: the shared loop of the tests of physics.

#include "articula/dynamics/energy.hpp"
#include "articula/model/builder.hpp"
#include "articula/steppers/contact_free.hpp"
#include "articula/steppers/runge_kutta.hpp"

namespace articula::testing {

enum class Stepper { semi_implicit, explicit_gyroscopic, runge_kutta };

class Trajectory {
 public:
  Trajectory(const Model& model, State start, Stepper stepper, double dt);

  // Takes `count` steps; fails the test if one is not ok.
  void advance(int count = 1);

  const State& state() const { return state_; }
  Energy energy_now();
  Vector6 momentum_now();

 private:
  void prepare();

  const Model& model_;
  Data data_;
  ContactFreeWork work_;
  RungeKuttaWork rk_work_;
  State state_;
  Stepper stepper_;
  double dt_;
  VectorX no_force_;
};

// One body on one joint, with the inertia of a solid box of that size.
Description single_body(JointType joint, double mass, const Vector3& box);

// log2(error(h) / error(h/2)): the order of a method.
double observed_order(double error, double error_of_half_step);

}  // namespace articula::testing
