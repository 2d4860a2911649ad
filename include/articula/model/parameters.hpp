#pragma once
// The registry of everything that can be differentiated.
//
// All numbers of a model that enter the physics smoothly live in one vector `theta`. A slice gives a
// name to a few consecutive numbers: "body/torso/inertia", "joint/knee/damping", "gravity".
// Rotations are stored as quaternions (w x y z) and axes as 3-vectors; both are normalised inside,
// so a derivative has no component along their norm.

#include <string>
#include <string_view>
#include <vector>

#include "articula/math/types.hpp"

namespace articula {

enum class ParameterKind {
  inertia,    // body: mass, first moment (3), inertia about the body's origin (xx xy xz yy yz zz)
  placement,  // body, frame: position and quaternion; joint: axis, anchor
  geometry,   // sizes and placement of shapes
  friction,   // sliding, spinning, rolling
  restitution,
  damping,    // joints and tendons
  stiffness,  // joints and tendons: spring constant; rest position
  armature,
  dry_friction,
  limits,  // lower and upper end of a joint's range
  gains,   // actuators: gear, gain, bias
  medium,  // density, viscosity, wind
  gravity,
  dt
};

std::string_view to_string(ParameterKind kind);

struct ParameterSlice {
  std::string name;
  ParameterKind kind;
  int offset = 0;
  int size = 0;
};

// Slices in the order of theta. Offsets are consecutive.
class ParameterRegistry {
 public:
  int add(std::string name, ParameterKind kind, int size);  // returns the offset

  int size() const { return size_; }
  const std::vector<ParameterSlice>& slices() const { return slices_; }

  // The slice of that name; throws Error with the nearest names if there is none.
  const ParameterSlice& find(std::string_view name) const;

  // All slices whose name matches a pattern with `*` for any run of characters.
  std::vector<ParameterSlice> matching(std::string_view pattern) const;
  std::vector<ParameterSlice> of_kind(ParameterKind kind) const;

 private:
  std::vector<ParameterSlice> slices_;
  int size_ = 0;
};

// Inertial parameters of one body, linear in the dynamics, and back.
using InertialVector = Eigen::Matrix<double, 10, 1>;
InertialVector to_inertial_vector(double mass, const Vector3& com, const Matrix3& about_com);

}  // namespace articula
