// Whole robots, read from files, against MuJoCo reading the same files. ARTICULA_ROBOTS names one more folder
// of MJCF files to compare.

#include <cstdlib>

#include "articula/error.hpp"
#include "articula/io/load.hpp"
#include "articula/io/paths.hpp"
#include "tests/support/mujoco_agreement.hpp"

namespace articula::testing::robots_test {
namespace {

constexpr double tolerance = 1e-8;
constexpr int states = 50;

class Robots : public ::testing::Test {
 protected:
  std::string reason;
  const PeerApi* mujoco = peers::load_peer("mujoco", reason);

  void expect_file_agrees(const std::string& path) const {
    try {
      const peers::PeerModelPtr peer = peers::create_from_mjcf_file(*mujoco, path);
      const Agreement agreement = compare_with_mujoco(*mujoco, peer, load(path), states);
      EXPECT_EQ(agreement.sizes, "") << path;
      EXPECT_LT(agreement.worst(), tolerance) << path << ": " << agreement.text();
    } catch (const std::exception& error) {  // the other files are compared all the same
      ADD_FAILURE() << path << ": " << error.what();
    }
  }

  int expect_folder_agrees(const std::filesystem::path& folder) const {
    int files = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (entry.path().extension() != ".xml") continue;
      expect_file_agrees(entry.path().string());
      ++files;
    }
    return files;
  }
};

TEST_F(Robots, of_our_own_are_what_mujoco_reads_from_the_same_files) {
  if (mujoco == nullptr) GTEST_SKIP() << reason;
  for (const std::string& name : model_names()) {
    expect_file_agrees((models_directory() / (name + ".xml")).string());
  }
}

TEST_F(Robots, that_are_shared_are_what_mujoco_reads_from_the_same_files) {
  if (mujoco == nullptr) GTEST_SKIP() << reason;
  const auto directory = shared_models_directory();
  if (!directory) GTEST_SKIP() << "no shared models (ARTICULA_SHARED_MODELS)";
  EXPECT_GE(expect_folder_agrees(*directory / "mjcf"), 15);
}

TEST_F(Robots, in_a_folder_of_the_user_are_what_mujoco_reads_from_the_same_files) {
  if (mujoco == nullptr) GTEST_SKIP() << reason;
  const char* folder = std::getenv("ARTICULA_ROBOTS");
  if (folder == nullptr) GTEST_SKIP() << "ARTICULA_ROBOTS names no folder";
  EXPECT_GE(expect_folder_agrees(folder), 1);
}

}  // namespace
}  // namespace articula::testing::robots_test
