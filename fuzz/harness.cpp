#include "fuzz/harness.hpp"

#include <cmath>
#include <cstdlib>

#include "articula/error.hpp"
#include "articula/io/mjcf.hpp"
#include "articula/io/mjcf_writer.hpp"
#include "articula/io/sdf.hpp"
#include "articula/io/urdf.hpp"
#include "articula/model/builder.hpp"
#include "articula/sensors/sensors.hpp"

namespace articula::fuzz {

namespace {

// Tighter than the limits of a user, because under the sanitizers everything takes several times as long.
constexpr std::size_t most_elements = 5'000, most_cells = 100'000, most_triangles = 20'000;

void require(bool holds) {
  if (!holds) std::abort();
}

// Everything that is done with a mesh before a simulation sees it.
void use(const TriangleMesh& mesh) {
  for (const Vector3& vertex : mesh.vertices) require(vertex.allFinite());
  for (const auto& face : mesh.faces) {
    for (const int index : face)
      require(index >= 0 && static_cast<std::size_t>(index) < mesh.vertices.size());
  }
  TriangleMesh welded = mesh;
  weld(welded);
  require(welded.vertices.size() <= mesh.vertices.size());
  mass_properties(mesh.vertices, mesh.faces, MeshInertia::exact);
  const ConvexHull hull = convex_hull(welded.vertices, 64);
  for (const int index : hull.vertices)
    require(index >= 0 && static_cast<std::size_t>(index) < welded.vertices.size());
  mass_properties(welded.vertices, hull.faces, MeshInertia::convex);
}

MeshLimits limits() {
  return {.bytes = 1 << 20, .triangles = most_triangles, .vertices = 3 * most_triangles};
}

LoadOptions options_without_files() {
  LoadOptions options;
  options.other_files = false;
  options.need_all_meshes = false;
  options.most_elements = most_elements;
  options.most_field_cells = most_cells;
  options.mesh_limits = limits();
  return options;
}

// What builds must still build after a round trip through MJCF, with as many degrees of freedom.
void use(const Description& description) {
  const Model model = build(description);
  require(model.theta().allFinite());
  const std::string text = to_mjcf(description);
  const Model again = build(parse_mjcf(text, {}, options_without_files()));
  require(again.nv() == model.nv() && again.nq() == model.nq());
}

}  // namespace

void urdf(std::string_view text) {
  LoadOptions options = options_without_files();
  for (const bool floating : {false, true}) {
    options.floating_base = floating;
    try {
      use(parse_urdf(text, {}, options));
    } catch (const Error&) {
    }
  }
}

void sdf(std::string_view text) {
  try {
    use(parse_sdf(text, {}, options_without_files()));
  } catch (const Error&) {
  }
}

void mjcf(std::string_view text) {
  const LoadOptions options = options_without_files();
  try {
    const Model model = build(parse_mjcf(text, {}, options));
    require(model.theta().allFinite());
    require(Sensors(model).size() >= 0);
  } catch (const Error&) {
  }
}

void stl(std::string_view bytes) {
  try {
    use(read_stl(bytes, "fuzz.stl", limits()));
  } catch (const Error&) {
  }
}

void obj(std::string_view text) {
  try {
    use(read_obj(text, "fuzz.obj", limits()));
  } catch (const Error&) {
  }
}

}  // namespace articula::fuzz
