// Load, write, load: the same model.

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "articula/error.hpp"
#include "articula/io/load.hpp"
#include "articula/io/mjcf_writer.hpp"
#include "articula/io/paths.hpp"
#include "articula/io/urdf.hpp"
#include "tests/support/description_differences.hpp"
#include "tests/support/dynamics_difference.hpp"

namespace articula {
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

}  // namespace
}  // namespace articula
