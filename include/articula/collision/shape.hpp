#pragma once
// Shapes as the narrow phase sees them: a type, three numbers, and for meshes a convex hull.
//
// A sphere is a point with a radius, a capsule a segment with a radius, the side of a cylinder an axis
// with a radius: distances are computed between the cores and the radii are taken off afterwards, so
// that a rounded shape costs no more than its core and its derivative needs no case of its own.

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "articula/math/placement.hpp"
#include "articula/model/description.hpp"

namespace articula::collision {

// The convex hull of a mesh. Coplanar triangles are merged into polygons, because a manifold needs whole
// faces; vertices know their neighbours, because the support function climbs from one to the next.
struct Hull {
  std::vector<Vec3> vertices;
  std::vector<double> x, y, z;   // the same, apart, padded to a multiple of four
  std::vector<int> mesh_vertex;  // index in the mesh the hull was made of

  std::vector<int> edge_begin, edge_end;  // vertex v's outgoing edges: edge_end[edge_begin[v] ...]
  std::vector<int> edge_start;            // where each of them begins
  std::vector<unsigned char> edge_bends;  // whether it borders two faces, or runs inside a merged one

  // The same neighbours as the support function reads them: in groups of four, which lie at x[4], y[4], z[4];
  // a last group is filled up with its first. Vertex v's groups: ring_begin[v] ...
  std::vector<int> ring_begin, ring_vertex;
  std::vector<double> ring_place;

  // All vertices again in clusters of 16 that lie close together, filled up with -1: vertex k of cluster c is
  // cluster_vertex[16 c + k], at x[4], y[4], z[4] four times over. Spheres around the clusters, padded.
  std::vector<int> cluster_vertex;
  std::vector<double> cluster_place, cluster_x, cluster_y, cluster_z, cluster_radius;

  std::vector<int> face_begin, face_loop;  // vertices of each polygon, counter-clockwise from outside
  std::vector<Vec3> face_normal;           // outward, unit
  std::vector<double> face_offset;         // normal . x on the face
  std::vector<int> around_begin, around;   // polygons around each vertex
  // The triangles each polygon was merged from: triangle[triangle_begin[f] ...]
  std::vector<int> triangle_begin;
  std::vector<std::array<int, 3>> triangle;

  std::vector<int> start;  // a vertex to climb from, by direction: cells^2 on each side of a cube
  int cells = 0;
  Vec3 centre;          // middle of the bounding box
  Vec3 half;            // half sizes of the bounding box
  double radius = 0.0;  // of the sphere about `centre`
  Vec3 inside;          // a point well inside: the mean of the vertices

  int vertex_count() const { return static_cast<int>(vertices.size()); }
  int face_count() const { return static_cast<int>(face_normal.size()); }
};

// Below this count of vertices the support function looks at all of them instead of climbing.
inline constexpr int scanned_vertices = 32;

// From points and triangles (outward orientation) of a convex hull. Throws Error if they enclose nothing.
Hull make_hull(const std::vector<Vector3>& points, const std::vector<std::array<int, 3>>& triangles,
               const std::vector<int>& mesh_vertex = {});
Hull make_hull(const Mesh& mesh);
// After vertices were moved: what depends on their places, but not the faces' normals and offsets.
void update_places(Hull& hull);
// The same for distances alone: not the clusters, which contacts with planes look at.
void update_vertices(Hull& hull);

struct Shape {
  ShapeType type = ShapeType::sphere;
  Vec3 size;                         // as in GeometryDescription
  std::shared_ptr<const Hull> hull;  // mesh
  std::shared_ptr<const HeightField> field;

  static Shape plane() { return {ShapeType::plane, Vec3(), nullptr, nullptr}; }
  static Shape sphere(double radius) { return {ShapeType::sphere, Vec3(radius, 0, 0), nullptr, nullptr}; }
  static Shape capsule(double radius, double half_length) {
    return {ShapeType::capsule, Vec3(radius, half_length, 0), nullptr, nullptr};
  }
  static Shape box(double x, double y, double z) { return {ShapeType::box, Vec3(x, y, z), nullptr, nullptr}; }
  static Shape cylinder(double radius, double half_length) {
    return {ShapeType::cylinder, Vec3(radius, half_length, 0), nullptr, nullptr};
  }
  static Shape ellipsoid(double x, double y, double z) {
    return {ShapeType::ellipsoid, Vec3(x, y, z), nullptr, nullptr};
  }
  static Shape mesh(std::shared_ptr<const Hull> hull) {
    return {ShapeType::mesh, Vec3(), std::move(hull), nullptr};
  }
};

// A sphere about `centre` (in the shape's frame) that contains the shape; endless for planes.
struct Bound {
  Vec3 centre;
  Vec3 half;  // half sizes of the bounding box about `centre`
  double radius = 0.0;
};
Bound bound(const Shape& shape);

// The length against which errors are measured: the largest half size.
double size_of(const Shape& shape);

// Part of a shape's surface. Its index counts:
//   point    sphere 0; capsule end 0 (-z), 1 (+z), or 1 + thirty-seconds of its axis from the end 0;
//            box corner, bit i set: +axis i; mesh hull vertex; cylinder: rim point 16 cap + sixteenths of a
//            turn
//   line     capsule and cylinder: the axis 0 (with a radius); cylinder: 1 + i the chord from rim point i to
//   the
//            next; box: 4 axis + signs of the other two axes in
//            cyclic order; mesh: directed hull edge
//            height field: 3 (row columns + column) + 0 along the row, 1 along the column, 2 across the cell,
//            then straight down from each corner
//   face     plane 0; box 2 axis + (1 for +); cylinder cap 0 (-z), 1 (+z); mesh hull polygon;
//            height field: triangle, then straight down from the sides of each triangle
//   circle   cylinder rim 0 (-z), 1 (+z)
//   surface  ellipsoid 0
enum class FeatureKind : std::uint8_t { point, line, face, circle, surface };

inline constexpr int rim_points = 16;
inline constexpr int axis_parts = 32;

struct Feature {
  FeatureKind kind = FeatureKind::point;
  int index = 0;
  bool operator==(const Feature&) const = default;
};

}  // namespace articula::collision
