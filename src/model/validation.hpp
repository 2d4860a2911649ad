#pragma once

#include "articula/model/description.hpp"

namespace articula {

// Checks every element on its own and every reference between elements. Names must be filled in.
void validate(const Description& description);

// Throws unless the inertia is symmetric, positive and satisfies the triangle inequality
// (the principal moments of a real body: a + b >= c).
void require_real_inertia(double mass, const Matrix3& about_com, const std::string& element);

}  // namespace articula
