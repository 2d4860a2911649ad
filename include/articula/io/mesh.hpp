#pragma once
// Triangle meshes: files, welding, convex hulls, mass properties.
//
// Reading never trusts a file: sizes are checked before memory is taken, indices and numbers before
// they are used. Coordinates are rounded to single precision, in which STL stores them and MuJoCo
// keeps them, whatever the format.

#include <array>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "articula/model/description.hpp"

namespace articula {

struct TriangleMesh {
  std::vector<Vector3> vertices;
  std::vector<std::array<int, 3>> faces;  // counter-clockwise from outside; may be empty (a cloud)
};

struct MeshLimits {
  std::size_t bytes = std::size_t{128} << 20;  // of a file
  std::size_t triangles = 2'000'000;
  std::size_t vertices = 6'000'000;  // of a file before welding, and of all meshes of a model

  // DAE, PLY, glTF and GLB are imported by assimp, in a process of its own.
  double import_seconds = 20.0;
  std::size_t import_memory = std::size_t{2} << 30;
};

// By the file's extension: .stl (binary or ASCII), .obj, .msh (MuJoCo's own); .dae, .ply, .gltf and
// .glb by assimp. OBJ and MSH vertices are kept as they were indexed; the others are welded, because
// their formats repeat them.
TriangleMesh read_mesh(const std::filesystem::path& path, const MeshLimits& limits = {});

// The same from memory; `name` is used in messages.
TriangleMesh read_stl(std::string_view bytes, const std::string& name, const MeshLimits& limits = {});
TriangleMesh read_obj(std::string_view text, const std::string& name, const MeshLimits& limits = {});
TriangleMesh read_msh(std::string_view bytes, const std::string& name, const MeshLimits& limits = {});

// Makes vertices with equal coordinates one, in the order of their first appearance.
void weld(TriangleMesh& mesh);

struct ConvexHull {
  std::vector<int> vertices;              // indices of points, ascending
  std::vector<std::array<int, 3>> faces;  // counter-clockwise from outside, indices of points
};

// By qhull. At most `most_vertices` (at least 4; 0: no limit) are taken. Throws Error where the
// points span no volume: there are fewer than four, or they lie in a plane.
ConvexHull convex_hull(std::span<const Vector3> points, int most_vertices = 0);

struct MassProperties {
  double volume = 0.0;  // m^3; of a shell m^2
  Vector3 com = Vector3::Zero();
  Matrix3 inertia = Matrix3::Zero();  // about the centre of mass, of density one
};

// `faces` are those of the hull for `convex`. The result may have no volume, or a negative one where
// faces are inside out: the caller decides what that means.
MassProperties mass_properties(std::span<const Vector3> vertices, std::span<const std::array<int, 3>> faces,
                               MeshInertia kind);

}  // namespace articula
