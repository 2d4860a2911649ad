#include "io/mesh/library.hpp"

#include <fmt/format.h>

#include "articula/error.hpp"
#include "io/mesh/finish.hpp"

namespace articula {

const TriangleMesh& MeshLibrary::read(const std::string& file) {
  const auto found = files_.find(file);
  if (found != files_.end()) return found->second;
  return files_.emplace(file, read_mesh(file, limits_)).first->second;
}

std::string MeshLibrary::free_name(const std::filesystem::path& file) {
  const std::string stem = file.stem().string();
  std::string name = stem;
  while (!names_.insert(name).second) name = fmt::format("{}_{}", stem, ++copies_[stem]);
  return name;
}

const Mesh& MeshLibrary::use(const std::filesystem::path& file, const Vector3& scale, bool collides) {
  const std::tuple key{file.string(), scale[0], scale[1], scale[2]};
  auto found = meshes_.find(key);
  if (found == meshes_.end()) {
    auto mesh = std::make_shared<Mesh>();
    mesh->file = file.string();
    mesh->scale = scale;
    finish_mesh(read(mesh->file), *mesh);
    vertices_ += mesh->vertices.size();
    if (vertices_ > limits_.vertices) {
      throw Error("{}: the meshes of the model have more than {} vertices together; simplify them",
                  mesh->file, limits_.vertices);
    }
    mesh->name = free_name(file);
    found = meshes_.emplace(key, std::move(mesh)).first;
  }
  if (collides) add_hull(*found->second);
  return *found->second;
}

void MeshLibrary::move_to(Description& description) {
  std::map<std::string, std::shared_ptr<Mesh>> by_name;
  for (auto& [key, mesh] : meshes_) by_name.emplace(mesh->name, std::move(mesh));
  for (auto& [name, mesh] : by_name) description.meshes.push_back(std::move(mesh));
  files_.clear();
  meshes_.clear();
}

}  // namespace articula
