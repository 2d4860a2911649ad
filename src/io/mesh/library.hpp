#pragma once
// The meshes a description uses, each file read once.

#include <map>
#include <memory>
#include <set>
#include <tuple>

#include "articula/io/mesh.hpp"

namespace articula {

class MeshLibrary {
 public:
  explicit MeshLibrary(const MeshLimits& limits) : limits_(limits) {}

  // The file, scaled; with a hull where it collides. What is flat has none: it collides as a plate, a mesh
  // without a file, a thousandth of its length thick. Throws Error where the file is no usable mesh.
  const Mesh& use(const std::filesystem::path& file, const Vector3& scale, bool collides);

  // Gives all meshes to the description, in the order of their names.
  void move_to(Description& description);

 private:
  Mesh& find_or_make(const std::filesystem::path& file, const Vector3& scale, bool plate);
  const TriangleMesh& read(const std::string& file);
  bool flat(const std::string& file);
  std::string free_name(const std::filesystem::path& file);

  MeshLimits limits_;
  std::map<std::string, TriangleMesh> files_;
  std::map<std::string, bool> flat_;  // files that collide
  std::map<std::tuple<std::string, double, double, double, bool>, std::shared_ptr<Mesh>> meshes_;
  std::set<std::string> names_;
  std::map<std::string, int> copies_;  // of a name
  std::size_t vertices_ = 0;           // of all meshes
};

}  // namespace articula
