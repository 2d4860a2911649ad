#pragma once
// Directions from which to look for the shallowest way out where the search over faces of A - B did not end.

#include "epa.hpp"

namespace articula::collision {

struct Start {
  Vec3 n;
  double extent = 0.0;           // of A - B along n: the depth is not more
  int face_a = -1, face_b = -1;  // whose normal it is; -1: of none
};

struct Starts {
  static constexpr int room = 64;
  Start list[room];
  int count = 0;
};

// Of the normals of all faces of A, of B and of the polytope, and of these turned across the axes of
// cylinders, the directions along which A - B reaches least; none twice. Of two ellipsoids also their axes,
// and all of them down to where the extent is least.
Starts starts_of(const ConvexPair& pair, Polytope& polytope);

}  // namespace articula::collision
