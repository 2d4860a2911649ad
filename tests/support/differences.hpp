#pragma once
// Jacobians by Ridders' differences (ridders.hpp), column by column.

#include <functional>

#include "articula/model/model.hpp"
#include "tests/support/ridders.hpp"

namespace articula::testing {

// df/dx at x of a function of a vector.
MatrixX ridders_jacobian(const std::function<VectorX(const VectorX&)>& f, const VectorX& x,
                         double first_step = 1e-2);

// df/dq at q of a function of a configuration, along the tangent directions: nv columns.
MatrixX ridders_tangent(const Model& model, const std::function<VectorX(const VectorX&)>& f, const VectorX& q,
                        double first_step = 1e-2);

}  // namespace articula::testing
