#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <fstream>
#include <system_error>

#include "io/mjcf_writer/writer.hpp"

namespace articula::mjcf_writer {

namespace fs = std::filesystem;

namespace {

std::string lower_extension(const std::string& file) {
  std::string extension = fs::path(file).extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension;
}

// Relative where the file lies below the directory of the text, so that both can be moved together.
std::string reference_to(const std::string& file, const fs::path& directory) {
  std::error_code failed;
  const fs::path absolute = fs::absolute(file, failed).lexically_normal();
  const fs::path base = fs::absolute(directory.empty() ? "." : directory, failed).lexically_normal();
  const fs::path relative = absolute.lexically_relative(base);
  const bool below = !directory.empty() && !relative.empty() && *relative.begin() != "..";
  return below ? relative.string() : absolute.string();
}

// MuJoCo reads no ASCII STL: the size tells it from binary (80 bytes, the count, 50 bytes a triangle).
bool is_binary_stl(const std::string& file) {
  std::error_code failed;
  const std::uintmax_t size = fs::file_size(file, failed);
  std::array<char, 84> header{};
  std::ifstream stream(file, std::ios::binary);
  if (failed || !stream.read(header.data(), header.size())) return false;
  std::uint32_t count = 0;
  std::memcpy(&count, header.data() + 80, sizeof count);
  return size == 84 + 50 * std::uintmax_t{count};
}

bool stays_a_file(const Mesh& mesh) {
  const std::string extension = lower_extension(mesh.file);
  std::error_code failed;
  if (!fs::is_regular_file(mesh.file, failed)) return false;
  return extension == ".obj" || extension == ".msh" || (extension == ".stl" && is_binary_stl(mesh.file));
}

// Undoes what was done to the vertices: x_file = p_ref + R_ref ((c + R v) / scale). The file's coordinates
// are in single precision, to which rounding brings them back exactly, so that the same principal axes are
// chosen again where moments are equal; what subtraction leaves of a zero is no coordinate.
std::vector<float> coordinates_of(const Mesh& mesh) {
  std::vector<Vector3> in_file;
  double largest = 0.0;
  for (const Vector3& vertex : mesh.vertices) {
    const Vector3 scaled = mesh.source.position + mesh.source.rotation * vertex;
    in_file.push_back(mesh.reference.position + mesh.reference.rotation * scaled.cwiseQuotient(mesh.scale));
    largest = std::max(largest, in_file.back().cwiseAbs().maxCoeff());
  }
  std::vector<float> coordinates;
  for (const Vector3& x : in_file) {
    for (double coordinate : x) {
      const bool noise = std::abs(coordinate) < 1e-13 * largest;
      coordinates.push_back(noise ? 0.0f : static_cast<float>(coordinate));
    }
  }
  return coordinates;
}

std::vector<std::int32_t> corners_of(const Mesh& mesh) {
  std::vector<std::int32_t> corners;
  const bool mirrored = mesh.scale.prod() < 0.0;
  for (const std::array<int, 3>& face : mesh.faces) {
    corners.insert(corners.end(), {face[0], face[mirrored ? 2 : 1], face[mirrored ? 1 : 2]});
  }
  return corners;
}

void write_into_text(const Mesh& mesh, pugi::xml_node node) {
  NumberList coordinates, corners;
  for (float coordinate : coordinates_of(mesh)) coordinates.add(coordinate);
  for (std::int32_t corner : corners_of(mesh)) corners.add(corner);
  set(node, "vertex", coordinates.text());
  set(node, "face", corners.text());
}

// MuJoCo's MSH: the numbers of vertices, normals, texture coordinates and faces, then the data.
std::string msh_of(const Mesh& mesh) {
  const std::vector<float> coordinates = coordinates_of(mesh);
  const std::vector<std::int32_t> corners = corners_of(mesh);
  const std::array<std::int32_t, 4> counts{static_cast<std::int32_t>(coordinates.size() / 3), 0, 0,
                                           static_cast<std::int32_t>(corners.size() / 3)};
  std::string bytes(reinterpret_cast<const char*>(counts.data()), sizeof counts);
  bytes.append(reinterpret_cast<const char*>(coordinates.data()), coordinates.size() * sizeof(float));
  bytes.append(reinterpret_cast<const char*>(corners.data()), corners.size() * sizeof(std::int32_t));
  return bytes;
}

bool is_large(const Mesh& mesh) {
  constexpr std::size_t most_in_text = 20'000;
  return mesh.vertices.size() > most_in_text || mesh.faces.size() > most_in_text;
}

const char* inertia_name(MeshInertia inertia) {
  switch (inertia) {
    case MeshInertia::convex: return "convex";
    case MeshInertia::exact: return "exact";
    case MeshInertia::legacy: return "legacy";
    case MeshInertia::shell: return "shell";
  }
  return "";
}

void write_mesh(Writer& writer, const Mesh& mesh, pugi::xml_node node) {
  set_name(node, mesh.name);
  if (stays_a_file(mesh)) {
    set(node, "file", reference_to(mesh.file, writer.directory));
  } else if (is_large(mesh) && !writer.file_prefix.empty()) {
    writer.files.push_back({fmt::format("{}{}.msh", writer.file_prefix, writer.files.size()), msh_of(mesh)});
    set(node, "file", writer.files.back().name);
  } else {
    write_into_text(mesh, node);
  }
  if (mesh.scale != Vector3::Ones()) set(node, "scale", mesh.scale);
  if (!mesh.reference.position.isZero(0.0)) set(node, "refpos", mesh.reference.position);
  if (mesh.reference.rotation.coeffs() != Quaternion::Identity().coeffs()) {
    set_quat(node, "refquat", mesh.reference.rotation);
  }
  if (mesh.inertia != MeshInertia::legacy) set(node, "inertia", inertia_name(mesh.inertia));
  if (mesh.most_hull_vertices > 0) set(node, "maxhullvert", mesh.most_hull_vertices);
}

// The top row comes first in MJCF, the bottom one in ours.
void write_height_field(const Writer& writer, const HeightField& field, pugi::xml_node node) {
  set_name(node, field.name);
  set(node, "size", field.size);
  std::error_code failed;
  if (!field.file.empty() && fs::is_regular_file(field.file, failed)) {
    set(node, "file", reference_to(field.file, writer.directory));
    return;
  }
  set(node, "nrow", field.rows);
  set(node, "ncol", field.columns);
  NumberList elevation;
  const auto columns = static_cast<std::size_t>(field.columns);
  for (std::size_t row = static_cast<std::size_t>(field.rows); row-- > 0;) {
    for (std::size_t column = 0; column < columns; ++column) {
      elevation.add(static_cast<float>(field.elevation[row * columns + column]));
    }
  }
  set(node, "elevation", elevation.text());
}

}  // namespace

void write_assets(Writer& writer, pugi::xml_node root) {
  const Description& d = writer.description;
  if (d.meshes.empty() && d.height_fields.empty()) return;
  pugi::xml_node assets = root.append_child("asset");
  for (const auto& mesh : d.meshes) {
    writer.meshes.emplace(mesh->name, mesh.get());
    write_mesh(writer, *mesh, assets.append_child("mesh"));
  }
  for (const auto& field : d.height_fields) write_height_field(writer, *field, assets.append_child("hfield"));
}

}  // namespace articula::mjcf_writer
