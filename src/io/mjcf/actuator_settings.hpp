#pragma once
// What an actuator element says, on top of what its default class says.
//
// A class has one actuator default, whichever element it was written with. An actuator inherits its
// mechanical part (gear, ranges, ...) from it in any case, but its law (gain, bias, dynamics) only
// from a default written as `general` or with the same shortcut; else from the nearest enclosing
// class that has such a default; else the shortcut's own defaults hold.

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "io/mjcf/attributes.hpp"

namespace articula::mjcf {

enum class Shortcut { none, general, motor, position, velocity, intvelocity, damper, cylinder };
enum class GainType { fixed, affine };
enum class BiasType { none, affine };
enum class DynamicsType { none, integrator, filter, filter_exact };

// force = gain(length, velocity) * (control or activation) + bias(length, velocity)
struct ActuatorLaw {
  GainType gain_type = GainType::fixed;
  BiasType bias_type = BiasType::none;
  DynamicsType dynamics_type = DynamicsType::none;
  // A servo (gain_0 = -bias_1) with positive bias_2 has that for a damping ratio: the damping follows
  // once the inertia it acts on is known.
  std::array<double, 10> gain{1.0}, bias{}, dynamics{1.0};
  int dimension = -1;  // actdim, where it is given
};

struct ActuatorSettings {
  Shortcut written_as = Shortcut::none;
  std::string unsupported;  // a kind that is not supported has defaults here, which a `general` would share
  ActuatorLaw law;
  std::array<double, 6> gear{1.0};
  Vector2 control_range = Vector2::Zero(), force_range = Vector2::Zero(), activation_range = Vector2::Zero();
  Switch control_limited = Switch::automatic, force_limited = Switch::automatic,
         activation_limited = Switch::automatic;
  std::array<double, 3> damping{};  // linear, quadratic, cubic
  double armature = 0.0, delay = 0.0;
  double inherited_range = 0.0;  // part of the joint's or tendon's range to take over; 0: none
  bool early = false;
  int group = 0;
};

struct ActuatorDefaults {
  ActuatorSettings settings;
  std::shared_ptr<const ActuatorDefaults> enclosing;  // as it stood when the class began
};

// Takes a child of <default> in, if it is an actuator.
void add_actuator_default(ActuatorDefaults& defaults, const Element& element);

// The element on top of the defaults. Throws Error for kinds of actuators that are not supported.
ActuatorSettings read_actuator_settings(const ActuatorDefaults& defaults, const Element& element);

}  // namespace articula::mjcf
