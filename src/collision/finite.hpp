#pragma once
// Poses that users hand in must be numbers: a search among shapes that are nowhere has no answer.

#include "articula/error.hpp"
#include "vector.hpp"

namespace articula::collision {

// Sums and differences of numbers that are not finite are not either, and times zero they are not zero.
inline bool is_finite(Vec3 v) { return (lane_bits(v.lanes * broadcast(0.0) == broadcast(0.0)) & 7) == 7; }
inline Vec3 total(const Placement& at) { return (at.R.x + at.R.y) + (at.R.z + at.p); }
inline bool is_finite(const Placement& at) { return is_finite(total(at)); }
inline bool are_finite(const Placement& a, const Placement& b) { return is_finite(a) && is_finite(b); }

}  // namespace articula::collision
