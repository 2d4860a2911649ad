#pragma once
// MJCF, MuJoCo's model files.
//
// What is read means what it means in MuJoCo 4. Attributes that shape soft contact (solref, solimp,
// ...) have no meaning in hard contact and are named in one warning; unknown elements and attributes
// are a warning each; what cannot be represented and would change the motion (muscles, plugins,
// deformables, spatial tendons that pull, ...) is an Error. Every message begins with file and line.

#include <filesystem>
#include <string>
#include <string_view>

#include "articula/io/mesh.hpp"
#include "articula/model/description.hpp"

namespace articula {

struct LoadOptions {
  std::string name = "model.xml";  // of a text, for messages
  bool visual_meshes = true;       // also those that neither collide nor weigh anything
  bool other_files = true;         // false: a text may not refer to files (includes, meshes, models)
  MeshLimits mesh_limits;
  std::size_t most_elements = 250'000;        // bodies, joints, geometries and sites, after <replicate>
  std::size_t most_field_cells = 16'000'000;  // of a height field
  int attachment_depth = 0;                   // of <attach>, for the reader itself
};

Description load_mjcf(const std::filesystem::path& file, const LoadOptions& options = {});

// Files that the text refers to are looked up relative to `directory`.
Description parse_mjcf(std::string_view text, const std::filesystem::path& directory = {},
                       const LoadOptions& options = {});

}  // namespace articula
