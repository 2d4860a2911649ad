#include "io/mesh/library.hpp"

#include <fmt/format.h>

#include "articula/error.hpp"
#include "io/mesh/finish.hpp"
#include "io/mesh/plate.hpp"

namespace articula {

const TriangleMesh& MeshLibrary::read(const std::string& file) {
  const auto found = files_.find(file);
  if (found != files_.end()) return found->second;
  return files_.emplace(file, read_mesh(file, limits_)).first->second;
}

bool MeshLibrary::flat(const std::string& file) {
  const auto found = flat_.find(file);
  if (found != flat_.end()) return found->second;
  return flat_.emplace(file, is_flat(read(file))).first->second;
}

std::string MeshLibrary::free_name(const std::filesystem::path& file) {
  const std::string stem = file.stem().string();
  std::string name = stem;
  while (!names_.insert(name).second) name = fmt::format("{}_{}", stem, ++copies_[stem]);
  return name;
}

Mesh& MeshLibrary::find_or_make(const std::filesystem::path& file, const Vector3& scale, bool plate) {
  const std::tuple key{file.string(), scale[0], scale[1], scale[2], plate};
  const auto found = meshes_.find(key);
  if (found != meshes_.end()) return *found->second;
  auto mesh = std::make_shared<Mesh>();
  mesh->scale = scale;
  const TriangleMesh& triangles = read(file.string());
  finish_mesh(plate ? plate_of(triangles, scale) : triangles, *mesh);
  if (!plate) mesh->file = file.string();
  vertices_ += mesh->vertices.size();
  if (vertices_ > limits_.vertices) {
    throw Error("{}: the meshes of the model have more than {} vertices together; simplify them",
                file.string(), limits_.vertices);
  }
  mesh->name = free_name(file);
  return *meshes_.emplace(key, std::move(mesh)).first->second;
}

const Mesh& MeshLibrary::use(const std::filesystem::path& file, const Vector3& scale, bool collides) {
  if (collides && flat(file.string())) return find_or_make(file, scale, true);
  Mesh& mesh = find_or_make(file, scale, false);
  if (collides) add_hull(mesh);
  return mesh;
}

void MeshLibrary::move_to(Description& description) {
  std::map<std::string, std::shared_ptr<Mesh>> by_name;
  for (auto& [key, mesh] : meshes_) by_name.emplace(mesh->name, std::move(mesh));
  for (auto& [name, mesh] : by_name) description.meshes.push_back(std::move(mesh));
  files_.clear();
  meshes_.clear();
}

}  // namespace articula
