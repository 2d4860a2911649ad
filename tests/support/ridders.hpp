#pragma once
// Ridders' extrapolated central differences: the reference every derivative is held against.

#include <functional>

#include "articula/math/types.hpp"

namespace articula::testing {

// d f(t)/dt at t = 0. Steps shrink from `step` by sqrt 2; the tableau's entry with the smallest
// estimated error is taken, for each component apart.
VectorX ridders(const std::function<VectorX(double)>& f, double step = 1e-2);

// The norm of rows.md: max |A - R| / max(|R|, 1e-3 max |R|, 1e-9).
double relative_error(const MatrixX& A, const MatrixX& R);

}  // namespace articula::testing
