#pragma once

#include "io/mjcf/reader.hpp"

namespace articula::mjcf {

// The mesh of that name, read when it is first asked for. `user` is the element that refers to it.
MeshAsset& use_mesh(Reader& reader, const Element& user, const std::string& name);

// The height field of that name, read and added to the description when it is first asked for.
const HeightField& use_height_field(Reader& reader, const Element& user, const std::string& name);

// Where the file of an asset is; an Error where it is not.
std::filesystem::path find_asset(const Reader& reader, const Element& element, const std::string& file);

// Gives the meshes that collide their hulls, and all that are used to the description.
void finish_meshes(Reader& reader);

}  // namespace articula::mjcf
