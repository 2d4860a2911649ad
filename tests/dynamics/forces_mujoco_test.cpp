// Forces of random robots against MuJoCo's.

#include "articula/dynamics/aba.hpp"
#include "articula/dynamics/forces.hpp"
#include "bench/peers/peer_load.hpp"
#include "tests/support/mjcf_text.hpp"
#include "tests/support/random_forces.hpp"

namespace articula::testing::forces_mujoco_test {
namespace {

constexpr double tolerance = 1e-8;

// Rows of `count` numbers each, one per state.
VectorX row(const std::vector<double>& all, int state, int count) {
  return Eigen::Map<const VectorX>(all.data() + static_cast<long>(state) * count, count);
}

double difference(const VectorX& ours, const VectorX& theirs) {
  if (theirs.size() == 0) return 0.0;
  return (ours - theirs).cwiseAbs().maxCoeff() / std::max(1.0, theirs.cwiseAbs().maxCoeff());
}

struct States {
  int count;
  MatrixX q, v, u, w;  // one column per state

  States(const Model& model, std::mt19937& random, int states)
      : count(states),
        q(model.nq(), states),
        v(model.nv(), states),
        u(model.nu(), states),
        w(model.na(), states) {
    for (int i = 0; i < states; ++i) {
      const RandomState x = random_state(model, random);
      const RandomInputs inputs = random_inputs(model, random);
      q.col(i) = x.q, v.col(i) = x.v, u.col(i) = inputs.control, w.col(i) = inputs.activation;
    }
  }
  PeerStates view() const { return {count, q.data(), v.data(), nullptr, nullptr, u.data(), w.data()}; }
};

// Everything that the two engines compute without contact, at random states.
void expect_agreement(const PeerApi& mujoco, const peers::PeerModelPtr& peer, const Model& model,
                      int states) {
  ASSERT_EQ(mujoco.size(peer.get(), "nq"), model.nq());
  ASSERT_EQ(mujoco.size(peer.get(), "nv"), model.nv());
  ASSERT_EQ(mujoco.size(peer.get(), "nu"), model.nu());
  ASSERT_EQ(mujoco.size(peer.get(), "na"), model.na());
  std::mt19937 random(7);
  const States x(model, random, states);
  const PeerStates view = x.view();
  const auto passive = peers::evaluate(peer, "passive_forces", view);
  const auto actuator = peers::evaluate(peer, "actuator_generalised_forces", view);
  const auto force = peers::evaluate(peer, "actuator_forces", view);
  const auto smooth = peers::evaluate(peer, "smooth_acceleration", view);
  Data data(model);
  ForceWork work(model);
  VectorX acceleration(model.nv());
  for (int i = 0; i < states; ++i) {
    forward_kinematics(model, data, x.q.col(i));
    propagate_motion(model, data, x.v.col(i).data(), nullptr);
    applied_forces(model, data, work, x.q.col(i), x.v.col(i), x.w.col(i), x.u.col(i), model.timestep());
    EXPECT_LT(difference(work.passive, row(passive, i, model.nv())), tolerance);
    EXPECT_LT(difference(work.force, row(force, i, model.nu())), tolerance);
    EXPECT_LT(difference(work.actuator, row(actuator, i, model.nv())), tolerance);
    ASSERT_TRUE(aba(model, data, x.q.col(i), x.v.col(i), work.tau, acceleration));
    EXPECT_LT(difference(acceleration, row(smooth, i, model.nv())), tolerance);
    if (::testing::Test::HasFailure()) return;
  }
}

class ForcesInMujoco : public ::testing::Test {
 protected:
  std::string reason;
  const PeerApi* mujoco = peers::load_peer("mujoco", reason);
};

TEST_F(ForcesInMujoco, of_random_robots_are_ours) {
  if (mujoco == nullptr) GTEST_SKIP() << reason;
  for (int seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const Model model = random_force_model(seed);
    const auto peer = peers::create_from_mjcf_text(*mujoco, mjcf_text(model.description()));
    expect_agreement(*mujoco, peer, model, 10);
  }
}

}  // namespace
}  // namespace articula::testing::forces_mujoco_test
