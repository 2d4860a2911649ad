#pragma once
// Equalities that repeat each other: a planar loop closed in space says some things twice.

#include <vector>

#include "articula/contact/solution.hpp"

namespace articula {

// Gives every row of an equality its mode: `hold`, or `free` where other rows already say the same, or
// nothing can move along it (to about one part in 10^4: what is left could only be met with absurd impulses).
// Returns how many are free. work: room for the rows of equalities, squared.
int free_redundant_equalities(const ContactProblem& problem, std::vector<double>& work, RowMode* mode);

}  // namespace articula
