#pragma once
// Tests that two shapes with hulls are farther apart than a margin, cheaper than their distance: where they
// say so the narrow phase would find nothing.

#include "articula/collision/shape.hpp"

namespace articula::collision {

// Pairs for which the tests below are worth their while, and valid: a mesh against anything convex and
// bounded.
bool has_hull(const Shape& a, const Shape& b);

// Whether a face of one bounding box has all of the other box beyond it.
bool boxes_are_apart(const Shape& a, const Placement& at_a, const Shape& b, const Placement& at_b,
                     double margin);

// Whether they are apart along a direction in A's frame, from A to B.
bool are_apart_along(const Shape& a, const Placement& at_a, const Shape& b, const Placement& at_b,
                     double margin, Vec3 axis);

// A direction along which they are apart, or `otherwise` where there is none, or none that is clear.
Vec3 find_axis_apart(const Shape& a, const Placement& at_a, const Shape& b, const Placement& at_b,
                     double margin, Vec3 otherwise);

}  // namespace articula::collision
