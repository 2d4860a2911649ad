#pragma once
// From nearest points found on the grid (frame_of_a.hpp) to those of the exact placement.

#include "pairs.hpp"
#include "polish.hpp"

namespace articula::collision {

// The nearest points of the features found, where the shapes are exactly. Where the features hardly determine
// them (faces that lie flat, edges that are nearly parallel) what was found stays.
Distance off_grid(const PairArguments& pair, const Distance& found);

// The nearest points of the features of `found`, lines and planes taken as endless; normal and points of
// `found` are a guess.
Match match_features(const PairArguments& pair, const Distance& found);

}  // namespace articula::collision
