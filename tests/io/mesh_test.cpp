// Meshes from memory: formats, degenerate input, hulls and mass properties against closed forms.

#include "articula/io/mesh.hpp"

#include <chrono>
#include <cstring>
#include <numbers>

#include "articula/error.hpp"
#include "articula/io/mjcf.hpp"

namespace articula::mesh_test {
namespace {

constexpr double pi = std::numbers::pi;

const char* const cube_obj = R"(# a unit cube of quads
v 0 0 0
v 1 0 0
v 1 1 0
v 0 1 0
v 0 0 1
v 1 0 1
v 1 1 1
v 0 1 1
f 4 3 2 1
f 5 6 7 8
f 1 2 6 5
f 2 3 7 6
f 3 4 8 7
f 4 1 5 8
)";

std::string binary_stl(const TriangleMesh& mesh, const char* header = "") {
  std::string bytes(header);
  bytes.resize(84, '\0');
  const auto count = static_cast<std::uint32_t>(mesh.faces.size());
  std::memcpy(bytes.data() + 80, &count, 4);
  for (const auto& face : mesh.faces) {
    float numbers[12] = {};
    float* next = numbers + 3;
    for (const int corner : face) {
      for (const double x : mesh.vertices[static_cast<std::size_t>(corner)]) *next++ = static_cast<float>(x);
    }
    bytes.append(reinterpret_cast<const char*>(numbers), sizeof numbers).append(2, '\0');
  }
  return bytes;
}

std::string ascii_stl(const TriangleMesh& mesh) {
  std::string text = "solid of several words\n";
  for (const auto& face : mesh.faces) {
    text += "facet normal 0 0 0\n outer loop\n";
    for (const int corner : face) {
      const Vector3& v = mesh.vertices[static_cast<std::size_t>(corner)];
      text += fmt::format("  vertex {} {} {}\n", v[0], v[1], v[2]);
    }
    text += " endloop\nendfacet\n";
  }
  return text + "endsolid\n";
}

// Rings of `n` and 2 n around the poles.
TriangleMesh sphere(int n, double radius) {
  TriangleMesh mesh;
  for (int i = 0; i <= n; ++i) {
    for (int j = 0; j < 2 * n; ++j) {
      const double polar = pi * i / n, around = pi * j / n;
      mesh.vertices.emplace_back(radius * std::sin(polar) * std::cos(around),
                                 radius * std::sin(polar) * std::sin(around), radius * std::cos(polar));
    }
  }
  const auto at = [n](int i, int j) { return i * 2 * n + j % (2 * n); };
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < 2 * n; ++j) {
      mesh.faces.push_back({at(i, j), at(i + 1, j), at(i + 1, j + 1)});
      mesh.faces.push_back({at(i, j), at(i + 1, j + 1), at(i, j + 1)});
    }
  }
  return mesh;
}

double volume(const TriangleMesh& mesh) {
  return mass_properties(mesh.vertices, mesh.faces, MeshInertia::exact).volume;
}

TEST(Mesh, faces_of_one_or_two_corners_enclose_nothing) {
  const TriangleMesh cube = read_obj(cube_obj, "cube.obj");
  const TriangleMesh more = read_obj(std::string(cube_obj) + "\nf 1 2\nf 3\n", "more.obj");
  EXPECT_EQ(more.faces, cube.faces);
  EXPECT_EQ(more.vertices.size(), cube.vertices.size());
}

TEST(Mesh, quads_are_split_into_triangles_that_enclose_the_same_volume) {
  const TriangleMesh cube = read_obj(cube_obj, "cube.obj");
  EXPECT_EQ(cube.vertices.size(), 8u);
  EXPECT_EQ(cube.faces.size(), 12u);
  const MassProperties mass = mass_properties(cube.vertices, cube.faces, MeshInertia::exact);
  EXPECT_NEAR(mass.volume, 1.0, 1e-12);
  EXPECT_TRUE(mass.com.isApprox(Vector3::Constant(0.5), 1e-12));
  EXPECT_TRUE(mass.inertia.isApprox(Matrix3::Identity() / 6.0, 1e-12));
}

TEST(Mesh, negative_indices_count_back_from_the_last_vertex) {
  const TriangleMesh forward =
      read_obj("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n", "a");
  const TriangleMesh back =
      read_obj("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf -4 -2 -3\nf -4 -3 -1\nf -3 -2 -1\nf -4 -1 -2\n", "b");
  EXPECT_EQ(forward.faces, back.faces);
  EXPECT_NEAR(volume(back), 1.0 / 6.0, 1e-12);
}

TEST(Mesh, a_polygon_of_many_corners_keeps_its_area) {
  for (const int n : {12, 600, 2000}) {
    std::string text;
    for (int i = 0; i < n; ++i)
      text += fmt::format("v {} {} 0\n", std::cos(2 * pi * i / n), std::sin(2 * pi * i / n));
    text += "v 0 0 1\nf";
    for (int i = n; i >= 1; --i) text += fmt::format(" {}", i);
    for (int i = 1; i <= n; ++i) text += fmt::format("\nf {} {} {}", i, i % n + 1, n + 1);
    const double base = 0.5 * n * std::sin(2 * pi / n);
    EXPECT_NEAR(volume(read_obj(text + "\n", "cone.obj")), base / 3.0, 1e-6) << n;
  }
}

