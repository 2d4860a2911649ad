// Hulls of meshes: merged faces, adjacency, and where to start climbing.

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "articula/collision/shape.hpp"
#include "articula/error.hpp"
#include "support.hpp"

namespace articula::collision {
namespace {

using Triangles = std::vector<std::array<int, 3>>;

// Two triangles are one face if their normals differ by less than this angle (radians): rounding of
// single-precision mesh files, well below the angle within which two faces lie flat on each other.
constexpr double coplanar_angle = 1e-5;

struct TriangleData {
  Vec3 normal;
  double area = 0.0;
};

std::vector<TriangleData> measure(const std::vector<Vec3>& v, const Triangles& triangles) {
  std::vector<TriangleData> data;
  for (const auto& t : triangles) {
    const Vec3 n = cross(v[t[1]] - v[t[0]], v[t[2]] - v[t[0]]);
    const double twice = norm(n);
    data.push_back({twice > 0 ? n * (1.0 / twice) : Vec3(), twice});
  }
  return data;
}

// Faces by growing from the largest triangles: a triangle joins a neighbour if all its vertices lie in the
// neighbour's plane (slivers have no reliable normal of their own).
std::vector<int> merge_coplanar(const std::vector<Vec3>& v, const Triangles& triangles,
                                const std::vector<TriangleData>& data, double radius) {
  std::map<std::pair<int, int>, int> owner;
  for (int t = 0; t < static_cast<int>(triangles.size()); ++t)
    for (int k = 0; k < 3; ++k) owner[{triangles[t][k], triangles[t][(k + 1) % 3]}] = t;
  std::vector<int> order(triangles.size()), group(triangles.size(), -1);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return data[a].area != data[b].area ? data[a].area > data[b].area : a < b; });
  int groups = 0;
  std::vector<int> front;
  for (const int seed : order) {
    if (group[seed] >= 0) continue;
    const Vec3 n = data[seed].normal;
    const double offset = dot(n, v[triangles[seed][0]]);
    group[seed] = groups;
    front.assign(1, seed);
    while (!front.empty()) {
      const auto t = triangles[front.back()];
      front.pop_back();
      for (int k = 0; k < 3; ++k) {
        const auto twin = owner.find({t[(k + 1) % 3], t[k]});
        if (twin == owner.end() || group[twin->second] >= 0) continue;
        const auto& other = triangles[twin->second];
        bool flat = true;
        for (const int i : other) flat &= std::abs(dot(n, v[i]) - offset) <= coplanar_angle * radius;
        const bool sliver = data[twin->second].area <= 1e-9 * radius * radius;
        flat &= sliver || norm(data[twin->second].normal - n) <= coplanar_angle;
        if (!flat) continue;
        group[twin->second] = groups;
        front.push_back(twin->second);
      }
    }
    ++groups;
  }
  return group;
}

void append_face(Hull& hull, const std::vector<std::pair<int, int>>& border, const Triangles& triangles,
                 Vec3 normal) {
  std::map<int, int> next(border.begin(), border.end());
  std::vector<int> loop{border.front().first};
  while (loop.size() <= border.size()) {
    const auto step = next.find(loop.back());
    if (step == next.end() || step->second == loop.front()) break;
    loop.push_back(step->second);
  }
  if (loop.size() < 3) return;
  Vec3 middle;
  for (const int i : loop) middle += hull.vertices[i];
  hull.face_loop.insert(hull.face_loop.end(), loop.begin(), loop.end());
  hull.face_begin.push_back(static_cast<int>(hull.face_loop.size()));
  hull.triangle.insert(hull.triangle.end(), triangles.begin(), triangles.end());
  hull.triangle_begin.push_back(static_cast<int>(hull.triangle.size()));
  hull.face_normal.push_back(normal);
  hull.face_offset.push_back(dot(normal, middle) / static_cast<double>(loop.size()));
}

