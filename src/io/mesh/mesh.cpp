#include "articula/io/mesh.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <system_error>

#include "articula/error.hpp"
#include "io/files.hpp"
#include "io/mesh/checks.hpp"
#include "io/mesh/imported.hpp"

namespace articula {

namespace {

std::size_t hash(const Vector3& vertex) {
  std::size_t result = 0;
  for (double coordinate : vertex) {
    coordinate += 0.0;  // -0 is 0
    std::uint64_t bits = 0;
    std::memcpy(&bits, &coordinate, sizeof bits);
    result = (result ^ bits) * 0x9e3779b97f4a7c15ull;
    result ^= result >> 29;
  }
  return result;
}

}  // namespace

// A table of indices with open addressing, at most half full.
void weld(TriangleMesh& mesh) {
  std::size_t capacity = 16;
  while (capacity < 2 * mesh.vertices.size()) capacity *= 2;
  std::vector<int> table(capacity, -1), renamed(mesh.vertices.size());
  std::vector<Vector3> unique;
  for (std::size_t i = 0; i < mesh.vertices.size(); ++i) {
    std::size_t slot = hash(mesh.vertices[i]) & (capacity - 1);
    while (table[slot] >= 0 && unique[table[slot]] != mesh.vertices[i]) slot = (slot + 1) & (capacity - 1);
    if (table[slot] < 0) {
      table[slot] = static_cast<int>(unique.size());
      unique.push_back(mesh.vertices[i]);
    }
    renamed[i] = table[slot];
  }
  for (auto& face : mesh.faces) {
    for (int& corner : face) corner = renamed[corner];
  }
  mesh.vertices = std::move(unique);
}

// MuJoCo's own: four counts (vertices, normals, texture coordinates, faces) and the data, all in
// four bytes.
TriangleMesh read_msh(std::string_view bytes, const std::string& name, const MeshLimits& limits) {
  std::array<std::int32_t, 4> counts{};
  if (bytes.size() < sizeof counts)
    throw Error("{}: MSH: the header is missing; export the mesh again", name);
  std::memcpy(counts.data(), bytes.data(), sizeof counts);
  const auto [vertices, normals, textures, faces] = counts;
  if (vertices < 4 || normals < 0 || textures < 0 || faces < 0 || (normals != 0 && normals != vertices) ||
      (textures != 0 && textures != vertices)) {
    throw Error(
        "{}: MSH: the header says {} vertices, {} normals, {} texture coordinates, {} faces, which "
        "no such file has; export the mesh again",
        name, vertices, normals, textures, faces);
  }
  const std::uint64_t expected =
      16 + 12 * (std::uint64_t(vertices) + normals + faces) + 8 * std::uint64_t(textures);
  if (bytes.size() != expected) {
    throw Error("{}: MSH: the header promises {} bytes, the file has {}; export the mesh again", name,
                expected, bytes.size());
  }
  if (std::size_t(faces) > limits.triangles || std::size_t(vertices) > limits.vertices) {
    throw Error("{}: MSH: {} vertices and {} faces are more than are read; simplify the mesh", name, vertices,
                faces);
  }
  TriangleMesh mesh;
  mesh.vertices.reserve(vertices);
  const char* data = bytes.data() + 16;
  for (std::int32_t i = 0; i < vertices; ++i) {
    std::array<float, 3> xyz{};
    std::memcpy(xyz.data(), data + 12 * std::size_t(i), sizeof xyz);
    mesh.vertices.emplace_back(xyz[0], xyz[1], xyz[2]);
    if (!usable(mesh.vertices.back())) throw Error("{}: MSH: {}", name, bad_vertex(mesh.vertices.back()));
  }
  data += 12 * (std::size_t(vertices) + normals) + 8 * std::size_t(textures);
  mesh.faces.resize(faces);
  for (std::int32_t i = 0; i < faces; ++i) {
    std::memcpy(mesh.faces[i].data(), data + 12 * std::size_t(i), 12);
    for (int corner : mesh.faces[i]) {
      if (corner < 0 || corner >= vertices) {
        throw Error("{}: MSH: face {} refers to vertex {} of {}; export the mesh again", name, i, corner,
                    vertices);
      }
    }
  }
  return mesh;
}

namespace {

// The format that the beginning of a file belongs to, by its extension; "" where nothing gives it away.
std::string_view format_of(std::string_view beginning) {
  if (beginning.starts_with("ply\n") || beginning.starts_with("ply\r")) return ".ply";
  if (beginning.starts_with("glTF")) return ".glb";
  if (beginning.find("<COLLADA") != beginning.npos) return ".dae";
  if (beginning.starts_with("{") && beginning.find("\"asset\"") != beginning.npos) return ".gltf";
  if (beginning.starts_with("solid") && beginning.find("facet") != beginning.npos) return ".stl";
  if (beginning.starts_with("v ") || beginning.find("\nv ") != beginning.npos) return ".obj";
  return "";
}

TriangleMesh read_as(const std::string& extension, const std::filesystem::path& path,
                     const MeshLimits& limits) {
  if (extension == ".dae" || extension == ".ply" || extension == ".gltf" || extension == ".glb") {
    return import_mesh(path, limits);
  }
  const std::string bytes = read_file(path, limits.bytes);
  if (extension == ".stl") return read_stl(bytes, path.string(), limits);
  if (extension == ".obj") return read_obj(bytes, path.string(), limits);
  if (extension == ".msh") return read_msh(bytes, path.string(), limits);
  throw Error("{}: meshes are read from .stl, .obj, .msh, .dae, .ply, .gltf and .glb files; convert this one",
              path.string());
}

}  // namespace

TriangleMesh read_mesh(const std::filesystem::path& path, const MeshLimits& limits) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  try {
    return read_as(extension, path, limits);
  } catch (const Error&) {
    std::error_code failed;
    if (!std::filesystem::is_regular_file(path, failed)) throw;
    const std::string beginning = read_beginning(path, 4096);
    const std::string what = disguise(beginning);
    if (!what.empty()) throw Error("{}: this is no mesh, but {}", path.string(), what);
    const std::string_view format = format_of(beginning);
    if (!format.empty() && format != extension) {
      throw Error("{}: by its content this is a {} file; rename it so that its name ends in {}",
                  path.string(), format.substr(1), format);
    }
    throw;
  }
}

}  // namespace articula
