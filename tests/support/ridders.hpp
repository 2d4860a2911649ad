#pragma once
// Ridders' differences as the tests use them: one first step, the derivative only.

#include "articula/derivatives/differences.hpp"

namespace articula::testing {

using articula::relative_error;

inline VectorX ridders(const std::function<VectorX(double)>& f, double step = 1e-2) {
  return ridders_differences(f, step).derivative;
}

// The same, but nothing where both vanish: of an identically zero derivative only the rounding of the
// differences is left.
double derivative_error(const MatrixX& A, const MatrixX& R);

// Of a product with a Jacobian: relative to the largest number, or to 0.01 where the product vanishes.
double product_difference(const VectorX& a, const VectorX& reference);

}  // namespace articula::testing
