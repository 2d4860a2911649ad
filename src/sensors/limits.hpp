#pragma once
// Limits as sensors see them, and which readings are cut off.

#include "articula/sensors/sensors.hpp"

namespace articula {

// Where a limit is near (within its margin): distance minus margin, and the sign of its direction along the
// coordinate; no sign: none is near. The lower limit is looked at first.
struct NearLimit {
  double distance = 0.0, sign = 0.0;
};

NearLimit near_joint_limit(const Model& model, const SensorInputs& in, int joint);
NearLimit near_tendon_limit(const Model& model, const SensorInputs& in, int tendon);
double joint_limit_velocity(const Model& model, const SensorInputs& in, int joint);

// Directions and quaternions are not cut.
bool is_cut(SensorType type);

}  // namespace articula
