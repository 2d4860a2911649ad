#pragma once
// Signed distance of any two bounded convex shapes.

#include "support.hpp"

namespace articula::collision {

struct ConvexDistance {
  double distance = 0.0;  // negative: penetration depth; if beyond: a lower bound
  Vec3 normal;            // unit, from A to B, in A's frame
  Vec3 a, b;              // surface points, b - a = distance normal
  Feature feature_a, feature_b;
  bool beyond = false;  // farther apart than the margin; nothing but the bound is known
  bool exact = true;    // false: an iteration limit was hit, the distance is the best bound found
  bool tie = false;     // another way out of the overlap is as short: the normal is a choice
};

ConvexDistance convex_distance(const ConvexPair& pair, double margin);

}  // namespace articula::collision
