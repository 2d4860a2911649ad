#pragma once
// Projected Gauss-Seidel: block after block is brought to its law with the others held. It finds modes from
// far away; the exact solve does the rest.

#include "articula/contact/problem.hpp"

namespace articula {

// Improves lam in place; returns the largest change of a velocity in the last sweep.
double gauss_seidel(const ContactProblem& problem, int sweeps, double* lam);

}  // namespace articula
