#include "articula/kinematics/manifold.hpp"

#include <gtest/gtest.h>

#include "articula/error.hpp"
#include "tests/support/differences.hpp"
#include "tests/support/random_tree.hpp"

namespace articula::testing::manifold_test {
namespace {

Model every_joint(std::mt19937& random) {
  Description d;
  for (const JointType type : {JointType::free, JointType::ball, JointType::hinge, JointType::slide}) {
    BodyDescription body;
    body.joints = {JointDescription{.type = type}};
    body.inertia.mass = 1.0;
    body.inertia.inertia = Matrix3::Identity();
    body.pose.rotation = random_rotation(random);
    d.bodies.push_back(body);
  }
  return build(d);
}

TEST(manifold, adding_turns_in_the_child_s_axes_and_shifts_in_the_world_s) {
  std::mt19937 random(1);
  const Model model = every_joint(random);
  const VectorX q = random_state(model, random).q, d = uniform_vector(random, model.nv());
  VectorX moved(model.nq());
  integrate(model, q, d, 0.5, moved);
  const auto turned = [](const VectorX& from, const Vector3& by) {
    const Quaternion q0(from[0], from[1], from[2], from[3]);
    const Quaternion q1 = q0 * Quaternion(Eigen::AngleAxisd(by.norm(), by.normalized()));
    return Eigen::Vector4d(q1.w(), q1.x(), q1.y(), q1.z());
  };
  EXPECT_LT((moved.head<3>() - q.head<3>() - 0.5 * d.head<3>()).norm(), 1e-15);
  EXPECT_LT((moved.segment<4>(3) - turned(q.segment<4>(3), 0.5 * d.segment<3>(3))).norm(), 1e-15);
  EXPECT_LT((moved.segment<4>(7) - turned(q.segment<4>(7), 0.5 * d.segment<3>(6))).norm(), 1e-15);
  EXPECT_LT((moved.tail<2>() - q.tail<2>() - 0.5 * d.tail<2>()).norm(), 1e-15);
  VectorX in_place = q;
  integrate(model, in_place, d, 0.5, in_place);
  EXPECT_EQ(in_place, moved);
}

TEST(manifold, difference_undoes_adding) {
  for (int seed = 0; seed < 40; ++seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    const Model model = random_model(random, {.bodies = 1 + seed % 20});
    const VectorX q = random_state(model, random).q, d = uniform_vector(random, model.nv());  // |d| < pi
    VectorX moved(model.nq()), back(model.nv());
    integrate(model, q, d, 1.0, moved);
    difference(model, q, moved, back);
    EXPECT_LT((back - d).cwiseAbs().maxCoeff(), 2e-15) << "seed " << seed;
  }
}

TEST(manifold, jacobians_of_adding_are_its_derivatives) {
  for (int seed = 0; seed < 20; ++seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    const Model model = every_joint(random);
    const int nv = model.nv();
    const VectorX q = random_state(model, random).q, d = uniform_vector(random, nv, seed < 5 ? 1e-3 : 1.5);
    VectorX end(model.nq()), moved(model.nq());
    integrate(model, q, d, 1.0, end);
    const auto from_end = [&](const VectorX& start, const VectorX& by) {
      VectorX away(nv);
      integrate(model, start, by, 1.0, moved);
      difference(model, end, moved, away);
      return away;
    };
    MatrixX by_q(nv, nv), by_d(nv, nv);
    integrate_jacobians(model, d, by_q, by_d);
    const MatrixX expected_q = ridders_tangent(model, [&](const VectorX& x) { return from_end(x, d); }, q);
    const MatrixX expected_d = ridders_jacobian([&](const VectorX& x) { return from_end(q, x); }, d);
    EXPECT_LT((by_q - expected_q).cwiseAbs().maxCoeff(), 1e-10);
    EXPECT_LT((by_d - expected_d).cwiseAbs().maxCoeff(), 1e-10);
  }
}

TEST(manifold, jacobians_of_the_difference_are_its_derivatives) {
  for (int seed = 0; seed < 20; ++seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    const Model model = every_joint(random);
    const int nv = model.nv();
    const VectorX q0 = random_state(model, random).q;
    VectorX q1(model.nq());
    integrate(model, q0, uniform_vector(random, nv), 1.0, q1);
    const auto between = [&](const VectorX& from, const VectorX& to) {
      VectorX d(nv);
      difference(model, from, to, d);
      return d;
    };
    MatrixX by_q0(nv, nv), by_q1(nv, nv);
    difference_jacobians(model, q0, q1, by_q0, by_q1);
    const MatrixX expected_q0 = ridders_tangent(model, [&](const VectorX& x) { return between(x, q1); }, q0);
    const MatrixX expected_q1 = ridders_tangent(model, [&](const VectorX& x) { return between(q0, x); }, q1);
    EXPECT_LT((by_q0 - expected_q0).cwiseAbs().maxCoeff(), 1e-9);
    EXPECT_LT((by_q1 - expected_q1).cwiseAbs().maxCoeff(), 1e-9);
  }
}

TEST(manifold, vectors_of_the_wrong_size_are_refused) {
  std::mt19937 random(1);
  const Model model = every_joint(random);
  VectorX q = model.neutral_configuration(), v = VectorX::Zero(model.nv());
  EXPECT_THROW(integrate(model, v, v, 1.0, q), Error);
  EXPECT_THROW(integrate(model, q, q, 1.0, q), Error);
  EXPECT_THROW(difference(model, q, q, q), Error);
}

}  // namespace
}  // namespace articula::testing::manifold_test
