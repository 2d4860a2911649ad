// The rivals agree with each other on one tree, written twice: as MJCF and as arrays. Whoever compares with
// them may then blame himself. A rival that is not built is skipped.
#include <Eigen/Dense>
#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <stdexcept>

#include "bench/peers/peer_load.hpp"

namespace articula::peers {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// A flying body with a leg (hinge about a slanted axis with an off-centre anchor; a shank on a fixed bracket)
// and an arm (slide and hinge on one body, then a ball), beside a pendulum fixed to the world. Every kind of
// joint occurs.
constexpr const char* mixed_mjcf = R"(
<mujoco>
  <compiler angle="radian"/>
  <option gravity="0.3 -0.4 -9.7"><flag contact="disable" constraint="disable"/></option>
  <worldbody>
    <body name="base">
      <freejoint/>
      <inertial pos="0.02 -0.01 0.03" mass="3" fullinertia="0.05 0.06 0.04 0.002 -0.001 0.003"/>
      <body name="thigh" pos="0.1 0.2 -0.05" quat="0.8 0.6 0 0">
        <joint type="hinge" pos="0.01 0.02 -0.03" axis="1 2 -2" armature="0.02" damping="0.3"/>
        <inertial pos="0.03 0 -0.1" mass="1.2" fullinertia="0.01 0.012 0.004 0.0005 0.0002 -0.0003"/>
        <body name="bracket" pos="0 0.01 -0.2" quat="0.6 0 0.8 0">
          <inertial pos="0 0.01 0" mass="0.2" diaginertia="0.0004 0.0003 0.0002"/>
          <body name="shank" pos="0 0 -0.05">
            <joint type="hinge" axis="0 -1 0" armature="0.01"/>
            <inertial pos="0 0.01 -0.12" mass="0.6" diaginertia="0.004 0.004 0.0005"/>
          </body>
        </body>
      </body>
      <body name="arm" pos="-0.1 0.05 0.1">
        <joint type="slide" axis="0 1 0" damping="0.7"/>
        <joint type="hinge" pos="0.02 0 0" axis="1 0 0"/>
        <inertial pos="0 0.1 0.02" mass="0.8" diaginertia="0.005 0.002 0.005"/>
        <body name="hand" pos="0 0.25 0" quat="0 0.6 0 0.8">
          <joint type="ball" damping="0.05" armature="0.003"/>
          <inertial pos="0.01 0.02 0.05" mass="0.4" diaginertia="0.001 0.0012 0.0007"/>
        </body>
      </body>
    </body>
    <body name="pendulum" pos="1 0 0">
      <joint type="hinge" axis="0 0 1"/>
      <inertial pos="0.2 0 0" mass="0.5" diaginertia="0.001 0.003 0.003"/>
    </body>
  </worldbody>
</mujoco>)";

PeerJoint joint(int parent, PeerJointType type, const Eigen::Vector3d& at, const Eigen::Quaterniond& turn,
                const Eigen::Vector3d& axis) {
  PeerJoint result;
  result.parent = parent;
  result.type = type;
  Eigen::Map<Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(result.rotation) = turn.toRotationMatrix();
  Eigen::Map<Eigen::Vector3d>(result.translation) = at;
  Eigen::Map<Eigen::Vector3d>(result.axis) = axis;
  return result;
}

// Inertia as MJCF's fullinertia: xx yy zz xy xz yz.
PeerJoint with_body(PeerJoint joint, double mass, const Eigen::Vector3d& com,
                    const Eigen::Matrix<double, 6, 1>& I) {
  joint.mass = mass;
  Eigen::Map<Eigen::Vector3d>(joint.com) = com;
  Eigen::Map<Eigen::Matrix3d>(joint.inertia) << I[0], I[3], I[4], I[3], I[1], I[5], I[4], I[5], I[2];
  return joint;
}

PeerJoint with_loss(PeerJoint joint, double armature, double damping) {
  joint.armature = armature;
  joint.damping = damping;
  return joint;
}

