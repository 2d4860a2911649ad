// One small file for each feature of MJCF (tests/features), against MuJoCo reading the same file.

#include <algorithm>

#include "articula/io/load.hpp"
#include "tests/support/mujoco_agreement.hpp"

namespace articula::testing::features_test {
namespace {

constexpr double tolerance = 1e-8;

TEST(Features, of_mjcf_mean_what_they_mean_in_mujoco) {
  std::string reason;
  const PeerApi* mujoco = peers::load_peer("mujoco", reason);
  if (mujoco == nullptr) GTEST_SKIP() << reason;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(ARTICULA_SOURCE_DIR "/tests/features"))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  EXPECT_GE(files.size(), 35u);
  for (const auto& file : files) {
    try {
      const peers::PeerModelPtr peer = peers::create_from_mjcf_file(*mujoco, file);
      const Agreement agreement = compare_with_mujoco(*mujoco, peer, load(file.string()), 10);
      EXPECT_EQ(agreement.sizes, "") << file.stem();
      EXPECT_LT(agreement.worst(), tolerance) << file.stem() << ": " << agreement.text();
    } catch (const std::exception& error) {
      ADD_FAILURE() << file.stem() << ": " << error.what();
    }
  }
}

}  // namespace
}  // namespace articula::testing::features_test