TEST(Mesh, binary_and_ascii_stl_hold_the_same_mesh_and_are_welded) {
  const TriangleMesh cube = read_obj(cube_obj, "cube.obj");
  const TriangleMesh binary = read_stl(binary_stl(cube), "cube.stl");
  const TriangleMesh ascii = read_stl(ascii_stl(cube), "cube.stl");
  EXPECT_EQ(binary.vertices.size(), 8u);
  EXPECT_EQ(binary.faces, ascii.faces);
  EXPECT_EQ(binary.vertices, ascii.vertices);
  EXPECT_NEAR(volume(binary), 1.0, 1e-12);
}

TEST(Mesh, a_binary_stl_may_begin_with_the_word_solid) {
  const TriangleMesh cube = read_obj(cube_obj, "cube.obj");
  EXPECT_EQ(read_stl(binary_stl(cube, "solid cube"), "cube.stl").faces.size(), 12u);
}

TEST(Mesh, a_mirrored_scale_keeps_the_mass_and_mirrors_the_centre) {
  const auto body = [](const char* scale) {
    return parse_mjcf(fmt::format(R"(<mujoco><asset><mesh name="m" scale="{}" vertex="0 0 0 2 0 0 0 1 0 0 0 1"
        face="0 2 1 0 1 3 1 2 3 0 3 2"/></asset>
        <worldbody><body><freejoint/><geom type="mesh" mesh="m"/></body></worldbody></mujoco>)",
                                  scale))
        .bodies.front()
        .inertia;
  };
  const InertiaDescription plain = body("1 1 1"), mirrored = body("-1 1 1"), twice = body("-1 -1 1");
  EXPECT_NEAR(plain.mass, 1000.0 / 3.0, 1e-6);
  EXPECT_NEAR(mirrored.mass, plain.mass, 1e-9);
  EXPECT_NEAR(mirrored.com.x(), -plain.com.x(), 1e-9);
  EXPECT_NEAR(mirrored.com.y(), plain.com.y(), 1e-9);
  EXPECT_NEAR(mirrored.inertia(0, 1), -plain.inertia(0, 1), 1e-6);
  EXPECT_NEAR(twice.mass, plain.mass, 1e-9);
  EXPECT_NEAR(twice.com.y(), -plain.com.y(), 1e-9);
}

TEST(Mesh, duplicate_vertices_and_degenerate_triangles_change_nothing) {
  TriangleMesh cube = read_obj(cube_obj, "cube.obj");
  const double before = volume(cube);
  const std::size_t count = cube.vertices.size();
  for (std::size_t i = 0; i < count; ++i) cube.vertices.push_back(cube.vertices[i]);
  cube.faces.push_back({0, 0, 1});
  cube.faces.push_back({2, 2, 2});
  cube.faces.push_back({0, 8, 1});
  EXPECT_NEAR(volume(cube), before, 1e-12);
  EXPECT_EQ(convex_hull(cube.vertices).vertices.size(), 8u);
  weld(cube);
  EXPECT_EQ(cube.vertices.size(), 8u);
}

TEST(Mesh, a_surface_that_is_not_closed_still_has_a_hull_with_its_volume) {
  TriangleMesh open = read_obj(cube_obj, "cube.obj");
  open.faces.resize(open.faces.size() - 4);
  const ConvexHull hull = convex_hull(open.vertices);
  EXPECT_NEAR(mass_properties(open.vertices, hull.faces, MeshInertia::convex).volume, 1.0, 1e-12);
}

TEST(Mesh, flat_and_straight_and_single_points_have_no_hull) {
  const std::vector<Vector3> flat{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {0.3, 0.4, 0}};
  const std::vector<Vector3> straight{{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {3, 0, 0}};
  const std::vector<Vector3> same(5, Vector3(1, 2, 3));
  EXPECT_THROW(convex_hull(flat), Error);
  EXPECT_THROW(convex_hull(straight), Error);
  EXPECT_THROW(convex_hull(same), Error);
  EXPECT_THROW(convex_hull(std::vector<Vector3>{}), Error);
}

TEST(Mesh, a_fine_sphere_has_the_volume_and_inertia_of_a_sphere) {
  const TriangleMesh ball = sphere(60, 0.5);
  const MassProperties mass = mass_properties(ball.vertices, ball.faces, MeshInertia::exact);
  const double exact = 4.0 / 3.0 * pi * 0.125;
  EXPECT_NEAR(mass.volume, exact, 3e-3 * exact);
  EXPECT_NEAR(mass.inertia(0, 0), 0.4 * exact * 0.25, 5e-3 * exact);
}

// The time is generous: docs/models.md states what it takes on a quiet machine.
TEST(Mesh, a_million_triangles_are_read_in_seconds) {
  const TriangleMesh ball = sphere(500, 0.5);
  ASSERT_EQ(ball.faces.size(), 1'000'000u);
  const std::string bytes = binary_stl(ball);
  const auto start = std::chrono::steady_clock::now();
  const TriangleMesh read = read_stl(bytes, "ball.stl");
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(read.faces.size(), ball.faces.size());
  EXPECT_LT(read.vertices.size(), 510'000u);
  EXPECT_LT(taken.count(), 20.0);
}

}  // namespace
}  // namespace articula::mesh_test
