#pragma once

#include "io/mjcf/reader.hpp"

namespace articula::mjcf {

// A <joint> or <freejoint>, in the frame it was written in and without a name.
JointDescription read_joint(Reader& reader, const Attributes& a);
// A range that does not limit the joint: actuators may inherit it all the same. It stays as it is written,
// since MuJoCo turns degrees to radians in limits only.
void note_idle_range(Reader& reader, const Attributes& a, const JointDescription& joint);

}  // namespace articula::mjcf
