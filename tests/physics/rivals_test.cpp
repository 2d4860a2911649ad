// The equations of motion against MuJoCo's and Pinocchio's. Where a rival is not installed the test is
// skipped and says how to install it (make peers).

#include <gtest/gtest.h>

#include <array>

#include "articula/dynamics/aba.hpp"
#include "articula/dynamics/crba.hpp"
#include "articula/dynamics/forward_derivatives.hpp"
#include "articula/dynamics/springs.hpp"
#include "articula/io/load.hpp"
#include "articula/io/paths.hpp"
#include "bench/support/mjcf_text.hpp"
#include "bench/support/peer_tree.hpp"
#include "tests/support/random_tree.hpp"

namespace articula::testing::rivals_test {
namespace {

constexpr double tolerance = 1e-9;

#define SKIP_WITHOUT(api, name)                        \
  std::string reason;                                  \
  const PeerApi* api = peers::load_peer(name, reason); \
  if (api == nullptr) GTEST_SKIP() << "NOT COMPARED with " << name << ": " << reason

struct Ours {
  MatrixX M;
  VectorX bias, forward, smooth;  // smooth: with springs and dampers
};

Ours ours(const Model& model, const VectorX& q, const VectorX& v, const VectorX& tau) {
  Data data(model);
  const int nv = model.nv();
  Ours out{MatrixX(nv, nv), VectorX(nv), VectorX(nv), VectorX(nv)};
  crba(model, data, q);
  dense_mass_matrix(model, data, out.M);
  bias_forces(model, data, q, v, out.bias);
  EXPECT_TRUE(aba(model, data, q, v, tau, out.forward));
  VectorX passive = tau - Eigen::Map<const VectorX>(model.constants().damping.data(), nv).cwiseProduct(v);
  add_spring_forces(model, q, passive);
  EXPECT_TRUE(aba(model, data, q, v, passive, out.smooth));
  return out;
}

// Largest difference over all states, relative to the largest number of the quantity.
struct Worst {
  double M = 0, bias = 0, forward = 0, smooth = 0;
};

Worst compare(const Model& model, const peers::PeerModelPtr& rival, int states, int seed, bool springs) {
  std::mt19937 random(static_cast<unsigned>(seed));
  Worst worst;
  for (int i = 0; i < states; ++i) {
    const RandomState x = random_state(model, random);
    const VectorX tau = uniform_vector(random, model.nv(), 5.0);
    const PeerStates state{1, x.q.data(), x.v.data(), tau.data(), nullptr, nullptr, nullptr};
    const Ours got = ours(model, x.q, x.v, tau);
    const auto difference = [&](const char* quantity, const VectorX& value) {
      const std::vector<double> theirs = peers::evaluate(rival, quantity, state);
      return relative_difference(value, Eigen::Map<const VectorX>(theirs.data(), value.size()));
    };
    worst.M = std::max(worst.M, difference("mass_matrix", got.M.reshaped()));
    worst.bias = std::max(worst.bias, difference("bias", got.bias));
    worst.forward = std::max(worst.forward, difference("forward_dynamics", got.forward));
    if (springs) worst.smooth = std::max(worst.smooth, difference("smooth_acceleration", got.smooth));
  }
  return worst;
}

void expect_agreement(const Worst& worst, const std::string& what) {
  EXPECT_LT(worst.M, tolerance) << what;
  EXPECT_LT(worst.bias, tolerance) << what;
  EXPECT_LT(worst.forward, tolerance) << what;
  EXPECT_LT(worst.smooth, tolerance) << what;
}

TEST(rivals, mujoco_has_the_same_equations_of_motion_on_random_trees) {
  SKIP_WITHOUT(api, "mujoco");
  int compared = 0;
  for (int seed = 0; seed < 60; ++seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    // Well-conditioned: short trees, a little armature everywhere.
    const Model model = random_model(random, {.bodies = 1 + seed % 15, .armature = 0.2});
    const peers::PeerModelPtr rival = peers::create_from_mjcf_text(*api, bench::mjcf_text(model));
    ASSERT_EQ(api->size(rival.get(), "nq"), model.nq());
    ASSERT_EQ(api->size(rival.get(), "nv"), model.nv());
    expect_agreement(compare(model, rival, 3, seed, true), fmt::format("seed {}", seed));
    ++compared;
  }
  EXPECT_EQ(compared, 60);
}

TEST(rivals, mujoco_has_the_same_equations_of_motion_on_our_robots_as_it_reads_them) {
  SKIP_WITHOUT(api, "mujoco");
  for (const std::string name : {"arm", "quadruped", "biped"}) {
    const Model model = load(name);
    const peers::PeerModelPtr rival =
        peers::create_from_mjcf_file(*api, models_directory() / (name + ".xml"));
    expect_agreement(compare(model, rival, 10, 1, false), name);
  }
}

TEST(rivals, pinocchio_has_the_same_equations_of_motion_on_arm_quadruped_and_biped) {
  SKIP_WITHOUT(api, "pinocchio");
  for (const std::string name : {"arm", "quadruped", "biped"}) {
    const Model model = load(name);
    const peers::PeerModelPtr rival = peers::create_from_tree(*api, bench::peer_tree(model).view());
    expect_agreement(compare(model, rival, 10, 1, false), name);
  }
}

TEST(rivals, pinocchio_has_the_same_equations_of_motion_on_random_trees) {
  SKIP_WITHOUT(api, "pinocchio");
  for (int seed = 0; seed < 60; ++seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    const Model model = random_model(random, {.bodies = 1 + seed % 15, .armature = 0.2});
    const peers::PeerModelPtr rival = peers::create_from_tree(*api, bench::peer_tree(model).view());
    expect_agreement(compare(model, rival, 3, seed, false), fmt::format("seed {}", seed));
  }
}

TEST(rivals, pinocchio_has_the_same_derivatives_of_inverse_and_forward_dynamics) {
  SKIP_WITHOUT(api, "pinocchio");
  for (int seed = 0; seed < 60; ++seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    const Model model = seed < 3 ? load(std::array{"arm", "quadruped", "biped"}[seed])
                                 : random_model(random, {.bodies = 1 + seed % 15, .armature = 0.2});
    const peers::PeerModelPtr rival = peers::create_from_tree(*api, bench::peer_tree(model).view());
    const RandomState x = random_state(model, random);
    const int nv = model.nv();
    Data data(model);
    ForwardDerivativeWork work(model);
    MatrixX by_q(nv, nv), by_v(nv, nv);
    rnea_derivatives(model, data, work.rnea, x.q, x.v, x.a, by_q, by_v);
    ASSERT_TRUE(forward_dynamics_derivatives(model, data, work, x.q, x.v, x.a));
    const PeerStates state{1, x.q.data(), x.v.data(), x.a.data(), x.a.data(), nullptr, nullptr};
    const auto difference = [&](const char* quantity, const MatrixX& value) {
      const std::vector<double> theirs = peers::evaluate(rival, quantity, state);
      const MatrixX reference = Eigen::Map<const RowMatrix>(theirs.data(), nv, nv);
      return (value - reference).cwiseAbs().maxCoeff() / std::max(reference.cwiseAbs().maxCoeff(), 1e-2);
    };
    EXPECT_LT(difference("inverse_dynamics_dq", by_q), tolerance) << seed;
    EXPECT_LT(difference("inverse_dynamics_dv", by_v), tolerance) << seed;
    EXPECT_LT(difference("forward_dynamics_dq", work.da_dq()), tolerance) << seed;
    EXPECT_LT(difference("forward_dynamics_dv", work.da_dv()), tolerance) << seed;
    EXPECT_LT(difference("forward_dynamics_dtau", work.da_dtau()), tolerance) << seed;
  }
}

}  // namespace
}  // namespace articula::testing::rivals_test
