#pragma once
// Nearest pairs that need no Newton's method: faces, points, lines, and circles against these.

#include "polish.hpp"

namespace articula::collision {

// False if the pair of patches has no form here (ellipsoids against anything but faces). Otherwise `match`
// says whether there is a solution.
bool closed_match(const Patch& first, const Patch& second, Vec3 a, Vec3 b, Vec3 n, double size, Match& match);

}  // namespace articula::collision
