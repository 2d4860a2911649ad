#pragma once
// The way down to where two ellipsoids reach least into each other, from a direction that is far from it.

#include "convex.hpp"

namespace articula::collision {

// Of A - B's extent along n, both ellipsoids: the minimum below n.
Vec3 descend_ellipsoids(const ConvexPair& pair, Vec3 n);

}  // namespace articula::collision
