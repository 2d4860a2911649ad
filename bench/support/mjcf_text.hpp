#pragma once

#include <string>

#include "articula/model/model.hpp"

namespace articula::bench {

/// The model's bodies, joints, inertias and gravity as MJCF, for rivals that read nothing else: what smooth
/// dynamics depends on, and nothing that collides, limits or actuates. Constraints are off.
std::string mjcf_text(const Model& model);

}  // namespace articula::bench
