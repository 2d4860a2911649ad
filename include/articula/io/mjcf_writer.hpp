#pragma once
// Descriptions written as MJCF.
//
// Reading the text again gives the same description: numbers are written with as many digits as they need.
// Mesh files that MuJoCo reads, too, stay where they are and are referred to; other meshes are written into
// the text. What MJCF has no words for is kept in <custom>, under names that begin with "articula/":
// restitution, and inertias that no real body has (MuJoCo sees the nearest that is real).

#include <filesystem>
#include <string>

#include "articula/model/description.hpp"

namespace articula {

// `directory` is where the text will be: files below it are referred to relative to it.
std::string to_mjcf(const Description& description, const std::filesystem::path& directory = {});

// Meshes of more than 20,000 vertices or faces that cannot be referred to go into files beside it,
// "FILE_mesh0.msh" and so on. Throws Error where a file cannot be written.
void save_mjcf(const Description& description, const std::filesystem::path& file);

}  // namespace articula
