#pragma once
// How heavy each degree of freedom is to move.

#include "articula/model/model.hpp"

namespace articula {

// The diagonal of the mass matrix in the neutral configuration.
VectorX felt_inertia(const Model& model);

}  // namespace articula
