// Load, write, load: the same model.

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "articula/dynamics/crba.hpp"
#include "articula/dynamics/rnea.hpp"
#include "articula/error.hpp"
#include "articula/io/load.hpp"
#include "articula/io/mjcf_writer.hpp"
#include "articula/io/paths.hpp"
#include "articula/io/urdf.hpp"
#include "articula/kinematics/manifold.hpp"
#include "articula/steppers/step.hpp"
#include "tests/support/description_differences.hpp"

namespace articula {
namespace {

namespace fs = std::filesystem;

// M and c of both at a few random states, relative to their largest entries.
double dynamics_difference(const Model& a, const Model& b) {
  if (a.nv() != b.nv() || a.nq() != b.nq()) return 1.0;
  Data data_a(a), data_b(b);
  std::mt19937 generator(3);
  std::normal_distribution<double> normal;
  double worst = 0.0;
  for (int i = 0; i < 5; ++i) {
    const auto random = [&] {
      return VectorX(VectorX::NullaryExpr(a.nv(), [&] { return normal(generator); }));
    };
    VectorX q = neutral_state(a).q, c_a(a.nv()), c_b(a.nv());
    const VectorX step = random(), v = random();
    integrate(a, q, step, 1.0, q);
    MatrixX M_a(a.nv(), a.nv()), M_b(a.nv(), a.nv());
    crba(a, data_a, q), dense_mass_matrix(a, data_a, M_a);
    crba(b, data_b, q), dense_mass_matrix(b, data_b, M_b);
    bias_forces(a, data_a, q, v, c_a);
    bias_forces(b, data_b, q, v, c_b);
    if (a.nv() == 0) continue;
    worst = std::max({worst, (M_a - M_b).cwiseAbs().maxCoeff() / M_a.cwiseAbs().maxCoeff(),
                      (c_a - c_b).cwiseAbs().maxCoeff() / std::max(1.0, c_a.cwiseAbs().maxCoeff())});
  }
  return worst;
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
    Description first;
    try {
      first = describe(name, options);
    } catch (const Error& error) {
      fmt::print("{}: not loaded: {}\n", name, error.what());
      return;
    }
    Description second;
    ASSERT_NO_THROW(second = again(first));
    const std::vector<std::string> found = testing::differences(first, second, 1e-12);
    EXPECT_TRUE(found.empty()) << found.size() << " differences, the first: " << found.front();
    double difference = 1.0;
    ASSERT_NO_THROW(difference = dynamics_difference(build(first), build(second)));
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
  for (const auto& entry : fs::recursive_directory_iterator(*shared)) {
    const std::string extension = entry.path().extension().string();
    if (extension == ".urdf" || (extension == ".xml" && entry.path().parent_path().filename() != "assets")) {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) expect_same(file.string());
}

}  // namespace
}  // namespace articula
