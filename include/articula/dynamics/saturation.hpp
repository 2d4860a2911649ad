#pragma once
// Servos with limits, decided at the end of a step. A servo on a hinge or slide that brakes, kv > 0, asks for
//   f+ = f - kv (l'+ - l'),      f its force at v, l'+ = g v+
// and gives it where it is within its range, the end of the range otherwise: an interval of impulses h f
// whose law is the servo's, sigma = l'+ + lam / (h kv) - (l' + f / kv) = 0 within. Each side is linear, as
// the mode of a row is: within, kv is a part of Mhat, at an end the force is a constant. The row itself is
// eliminated; sides are found by solving with those at hand and changing what contradicts them. The sum of a
// joint's actuators and its actuator_force_range alike.
//
// Without contact this is the smallest value of a strictly convex function, so that exactly one choice of
// sides agrees with itself, and changing the first that does not ends there (Murty). Servos that do not
// brake, and those on tendons, frames, balls and free joints, are limited by their force at v.

#include "articula/dynamics/forces.hpp"

namespace articula {

// end_force and end_drive for a step that ends with v_next. After applied_forces at v. False: all are on the
// sides they were taken to be.
bool measure_end_forces(const Model& model, ForceWork& work, const ConstVectorRef& v,
                        const ConstVectorRef& v_next);

// The sides to try instead. False: there are none, what contradicts its side does so by rounding.
// only_first: change one at a time.
bool next_saturation(const Model& model, const ForceWork& work, const ConstVectorRef& v,
                     const ConstVectorRef& v_next, bool only_first, Saturation& next);

// How far forces are on the wrong side of an end of their range, relative to the larger end; zero once
// settled.
double saturation_error(const Model& model, const ForceWork& work);

}  // namespace articula
