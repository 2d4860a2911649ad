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

#include "articula/math/types.hpp"

namespace articula {

struct TriangleMesh {
  std::vector<Vector3> vertices;
  std::vector<std::array<int, 3>> faces;  // counter-clockwise from outside; may be empty (a cloud)
};

struct MeshLimits {
  std::size_t bytes = std::size_t{128} << 20;  // of a file
  std::size_t triangles = 2'000'000;
  std::size_t vertices = 6'000'000;  // before welding
};

// By the file's extension: .stl (binary or ASCII), .obj, .msh (MuJoCo's own). STL vertices are
// welded, because the format repeats them; the others are kept as they were indexed.
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

// How a mesh fills space. convex: its hull; exact: the signed volume of a closed, well-oriented
// surface; legacy: MuJoCo's default, which counts every pyramid over a face as positive (equal to
// exact for shapes that are star-shaped about their centre); shell: mass on the surface.
enum class MeshInertia { convex, exact, legacy, shell };

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
