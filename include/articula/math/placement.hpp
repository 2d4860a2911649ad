#pragma once
// Where a frame is: x_outer = p + R x_inner, in the four-lane types.

#include "articula/math/vec3.hpp"

namespace articula {

struct Placement {
  Mat3 R = Mat3::identity();
  Vec3 p;
};

inline Placement operator*(const Placement& outer, const Placement& inner) {
  return {outer.R * inner.R, outer.p + outer.R * inner.p};
}
inline Vec3 operator*(const Placement& placement, Vec3 x) { return placement.p + placement.R * x; }
inline Placement placement_of(const Pose& pose) {
  return {Mat3::from(pose.rotation.toRotationMatrix()), Vec3(pose.position)};
}

}  // namespace articula
