#include "io/mesh/finish.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "articula/error.hpp"
#include "io/mjcf/inertia.hpp"

namespace articula {

namespace {

// x -> scale (R_ref^T (x - p_ref)); an odd number of negative scales turns faces inside out.
void place(TriangleMesh& triangles, const Mesh& mesh) {
  const Matrix3 back = mesh.reference.rotation.toRotationMatrix().transpose();
  for (Vector3& vertex : triangles.vertices) {
    vertex = mesh.scale.cwiseProduct(back * (vertex - mesh.reference.position));
  }
  if (mesh.scale.prod() < 0.0) {
    for (auto& face : triangles.faces) std::swap(face[1], face[2]);
  }
}

// Faces that are turned alike pass each edge once in each direction.
void require_one_orientation(const std::vector<std::array<int, 3>>& faces) {
  std::vector<std::pair<int, int>> passed;
  passed.reserve(3 * faces.size());
  for (const auto& face : faces) {
    for (std::size_t i = 0; i < 3; ++i) passed.emplace_back(face[i], face[(i + 1) % 3]);
  }
  std::sort(passed.begin(), passed.end());
  const auto twice = std::adjacent_find(passed.begin(), passed.end());
  if (twice == passed.end()) return;
  throw Error(
      "the faces at vertices {} and {} are turned against each other; turn them alike, or set "
      "inertia=\"convex\"",
      twice->first, twice->second);
}

// A mesh without volume is measured by its surface.
MassProperties mass_of(const Mesh& mesh, bool& flat) {
  constexpr double smallest = 1e-14;
  const auto& faces = mesh.inertia == MeshInertia::convex ? mesh.hull_faces : mesh.faces;
  if (mesh.inertia == MeshInertia::exact) require_one_orientation(mesh.faces);
  MassProperties mass = mass_properties(mesh.vertices, faces, mesh.inertia);
  if (mesh.inertia == MeshInertia::exact && mass.volume < -smallest) {
    throw Error("the faces are inside out (the volume is {}); turn them, or set inertia=\"convex\"",
                mass.volume);
  }
  flat = mass.volume < smallest;
  if (!flat) return mass;
  mass = mass_properties(mesh.vertices, mesh.faces, MeshInertia::shell);
  if (!(mass.volume > 0.0)) throw Error("the surface of the mesh has no area; check its file and scale");
  return mass;
}

}  // namespace

MeshMeasures finish_mesh(TriangleMesh triangles, Mesh& mesh) {
  if (!(mesh.scale.cwiseAbs().minCoeff() > 0.0))
    throw Error("attribute scale has a zero; it must be positive, or negative to mirror");
  if (triangles.vertices.size() < 4) {
    throw Error("the mesh has {} vertices; it needs at least 4: export the mesh again",
                triangles.vertices.size());
  }
  place(triangles, mesh);
  mesh.vertices = std::move(triangles.vertices);
  mesh.faces = std::move(triangles.faces);
  if (mesh.faces.empty() || mesh.inertia == MeshInertia::convex) add_hull(mesh);
  if (mesh.faces.empty()) mesh.faces = mesh.hull_faces;

  MeshMeasures measures;
  const MassProperties mass = mass_of(mesh, measures.flat);
  const mjcf::PrincipalInertia inertia = mjcf::principal(mass.inertia, mjcf::mesh_tolerance);
  measures.volume = mass.volume;
  for (int i = 0; i < 3; ++i) {
    const double edge = inertia.moments.sum() - 2.0 * inertia.moments[i];
    measures.half_box[i] = 0.5 * std::sqrt(std::max(0.0, 6.0 * edge / mass.volume));
  }
  mesh.source = {mass.com, inertia.axes};
  const Matrix3 back = inertia.axes.toRotationMatrix().transpose();
  measures.lower.setConstant(std::numeric_limits<double>::infinity());
  measures.upper = -measures.lower;
  for (Vector3& vertex : mesh.vertices) {
    vertex = back * (vertex - mass.com);
    measures.lower = measures.lower.cwiseMin(vertex);
    measures.upper = measures.upper.cwiseMax(vertex);
  }
  return measures;
}

void add_hull(Mesh& mesh) {
  if (!mesh.hull.empty()) return;
  try {
    ConvexHull hull = convex_hull(mesh.vertices, mesh.most_hull_vertices);
    mesh.hull = std::move(hull.vertices);
    mesh.hull_faces = std::move(hull.faces);
  } catch (const Error& error) {
    throw Error("{}; give the mesh some thickness, or use a box instead", error.what());
  }
}

}  // namespace articula
