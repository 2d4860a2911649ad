#pragma once
// SDF (1.6 and later), the files of Gazebo.
//
// - A file with one <model> keeps the names of its links and joints; in a <world>, and in nested and
//   included models, they are "model::link". A link becomes a body, a <frame> a frame.
//   An include with merge="true" adds its links, joints and frames to the model around it.
// - A link that is no joint's child moves freely, unless its model is static or it hangs on the world.
// - revolute, continuous: a hinge; prismatic: a slide; ball; universal and revolute2: two hinges, the
//   second called "NAME_2"; fixed: none. A joint that closes a loop becomes an equality: ball a connect,
//   fixed a weld, revolute two connects on its axis; others are refused. screw and gearbox are refused.
// - Links of a model do not collide with each other unless it says self_collide.
// - A link without <inertial> weighs 1 kg with moments of 1 kg m^2, as SDF has it. Without a <world>
//   gravity is 9.81 m/s^2; in a world that does not say, 9.8 m/s^2, as SDF has it.
// - Plugins, sensors, lights and actors are left out, named once each.

#include <filesystem>
#include <string_view>

#include "articula/io/load_options.hpp"
#include "articula/model/description.hpp"

namespace articula {

Description load_sdf(const std::filesystem::path& file, const LoadOptions& options = {});

// Files that the text refers to are looked up relative to `directory`.
Description parse_sdf(std::string_view text, const std::filesystem::path& directory = {},
                      const LoadOptions& options = {});

}  // namespace articula