PeerTreeArrays mixed_tree() {
  using Q = Eigen::Quaterniond;
  using V = Eigen::Vector3d;
  const V none = V::Zero();
  const Q straight = Q::Identity();
  PeerTreeArrays tree;
  tree.gravity[0] = 0.3, tree.gravity[1] = -0.4, tree.gravity[2] = -9.7;
  const int base = tree.add(with_body(joint(-1, PEER_FREE, none, straight, none), 3, {0.02, -0.01, 0.03},
                                      {0.05, 0.06, 0.04, 0.002, -0.001, 0.003}));
  const V anchor(0.01, 0.02, -0.03);  // the thigh's frame is at -anchor in the joint's
  const Q thigh_turn(0.8, 0.6, 0, 0);
  const int thigh = tree.add(with_loss(
      with_body(joint(base, PEER_HINGE, V(0.1, 0.2, -0.05) + thigh_turn * anchor, thigh_turn, {1, 2, -2}),
                1.2, V(0.03, 0, -0.1) - anchor, {0.01, 0.012, 0.004, 0.0005, 0.0002, -0.0003}),
      0.02, 0.3));
  const int bracket =
      tree.add(with_body(joint(thigh, PEER_FIXED, V(0, 0.01, -0.2) - anchor, Q(0.6, 0, 0.8, 0), none), 0.2,
                         {0, 0.01, 0}, {0.0004, 0.0003, 0.0002, 0, 0, 0}));
  tree.add(with_loss(with_body(joint(bracket, PEER_HINGE, {0, 0, -0.05}, straight, {0, -1, 0}), 0.6,
                               {0, 0.01, -0.12}, {0.004, 0.004, 0.0005, 0, 0, 0}),
                     0.01, 0));
  const int slide =
      tree.add(with_loss(joint(base, PEER_SLIDE, {-0.1, 0.05, 0.1}, straight, {0, 1, 0}), 0, 0.7));
  const V pivot(0.02, 0, 0);
  const int arm = tree.add(with_body(joint(slide, PEER_HINGE, pivot, straight, {1, 0, 0}), 0.8,
                                     V(0, 0.1, 0.02) - pivot, {0.005, 0.002, 0.005, 0, 0, 0}));
  tree.add(with_loss(with_body(joint(arm, PEER_BALL, V(0, 0.25, 0) - pivot, Q(0, 0.6, 0, 0.8), none), 0.4,
                               {0.01, 0.02, 0.05}, {0.001, 0.0012, 0.0007, 0, 0, 0}),
                     0.003, 0.05));
  tree.add(with_body(joint(-1, PEER_HINGE, {1, 0, 0}, straight, {0, 0, 1}), 0.5, {0.2, 0, 0},
                     {0.001, 0.003, 0.003, 0, 0, 0}));
  return tree;
}

constexpr int mixed_nq = 16, mixed_nv = 14;
constexpr int mixed_quaternions[] = {3, 11};  // in q: the base's, the hand's

// Random states of the mixed tree.
struct States {
  int count;
  MatrixXd q, v, tau, a;  // a column each

  explicit States(int count_in) : count(count_in) {
    std::mt19937 generator(7);
    std::normal_distribution<double> normal;
    const auto random = [&](int rows) {
      return MatrixXd::NullaryExpr(rows, count, [&] { return normal(generator); });
    };
    q = random(mixed_nq), v = random(mixed_nv), tau = random(mixed_nv), a = random(mixed_nv);
    for (const int start : mixed_quaternions) {
      for (int i = 0; i < count; ++i) q.block<4, 1>(start, i).normalize();
    }
  }
  PeerStates view() const { return {count, q.data(), v.data(), tau.data(), a.data(), nullptr, nullptr}; }
};

