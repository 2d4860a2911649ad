#pragma once
// Sine and cosine of many angles at once, four to a register.

#include <span>

namespace articula {

// sine[i] = sin(angle[i]), cosine[i] = cos(angle[i]), to one unit in the last place; the arrays have
// room for the count rounded up to four.
void sincos(std::span<const double> angle, double* sine, double* cosine);

}  // namespace articula
