#pragma once

#include "articula/model/model.hpp"

namespace articula {

// Gives every differentiable number its slice, notes the offsets in the index tables, and returns
// the numbers as described.
VectorX register_parameters(Structure& structure);

// Throws Error naming the joint if one of its degrees of freedom moves neither mass nor armature.
void require_moving_inertia(const Model& model);

}  // namespace articula