// q moved along the tangent: free joint (position in the world, rotation in the body), the rest by plain
// addition.
VectorXd moved(VectorXd q, const VectorXd& step) {
  const auto turn = [&](int start, const Eigen::Vector3d& by) {
    const Eigen::Quaterniond old(q[start], q[start + 1], q[start + 2], q[start + 3]);
    const double angle = by.norm();
    const Eigen::Quaterniond result =
        angle == 0.0 ? old : old * Eigen::Quaterniond(Eigen::AngleAxisd(angle, by / angle));
    q.segment<4>(start) << result.w(), result.x(), result.y(), result.z();
  };
  q.head<3>() += step.head<3>();
  turn(3, step.segment<3>(3));
  q.segment<4>(7) += step.segment<4>(6);  // thigh, shank, slide, arm
  turn(11, step.segment<3>(10));
  q[15] += step[13];
  return q;
}

class Peers : public testing::Test {
 protected:
  std::string why_no_mujoco, why_no_pinocchio;
  const PeerApi* mujoco = load_peer("mujoco", why_no_mujoco);
  const PeerApi* pinocchio = load_peer("pinocchio", why_no_pinocchio);

  PeerModelPtr mixed_in_mujoco() const { return create_from_mjcf_text(*mujoco, mixed_mjcf); }
  PeerModelPtr mixed_in_pinocchio() const { return create_from_tree(*pinocchio, mixed_tree().view()); }
};

double relative_error(const std::vector<double>& got, const std::vector<double>& expected) {
  const Eigen::Map<const VectorXd> x(got.data(), static_cast<Eigen::Index>(got.size()));
  const Eigen::Map<const VectorXd> y(expected.data(), static_cast<Eigen::Index>(expected.size()));
  return (x - y).cwiseAbs().maxCoeff() / y.cwiseAbs().maxCoeff();
}

TEST_F(Peers, mujoco_and_pinocchio_agree_on_a_tree_with_every_joint) {
  if (mujoco == nullptr) GTEST_SKIP() << why_no_mujoco;
  if (pinocchio == nullptr) GTEST_SKIP() << why_no_pinocchio;
  const PeerModelPtr a = mixed_in_mujoco(), b = mixed_in_pinocchio();
  for (const PeerModelPtr* model : {&a, &b}) {
    const PeerApi& api = *model->get_deleter().api;
    ASSERT_EQ(api.size(model->get(), "nq"), mixed_nq);
    ASSERT_EQ(api.size(model->get(), "nv"), mixed_nv);
  }
  const States states(50);
  for (const char* quantity :
       {"mass_matrix", "bias", "inverse_dynamics", "forward_dynamics", "smooth_acceleration"}) {
    const double error =
        relative_error(evaluate(a, quantity, states.view()), evaluate(b, quantity, states.view()));
    EXPECT_LT(error, 1e-10) << quantity;
    EXPECT_GT(error, 0.0) << quantity << ": two engines that agree to the last bit were not two";
  }
}

// Central differences of order four: error about h^4 plus rounding / h.
MatrixXd differences(const std::function<VectorXd(const VectorXd& step)>& f) {
  const double h = 1e-3;
  MatrixXd result(mixed_nv, mixed_nv);
  for (int i = 0; i < mixed_nv; ++i) {
    const VectorXd e = VectorXd::Unit(mixed_nv, i);
    result.col(i) = (8.0 * (f(h * e) - f(-h * e)) - (f(2 * h * e) - f(-2 * h * e))) / (12.0 * h);
  }
  return result;
}

