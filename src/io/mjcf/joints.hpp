#pragma once

#include "io/mjcf/reader.hpp"

namespace articula::mjcf {

// A <joint> or <freejoint>, in the frame it was written in and without a name.
JointDescription read_joint(Reader& reader, const Attributes& a);

}  // namespace articula::mjcf
