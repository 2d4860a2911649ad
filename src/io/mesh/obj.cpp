#include <tiny_obj_loader.h>

#include <sstream>

#include "articula/error.hpp"
#include "articula/io/mesh.hpp"
#include "io/mesh/checks.hpp"
#include "io/numbers.hpp"

namespace articula {

namespace {

struct Counts {
  std::size_t vertices = 0, faces = 0, corners = 0;
};

// tinyobjloader takes what it is given: numbers it cannot read are zero, indices are not compared
// with the number of vertices, and a face of a million corners is triangulated in quadratic time.
// So every line is looked at once before.
class Inspector {
 public:
  Inspector(std::string_view text, const std::string& name, const MeshLimits& limits)
      : text_(text),
        name_(name),
        limits_(limits) {}

  Counts inspect() {
    while (!text_.empty()) {
      ++line_;
      const std::size_t end = std::min(text_.find('\n'), text_.size());
      std::string_view line = text_.substr(0, end);
      text_.remove_prefix(std::min(end + 1, text_.size()));
      const std::string_view keyword = next_word(line);
      if (keyword == "v") inspect_vertex(line);
      if (keyword == "f") inspect_face(line);
      if (keyword == "l" || keyword == "p") continue;
    }
    if (largest_index_ > static_cast<long>(counts_.vertices)) {
      fail_at(largest_line_,
              fmt::format("a face refers to vertex {}, but there are {}; export the mesh again",
                          largest_index_, counts_.vertices));
    }
    return counts_;
  }

 private:
  void inspect_vertex(std::string_view line) {
    Vector3 vertex;
    for (double& coordinate : vertex) {
      const auto value = to_finite(next_word(line));
      if (!value) fail_at(line_, "a vertex needs three finite numbers; export the mesh again");
      coordinate = *value;
    }
    if (!usable(vertex)) fail_at(line_, bad_vertex(vertex));
    if (++counts_.vertices > limits_.vertices) {
      fail_at(line_, fmt::format("more than {} vertices; simplify the mesh", limits_.vertices));
    }
  }

  // i, i/t, i//n or i/t/n; negative ones count back from the vertices seen so far.
  void inspect_face(std::string_view line) {
    std::size_t corners = 0;
    for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
      if (word.starts_with('#')) break;
      ++corners;
      const auto index = to_number<long>(word.substr(0, word.find('/')));
      if (!index || *index == 0 || *index < -static_cast<long>(counts_.vertices)) {
        fail_at(line_, fmt::format("face corner '{:.40}' refers to no vertex; export the mesh again", word));
      }
      if (*index > largest_index_) {
        largest_index_ = *index;
        largest_line_ = line_;
      }
    }
    if (corners > most_corners) {
      fail_at(line_, fmt::format("a face has {} corners; up to {} are read: triangulate the mesh", corners,
                                 most_corners));
    }
    if (corners > 4 && (effort_ += corners * corners) > most_effort) {
      fail_at(line_, "the faces have so many corners that this takes long: triangulate the mesh");
    }
    counts_.corners += corners;
    if (++counts_.faces > limits_.triangles || counts_.corners > 3 * limits_.triangles) {
      fail_at(line_, fmt::format("more than {} triangles; simplify the mesh", limits_.triangles));
    }
  }

  // Triangulating n corners takes time in proportion to n^2: a second for all of them together.
  static constexpr std::size_t most_corners = 2048, most_effort = 100'000'000;

  [[noreturn]] void fail_at(std::size_t line, const std::string& what) const {
    throw Error("{}:{}: OBJ: {}", name_, line, what);
  }

  std::string_view text_;
  const std::string& name_;
  const MeshLimits& limits_;
  Counts counts_;
  std::size_t line_ = 0, largest_line_ = 0, effort_ = 0;
  long largest_index_ = 0;
};

// A stream over memory that is not copied.
class ViewBuffer : public std::streambuf {
 public:
  explicit ViewBuffer(std::string_view text) {
    char* begin = const_cast<char*>(text.data());  // never written: setg only serves reading
    setg(begin, begin, begin + text.size());
  }
};

}  // namespace

TriangleMesh read_obj(std::string_view text, const std::string& name, const MeshLimits& limits) {
  const Counts counts = Inspector(text, name, limits).inspect();
  if (counts.vertices == 0) {
    throw Error("{}: OBJ: the file has no vertices; export the mesh again", name);
  }
  tinyobj::attrib_t attributes;
  std::vector<tinyobj::shape_t> shapes;
  std::vector<tinyobj::material_t> materials;
  std::string warning, error;
  ViewBuffer buffer(text);
  std::istream stream(&buffer);
  constexpr bool triangulate = true;
  if (!tinyobj::LoadObj(&attributes, &shapes, &materials, &warning, &error, &stream, nullptr, triangulate)) {
    throw Error("{}: OBJ: {}; export the mesh again", name, error);
  }

  TriangleMesh mesh;
  mesh.vertices.reserve(attributes.vertices.size() / 3);
  for (std::size_t i = 0; i + 2 < attributes.vertices.size(); i += 3) {
    mesh.vertices.emplace_back(static_cast<float>(attributes.vertices[i]),
                               static_cast<float>(attributes.vertices[i + 1]),
                               static_cast<float>(attributes.vertices[i + 2]));
    // The parser multiplies 0e999 out, which is no number to it although it is one to the inspector.
    if (!usable(mesh.vertices.back())) throw Error("{}: OBJ: {}", name, bad_vertex(mesh.vertices.back()));
  }
  const int vertex_count = static_cast<int>(mesh.vertices.size());
  // As in MuJoCo, the first object is the mesh; what follows it is another part's business.
  if (shapes.empty()) return mesh;
  const std::vector<tinyobj::index_t>& corners = shapes.front().mesh.indices;
  mesh.faces.reserve(corners.size() / 3);
  for (std::size_t i = 0; i + 2 < corners.size(); i += 3) {
    std::array<int, 3> face{};
    for (std::size_t k = 0; k < 3; ++k) {
      face[k] = corners[i + k].vertex_index;
      if (face[k] < 0 || face[k] >= vertex_count) {
        throw Error("{}: OBJ: a face refers to vertex {} of {}; export the mesh again", name, face[k] + 1,
                    vertex_count);
      }
    }
    mesh.faces.push_back(face);
  }
  return mesh;
}

}  // namespace articula
