#include "io/mjcf/assets.hpp"

#include <algorithm>

#include "articula/model/names.hpp"
#include "io/mjcf/orientation.hpp"

namespace articula::mjcf {

namespace fs = std::filesystem;

namespace {

std::string asset_name(const Element& element) {
  if (element.attribute("name") != nullptr) return element.text("name");
  return fs::path(element.text("file")).stem().string();
}

template <class Assets, class Asset>
void add(Assets& assets, const Element& element, Asset asset) {
  const std::string name = asset_name(element);
  if (name.empty()) fail(element, "it has neither a name nor a file, so nothing can refer to it");
  if (!assets.emplace(name, std::move(asset)).second)
    fail(element, "another {} is called '{}'", element.name(), name);
}

template <class Assets>
auto& find(Assets& assets, const Element& user, const char* kind, const std::string& name) {
  const auto found = assets.find(name);
  if (found != assets.end()) return found->second;
  std::vector<std::string> known;
  for (const auto& [other, unused] : assets) known.push_back(other);
  fail(user, "attribute {}: there is no {} '{}' in <asset>{}", kind, kind, name, suggestion(name, known));
}

void read_material(Reader& reader, const Element& element) {
  std::array<double, 4> colour{1.0, 1.0, 1.0, 1.0};
  const Attributes a = with_defaults(reader, element, "material");
  a.read("rgba", colour, 4);
  std::array<float, 4> narrow{};
  std::transform(colour.begin(), colour.end(), narrow.begin(),
                 [](double c) { return static_cast<float>(c); });
  reader.materials.emplace(asset_name(element), narrow);
}

const TriangleMesh& mesh_file(Reader& reader, const Element& element, const std::string& path) {
  const auto found = reader.mesh_files.find(path);
  if (found != reader.mesh_files.end()) return found->second;
  try {
    return reader.mesh_files.emplace(path, read_mesh(path, reader.options.mesh_limits)).first->second;
  } catch (const Error& error) {
    fail(element, "{}", error.what());
  }
}

TriangleMesh inline_mesh(const Attributes& a) {
  TriangleMesh mesh;
  const std::vector<double> coordinates = a.list("vertex");
  if (coordinates.empty()) fail(a.element(), "a mesh needs attribute file or attribute vertex");
  if (coordinates.size() % 3 != 0) {
    fail(a.element(), "attribute vertex has {} numbers, which is no multiple of 3", coordinates.size());
  }
  for (std::size_t i = 0; i < coordinates.size(); i += 3) {
    mesh.vertices.emplace_back(static_cast<float>(coordinates[i]), static_cast<float>(coordinates[i + 1]),
                               static_cast<float>(coordinates[i + 2]));
    if (!mesh.vertices.back().allFinite()) fail(a.element(), "attribute vertex: a coordinate is too large");
  }
  const std::vector<double> corners = a.list("face");
  if (corners.size() % 3 != 0) {
    fail(a.element(), "attribute face has {} numbers, which is no multiple of 3", corners.size());
  }
  for (std::size_t i = 0; i < corners.size(); i += 3) {
    std::array<int, 3> face{};
    for (std::size_t k = 0; k < 3; ++k) {
      const double corner = corners[i + k];
      if (!(corner >= 0.0 && corner < static_cast<double>(mesh.vertices.size())) ||
          corner != std::floor(corner)) {
        fail(a.element(), "attribute face: {} is no vertex; there are {}", corner, mesh.vertices.size());
      }
      face[k] = static_cast<int>(corner);
    }
    mesh.faces.push_back(face);
  }
  return mesh;
}

int most_hull_vertices(const Attributes& a) {
  int count = -1;
  a.read("maxhullvert", count);
  if (count != -1 && count < 4)
    fail(a.element(), "attribute maxhullvert is {}; it must be at least 4, or -1", count);
  return std::max(count, 0);
}

Pose reference_pose(const Attributes& a) {
  Pose reference;
  std::array<double, 4> q{1.0, 0.0, 0.0, 0.0};
  a.read("refpos", reference.position);
  a.read("refquat", q, 4);
  const Quaternion turn(q[0], q[1], q[2], q[3]);
  if (turn.norm() < 1e-7) fail(a.element(), "attribute refquat is zero; no rotation is 1 0 0 0");
  reference.rotation = turn.normalized();
  return reference;
}

void make_mesh(Reader& reader, const std::string& name, MeshAsset& asset) {
  const Attributes a = with_defaults(reader, asset.element, "mesh");
  const std::string file = asset.element.text("file");
  if (!file.empty() && a.has("vertex")) fail(a.element(), "both file and vertex are given; keep one of them");
  if (a.has("builtin")) fail(a.element(), "builtin meshes are not generated; save the mesh to a file");
  auto mesh = std::make_shared<Mesh>();
  mesh->name = name;
  a.read("scale", mesh->scale);
  mesh->reference = reference_pose(a);
  mesh->most_hull_vertices = most_hull_vertices(a);
  a.read_keyword<MeshInertia>("inertia",
                              {{"convex", MeshInertia::convex},
                               {"exact", MeshInertia::exact},
                               {"legacy", MeshInertia::legacy},
                               {"shell", MeshInertia::shell}},
                              mesh->inertia);
  if (!file.empty()) mesh->file = find_asset(reader, a.element(), file).string();
  TriangleMesh triangles = file.empty() ? inline_mesh(a) : mesh_file(reader, a.element(), mesh->file);
  try {
    asset.measures = finish_mesh(std::move(triangles), *mesh);
  } catch (const Error& error) {
    fail(a.element(), "{}", error.what());
  }
  reader.mesh_vertices += mesh->vertices.size();
  if (reader.mesh_vertices > reader.options.mesh_limits.vertices) {
    fail(a.element(), "the meshes of the model have more than {} vertices together; simplify them",
         reader.options.mesh_limits.vertices);
  }
  if (asset.measures.flat) {
    reader.warn(a.element(),
                "the mesh has no volume, so it is drawn only; set inertia=\"shell\" if it is a thin sheet");
  }
  asset.mesh = std::move(mesh);
}

}  // namespace

void read_assets(Reader& reader) {
  for (const Element& element : reader.section("asset")) {
    if (element.name() == "mesh") {
      MeshAsset asset;
      asset.element = element;
      add(reader.meshes, element, std::move(asset));
    }
    if (element.name() == "hfield") add(reader.height_fields, element, HeightFieldAsset{element, nullptr});
    if (element.name() == "material") read_material(reader, element);
  }
}

// Relative to the main file's directory and the mesh directory, as in MuJoCo; else to the directory of the
// file that has the element.
fs::path find_asset(const Reader& reader, const Element& element, const std::string& file) {
  if (!reader.options.other_files)
    fail(element, "attribute file: other files are not read here; write the numbers into this text");
  fs::path relative = reader.compiler.strip_path ? fs::path(file).filename() : fs::path(file);
  relative = reader.compiler.directory_of_meshes() / relative;
  const fs::path main = reader.tree.directory() / relative;
  const fs::path beside = element.file->path.parent_path() / relative;
  std::error_code ignored;
  if (fs::exists(main, ignored)) return main;
  if (fs::exists(beside, ignored)) return beside;
  fail(element, "attribute file: there is no {}; check meshdir of <compiler>", main.string());
}

MeshAsset& use_mesh(Reader& reader, const Element& user, const std::string& name) {
  MeshAsset& asset = find(reader.meshes, user, "mesh", name);
  if (asset.mesh == nullptr) make_mesh(reader, name, asset);
  return asset;
}

void finish_meshes(Reader& reader) {
  reader.mesh_files.clear();
  const bool contact = reader.flags.constraint && reader.flags.contact;
  for (auto& [name, asset] : reader.meshes) {
    if (asset.mesh == nullptr) continue;
    try {
      if (asset.collides) add_hull(*asset.mesh);
      if (!asset.collides || !contact) {  // it may have been needed to weigh the mesh, or for want of faces
        asset.mesh->hull.clear();
        asset.mesh->hull_faces.clear();
      }
    } catch (const Error& error) {
      fail(asset.element, "{}", error.what());
    }
    if (asset.kept) reader.description.meshes.push_back(asset.mesh);
  }
}

}  // namespace articula::mjcf
