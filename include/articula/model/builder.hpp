#pragma once
// From a description to a model: every element is checked, and an error names it.

#include "articula/model/model.hpp"

namespace articula {

// Throws Error for: unknown parent, cycle, duplicate name, zero axis, negative mass, an inertia no
// real body can have, a non-finite number, a joint that moves no inertia, an element that refers to
// something that is not there.
Model build(Description description);

}  // namespace articula
