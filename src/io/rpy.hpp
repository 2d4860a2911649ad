#pragma once

#include "articula/math/types.hpp"

namespace articula {

// Roll, pitch and yaw about fixed axes: R = Rz(yaw) Ry(pitch) Rx(roll).
inline Quaternion rotation_of_rpy(const Vector3& rpy) {
  return Quaternion(Eigen::AngleAxisd(rpy[2], Vector3::UnitZ()) *
                    Eigen::AngleAxisd(rpy[1], Vector3::UnitY()) * Eigen::AngleAxisd(rpy[0], Vector3::UnitX()))
      .normalized();
}

}  // namespace articula
