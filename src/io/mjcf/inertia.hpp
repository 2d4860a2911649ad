#pragma once
// Masses and moments of inertia of shapes and of bodies made of them.

#include "articula/model/description.hpp"

namespace articula::mjcf {

// A shape of density one, about its centre and along its own axes.
struct ShapeMass {
  double volume = 0.0;                // m^3; of a shell m^2
  Vector3 moments = Vector3::Zero();  // of inertia, per kilogram
};

// Sphere, capsule, cylinder, ellipsoid, box; nothing for the rest. A shell has its mass on its surface.
ShapeMass shape_mass(ShapeType type, const Vector3& size, bool shell);

// The moments, largest first, and the axes they belong to: R^T I R is diagonal, but for elements below
// `tolerance` times the largest of I, which are dropped. Vertices are rounded to single precision, so
// anything smaller than the mesh's tolerance is noise there (and MuJoCo drops it).
constexpr double body_tolerance = 4e-15, mesh_tolerance = 1e-7;
struct PrincipalInertia {
  Vector3 moments;
  Quaternion axes;
};
PrincipalInertia principal(const Matrix3& inertia, double tolerance = body_tolerance);

// I = R diag(moments) R^T
Matrix3 turned(const Vector3& moments, const Quaternion& axes);

// One part of a body: `moments` along the axes of `pose`, in the body's frame.
struct Part {
  double mass = 0.0;
  Vector3 moments = Vector3::Zero();
  Pose pose;
};
InertiaDescription sum_of(const std::vector<Part>& parts);

}  // namespace articula::mjcf
