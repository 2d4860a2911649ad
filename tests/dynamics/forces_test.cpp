// External wrenches, and what the equations of motion must not depend on.

#include <gtest/gtest.h>

#include "articula/dynamics/aba.hpp"
#include "articula/dynamics/crba.hpp"
#include "articula/error.hpp"
#include "articula/kinematics/jacobian.hpp"
#include "tests/support/random_tree.hpp"

namespace articula::testing::forces_test {
namespace {

// tau = M a + c - sum_b J_com^T force_b + J_turn^T torque_b
TEST(external_wrenches, act_through_the_jacobians_of_the_centres_of_mass) {
  for (int seed = 0; seed < 30; ++seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    const Model model = random_model(random, {.bodies = 1 + seed});
    Data data(model);
    const RandomState state = random_state(model, random);
    const int nv = model.nv();
    ExternalWrenches external(6, model.nbody());
    external.reshaped() = uniform_vector(random, 6 * model.nbody(), 10.0);
    VectorX without(nv), with(nv);
    rnea(model, data, state.q, state.v, state.a, without);
    rnea(model, data, state.q, state.v, state.a, with, {.external = &external});
    VectorX expected = without;
    Matrix6X J(6, nv);
    Matrix3X J_com(3, nv);
    for (int b = 1; b < model.nbody(); ++b) {
      const Placement at = body_placement(model, data, b);
      const Vector3 com = (at.p + at.R * Vec3(model.description().bodies[b - 1].inertia.com)).eigen();
      point_jacobian(model, data, b, com, J_com);
      body_jacobian(model, data, b, J);
      expected -= J_com.transpose() * external.col(b).head<3>();
      expected -= J.bottomRows<3>().transpose() * external.col(b).tail<3>();
    }
    EXPECT_LT((with - expected).norm(), 1e-12 * (1 + with.norm())) << "seed " << seed;
  }
}

TEST(external_wrenches, need_a_column_for_every_body) {
  const Model model = build(chain_description(3));
  Data data(model);
  const VectorX zero = VectorX::Zero(3);
  VectorX out(3);
  ExternalWrenches external = Matrix6X::Zero(6, 3);  // the world's column is missing
  EXPECT_THROW(rnea(model, data, zero, zero, zero, out, {.external = &external}), Error);
  EXPECT_THROW(static_cast<void>(aba(model, data, zero, zero, zero, out, {.external = &external})), Error);
}

struct Accelerations {
  VectorX a, bias;
  MatrixX M;
};

Accelerations dynamics_of(const Model& model, const VectorX& q, const VectorX& v, const VectorX& tau) {
  Data data(model);
  const int nv = model.nv();
  Accelerations out{VectorX(nv), VectorX(nv), MatrixX(nv, nv)};
  EXPECT_TRUE(aba(model, data, q, v, tau, out.a));
  bias_forces(model, data, q, v, out.bias);
  crba(model, data, q);
  dense_mass_matrix(model, data, out.M);
  return out;
}

// A robot a thousand kilometres away moves as here, to the last bit but a few: nothing is taken
// about the world's origin.
TEST(equations_of_motion, do_not_depend_on_where_the_robot_is) {
  const Vector3 far(1e6, -1e6, 1e6);
  for (int seed = 0; seed < 40; ++seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    Description d = random_description(random, {.bodies = 10});
    const Model here = build(d);
    if (here.nv() == 0) continue;
    const RandomState state = random_state(here, random);
    const VectorX tau = uniform_vector(random, here.nv());
    for (BodyDescription& body : d.bodies) {
      if (body.parent == "world") body.pose.position += far;
    }
    const Model there = build(d);
    VectorX q = state.q;
    for (const JointIndex& joint : there.structure().joints) {
      if (joint.type == JointType::free) q.segment<3>(joint.q) += far;
    }
    const Accelerations expected = dynamics_of(here, state.q, state.v, tau);
    const Accelerations got = dynamics_of(there, q, state.v, tau);
    EXPECT_LT(relative_difference(got.M, expected.M), 1e-14) << "seed " << seed;
    EXPECT_LT(relative_difference(got.bias, expected.bias), 1e-13) << "seed " << seed;
    EXPECT_LT(relative_difference(got.a, expected.a), 1e-11) << "seed " << seed;
  }
}

// A robot and its world turned together: joint accelerations stay.
TEST(equations_of_motion, do_not_depend_on_the_direction_of_the_axes) {
  for (int seed = 0; seed < 20; ++seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    Description d = random_description(random, {.bodies = 10});
    for (BodyDescription& body : d.bodies) {  // free joints have coordinates of the world
      if (!body.joints.empty() && body.joints[0].type == JointType::free)
        body.joints[0].type = JointType::ball;
    }
    const Model here = build(d);
    if (here.nv() == 0) continue;
    const RandomState state = random_state(here, random);
    const VectorX tau = uniform_vector(random, here.nv());
    const Quaternion turn = random_rotation(random);
    d.gravity = turn * d.gravity;
    for (BodyDescription& body : d.bodies) {
      if (body.parent == "world") body.pose = Pose{Vector3::Zero(), turn} * body.pose;
    }
    const Accelerations expected = dynamics_of(here, state.q, state.v, tau);
    const Accelerations got = dynamics_of(build(d), state.q, state.v, tau);
    EXPECT_LT(relative_difference(got.a, expected.a), 1e-10) << "seed " << seed;
  }
}

BodyDescription carrier() {
  BodyDescription body;
  body.name = "carrier";
  body.kinematic = true;
  return body;
}

// A point mass m on a massless rod of length l, hinged about y below the carrier's origin.
Description pendulum_on_carrier(double length) {
  Description d;
  d.bodies.push_back(carrier());
  BodyDescription bob;
  bob.name = "bob";
  bob.parent = "carrier";
  bob.joints = {JointDescription{.name = "swing", .axis = Vector3::UnitY()}};
  bob.inertia.mass = 2.0;
  bob.inertia.com = {0, 0, -length};
  d.bodies.push_back(bob);
  return d;
}

// theta'' = -g/l sin theta + W^2 sin theta cos theta on a platform that turns at W about the vertical.
TEST(kinematic_bodies, a_pendulum_on_a_turntable_feels_the_centrifugal_force) {
  const double length = 0.7, g = 9.81;
  const Model model = build(pendulum_on_carrier(length));
  Data data(model);
  VectorX q(1), v(1), a(1);
  for (const double speed : {0.0, 2.0, 10.0}) {
    for (const double angle : {-2.0, 0.3, 1.2}) {
      for (const double rate : {-3.0, 0.0, 5.0}) {  // theta' turns with the plane: no influence
        data.kinematic_twist[0] = {Vec3(0, 0, speed), Vec3()};
        q[0] = angle, v[0] = rate;
        ASSERT_TRUE(aba(model, data, q, v, VectorX::Zero(1), a));
        const double expected =
            -g / length * std::sin(angle) + speed * speed * std::sin(angle) * std::cos(angle);
        EXPECT_NEAR(a[0], expected, 1e-13 * (1 + std::abs(expected)));
      }
    }
  }
}

// Away from the axis by R along x: the centrifugal force adds W^2 R cos theta / l.
TEST(kinematic_bodies, an_offset_from_the_axis_and_a_drifting_carrier_count_as_they_must) {
  const double length = 0.7, g = 9.81, radius = 3.0, speed = 2.0, angle = 0.4;
  Description d = pendulum_on_carrier(length);
  d.bodies[1].pose.position = {radius, 0, 0};
  const Model model = build(d);
  Data data(model);
  const VectorX q = VectorX::Constant(1, angle), v = VectorX::Constant(1, 1.5), zero = VectorX::Zero(1);
  VectorX a(1), tau(1);
  // The bob hangs at x = radius - l sin(theta): turning about y swings it towards -x.
  const double x = radius - length * std::sin(angle);
  const double expected = -g / length * std::sin(angle) - speed * speed * x * std::cos(angle) / length;
  for (const Vector3& drift : {Vector3(0, 0, 0), Vector3(4, -5, 6)}) {
    // A carrier that turns and drifts with constant twist: its origin moves uniformly.
    data.kinematic_twist[0] = {Vec3(0, 0, speed), Vec3(drift)};
    ASSERT_TRUE(aba(model, data, q, v, zero, a));
    EXPECT_NEAR(a[0], expected, 1e-12);
    rnea(model, data, q, v, a, tau);
    EXPECT_NEAR(tau[0], 0.0, 1e-12);
  }
}

}  // namespace
}  // namespace articula::testing::forces_test
