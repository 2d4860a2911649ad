#pragma once
// Surfaces that lie in a plane enclose nothing, and a convex hull needs a volume.

#include "articula/io/mesh.hpp"

namespace articula {

// In a plane up to the rounding of its coordinates, and not in a line.
bool is_flat(const TriangleMesh& mesh);

// The points of a flat mesh on both sides of a plate that is a thousandth of its length thick once scaled.
TriangleMesh plate_of(const TriangleMesh& mesh, const Vector3& scale);

}  // namespace articula
