#pragma once
// Whether two models that were written differently move alike.

#include "articula/model/model.hpp"

namespace articula::testing {

// The largest difference of M, of the bias forces and of the neutral configuration over 50 random states,
// each relative to its largest entry (or to one); 1 where not even the sizes agree.
double dynamics_difference(const Model& a, const Model& b);

}  // namespace articula::testing
