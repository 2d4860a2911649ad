#pragma once

#include "io/mjcf/reader.hpp"

namespace articula::mjcf {

// A <joint> or <freejoint>, in the frame it was written in and without a name.
JointDescription read_joint(Reader& reader, const Attributes& a);
// Throws where they are more than MuJoCo lets one body have: what turns after a ball joint turns nothing
// more.
void require_possible_joints(const Element& body, const std::vector<JointDescription>& joints);
// A range that does not limit the joint: actuators may inherit it all the same. It stays as it is written,
// since MuJoCo turns degrees to radians in limits only.
void note_idle_range(Reader& reader, const Attributes& a, const JointDescription& joint);

}  // namespace articula::mjcf
