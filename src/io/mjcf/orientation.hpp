#pragma once

#include "io/mjcf/reader.hpp"

namespace articula::mjcf {

// The rotation an element gives as quat, axisangle, euler, xyaxes or zaxis; absent: none of them.
std::optional<Quaternion> read_rotation(const Attributes& attributes, const Compiler& compiler);

// pos and a rotation, by default no displacement at all.
Pose read_pose(const Attributes& attributes, const Compiler& compiler);

// The smallest rotation that takes z to the given direction; half a turn about x for -z.
Quaternion rotation_to(const Vector3& direction);

// In the order of the compiler's eulerseq; `angles` in the file's unit.
Quaternion rotation_of_euler(const Vector3& angles, const Compiler& compiler);

}  // namespace articula::mjcf
