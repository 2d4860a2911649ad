// Jacobians and their rates against extrapolated differences of the poses.

#include "articula/kinematics/jacobian.hpp"

#include <gtest/gtest.h>

#include "articula/kinematics/manifold.hpp"
#include "articula/math/lie.hpp"
#include "tests/support/differences.hpp"
#include "tests/support/random_tree.hpp"

namespace articula::testing::jacobian_test {
namespace {

constexpr int trees = 25;
constexpr double tolerance = 1e-9;

struct JacobianCase {
  std::mt19937 random;
  Model model;
  Data data;
  RandomState state;
  int body, frame;
  Vector3 offset;  // of a point, in the body's frame

  explicit JacobianCase(int seed)
      : random(static_cast<unsigned>(seed)),
        model(random_model(random, {.bodies = 2 + seed})),
        data(model),
        state(random_state(model, random)),
        body(std::uniform_int_distribution(1, model.nbody() - 1)(random)),
        frame(body - 1),
        offset(uniform_vector(random, 3)) {}

  Placement placement_at(const VectorX& q, bool of_frame) {
    forward_kinematics(model, data, q);
    return of_frame ? frame_placement(model, data, frame) : body_placement(model, data, body);
  }

  VectorX along_velocity(double t) {
    VectorX q(model.nq());
    integrate(model, state.q, state.v, t, q);
    return q;
  }

