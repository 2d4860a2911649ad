// Load, write, load: the same model.

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "articula/error.hpp"
#include "articula/io/load.hpp"
#include "articula/io/mjcf_writer.hpp"
#include "articula/io/paths.hpp"
#include "articula/io/urdf.hpp"
#include "tests/support/description_differences.hpp"
#include "tests/support/dynamics_difference.hpp"

namespace articula::round_trip_test {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> robots_below(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string extension = entry.path().extension().string();
    if (extension == ".urdf" || extension == ".xml" || extension == ".sdf") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

class RoundTrip : public ::testing::Test {
 protected:
  RoundTrip() { fs::create_directories(directory); }
  ~RoundTrip() override { fs::remove_all(directory); }

  Description again(const Description& d) const {
    save_mjcf(d, directory / "model.xml");
    return describe((directory / "model.xml").string());
  }

  void expect_same(const std::string& name, const LoadOptions& options = {}) const {
    SCOPED_TRACE(name);
    Description first, second;
    ASSERT_NO_THROW(first = describe(name, options));
    ASSERT_NO_THROW(second = again(first));
    const std::vector<std::string> found = testing::differences(first, second, 1e-12);
    EXPECT_TRUE(found.empty()) << found.size() << " differences, the first: " << found.front();
    double difference = 1.0;
    ASSERT_NO_THROW(difference = testing::dynamics_difference(build(first), build(second)));
    EXPECT_LT(difference, 1e-12);
  }

  const fs::path directory =
      fs::path(::testing::TempDir()) / ("articula_round_trip_" + std::to_string(::getpid()));
};

TEST_F(RoundTrip, every_built_in_model_comes_back_as_it_was) {
  for (const std::string& name : model_names()) expect_same(name);
  expect_same("chain7");
}

TEST_F(RoundTrip, every_shared_robot_comes_back_as_it_was) {
  const auto shared = shared_models_directory();
  if (!shared) GTEST_SKIP() << "there are no shared robots here";
  std::vector<fs::path> files = robots_below(*shared / "mjcf");
  for (const fs::path& file : robots_below(*shared / "urdf")) files.push_back(file);
  EXPECT_GE(files.size(), 39u);
  for (const fs::path& file : files) expect_same(file.string());
}

// ARTICULA_ROUND_TRIP names a folder; what cannot be loaded in it does not count.
TEST_F(RoundTrip, every_robot_in_a_folder_of_the_user_comes_back_as_it_was) {
  const char* folder = std::getenv("ARTICULA_ROUND_TRIP");
  if (folder == nullptr) GTEST_SKIP() << "ARTICULA_ROUND_TRIP names no folder";
  int loaded = 0;
  for (const fs::path& file : robots_below(folder)) {
    try {
      load(file.string());
    } catch (const Error&) {
      continue;
    }
    expect_same(file.string());
    ++loaded;
  }
  EXPECT_GE(loaded, 1);
}

TEST_F(RoundTrip, links_too_light_for_mjcf_come_back_as_they_were) {
  const Description first = parse_urdf(R"(<robot name="r"><link name="base"/>
    <link name="cardan"/><link name="point"><inertial><mass value="2"/>
      <inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/></inertial></link>
    <link name="tool"><inertial><origin xyz="0.1 0 0"/><mass value="1"/>
      <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
    <joint name="a" type="continuous"><parent link="base"/><child link="cardan"/><axis xyz="1 0 0"/></joint>
    <joint name="b" type="continuous"><parent link="cardan"/><child link="tool"/><axis xyz="0 1 0"/></joint>
    <joint name="c" type="continuous"><parent link="tool"/><child link="point"/>
      <origin xyz="0.3 0 0"/><axis xyz="0 0 1"/></joint></robot>)");
  const Description second = again(first);
  const std::vector<std::string> found = testing::differences(first, second, 1e-12);
  EXPECT_TRUE(found.empty()) << found.size() << " differences, the first: " << found.front();
  EXPECT_EQ(second.bodies[0].inertia.mass, 0.0);
  EXPECT_LT(testing::dynamics_difference(build(first), build(second)), 1e-12);
}

// Where principal moments are equal rounding may choose other axes: it must find the same numbers.
TEST_F(RoundTrip, meshes_with_equal_moments_keep_their_axes) {
  constexpr const char* tetrahedron = R"(vertex="0 0 0 1 0 0 0 1 0 0 0 1")";
  constexpr const char* faces = R"( face="0 2 1 0 1 3 1 2 3 0 3 2")";
  constexpr const char* cube = R"(vertex="1 1 1 1 1 -1 1 -1 1 1 -1 -1 -1 1 1 -1 1 -1 -1 -1 1 -1 -1 -1")";
  for (const std::string& shape :
       {std::string(tetrahedron), std::string(tetrahedron) + faces, std::string(cube)}) {
    for (const char* placing : {"", R"(scale="-1 1 1")", R"(scale="0.001 0.001 0.001")",
                                R"(scale="-0.3 0.3 0.3" refpos="0.1 0.2 0.3" refquat="1 0.3 -0.2 0.7")",
                                R"(inertia="shell")", R"(refquat="0.7 0.1 0.5 -0.2" inertia="convex")"}) {
      const std::string text = fmt::format(
          R"(<mujoco><asset><mesh name="m" {} {}/></asset><worldbody><body><freejoint/>
             <geom name="g" type="mesh" mesh="m" density="1e6"/></body></worldbody></mujoco>)",
          shape, placing);
      SCOPED_TRACE(text);
      std::ofstream(directory / "given.xml") << text;
      expect_same((directory / "given.xml").string());
    }
  }
}

TEST_F(RoundTrip, sizes_that_mean_nothing_and_keyframes_that_are_only_counted_stay) {
  std::ofstream(directory / "given.xml") << R"(<mujoco><size nkey="3"/><worldbody><body><freejoint/>
      <geom size="0.1 0.2 0.3"/><geom type="capsule" size="0.1 0.2 0.3"/></body></worldbody>
      <keyframe><key name="one" qpos="1 2 3"/></keyframe></mujoco>)";
  const Description d = describe((directory / "given.xml").string());
  ASSERT_EQ(d.keyframes.size(), 3u);
  EXPECT_EQ(d.keyframes[0].q[0], 1.0);
  EXPECT_EQ(d.keyframes[2].q, (std::vector<double>{0, 0, 0, 1, 0, 0, 0}));
  expect_same((directory / "given.xml").string());
}

