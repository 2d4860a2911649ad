#pragma once
// Tests that two shapes with hulls are farther apart than a margin, cheaper than their distance: where they
// say so the narrow phase would find nothing.

#include "articula/collision/detect.hpp"

namespace articula::collision {

// Pairs for which the tests below are worth their while, and valid: a mesh against anything convex and
// bounded.
bool has_hull(const Shape& a, const Shape& b);

// Whether a face of one bounding box has all of the other box beyond it.
bool boxes_are_apart(const Shape& a, const Placement& at_a, const Shape& b, const Placement& at_b,
                     double margin);

// Whether they are apart along the direction that was guessed; the vertices of the guess follow.
bool are_apart_along(const Shape& a, const Placement& at_a, const Shape& b, const Placement& at_b,
                     double margin, GapGuess& guess);

// Guesses a direction along which they are apart; where there is none, or none that is clear, the guess
// stays.
void find_gap(const Shape& a, const Placement& at_a, const Shape& b, const Placement& at_b, double margin,
              GapGuess& guess);

}  // namespace articula::collision
