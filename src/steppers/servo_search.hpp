#pragma once
// Sides of servos and modes of rows, found together.
//
// With a servo held at an end contact may leave several motions (Painleve), or several ways to share loads
// that move otherwise, of which one agrees with that end and another is found: then changing sides by what
// contradicts them goes round in circles. Here servos are what they stand for, rows of the contact problem
// whose law is their own (dynamics/saturation.hpp), and kv is no part of Mhat:
//   sigma = e_d v+ + lam / (h K) - (v_d + f / K),    lam within h (f_low, f_high),    K = -df/dv_d
// From its solution the step with these sides is solved as any other; or its impulses are kept.

#include <optional>

#include "articula/steppers/impulse.hpp"

namespace articula {

// Fills work.free.saturation, and work.again with modes and impulses to begin with; for the contacts in
// work.contacts, with work.v_free for the rules of biases. Nothing found: neither is changed. Leaves forces,
// factor and rows of another step in `work`.
// Joints with an actuator_force_range and several servos that brake: these are taken to stay on their sides.
// Piles of many bodies are not searched.
std::optional<SolveStatus> find_sides_together(const Model& model, Data& data, ImpulseWork& work,
                                               const RowSettings& settings, const Input& input,
                                               const State& state, double gravity_step, bool thorough,
                                               int& iterations);

// The impulses found together, in place of those of a solver: where loads can be shared in several ways that
// move otherwise, the share it chooses with these sides may contradict them.
void keep_impulses(ImpulseWork& work, double gravity_step, StepReport& report);

}  // namespace articula
