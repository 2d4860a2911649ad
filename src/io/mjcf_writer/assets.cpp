#include <algorithm>
#include <cctype>
#include <cmath>
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

bool stays_a_file(const Mesh& mesh) {
  const std::string extension = lower_extension(mesh.file);
  std::error_code failed;
  return (extension == ".stl" || extension == ".obj" || extension == ".msh") &&
         fs::is_regular_file(mesh.file, failed);
}

// Undoes what was done to the vertices: x_file = p_ref + R_ref ((c + R v) / scale). The file's coordinates
// are in single precision, to which rounding brings them back exactly.
void write_vertices(const Mesh& mesh, pugi::xml_node node) {
  NumberList coordinates, corners;
  for (const Vector3& vertex : mesh.vertices) {
    const Vector3 scaled = mesh.source.position + mesh.source.rotation * vertex;
    const Vector3 x = mesh.reference.position + mesh.reference.rotation * scaled.cwiseQuotient(mesh.scale);
    const float largest = static_cast<float>(x.cwiseAbs().maxCoeff());
    for (double coordinate : x) {
      // What is lost in a zero by subtraction is no coordinate.
      const auto rounded = static_cast<float>(coordinate);
      const bool noise = std::abs(rounded) < 1e-13f * largest;
      coordinates.add(noise ? 0.0f : rounded);
    }
  }
  const bool mirrored = mesh.scale.prod() < 0.0;
  for (const std::array<int, 3>& face : mesh.faces) {
    corners.add(face[0]);
    corners.add(face[mirrored ? 2 : 1]);
    corners.add(face[mirrored ? 1 : 2]);
  }
  set(node, "vertex", coordinates.text());
  set(node, "face", corners.text());
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

void write_mesh(const Writer& writer, const Mesh& mesh, pugi::xml_node node) {
  set_name(node, mesh.name);
  if (stays_a_file(mesh)) {
    set(node, "file", reference_to(mesh.file, writer.directory));
  } else {
    write_vertices(mesh, node);
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
