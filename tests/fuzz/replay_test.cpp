// Every input of the kept corpus, and every small model of the tests, through the harness that is fuzzed.

#include <filesystem>
#include <fstream>
#include <sstream>

#include "fuzz/harness.hpp"

namespace articula::fuzz::replay_test {
namespace {

int replay(const std::filesystem::path& folder, void (*harness)(std::string_view)) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    SCOPED_TRACE(entry.path().string());
    std::ifstream stream(entry.path(), std::ios::binary);
    std::ostringstream bytes;
    bytes << stream.rdbuf();
    EXPECT_NO_THROW(harness(bytes.str()));
    ++files;
  }
  return files;
}

const std::filesystem::path source = ARTICULA_SOURCE_DIR;

TEST(FuzzCorpus, of_mjcf_ends_in_a_model_or_an_error) {
  EXPECT_GE(replay(source / "fuzz/corpus/mjcf", mjcf), 5);
  EXPECT_GE(replay(source / "tests/features", mjcf), 35);
}

TEST(FuzzCorpus, of_urdf_ends_in_a_model_or_an_error) {
  EXPECT_GE(replay(source / "fuzz/corpus/urdf", urdf), 3);
}

TEST(FuzzCorpus, of_sdf_ends_in_a_model_or_an_error) {
  EXPECT_GE(replay(source / "fuzz/corpus/sdf", sdf), 3);
}

TEST(FuzzCorpus, of_stl_ends_in_a_mesh_or_an_error) { EXPECT_GE(replay(source / "fuzz/corpus/stl", stl), 5); }

TEST(FuzzCorpus, of_obj_ends_in_a_mesh_or_an_error) { EXPECT_GE(replay(source / "fuzz/corpus/obj", obj), 5); }

}  // namespace
}  // namespace articula::fuzz::replay_test
