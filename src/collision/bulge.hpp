#pragma once
// Faces of hulls that are flat only to the angle within which triangles are merged: manifolds see one face,
// distances the triangles and creases it is made of.

#include "patch.hpp"

namespace articula::collision {

// Whether a feature is what its plane says, to rounding.
bool is_flat(const Shape& shape, Feature feature, double size);

// A triangle or crease of such a face: its unbounded patch, and its corners in the shape's frame.
struct BulgePart {
  Patch patch;
  Vec3 corner[3];  // of a crease the first two

  bool holds(Vec3 x, double tolerance) const;  // a point of the patch
};

struct BulgeParts {
  static constexpr int room = 96;
  BulgePart list[room];
  int count = 0;
};

// The triangles a face was merged from, then the creases between them.
BulgeParts bulge_parts(const Shape& shape, const Placement& at, int face);

}  // namespace articula::collision
