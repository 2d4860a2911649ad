#pragma once
// Ridders' differences as the tests use them: one first step, the derivative only.

#include "articula/derivatives/differences.hpp"

namespace articula::testing {

using articula::relative_error;

inline VectorX ridders(const std::function<VectorX(double)>& f, double step = 1e-2) {
  return ridders_differences(f, step).derivative;
}

}  // namespace articula::testing
