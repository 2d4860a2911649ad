#include "articula/io/paths.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "articula/error.hpp"
#include "tests/support/environment.hpp"

namespace articula::paths_test {
namespace {

using testing::Environment;

TEST(Paths, the_environment_chooses_the_directories) {
  const std::filesystem::path chosen = std::filesystem::temp_directory_path();
  const Environment models("ARTICULA_MODELS", chosen);
  const Environment shared("ARTICULA_SHARED_MODELS", chosen);
  EXPECT_EQ(models_directory(), chosen);
  EXPECT_EQ(shared_models_directory(), chosen);
}

TEST(Paths, a_chosen_directory_that_is_missing_is_an_error_and_not_a_fallback) {
  const Environment models("ARTICULA_MODELS", "/no/such/directory");
  const Environment shared("ARTICULA_SHARED_MODELS", "/no/such/directory");
  EXPECT_THROW(models_directory(), Error);
  EXPECT_THROW(shared_models_directory(), Error);
}

}  // namespace
}  // namespace articula::paths_test