void build_faces(Hull& hull, const Triangles& triangles, double radius) {
  const auto data = measure(hull.vertices, triangles);
  const auto group = merge_coplanar(hull.vertices, triangles, data, radius);
  const int groups = group.empty() ? 0 : *std::max_element(group.begin(), group.end()) + 1;
  std::vector<std::vector<std::pair<int, int>>> edges(groups);
  std::vector<Triangles> members(groups);
  std::vector<Vec3> normal(groups);
  for (int t = 0; t < static_cast<int>(triangles.size()); ++t) {
    normal[group[t]] += data[t].normal * data[t].area;
    members[group[t]].push_back(triangles[t]);
    for (int k = 0; k < 3; ++k) edges[group[t]].push_back({triangles[t][k], triangles[t][(k + 1) % 3]});
  }
  hull.face_begin.push_back(0);
  hull.triangle_begin.push_back(0);
  for (int g = 0; g < groups; ++g) {
    std::vector<std::pair<int, int>> border;
    for (const auto& e : edges[g])
      if (std::find(edges[g].begin(), edges[g].end(), std::pair(e.second, e.first)) == edges[g].end())
        border.push_back(e);
    if (!border.empty() && norm(normal[g]) > 0) append_face(hull, border, members[g], unit(normal[g]));
  }
}

// Polygons around each vertex. One that no outline passes, in the middle of a merged face, has that which it
// rises highest above.
std::vector<std::vector<int>> faces_around(const Hull& hull) {
  std::vector<std::vector<int>> around(hull.vertices.size());
  for (int f = 0; f < hull.face_count(); ++f)
    for (int i = hull.face_begin[f]; i < hull.face_begin[f + 1]; ++i) around[hull.face_loop[i]].push_back(f);
  for (std::size_t v = 0; v < around.size(); ++v) {
    if (!around[v].empty()) continue;
    const auto height = [&](int f) {
      return dot(hull.face_normal[f], hull.vertices[v]) - hull.face_offset[f];
    };
    int highest = 0;
    for (int f = 1; f < hull.face_count(); ++f)
      if (height(f) > height(highest)) highest = f;
    around[v].push_back(highest);
  }
  return around;
}

void build_adjacency(Hull& hull, const Triangles& triangles) {
  const int n = hull.vertex_count();
  std::vector<std::vector<int>> neighbours(n);
  const std::vector<std::vector<int>> around = faces_around(hull);
  for (const auto& t : triangles)
    for (int k = 0; k < 3; ++k) {
      neighbours[t[k]].push_back(t[(k + 1) % 3]);
      neighbours[t[(k + 1) % 3]].push_back(t[k]);
    }
  hull.edge_begin.push_back(0);
  hull.around_begin.push_back(0);
  for (int v = 0; v < n; ++v) {
    auto& list = neighbours[v];
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    hull.edge_end.insert(hull.edge_end.end(), list.begin(), list.end());
    hull.edge_start.insert(hull.edge_start.end(), list.size(), v);
    hull.edge_begin.push_back(static_cast<int>(hull.edge_end.size()));
    hull.around.insert(hull.around.end(), around[v].begin(), around[v].end());
    hull.around_begin.push_back(static_cast<int>(hull.around.size()));
    hull.ring_begin.push_back(static_cast<int>(hull.ring_vertex.size()) / 4);
    hull.ring_vertex.insert(hull.ring_vertex.end(), list.begin(), list.end());
    while (hull.ring_vertex.size() % 4 != 0) hull.ring_vertex.push_back(list.front());
  }
  hull.ring_begin.push_back(static_cast<int>(hull.ring_vertex.size()) / 4);
  for (std::size_t e = 0; e < hull.edge_end.size(); ++e) {
    const auto &from = around[hull.edge_start[e]], &to = around[hull.edge_end[e]];
    const auto shared = std::count_if(from.begin(), from.end(),
                                      [&](int f) { return std::find(to.begin(), to.end(), f) != to.end(); });
    hull.edge_bends.push_back(shared >= 2);
  }
}

void update_bounds(Hull& hull) {
  hull.radius = 0;
  hull.inside = Vec3();
  Vec3 low = hull.vertices[0], high = low;
  for (const Vec3 v : hull.vertices)
    for (int i = 0; i < 3; ++i) {
      low.lanes[i] = std::min(low[i], v[i]);
      high.lanes[i] = std::max(high[i], v[i]);
    }
  hull.centre = (low + high) * 0.5;
  hull.half = (high - low) * 0.5;
  for (const Vec3 v : hull.vertices) {
    hull.radius = std::max(hull.radius, norm(v - hull.centre));
    hull.inside += v * (1.0 / hull.vertex_count());
  }
}

constexpr int cluster_size = 16;

