#pragma once
// From a feature to its neighbour, when a nearest point found on it does not belong to it.

#include "features.hpp"

namespace articula::collision {

// x was found on the (unbounded) feature f with outward normal n, in the shape's frame. Returns f if x lies
// on it and n is among its normals there, and otherwise the neighbour across the border that x or n violates
// most.
Feature walk(const Shape& shape, Feature f, Vec3 x, Vec3 n, double size);

}  // namespace articula::collision