TEST_F(Peers, pinocchio_s_derivatives_are_those_of_its_values_in_our_convention) {
  if (pinocchio == nullptr) GTEST_SKIP() << why_no_pinocchio;
  const PeerModelPtr model = mixed_in_pinocchio();
  const States states(20);
  for (int i = 0; i < states.count; ++i) {
    const VectorXd q = states.q.col(i), v = states.v.col(i), tau = states.tau.col(i), a = states.a.col(i);
    const auto value = [&](const char* quantity, const VectorXd& at_q, const VectorXd& at_v,
                           const VectorXd& at_tau) {
      const auto out =
          evaluate(model, quantity, {1, at_q.data(), at_v.data(), at_tau.data(), a.data(), {}, {}});
      return VectorXd(Eigen::Map<const VectorXd>(out.data(), mixed_nv));
    };
    const auto expect = [&](const char* quantity, const MatrixXd& reference) {
      const auto out = evaluate(model, quantity, {1, q.data(), v.data(), tau.data(), a.data(), {}, {}});
      const MatrixXd got = Eigen::Map<const RowMajor>(out.data(), mixed_nv, mixed_nv);
      EXPECT_LT((got - reference).cwiseAbs().maxCoeff() / reference.cwiseAbs().maxCoeff(), 1e-8) << quantity;
    };
    const char* inverse = "inverse_dynamics";
    const char* forward = "forward_dynamics";
    expect("inverse_dynamics_dq",
           differences([&](const VectorXd& d) { return value(inverse, moved(q, d), v, tau); }));
    expect("inverse_dynamics_dv",
           differences([&](const VectorXd& d) { return value(inverse, q, v + d, tau); }));
    expect("forward_dynamics_dq",
           differences([&](const VectorXd& d) { return value(forward, moved(q, d), v, tau); }));
    expect("forward_dynamics_dv",
           differences([&](const VectorXd& d) { return value(forward, q, v + d, tau); }));
    expect("forward_dynamics_dtau",
           differences([&](const VectorXd& d) { return value(forward, q, v, tau + d); }));
  }
}

TEST_F(Peers, pinocchio_rejects_what_it_cannot_represent) {
  if (pinocchio == nullptr) GTEST_SKIP() << why_no_pinocchio;
  const auto message = [&](const PeerTreeArrays& tree) -> std::string {
    try {
      create_from_tree(*pinocchio, tree.view());
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "accepted";
  };
  PeerTreeArrays breadth_first;
  for (const int parent : {-1, 0, 0, 1}) breadth_first.add({.parent = parent, .mass = 1});
  EXPECT_NE(message(breadth_first).find("joint 3: its parent is not on the path"), std::string::npos);
  PeerTreeArrays no_axis;
  no_axis.add({.axis = {0, 0, 0}});
  EXPECT_NE(message(no_axis).find("joint 0: its axis is zero"), std::string::npos);
  PeerTreeArrays heavy_base;
  heavy_base.add({.type = PEER_FREE, .armature = 0.1, .mass = 1});
  EXPECT_NE(message(heavy_base).find("armature on a free joint"), std::string::npos);
}

TEST_F(Peers, mujoco_reports_actuators_passive_forces_sensors_and_masses) {
  if (mujoco == nullptr) GTEST_SKIP() << why_no_mujoco;
  const PeerModelPtr model = create_from_mjcf_text(*mujoco, R"(
    <mujoco>
      <worldbody><body pos="1 2 3">
        <joint name="j" axis="0 0 1" damping="0.5" stiffness="2"/><geom type="sphere" size="0.1" mass="4"/>
      </body></worldbody>
      <actuator><motor joint="j" gear="3"/></actuator>
      <sensor><jointpos joint="j"/><jointvel joint="j"/></sensor>
    </mujoco>)");
  const double q[] = {0.25, -0.5}, v[] = {1.5, 2.0}, ctrl[] = {0.7, -0.1};
  const PeerStates states{2, q, v, nullptr, nullptr, ctrl, nullptr};
  const auto expect = [&](const char* quantity, const std::vector<double>& expected) {
    const std::vector<double> got = evaluate(model, quantity, states);
    ASSERT_EQ(got.size(), expected.size()) << quantity;
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-12) << quantity;
  };
  expect("actuator_forces", {0.7, -0.1});
  expect("actuator_generalised_forces", {2.1, -0.3});
  expect("passive_forces", {-0.5 * 1.5 - 2 * 0.25, -0.5 * 2.0 + 2 * 0.5});
  expect("sensors", {0.25, 1.5, -0.5, 2.0});
  expect("body_masses", {0, 4, 0, 4});
  expect("body_positions", {0, 0, 0, 1, 2, 3, 0, 0, 0, 1, 2, 3});
  expect("contact_count", {0, 0});
}

