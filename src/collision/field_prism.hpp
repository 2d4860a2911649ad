#pragma once
// The ground below one triangle of a height field, as a convex mesh: a prism that goes down far enough that
// no shape leaves it there.

#include "pairs.hpp"

namespace articula::collision {

// Signed distance of shape A from the ground below a triangle of the height field B, down to `bottom` in the
// field's frame; beyond `limit` only a bound. Features of B are those of the field (features.hpp).
Distance distance_from_prism(const PairArguments& pair, int triangle, double bottom, double limit);

// Each thread keeps one prism, made at the first call of either function.
void prepare_prism();

}  // namespace articula::collision
