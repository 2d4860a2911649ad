// DAE, PLY and glTF, read by assimp in a process of its own.

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "articula/error.hpp"
#include "articula/io/mesh.hpp"

namespace articula::imported_mesh_test {
namespace {

namespace fs = std::filesystem;

class ImportedMesh : public ::testing::Test {
 protected:
  ImportedMesh() { fs::create_directories(directory); }
  ~ImportedMesh() override { fs::remove_all(directory); }

  fs::path write(const std::string& name, const std::string& text) const {
    std::ofstream(directory / name, std::ios::binary) << text;
    return directory / name;
  }

  // A tetrahedron with corners at the origin and at `edge` along the axes.
  static void expect_tetrahedron(const TriangleMesh& mesh, double edge) {
    EXPECT_EQ(mesh.vertices.size(), 4u);
    EXPECT_EQ(mesh.faces.size(), 4u);
    EXPECT_NEAR(mass_properties(mesh.vertices, mesh.faces, MeshInertia::exact).volume,
                edge * edge * edge / 6.0, 1e-6 * edge * edge * edge);
    Vector3 highest = Vector3::Zero();
    for (const Vector3& vertex : mesh.vertices) highest = highest.cwiseMax(vertex);
    EXPECT_TRUE(highest.isApprox(Vector3::Constant(edge), 1e-6)) << highest.transpose();
  }

  static std::string error_of(const fs::path& file, const MeshLimits& limits = {}) {
    try {
      read_mesh(file, limits);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  static std::string dae(const std::string& unit, const std::string& up, const std::string& matrix) {
    return R"(<?xml version="1.0"?><COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><asset>)" +
           unit + "<up_axis>" + up + R"(</up_axis></asset><library_geometries><geometry id="g"><mesh>
      <source id="p"><float_array id="pa" count="12">0 0 0 1 0 0 0 1 0 0 0 1</float_array><technique_common>
      <accessor source="#pa" count="4" stride="3"><param name="X" type="float"/><param name="Y" type="float"/>
      <param name="Z" type="float"/></accessor></technique_common></source>
      <vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
      <triangles count="4"><input semantic="VERTEX" source="#v" offset="0"/><p>0 2 1 0 1 3 1 2 3 0 3 2</p></triangles>
      </mesh></geometry></library_geometries><library_visual_scenes><visual_scene id="s"><node id="n"><matrix>)" +
           matrix + R"(</matrix><instance_geometry url="#g"/></node></visual_scene></library_visual_scenes>
      <scene><instance_visual_scene url="#s"/></scene></COLLADA>)";
  }

  const fs::path directory =
      fs::path(::testing::TempDir()) / ("articula_imported_mesh_" + std::to_string(::getpid()));
  static constexpr const char* identity = "1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1";
};

TEST_F(ImportedMesh, collada_keeps_its_unit_and_its_nodes_but_not_its_up_axis) {
  expect_tetrahedron(read_mesh(write("plain.dae", dae("", "Z_UP", identity))), 1.0);
  expect_tetrahedron(read_mesh(write("up.DAE", dae("", "Y_UP", identity))), 1.0);
  expect_tetrahedron(read_mesh(write("scaled.dae", dae("", "Z_UP", "2 0 0 0 0 2 0 0 0 0 2 0 0 0 0 1"))), 2.0);
  expect_tetrahedron(
      read_mesh(write("inch.dae", dae("<unit meter=\"0.0254\" name=\"inch\"/>", "Z_UP", identity))), 0.0254);
}

TEST_F(ImportedMesh, ply_is_read) {
  expect_tetrahedron(read_mesh(write("t.ply", R"(ply
format ascii 1.0
element vertex 4
property float x
property float y
property float z
element face 4
property list uchar int vertex_indices
end_header
0 0 0
1 0 0
0 1 0
0 0 1
3 0 2 1
3 0 1 3
3 1 2 3
3 0 3 2
)")),
                     1.0);
}

TEST_F(ImportedMesh, gltf_is_read_with_its_buffer_beside_it) {
  const float positions[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  const std::uint16_t corners[] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2};
  std::string bytes(sizeof positions + sizeof corners, '\0');
  std::memcpy(bytes.data(), positions, sizeof positions);
  std::memcpy(bytes.data() + sizeof positions, corners, sizeof corners);
  write("t.bin", bytes);
  expect_tetrahedron(
      read_mesh(write("t.gltf", R"({"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0]}],
    "nodes":[{"mesh":0}],"meshes":[{"primitives":[{"attributes":{"POSITION":0},"indices":1}]}],
    "buffers":[{"uri":"t.bin","byteLength":72}],"bufferViews":[{"buffer":0,"byteLength":48},
    {"buffer":0,"byteOffset":48,"byteLength":24}],"accessors":[
    {"bufferView":0,"componentType":5126,"count":4,"type":"VEC3","min":[0,0,0],"max":[1,1,1]},
    {"bufferView":1,"componentType":5123,"count":12,"type":"SCALAR"}]})")),
      1.0);
}

TEST_F(ImportedMesh, what_takes_too_long_or_too_much_or_is_broken_is_an_error) {
  const fs::path good = write("good.dae", dae("", "Z_UP", identity));
  MeshLimits hurried;
  hurried.import_seconds = 0.0;
  EXPECT_NE(error_of(good, hurried).find("takes longer"), std::string::npos) << error_of(good, hurried);
  MeshLimits few;
  few.triangles = 3;
  EXPECT_NE(error_of(good, few).find("more than 3 triangles"), std::string::npos) << error_of(good, few);
  EXPECT_NE(error_of(write("cut.dae", "<COLLADA><library_geometries>")).find("cut.dae"), std::string::npos);
  EXPECT_NE(error_of(write("empty.ply", "")).find("empty.ply"), std::string::npos);
  EXPECT_NE(error_of(directory / "absent.dae").find("no such file"), std::string::npos);
}

}  // namespace
}  // namespace articula::imported_mesh_test