// x_n = x_0 + n h v_0 + n (n + 1) / 2 h^2 g
TEST_F(Peers, a_body_dropped_in_mujoco_falls_by_the_semi_implicit_closed_form) {
  if (mujoco == nullptr) GTEST_SKIP() << why_no_mujoco;
  const PeerModelPtr model = create_from_mjcf_text(*mujoco, R"(
    <mujoco><option gravity="0 0 -10"/>
      <worldbody><body><freejoint/><geom type="sphere" size="0.1" mass="1"/></body></worldbody></mujoco>)");
  const PeerApi& api = *model.get_deleter().api;
  ASSERT_EQ(api.set_option(model.get(), "timestep", 0.01), PEER_OK);
  const double q[] = {0, 0, 5, 1, 0, 0, 0}, v[] = {0, 0, 1, 0, 0, 0};
  const PeerStates start{1, q, v, nullptr, nullptr, nullptr, nullptr};
  const int n = 100;
  std::vector<double> path(7 * n);
  ASSERT_EQ(api.simulate(model.get(), &start, n, nullptr, path.data(), nullptr), PEER_OK);
  for (int i = 1; i <= n; ++i) {
    const double expected = 5.0 + i * 0.01 - 0.5 * i * (i + 1) * 1e-4 * 10.0;
    EXPECT_NEAR(path[static_cast<std::size_t>(7 * (i - 1) + 2)], expected, 1e-12);
  }
}

TEST_F(Peers, kernels_a_rival_has_are_timed_and_others_are_not_available) {
  const States states(16);
  const PeerStates view = states.view();
  if (mujoco == nullptr && pinocchio == nullptr) GTEST_SKIP() << why_no_mujoco;
  for (const PeerApi* rival : {mujoco, pinocchio}) {
    if (rival == nullptr) continue;
    const PeerApi& api = *rival;
    const PeerModelPtr model = rival == mujoco ? mixed_in_mujoco() : mixed_in_pinocchio();
    for (const char* kernel : {"kinematics", "rnea", "crba_factor", "aba"}) {
      double least = 0, median = 0;
      ASSERT_EQ(api.time_kernel(model.get(), kernel, &view, 3, &least, &median), PEER_OK)
          << api.name << " " << kernel;
      EXPECT_GT(least, 0.0);
      EXPECT_GE(median, least);
    }
    double ignored = 0;
    EXPECT_EQ(api.time_kernel(model.get(), "no_such", &view, 3, &ignored, &ignored), PEER_NOT_AVAILABLE);
    EXPECT_EQ(api.time_kernel(model.get(), "rnea_derivatives", &view, 3, &ignored, &ignored),
              rival == mujoco ? PEER_NOT_AVAILABLE : PEER_OK);
  }
}

TEST_F(Peers, a_rival_that_is_absent_is_null_with_a_reason) {
  std::string reason;
  EXPECT_EQ(load_peer("mujoco", reason, "/nonexistent"), nullptr);
  EXPECT_NE(reason.find("make peers"), std::string::npos) << reason;
}

TEST_F(Peers, a_description_a_rival_cannot_read_is_an_error_with_its_own_words) {
  if (mujoco == nullptr) GTEST_SKIP() << why_no_mujoco;
  EXPECT_THROW(
      create_from_mjcf_text(*mujoco, "<mujoco><worldbody><body><joint/></body></worldbody></mujoco>"),
      std::runtime_error);
  EXPECT_THROW(create_from_mjcf_file(*mujoco, "/nonexistent.xml"), std::runtime_error);
  EXPECT_THROW(create_from_tree(*mujoco, mixed_tree().view()), std::runtime_error);
}

}  // namespace
}  // namespace articula::peers
