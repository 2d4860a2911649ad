#pragma once
// What can be asked of a loader, whatever the format.

#include <filesystem>
#include <string>
#include <vector>

#include "articula/io/mesh.hpp"

namespace articula {

struct LoadOptions {
  std::string name = "model.xml";  // of a text, for messages
  bool visual_meshes = true;       // also those that neither collide nor weigh anything
  bool other_files = true;         // false: a text may not refer to files (includes, meshes, models)

  // URDF and SDF: where packages and models are looked for (package://NAME/..., model://NAME/...), besides
  // the environment of ROS and Gazebo and the directories above the file.
  std::vector<std::filesystem::path> search_path;
  bool floating_base = false;   // URDF: the root link moves freely; else it is fixed to the world
  std::filesystem::path srdf;   // URDF: a file with pairs of links that never collide
  bool keep_overlaps = false;   // URDF: true: links that overlap as the robot stands collide all the same
  bool need_all_meshes = true;  // URDF and SDF: false: a collision mesh that is not found is a warning

  MeshLimits mesh_limits;
  std::size_t most_elements = 100'000;       // of a model, after <replicate> and <attach>
  std::size_t most_field_cells = 9'000'000;  // of all height fields together
  int attachment_depth = 0;                  // of <attach>, for the reader itself
};

}  // namespace articula
