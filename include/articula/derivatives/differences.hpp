#pragma once
// Ridders' extrapolated central differences: the reference that derivatives are held against.

#include <functional>

#include "articula/math/types.hpp"

namespace articula {

struct Differences {
  VectorX derivative;
  VectorX error;  // estimated, per component
};

// d f(t)/dt at t = 0. Steps shrink from `step` by sqrt 2; of the extrapolations, the one with the smallest
// estimated error is taken, for each component apart.
Differences ridders_differences(const std::function<VectorX(double)>& f, double step);

// The same from several first steps, for functions whose scale and noise are not known.
Differences ridders_differences(const std::function<VectorX(double)>& f, std::initializer_list<double> steps);

// max |A - R| / max(|R|, 1e-3 max |R|, 1e-9)
double relative_error(const MatrixX& A, const MatrixX& R);

}  // namespace articula