TEST_F(RoundTrip, large_meshes_of_other_formats_go_into_files_beside_the_text) {
  constexpr int rows = 150, columns = 151;
  std::ofstream ply(directory / "dome.ply");
  ply << "ply\nformat ascii 1.0\nelement vertex " << rows * columns
      << "\nproperty float x\nproperty float y\nproperty float z\nelement face "
      << 2 * (rows - 1) * (columns - 1) << "\nproperty list uchar int vertex_indices\nend_header\n";
  for (int i = 0; i < rows * columns; ++i) {
    const double x = i / columns, y = i % columns;
    ply << x << ' ' << y << ' ' << 1e-3 * x * (rows - x) + 2e-3 * y * (columns - y) << '\n';
  }
  for (int i = 0; i + columns < rows * columns; ++i) {
    if ((i + 1) % columns == 0) continue;
    ply << "3 " << i << ' ' << i + columns << ' ' << i + 1 << "\n3 " << i + 1 << ' ' << i + columns << ' '
        << i + columns + 1 << '\n';
  }
  ply << std::flush;
  std::ofstream(directory / "given.urdf") << R"(<robot name="r"><link name="a"><inertial><mass value="1"/>
      <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
      <collision><geometry><mesh filename="dome.ply" scale="0.01 -0.01 0.01"/></geometry></collision></link>
      </robot>)";
  expect_same((directory / "given.urdf").string());
  EXPECT_TRUE(fs::exists(directory / "model_mesh0.msh"));
  EXPECT_LT(fs::file_size(directory / "model.xml"), 10'000u);
}

TEST_F(RoundTrip, flat_meshes_come_back_as_plates) {
  std::ofstream(directory / "flat.obj") << "v 0 0 0.3\nv 1 0 0.3\nv 0 1 0.4\nv 1 1 0.4\nv 0.5 2 0.5\n"
                                        << "f 1 2 4 3\nf 3 4 5\n"
                                        << std::flush;
  std::ofstream(directory / "given.urdf") << R"(<robot name="r"><link name="a"><inertial><mass value="1"/>
      <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
      <collision><geometry><mesh filename="flat.obj" scale="0.1 -0.2 0.3"/></geometry></collision>
      <visual><geometry><mesh filename="flat.obj" scale="0.1 -0.2 0.3"/></geometry></visual></link></robot>)";
  expect_same((directory / "given.urdf").string());
}

TEST_F(RoundTrip, meshes_that_touch_nothing_have_no_hull) {
  constexpr const char* mesh = R"(<asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset>)";
  for (const char* option : {"", R"(<option><flag contact="disable"/></option>)"}) {
    for (const char* contact : {"", R"(contype="0" conaffinity="0")"}) {
      std::ofstream(directory / "given.xml") << fmt::format(
          R"(<mujoco>{}{}<worldbody><body><freejoint/><geom name="g" type="mesh" mesh="m" {}/></body></worldbody>
             <sensor><framepos objtype="geom" objname="g"/></sensor></mujoco>)",
          option, mesh, contact);
      const Description d = describe((directory / "given.xml").string());
      EXPECT_EQ(d.meshes[0]->hull.empty(), *option != '\0' || *contact != '\0');
      expect_same((directory / "given.xml").string());
    }
  }
}

// MuJoCo reads binary STL only.
TEST_F(RoundTrip, ascii_stl_is_written_into_the_text) {
  std::ofstream stl(directory / "a.stl");
  stl << "solid a\n";
  for (const char* triangle :
       {"0 0 0 0 1 0 1 0 0", "0 0 0 1 0 0 0 0 1", "1 0 0 0 1 0 0 0 1", "0 0 0 0 0 1 0 1 0"}) {
    std::istringstream numbers(triangle);
    stl << "facet normal 0 0 0\nouter loop\n";
    double x = 0.0, y = 0.0, z = 0.0;
    while (numbers >> x >> y >> z) stl << "vertex " << x << ' ' << y << ' ' << z << '\n';
    stl << "endloop\nendfacet\n";
  }
  stl << "endsolid\n" << std::flush;
  std::ofstream(directory / "given.xml") << R"(<mujoco><asset><mesh name="m" file="a.stl"/></asset>
      <worldbody><body><freejoint/><geom type="mesh" mesh="m"/></body></worldbody></mujoco>)";
  const Description d = describe((directory / "given.xml").string());
  EXPECT_EQ(to_mjcf(d, directory).find("a.stl"), std::string::npos);
  expect_same((directory / "given.xml").string());
}

}  // namespace
}  // namespace articula::round_trip_test
