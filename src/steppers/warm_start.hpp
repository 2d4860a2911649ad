#pragma once
// Modes carried from step to step by the identity of their blocks.

#include "articula/steppers/impulse.hpp"

namespace articula {

// Guesses rows.mode: what was, and for blocks that are new, what the velocities suggest. False if there is
// nothing to go by: no block was there before, or some has modes and impulses that no step leaves together.
[[nodiscard]] bool read_warm_start(const WarmStart& warm, ContactRows& rows, double gravity_step);
void write_warm_start(const ContactRows& rows, FrictionLaw law, WarmStart& warm);

}  // namespace articula
