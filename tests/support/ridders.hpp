#pragma once
// Ridders' differences as the tests use them: one first step, the derivative only.

#include "articula/derivatives/differences.hpp"

namespace articula::testing {

using articula::relative_error;

inline VectorX ridders(const std::function<VectorX(double)>& f, double step = 1e-2) {
  return ridders_differences(f, step).derivative;
}

// The norm of the rows, but nothing where both vanish: of an identically zero derivative only the rounding of
// the differences is left.
inline double derivative_error(const MatrixX& A, const MatrixX& R) {
  const double vanishing = 1e-11;
  if (A.size() == 0) return 0.0;
  if (A.cwiseAbs().maxCoeff() < vanishing && R.cwiseAbs().maxCoeff() < vanishing) return 0.0;
  return relative_error(A, R);
}

// Of a product with a Jacobian: relative to the largest number, or to 0.01 where the product vanishes.
inline double product_difference(const VectorX& a, const VectorX& reference) {
  return (a - reference).cwiseAbs().maxCoeff() / std::max(reference.cwiseAbs().maxCoeff(), 1e-2);
}

}  // namespace articula::testing
