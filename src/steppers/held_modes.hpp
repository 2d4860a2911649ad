#pragma once
// Steps whose modes are held (held_modes.cpp); what is to be held is read from a step by freeze
// (impulse.hpp).

#include "articula/steppers/impulse.hpp"

namespace articula {

// Impulses and velocities of the rows that were built, in these modes. False if some equations have no
// solution.
bool solve_frozen(ImpulseWork& work, const FrozenModes& frozen, double gravity_step);

}  // namespace articula
