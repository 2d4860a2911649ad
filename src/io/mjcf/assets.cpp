#include "io/mjcf/assets.hpp"

#include <algorithm>

#include "articula/model/names.hpp"
#include "io/mjcf/inertia.hpp"
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

const TriangleMesh& mesh_file(Reader& reader, const Element& element, const std::string& file) {
  const fs::path path = find_asset(reader, element, file);
  const auto found = reader.mesh_files.find(path.string());
  if (found != reader.mesh_files.end()) return found->second;
  try {
    return reader.mesh_files.emplace(path.string(), read_mesh(path, reader.options.mesh_limits))
        .first->second;
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

// x -> scale (R_ref^T (x - p_ref)); an odd number of negative scales turns faces inside out.
void place(TriangleMesh& mesh, const Attributes& a, const Vector3& scale) {
  Vector3 reference = Vector3::Zero();
  std::array<double, 4> q{1.0, 0.0, 0.0, 0.0};
  a.read("refpos", reference);
  a.read("refquat", q, 4);
  const Quaternion turn(q[0], q[1], q[2], q[3]);
  if (turn.norm() < 1e-7) fail(a.element(), "attribute refquat is zero; no rotation is 1 0 0 0");
  const Matrix3 back = turn.normalized().toRotationMatrix().transpose();
  for (Vector3& vertex : mesh.vertices) vertex = scale.cwiseProduct(back * (vertex - reference));
  if (scale.prod() < 0.0) {
    for (auto& face : mesh.faces) std::swap(face[1], face[2]);
  }
}

// Volume, centre and principal axes. A mesh without volume is centred by its surface and may be drawn,
// but nothing else.
void measure(Reader& reader, MeshAsset& asset, const Attributes& a) {
  Mesh& mesh = *asset.mesh;
  constexpr double smallest = 1e-14;
  const auto& faces = asset.kind == MeshInertia::convex ? mesh.hull_faces : mesh.faces;
  MassProperties mass = mass_properties(mesh.vertices, faces, asset.kind);
  if (asset.kind == MeshInertia::exact && mass.volume < -smallest) {
    fail(a.element(), "the faces are inside out (the volume is {}); turn them, or set inertia=\"convex\"",
         mass.volume);
  }
  if (mass.volume < smallest) {
    asset.drawn_only = true;
    mass = mass_properties(mesh.vertices, mesh.faces, MeshInertia::shell);
    if (!(mass.volume > 0.0))
      fail(a.element(), "the surface of the mesh has no area; check its file and scale");
    reader.warn(a.element(),
                "the mesh has no volume, so it is drawn only; set inertia=\"shell\" if it is a thin sheet");
  }
  const PrincipalInertia inertia = principal(mass.inertia, mesh_tolerance);
  asset.volume = mass.volume;
  for (int i = 0; i < 3; ++i) {
    const double edge = inertia.moments.sum() - 2.0 * inertia.moments[i];
    asset.half_box[i] = 0.5 * std::sqrt(std::max(0.0, 6.0 * edge / mass.volume));
  }
  mesh.source = {mass.com, inertia.axes};
  const Matrix3 back = inertia.axes.toRotationMatrix().transpose();
  asset.lower.setConstant(std::numeric_limits<double>::infinity());
  asset.upper = -asset.lower;
  for (Vector3& vertex : mesh.vertices) {
    vertex = back * (vertex - mass.com);
    asset.lower = asset.lower.cwiseMin(vertex);
    asset.upper = asset.upper.cwiseMax(vertex);
  }
}

void add_hull(Mesh& mesh, const Element& element, int most_vertices) {
  if (!mesh.hull.empty()) return;
  try {
    ConvexHull hull = convex_hull(mesh.vertices, most_vertices);
    mesh.hull = std::move(hull.vertices);
    mesh.hull_faces = std::move(hull.faces);
  } catch (const Error& error) {
    fail(element, "{}; give the mesh some thickness, or use a box instead", error.what());
  }
}

int most_hull_vertices(const Attributes& a) {
  int count = -1;
  a.read("maxhullvert", count);
  if (count != -1 && count < 4)
    fail(a.element(), "attribute maxhullvert is {}; it must be at least 4, or -1", count);
  return std::max(count, 0);
}

void make_mesh(Reader& reader, const std::string& name, MeshAsset& asset) {
  const Attributes a = with_defaults(reader, asset.element, "mesh");
  const std::string file = asset.element.text("file");
  if (!file.empty() && a.has("vertex")) fail(a.element(), "both file and vertex are given; keep one of them");
  if (a.has("builtin")) fail(a.element(), "builtin meshes are not generated; save the mesh to a file");
  Vector3 scale = Vector3::Ones();
  a.read("scale", scale);
  if (!(scale.cwiseAbs().minCoeff() > 0.0)) fail(a.element(), "attribute scale has a zero");
  a.read_keyword<MeshInertia>("inertia",
                              {{"convex", MeshInertia::convex},
                               {"exact", MeshInertia::exact},
                               {"legacy", MeshInertia::legacy},
                               {"shell", MeshInertia::shell}},
                              asset.kind);
  TriangleMesh triangles = file.empty() ? inline_mesh(a) : mesh_file(reader, a.element(), file);
  place(triangles, a, scale);
  if (triangles.vertices.size() < 4)
    fail(a.element(), "the mesh has {} vertices; it needs at least 4", triangles.vertices.size());

  asset.mesh = std::make_shared<Mesh>();
  Mesh& mesh = *asset.mesh;
  mesh.name = name;
  mesh.file = file;
  mesh.scale = scale;
  mesh.vertices = std::move(triangles.vertices);
  mesh.faces = std::move(triangles.faces);
  if (mesh.faces.empty() || asset.kind == MeshInertia::convex)
    add_hull(mesh, a.element(), most_hull_vertices(a));
  if (mesh.faces.empty()) mesh.faces = mesh.hull_faces;
  measure(reader, asset, a);
}

}  // namespace

void read_assets(Reader& reader) {
  for (const Element& element : reader.section("asset")) {
    if (element.name() == "mesh") {
      MeshAsset asset;
      asset.element = element;
      add(reader.meshes, element, std::move(asset));
    }
    if (element.name() == "hfield") add(reader.height_fields, element, element);
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
  for (auto& [name, asset] : reader.meshes) {
    if (asset.mesh == nullptr) continue;
    const Attributes a = with_defaults(reader, asset.element, "mesh");
    if (asset.collides) add_hull(*asset.mesh, asset.element, most_hull_vertices(a));
    if (asset.kept) reader.description.meshes.push_back(asset.mesh);
  }
}

}  // namespace articula::mjcf
