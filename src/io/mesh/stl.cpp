#include <bit>
#include <cstring>

#include "articula/error.hpp"
#include "articula/io/mesh.hpp"
#include "io/mesh/checks.hpp"
#include "io/numbers.hpp"

namespace articula {

namespace {

static_assert(std::endian::native == std::endian::little, "binary STL is little-endian");

constexpr std::size_t header_bytes = 84, triangle_bytes = 50;

std::uint32_t binary_count(std::string_view bytes) {
  std::uint32_t count = 0;
  std::memcpy(&count, bytes.data() + 80, sizeof count);
  return count;
}

// 80 bytes of anything, the number of triangles, and for each a normal (12 bytes, which the order of
// the vertices makes redundant), three vertices (36) and an attribute (2).
TriangleMesh read_binary(std::string_view bytes, const std::string& name) {
  const std::uint32_t count = binary_count(bytes);
  const auto vertex_at = [&](std::uint32_t triangle, std::size_t corner) {
    std::array<float, 3> xyz{};
    const std::size_t at = header_bytes + std::size_t{triangle} * triangle_bytes + 12 + 12 * corner;
    std::memcpy(xyz.data(), bytes.data() + at, sizeof xyz);
    return Vector3(xyz[0], xyz[1], xyz[2]);
  };
  for (std::uint32_t i = 0; i < count; ++i) {  // before memory is taken
    for (const std::size_t k : {0u, 1u, 2u}) {
      if (!usable(vertex_at(i, k))) throw Error("{}: triangle {}: {}", name, i, bad_vertex(vertex_at(i, k)));
    }
  }
  TriangleMesh mesh;
  mesh.vertices.reserve(3 * std::size_t{count});
  mesh.faces.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const int first = static_cast<int>(mesh.vertices.size());
    for (const std::size_t k : {0u, 1u, 2u}) mesh.vertices.push_back(vertex_at(i, k));
    mesh.faces.push_back({first, first + 1, first + 2});
  }
  return mesh;
}

// solid NAME  { facet normal x y z  outer loop  { vertex x y z } x3  endloop  endfacet }  endsolid
class AsciiReader {
 public:
  AsciiReader(std::string_view text, const std::string& name, const MeshLimits& limits)
      : text_(text),
        rest_(text),
        name_(name),
        limits_(limits) {}

  TriangleMesh read() {
    rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));  // "solid", and a name of any words
    for (;;) {
      const std::string_view word = next_word(rest_);
      if (word == "endsolid") break;
      if (word.empty()) fail("the text ends before 'endsolid'");
      if (word != "facet") fail("expected 'facet' or 'endsolid'");
      read_facet();
      if (mesh_.faces.size() > limits_.triangles) fail("too many triangles");
    }
    return std::move(mesh_);
  }

 private:
  void read_facet() {
    expect("normal");
    for (int i = 0; i < 3; ++i) next_word(rest_);
    expect("outer");
    expect("loop");
    const int first = static_cast<int>(mesh_.vertices.size());
    for (int i = 0; i < 3; ++i) {
      expect("vertex");
      Vector3 vertex;
      for (double& coordinate : vertex) {
        const auto value = to_finite(next_word(rest_));
        if (!value) fail("a coordinate is no finite number");
        coordinate = static_cast<float>(*value);
      }
      if (!usable(vertex)) fail(bad_vertex(vertex));
      mesh_.vertices.push_back(vertex);
    }
    expect("endloop");
    expect("endfacet");
    mesh_.faces.push_back({first, first + 1, first + 2});
  }

  void expect(std::string_view word) {
    if (next_word(rest_) != word) fail("expected '" + std::string(word) + "'");
  }

  [[noreturn]] void fail(const std::string& what) const {
    const std::string_view read = text_.substr(0, text_.size() - rest_.size());
    throw Error("{}:{}: ASCII STL: {}; export the mesh again, preferably as binary STL", name_,
                1 + std::count(read.begin(), read.end(), '\n'), what);
  }

  std::string_view text_, rest_;
  const std::string& name_;
  const MeshLimits& limits_;
  TriangleMesh mesh_;
};

}  // namespace

TriangleMesh read_stl(std::string_view bytes, const std::string& name, const MeshLimits& limits) {
  // The size tells the two apart; "solid" begins many a binary header as well.
  const bool binary =
      bytes.size() >= header_bytes && bytes.size() == header_bytes + triangle_bytes * binary_count(bytes);
  if (!binary && !bytes.starts_with("solid")) {
    if (bytes.size() < header_bytes) {
      throw Error("{}: STL: the file has {} bytes, not even a header; export the mesh again", name,
                  bytes.size());
    }
    throw Error(
        "{}: STL: the header says {} triangles, which need {} bytes, but the file has {}; it is "
        "cut off or no STL file: export the mesh again",
        name, binary_count(bytes), header_bytes + triangle_bytes * std::uint64_t{binary_count(bytes)},
        bytes.size());
  }
  if (binary && binary_count(bytes) > limits.triangles) {
    throw Error("{}: STL: {} triangles are more than the {} that are read; simplify the mesh", name,
                binary_count(bytes), limits.triangles);
  }
  TriangleMesh mesh = binary ? read_binary(bytes, name) : AsciiReader(bytes, name, limits).read();
  if (mesh.faces.empty()) throw Error("{}: STL: the file has no triangles; export the mesh again", name);
  weld(mesh);
  return mesh;
}

}  // namespace articula
