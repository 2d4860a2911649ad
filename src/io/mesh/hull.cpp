#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>

extern "C" {
#include <libqhull_r/qhull_ra.h>
}

#include "articula/error.hpp"
#include "articula/io/mesh.hpp"

namespace articula {

namespace {

// qhull reports to a stream and must be freed however it ends.
struct Qhull {
  qhT state;
  std::FILE* messages = std::fopen("/dev/null", "w");

  Qhull() { qh_zero(&state, messages); }
  ~Qhull() {
    int remaining = 0, bytes = 0;
    qh_freeqhull(&state, !qh_ALL);
    qh_memfreeshort(&state, &remaining, &bytes);
    if (messages != nullptr) std::fclose(messages);
  }
  Qhull(const Qhull&) = delete;
  Qhull& operator=(const Qhull&) = delete;
};

std::vector<std::array<int, 3>> triangles(qhT* qh) {
  std::vector<std::array<int, 3>> faces;
  faces.reserve(static_cast<std::size_t>(qh->num_facets));
  facetT* facet;
  FORALLfacets {
    std::array<int, 3> face{};
    std::size_t count = 0;
    vertexT *vertex, **vertexp;
    FOREACHvertex_(facet->vertices) {
      if (count < 3) face[count] = qh_pointid(qh, vertex->point);
      ++count;
    }
    if (count != 3) throw Error("the convex hull has a face that is not a triangle");
    if (facet->toporient) std::swap(face[0], face[1]);
    faces.push_back(face);
  }
  return faces;
}

}  // namespace

ConvexHull convex_hull(std::span<const Vector3> points, int most_vertices) {
  if (points.size() < 4) throw Error("a convex hull needs four points, there are {}", points.size());
  static_assert(sizeof(Vector3) == 3 * sizeof(coordT));

  // Qt: triangulate what is flat; TAn: stop after n points beyond the first simplex.
  std::string command = "qhull Qt";
  if (most_vertices > 0) command += fmt::format(" TA{}", std::max(most_vertices - 4, 0));
  Qhull qhull;
  auto* coordinates = const_cast<coordT*>(points.front().data());  // read only
  const int failed = qh_new_qhull(&qhull.state, 3, static_cast<int>(points.size()), coordinates, False,
                                  command.data(), nullptr, qhull.messages);
  if (failed == qh_ERRsingular || failed == qh_ERRinput) {
    throw Error("the points lie in a plane or on a line, so that their convex hull has no volume");
  }
  if (failed != 0) throw Error("qhull failed on these points (exit code {})", failed);

  ConvexHull hull;
  hull.faces = triangles(&qhull.state);
  for (const auto& face : hull.faces) hull.vertices.insert(hull.vertices.end(), face.begin(), face.end());
  std::sort(hull.vertices.begin(), hull.vertices.end());
  hull.vertices.erase(std::unique(hull.vertices.begin(), hull.vertices.end()), hull.vertices.end());
  return hull;
}

}  // namespace articula
