#pragma once
// The exact pair of nearest (or deepest) points between two patches, from a near guess.

#include "patch.hpp"

namespace articula::collision {

struct Match {
  Vec3 a, b;  // points on the two patches, b - a = distance n
  Vec3 n;     // unit, from a to b where they are apart
  double distance = 0.0;
  bool converged = false;
};

Match polish(const Patch& first, const Patch& second, Vec3 a, Vec3 b, Vec3 n, double size);

// Solves the 4x4 system M x = r for several right-hand sides by elimination with full pivoting. Directions in
// which M is singular (parallel edges, flat on flat) get no component; returns how many there are.
template <int Columns>
int solve4(double (&M)[4][4], double (&r)[4][Columns]);

}  // namespace articula::collision
