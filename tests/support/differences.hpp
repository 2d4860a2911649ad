#pragma once
// Numerical derivatives to compare with: Ridders' extrapolated central differences.

#include <functional>

#include "articula/model/model.hpp"

namespace articula::testing {

// df/dt at t = 0 of a curve of vectors. Central differences at steps that shrink by 1.4 are
// extrapolated to step zero (Neville's table); the entry with the least estimated error is taken.
VectorX ridders(const std::function<VectorX(double)>& f, double first_step = 1e-2);

// df/dx at x of a function of a vector, column by column.
MatrixX ridders_jacobian(const std::function<VectorX(const VectorX&)>& f, const VectorX& x,
                         double first_step = 1e-2);

// df/dq at q of a function of a configuration, along the tangent directions: nv columns.
MatrixX ridders_tangent(const Model& model, const std::function<VectorX(const VectorX&)>& f, const VectorX& q,
                        double first_step = 1e-2);

}  // namespace articula::testing