// Halves the vertices across the longest side of their box until a cluster holds them.
void split_into_clusters(const Hull& hull, int* begin, int* end, std::vector<int>& out) {
  if (end - begin <= cluster_size) {
    out.insert(out.end(), begin, end);
    while (out.size() % cluster_size != 0) out.push_back(-1);
    return;
  }
  Vec3 low = hull.vertices[*begin], high = low;
  for (const int* v = begin; v != end; ++v)
    for (int i = 0; i < 3; ++i) {
      low.lanes[i] = std::min(low[i], hull.vertices[*v][i]);
      high.lanes[i] = std::max(high[i], hull.vertices[*v][i]);
    }
  const Vec3 side = high - low;
  const int axis = side[0] >= side[1] && side[0] >= side[2] ? 0 : side[1] >= side[2] ? 1 : 2;
  // Whole clusters to the left.
  int* middle = begin + ((end - begin) / 2 + cluster_size - 1) / cluster_size * cluster_size;
  std::nth_element(begin, middle, end, [&](int a, int b) {
    const double x = hull.vertices[a][axis], y = hull.vertices[b][axis];
    return x != y ? x < y : a < b;
  });
  split_into_clusters(hull, begin, middle, out);
  split_into_clusters(hull, middle, end, out);
}

void build_clusters(Hull& hull) {
  std::vector<int> order(hull.vertices.size());
  std::iota(order.begin(), order.end(), 0);
  hull.cluster_vertex.clear();
  split_into_clusters(hull, order.data(), order.data() + order.size(), hull.cluster_vertex);
}

void update_clusters(Hull& hull) {
  const std::size_t count = hull.cluster_vertex.size() / cluster_size, padded = (count + 3) / 4 * 4;
  hull.cluster_place.assign(3 * hull.cluster_vertex.size(), 0.0);
  for (auto* list : {&hull.cluster_x, &hull.cluster_y, &hull.cluster_z}) list->assign(padded, 0.0);
  hull.cluster_radius.assign(padded, -INFINITY);  // what only fills up is never near
  for (std::size_t c = 0; c < count; ++c) {
    const int* member = &hull.cluster_vertex[cluster_size * c];
    Vec3 low = hull.vertices[member[0]], high = low;
    for (std::size_t k = 0; k < cluster_size && member[k] >= 0; ++k)
      for (int i = 0; i < 3; ++i) {
        const double value = hull.vertices[member[k]][i];
        low.lanes[i] = std::min(low[i], value);
        high.lanes[i] = std::max(high[i], value);
        hull.cluster_place[3 * (cluster_size * c + k / 4 * 4) + 4 * static_cast<std::size_t>(i) + k % 4] =
            value;
      }
    // The smallest sphere, nearly: its centre goes to the farthest vertex by ever smaller steps.
    Vec3 centre = (low + high) * 0.5;
    double radius = INFINITY;
    Vec3 trial = centre;
    for (int step = 2; step < 200; ++step) {
      Vec3 farthest = trial;
      for (std::size_t k = 0; k < cluster_size && member[k] >= 0; ++k)
        if (squared_norm(hull.vertices[member[k]] - trial) > squared_norm(farthest - trial))
          farthest = hull.vertices[member[k]];
      const double reach = norm(farthest - trial);
      if (reach < radius) radius = reach, centre = trial;
      trial += (farthest - trial) * (1.0 / step);
    }
    hull.cluster_x[c] = centre[0], hull.cluster_y[c] = centre[1], hull.cluster_z[c] = centre[2];
    hull.cluster_radius[c] = radius * (1 + 1e-12);
  }
}

// The farthest vertex along the middle of each cell, the cells about as many as the vertices. Neighbouring
// cells have nearly the same.
void build_starts(Hull& hull) {
  if (hull.vertex_count() <= scanned_vertices) return;
  const int start_cells = hull.vertex_count() < 400 ? 8 : 16;
  hull.cells = start_cells;
  int vertex = 0;
  for (int side = 0; side < 6; ++side)
    for (int i = 0; i < start_cells; ++i)
      for (int j = 0; j < start_cells; ++j) {
        const int axis = side / 2;
        Vec3 d;
        d.lanes[axis] = side % 2 ? 1.0 : -1.0;
        d.lanes[axis == 0 ? 1 : 0] = (2 * i + 1.0) / start_cells - 1;
        d.lanes[axis == 2 ? 1 : 2] = (2 * j + 1.0) / start_cells - 1;
        vertex = support_climb(hull, d, vertex);
        hull.start.push_back(vertex);
      }
}

}  // namespace

