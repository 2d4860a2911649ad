#pragma once
// A ball inside a shape that touches its surface from within: proof that an overlap is the shallowest.
//
// Let w = x_a - x_b with outward normal n be where A - B is left after a depth d, and let a ball of radius
// r >= d lie in A - B and touch its surface at w. It contains the ball of radius d about the origin, so no
// direction leads out of A - B in less than d. Balls of A and of B add up.

#include "convex.hpp"

namespace articula::collision {

// Radius of a ball inside A - B that touches its surface at the solution; a lower bound, 0 where none is
// known.
double inner_ball(const ConvexPair& pair, const ConvexDistance& solution);

}  // namespace articula::collision
