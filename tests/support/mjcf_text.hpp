#pragma once
// A description written as MJCF, for asking MuJoCo about robots that were made in code.

#include <string>

#include "articula/model/description.hpp"

namespace articula::testing {

// Bodies, joints, inertias, frames, tendons, actuators, sensors, medium and gravity; no geometry, no limits
// but those of actuators. Bodies must be listed depth first; frames, tendons and actuators must have names.
std::string mjcf_text(const Description& description);

}  // namespace articula::testing
