#pragma once
// Derivatives of readings with respect to q (tangent), v and the acceleration, each as an independent
// variable.
//
// Covered are sensors of joints, tendons, places and subtrees, and force and torque with the wrenches from
// outside held. Those of actuators, energies, constraint forces, contacts and rays are not: `has_derivative`
// says so, and their rows are zero. A reading that is cut off, and a limit that is not near, has the
// derivative zero of the side it is on.

#include "articula/kinematics/derivatives.hpp"
#include "articula/sensors/sensors.hpp"

namespace articula {

bool has_derivative(const SensorIndex& sensor);

struct SensorDerivatives {
  SensorDerivatives(const Model& model, const Sensors& sensors);

  MatrixX by_q, by_v, by_a;  // Sensors::size x nv

  // Workspace: how one place and its reference change, 6 x nv each.
  struct Rates {
    MatrixX position, velocity_by_q, acceleration_by_q, acceleration_by_v;
  };
  Rates place, reference;
  VectorX readings;
};

// Fills by_q, by_v and by_a. After forward_kinematics, propagate_motion and motion_rates with v and a;
// `inputs` as for read_sensors.
void differentiate_sensors(const Model& model, const Data& data, const Sensors& sensors,
                           const SensorInputs& inputs, SensorDerivatives& derivatives);

}  // namespace articula