  void prepare_rates(const VectorX& q) {
    forward_kinematics(model, data, q);
    propagate_motion(model, data, state.v.data(), state.a.data());
    motion_rates(model, data, state.v.data(), state.a.data());
  }
};

// Rows: d position, and the world's axes components of d rotation.
MatrixX expected_jacobian(JacobianCase& c, bool of_frame) {
  const Placement start = c.placement_at(c.state.q, of_frame);
  return ridders_tangent(
      c.model,
      [&](const VectorX& q) -> VectorX {
        const Placement at = c.placement_at(q, of_frame);
        const Eigen::AngleAxisd turn(Matrix3(at.R.eigen() * start.R.eigen().transpose()));
        VectorX both(6);
        both << at.p.eigen(), turn.axis() * turn.angle();
        return both;
      },
      c.state.q);
}

TEST(jacobians, of_bodies_and_frames_are_derivatives_of_their_poses) {
  for (int seed = 0; seed < trees; ++seed) {
    JacobianCase c(seed);
    for (const bool of_frame : {false, true}) {
      const MatrixX expected = expected_jacobian(c, of_frame);
      Matrix6X J(6, c.model.nv());
      c.placement_at(c.state.q, of_frame);
      if (of_frame)
        frame_jacobian(c.model, c.data, c.frame, J);
      else
        body_jacobian(c.model, c.data, c.body, J);
      EXPECT_LT((J - expected).cwiseAbs().maxCoeff(), tolerance) << "seed " << seed;
    }
  }
}

TEST(jacobians, of_points_are_derivatives_of_their_positions) {
  for (int seed = 0; seed < trees; ++seed) {
    JacobianCase c(seed);
    const auto point = [&](const VectorX& q) -> VectorX {
      const Placement at = c.placement_at(q, false);
      return (at.p + at.R * Vec3(c.offset)).eigen();
    };
    const MatrixX expected = ridders_tangent(c.model, point, c.state.q);
    const Vector3 now = point(c.state.q);
    Matrix3X J(3, c.model.nv());
    point_jacobian(c.model, c.data, c.body, now, J);
    EXPECT_LT((J - expected).cwiseAbs().maxCoeff(), tolerance) << "seed " << seed;
  }
}

TEST(jacobians, rates_are_derivatives_along_the_motion) {
  for (int seed = 0; seed < trees; ++seed) {
    JacobianCase c(seed);
    const int nv = c.model.nv();
    Matrix6X J(6, nv), rate(6, nv);
    Matrix3X J_point(3, nv), rate_point(3, nv);
    const auto point = [&] {
      const Placement at = body_placement(c.model, c.data, c.body);
      return (at.p + at.R * Vec3(c.offset)).eigen();
    };
    const auto expected = [&](auto jacobian) {
      return ridders([&](double t) -> VectorX {
        forward_kinematics(c.model, c.data, c.along_velocity(t));
        return jacobian();
      });
    };
    const auto expect = [&](const auto& got, const VectorX& wanted) {
      EXPECT_LT((got.reshaped() - wanted).cwiseAbs().maxCoeff(), tolerance) << "seed " << seed;
    };
    const VectorX body = expected([&] { return body_jacobian(c.model, c.data, c.body, J), J.reshaped(); });
    const VectorX frame = expected([&] { return frame_jacobian(c.model, c.data, c.frame, J), J.reshaped(); });
    const VectorX of_point = expected(
        [&] { return point_jacobian(c.model, c.data, c.body, point(), J_point), J_point.reshaped(); });
    c.prepare_rates(c.state.q);
    body_jacobian_rate(c.model, c.data, c.body, rate);
    expect(rate, body);
    frame_jacobian_rate(c.model, c.data, c.frame, rate);
    expect(rate, frame);
    point_jacobian_rate(c.model, c.data, c.body, point(), rate_point);
    expect(rate_point, of_point);
  }
}

// p' = J v, p'' = J a + J' v
TEST(jacobians, velocities_and_accelerations_of_points_follow_from_them) {
  for (int seed = 0; seed < trees; ++seed) {
    JacobianCase c(seed);
    const int nv = c.model.nv();
    Matrix3X J(3, nv), rate(3, nv);
    c.prepare_rates(c.state.q);
    const PointMotion motion = point_motion(c.model, c.data, c.body, Vec3(c.offset));
    point_jacobian(c.model, c.data, c.body, motion.position.eigen(), J);
    point_jacobian_rate(c.model, c.data, c.body, motion.position.eigen(), rate);
    EXPECT_LT((motion.velocity.eigen() - J * c.state.v).norm(), 1e-12 * (1 + J.norm()));
    EXPECT_LT((motion.acceleration.eigen() - J * c.state.a - rate * c.state.v).norm(), 1e-12 * (1 + J.norm()))
        << "seed " << seed;
  }
}

// What hangs on a kinematic body is carried along: differences in time while both move.
TEST(jacobians, points_on_a_moving_kinematic_body_are_carried_along) {
  std::mt19937 random(3);
  Description d = chain_description(3);
  BodyDescription carrier;
  carrier.name = "carrier";
  carrier.kinematic = true;
  d.bodies[0].parent = "carrier";
  d.bodies.push_back(carrier);
  const Model model = build(d);
  Data data(model);
  const RandomState state = random_state(model, random);
  const Vector3 w(0.3, -1.0, 2.0), u(1.0, 2.0, -0.5), start(5, 6, 7), offset(0.1, 0.2, 0.3);
  const Quaternion turned = random_rotation(random);
  const auto motion_at = [&](double t) {
    const Matrix3 R =
        (Quaternion(Eigen::AngleAxisd(w.norm() * t, w.normalized())) * turned).toRotationMatrix();
    data.kinematic_pose[0] = {Mat3::from(R), Vec3(Vector3(start + t * u))};
    data.kinematic_twist[0] = {Vec3(w), Vec3(u)};
    const VectorX q = state.q + t * state.v + 0.5 * t * t * state.a, v = state.v + t * state.a;
    forward_kinematics(model, data, q);
    propagate_motion(model, data, v.data(), state.a.data());
    return point_motion(model, data, model.body("link2"), Vec3(offset));
  };
  const VectorX velocity = ridders([&](double t) -> VectorX { return motion_at(t).position.eigen(); });
  const VectorX acceleration = ridders([&](double t) -> VectorX { return motion_at(t).velocity.eigen(); });
  const PointMotion now = motion_at(0.0);
  EXPECT_LT((now.velocity.eigen() - velocity).norm(), 1e-9);
  EXPECT_LT((now.acceleration.eigen() - acceleration).norm(), 1e-9);
}

}  // namespace
}  // namespace articula::testing::jacobian_test
