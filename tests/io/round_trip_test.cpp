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
  std::vector<fs::path> files;
  for (const char* folder : {"mjcf", "urdf"}) {
    for (const auto& entry : fs::recursive_directory_iterator(*shared / folder)) {
      const std::string extension = entry.path().extension().string();
      if (extension == ".urdf" || extension == ".xml") files.push_back(entry.path());
    }
  }
  EXPECT_GE(files.size(), 39u);
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) expect_same(file.string());
}

}  // namespace
}  // namespace articula
