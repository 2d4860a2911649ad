#pragma once
// Modes carried from step to step by the identity of their blocks.

#include "articula/steppers/impulse.hpp"

namespace articula {

// Guesses rows.mode: what was, and for blocks that are new, what the velocities suggest.
void read_warm_start(const WarmStart& warm, ContactRows& rows, double gravity_step);
void write_warm_start(const ContactRows& rows, FrictionLaw law, WarmStart& warm);

}  // namespace articula