Hull make_hull(const std::vector<Vector3>& points, const Triangles& triangles,
               const std::vector<int>& mesh_vertex) {
  if (points.size() < 4 || triangles.size() < 4)
    throw Error("a convex hull needs at least 4 vertices and 4 triangles");
  // Only the vertices that triangles use; the others lie inside or on a face.
  std::vector<int> renumbered(points.size(), -1);
  Hull hull;
  Triangles used = triangles;
  for (auto& t : used)
    for (int& i : t) {
      if (i < 0 || i >= static_cast<int>(points.size()))
        throw Error("a hull's triangle names a vertex that does not exist");
      if (renumbered[i] < 0) {
        renumbered[i] = hull.vertex_count();
        hull.vertices.emplace_back(points[i]);
        hull.mesh_vertex.push_back(mesh_vertex.empty() ? i : mesh_vertex[i]);
      }
      i = renumbered[i];
    }
  update_bounds(hull);
  build_faces(hull, used, hull.radius);
  if (hull.face_count() < 4) throw Error("a convex hull needs a volume: all its vertices lie in one plane");
  build_adjacency(hull, used);
  build_clusters(hull);
  update_places(hull);
  build_starts(hull);
  return hull;
}

void update_places(Hull& hull) {
  update_vertices(hull);
  update_clusters(hull);
}

void update_vertices(Hull& hull) {
  update_bounds(hull);
  const std::size_t padded = (hull.vertices.size() + 3) / 4 * 4;
  hull.x.resize(padded), hull.y.resize(padded), hull.z.resize(padded);
  for (std::size_t i = 0; i < padded; ++i) {
    const Vec3 v = hull.vertices[std::min(i, hull.vertices.size() - 1)];
    hull.x[i] = v[0], hull.y[i] = v[1], hull.z[i] = v[2];
  }
  hull.ring_place.resize(3 * hull.ring_vertex.size());
  for (std::size_t i = 0; i < hull.ring_vertex.size(); ++i)
    for (std::size_t k = 0; k < 3; ++k)
      hull.ring_place[12 * (i / 4) + 4 * k + i % 4] =
          hull.vertices[static_cast<std::size_t>(hull.ring_vertex[i])][static_cast<int>(k)];
}

Hull make_hull(const Mesh& mesh) {
  if (mesh.hull_faces.empty()) throw Error("mesh \"" + mesh.name + "\" has no convex hull");
  try {
    return make_hull(mesh.vertices, mesh.hull_faces);
  } catch (const Error& error) {
    throw Error(
        "mesh \"{}\" cannot collide: {}; make it thicker than 1e-5 of its size, take a box instead, or let "
        "its "
        "geometries collide with nothing (contype and conaffinity 0)",
        mesh.name, error.what());
  }
}

Bound bound(const Shape& shape) {
  const Vec3 s = shape.size;
  switch (shape.type) {
    case ShapeType::plane: return {Vec3(), Vec3(INFINITY, INFINITY, INFINITY), INFINITY};
    case ShapeType::sphere: return {Vec3(), Vec3(s[0], s[0], s[0]), s[0]};
    case ShapeType::capsule: return {Vec3(), Vec3(s[0], s[0], s[0] + s[1]), s[0] + s[1]};
    case ShapeType::cylinder: return {Vec3(), Vec3(s[0], s[0], s[1]), std::sqrt(s[0] * s[0] + s[1] * s[1])};
    case ShapeType::box: return {Vec3(), s, norm(s)};
    case ShapeType::ellipsoid: return {Vec3(), s, std::max({s[0], s[1], s[2]})};
    case ShapeType::mesh: return {shape.hull->centre, shape.hull->half, shape.hull->radius};
    case ShapeType::height_field: {
      const auto& f = shape.field->size;
      const Vec3 half(f[0], f[1], 0.5 * (f[2] + f[3]));
      return {Vec3(0, 0, 0.5 * (f[2] - f[3])), half, norm(half)};
    }
  }
  return {};
}

double size_of(const Shape& shape) {
  if (shape.type == ShapeType::plane) return 0.0;
  const Vec3 half = bound(shape).half;
  return std::max({half[0], half[1], half[2]});
}

}  // namespace articula::collision
