// Velocity and acceleration of places on a robot, and their derivatives, against Ridders' differences.

#include "articula/kinematics/derivatives.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "articula/error.hpp"
#include "articula/kinematics/manifold.hpp"
#include "articula/math/lie.hpp"
#include "tests/support/allocations.hpp"
#include "tests/support/random_tree.hpp"
#include "tests/support/ridders.hpp"

namespace articula::testing::derivatives_test {
namespace {

constexpr double tolerance = 1e-7;
constexpr double product_tolerance = 1e-11;

// Linear and angular rows have different units: each is a block of its own.
void expect_same_derivative(const MatrixX& A, const MatrixX& R, const std::string& label) {
  EXPECT_LT(derivative_error(A.topRows(3), R.topRows(3)), tolerance) << label << ", linear";
  EXPECT_LT(derivative_error(A.bottomRows(3), R.bottomRows(3)), tolerance) << label << ", angular";
}

// A robot in a state, and a place on it: a frame, a body, or a point of a body.
struct PlaceCase {
  std::mt19937 random;
  Model model;
  Data data;
  RandomState state;
  int kind, body, frame;
  Vec3 offset;

  PlaceCase(Model built, int seed)
      : random(static_cast<unsigned>(seed) + 4242),
        model(std::move(built)),
        data(model),
        state(random_state(model, random)),
        kind(seed % 3),
        body(std::uniform_int_distribution(1, model.nbody() - 1)(random)),
        frame(seed % std::max(1, static_cast<int>(model.structure().frames.size()))),
        offset(uniform_vector(random, 3, 0.3)) {
    move_kinematic_bodies(data, random);
  }

  // Every joint type, several on a body; every fourth hangs on a kinematic body.
  static Model tree(int seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    return random_model(random,
                        {.bodies = 1 + seed % 12, .chain = seed % 5 == 4, .kinematic = seed % 4 == 3});
  }

  int nv() const { return model.nv(); }

  void move(const VectorX& q, const VectorX& v, const VectorX& a) {
    forward_kinematics(model, data, q);
    propagate_motion(model, data, v.data(), a.data());
  }
  void prepare() {
    move(state.q, state.v, state.a);
    motion_rates(model, data, state.v.data(), state.a.data());
  }
  // The same place whatever the state.
  LinkPoint place() const {
    if (kind == 0) return frame_point(model, data, frame);
    return body_point(model, data, body, kind == 1 ? Vec3() : offset);
  }
  VectorX moved(const VectorX& direction, double t) const {
    VectorX q(model.nq());
    integrate(model, state.q, direction, t, q);
    return q;
  }
  Placement placement() const {
    return kind == 0 ? frame_placement(model, data, frame) : body_placement(model, data, body);
  }
  // Where the place is, and the rotation vector (world axes) from the orientation `before`.
  Vector6 position(const Matrix3& before) const {
    const Placement at = placement();
    const Eigen::AngleAxisd turn(Matrix3(at.R.eigen() * before.transpose()));
    Vector6 both;
    both << (kind == 2 ? at.p + at.R * offset : at.p).eigen(), turn.angle() * turn.axis();
    return both;
  }

  // Of f, read after moving to (q, v, a), along every unit direction of one argument. (Velocities are
  // linear in v, accelerations quadratic: a large step is exact and quiet there.)
  template <class F>
  MatrixX by_q(F f) {
    const auto along = [&](const VectorX& e, double t) {
      move(moved(e, t), state.v, state.a);
      return f();
    };
    return columns(along, 3e-2);
  }
  template <class F>
  MatrixX by_v(F f) {
    const auto along = [&](const VectorX& e, double t) {
      move(state.q, state.v + t * e, state.a);
      return f();
    };
    return columns(along, 1.0);
  }
  template <class F>
  MatrixX by_a(F f) {
    const auto along = [&](const VectorX& e, double t) {
      move(state.q, state.v, state.a + t * e);
      return f();
    };
    return columns(along, 1.0);
  }

 private:
  template <class Along>
  MatrixX columns(Along f, double step) {
    MatrixX J(6, nv());
    for (int d = 0; d < nv(); ++d) {
      const VectorX e = VectorX::Unit(nv(), d);
      J.col(d) = ridders([&](double t) -> VectorX { return f(e, t); }, step);
    }
    return J;
  }
};

void expect_derivatives(PlaceCase& c, const std::string& label) {
  const int nv = c.nv();
  c.prepare();
  const LinkPoint at = c.place();
  const Matrix3 before = c.placement().R.eigen();
  Matrix6X J(6, nv), velocity_q(6, nv), velocity_v(6, nv), acceleration_q(6, nv), acceleration_v(6, nv),
      acceleration_a(6, nv);
  jacobian_at(c.model, c.data, at, J);
  velocity_derivatives(c.model, c.data, at, velocity_q, velocity_v);
  acceleration_derivatives(c.model, c.data, at, acceleration_q, acceleration_v, acceleration_a);

  const auto position = [&] { return c.position(before); };
  const auto velocity = [&] { return velocity_at(c.data, c.place()); };
  const auto acceleration = [&] { return acceleration_at(c.model, c.data, c.place()); };
  expect_same_derivative(J, c.by_q(position), label + ": position by q");
  expect_same_derivative(velocity_q, c.by_q(velocity), label + ": velocity by q");
  expect_same_derivative(velocity_v, c.by_v(velocity), label + ": velocity by v");
  expect_same_derivative(acceleration_q, c.by_q(acceleration), label + ": acceleration by q");
  expect_same_derivative(acceleration_v, c.by_v(acceleration), label + ": acceleration by v");
  expect_same_derivative(acceleration_a, c.by_a(acceleration), label + ": acceleration by a");
}

TEST(kinematics_derivatives, are_those_of_differences) {
  for (int seed = 0; seed < 240; ++seed) {
    PlaceCase c(PlaceCase::tree(seed), seed);
    expect_derivatives(c, fmt::format("seed {}", seed));
  }
}

TEST(kinematics_derivatives, hold_at_the_end_of_a_chain_of_a_hundred_links) {
  PlaceCase c(build(chain_description(100)), 2);
  c.body = 100;
  expect_derivatives(c, "chain");
}

// The primal, against the motion itself: all joints and the kinematic bodies move on for a time t.
TEST(kinematics_derivatives, velocity_and_acceleration_of_a_place_are_rates_in_time) {
  for (int seed = 0; seed < 60; ++seed) {
    PlaceCase c(PlaceCase::tree(seed), seed);
    c.prepare();
    const Matrix3 before = c.placement().R.eigen();
    const Vector6 velocity = velocity_at(c.data, c.place());
    const Vector6 acceleration = acceleration_at(c.model, c.data, c.place());
    const std::vector<Placement> poses = c.data.kinematic_pose;
    const auto at_time = [&](double t) {
      for (size_t i = 0; i < poses.size(); ++i) {
        const Motion& twist = c.data.kinematic_twist[i];
        c.data.kinematic_pose[i] = {rotation_matrix(exp_rotation(twist.angular * t)) * poses[i].R,
                                    poses[i].p + twist.linear * t};
      }
      c.move(c.moved(c.state.v, t), c.state.v + t * c.state.a, c.state.a);
    };
    const VectorX position_rate = ridders([&](double t) -> VectorX {
      at_time(t);
      return c.position(before);
    });
    const VectorX velocity_rate = ridders([&](double t) -> VectorX {
      at_time(t);
      return velocity_at(c.data, c.place());
    });
    EXPECT_LT((velocity - position_rate).cwiseAbs().maxCoeff(), 1e-9 * (1 + velocity.norm())) << seed;
    EXPECT_LT((acceleration - velocity_rate).cwiseAbs().maxCoeff(), 1e-9 * (1 + acceleration.norm())) << seed;
  }
}

TEST(kinematics_derivatives, products_are_those_with_the_jacobians) {
  for (int seed = 0; seed < 240; ++seed) {
    PlaceCase c(PlaceCase::tree(seed), seed);
    const int nv = c.nv();
    c.prepare();
    const LinkPoint at = c.place();
    MatrixX J(6, nv), vq(6, nv), vv(6, nv), aq(6, nv), av(6, nv), aa(6, nv);
    jacobian_at(c.model, c.data, at, J);
    velocity_derivatives(c.model, c.data, at, vq, vv);
    acceleration_derivatives(c.model, c.data, at, aq, av, aa);
    const VectorX dq = uniform_vector(c.random, nv), dv = uniform_vector(c.random, nv),
                  da = uniform_vector(c.random, nv), start = uniform_vector(c.random, nv);
    const Vector6 y = uniform_vector(c.random, 6);
    const auto expect_same = [&](const VectorX& a, const VectorX& reference) {
      EXPECT_LT(product_difference(a, reference), product_tolerance) << "seed " << seed;
    };
    expect_same(position_directional(c.model, c.data, at, dq), J * dq);
    expect_same(velocity_directional(c.model, c.data, at, dq, dv), vq * dq + vv * dv);
    expect_same(acceleration_directional(c.model, c.data, at, dq, dv, da), aq * dq + av * dv + aa * da);

    // Adjoint products add to what is there.
    VectorX q_bar = start, v_bar = start, a_bar = start;
    add_position_adjoint(c.model, c.data, at, y, q_bar);
    expect_same(q_bar, start + J.transpose() * y);
    q_bar = start;
    add_velocity_adjoint(c.model, c.data, at, y, q_bar, v_bar);
    expect_same(q_bar, start + vq.transpose() * y);
    expect_same(v_bar, start + vv.transpose() * y);
    q_bar = v_bar = start;
    add_acceleration_adjoint(c.model, c.data, at, y, q_bar, v_bar, a_bar);
    expect_same(q_bar, start + aq.transpose() * y);
    expect_same(v_bar, start + av.transpose() * y);
    expect_same(a_bar, start + aa.transpose() * y);
  }
}

TEST(kinematics_derivatives, of_a_world_point_are_those_of_the_body_point_there_and_three_rows_suffice) {
  PlaceCase c(PlaceCase::tree(11), 11);  // hangs on a kinematic body
  const int nv = c.nv();
  c.prepare();
  const LinkPoint of_body = body_point(c.model, c.data, c.body, c.offset);
  const Vector3 world = point_motion(c.model, c.data, c.body, c.offset).position.eigen();
  const LinkPoint of_world = point_on_body(c.model, c.data, c.body, world);
  EXPECT_EQ(of_world.link, of_body.link);
  EXPECT_LT(norm(of_world.r - of_body.r), 1e-14);
  Matrix6X by_q(6, nv), by_v(6, nv), by_a(6, nv);
  Matrix3X linear_q(3, nv), linear_v(3, nv), linear_a(3, nv);
  acceleration_derivatives(c.model, c.data, of_body, by_q, by_v, by_a);
  acceleration_derivatives(c.model, c.data, of_body, linear_q, linear_v, linear_a);
  EXPECT_EQ(linear_q, by_q.topRows(3));
  EXPECT_EQ(linear_v, by_v.topRows(3));
  EXPECT_EQ(linear_a, by_a.topRows(3));
}

TEST(kinematics_derivatives, of_a_kinematic_body_and_of_the_world_vanish) {
  PlaceCase c(PlaceCase::tree(11), 11);
  c.prepare();
  for (int body : {0, c.model.body("mocap")}) {
    Matrix6X by_q = Matrix6X::Ones(6, c.nv()), by_v = by_q, by_a = by_q;
    acceleration_derivatives(c.model, c.data, body_point(c.model, c.data, body), by_q, by_v, by_a);
    EXPECT_TRUE(by_q.isZero(0.0) && by_v.isZero(0.0) && by_a.isZero(0.0));
    velocity_derivatives(c.model, c.data, body_point(c.model, c.data, body), by_q, by_v);
    EXPECT_TRUE(by_q.isZero(0.0) && by_v.isZero(0.0));
  }
}

TEST(kinematics_derivatives, refuse_matrices_of_the_wrong_size) {
  PlaceCase c(PlaceCase::tree(11), 11);
  c.prepare();
  Matrix6X good(6, c.nv());
  MatrixX narrow(6, c.nv() - 1), four_rows(4, c.nv());
  VectorX long_vector(c.nv() + 1);
  EXPECT_THROW(velocity_derivatives(c.model, c.data, c.place(), narrow, good), Error);
  EXPECT_THROW(velocity_derivatives(c.model, c.data, c.place(), good, four_rows), Error);
  EXPECT_THROW(add_position_adjoint(c.model, c.data, c.place(), Vector6::Zero(), long_vector), Error);
}

TEST(kinematics_derivatives, allocate_nothing) {
  SKIP_UNLESS_ALLOCATIONS_ARE_COUNTED();
  PlaceCase c(PlaceCase::tree(11), 11);
  const int nv = c.nv();
  Matrix6X by_q(6, nv), by_v(6, nv), by_a(6, nv);
  VectorX x = VectorX::Ones(nv), y = x, z = x;
  Vector6 sum = Vector6::Zero();
  const auto count = allocations_during([&] {
    forward_kinematics(c.model, c.data, c.state.q);
    propagate_motion(c.model, c.data, c.state.v.data(), c.state.a.data());
    motion_rates(c.model, c.data, c.state.v.data(), c.state.a.data());
    const LinkPoint at = c.place();
    velocity_derivatives(c.model, c.data, at, by_q, by_v);
    acceleration_derivatives(c.model, c.data, at, by_q, by_v, by_a);
    sum += position_directional(c.model, c.data, at, x) + velocity_directional(c.model, c.data, at, x, y) +
           acceleration_directional(c.model, c.data, at, x, y, z);
    add_position_adjoint(c.model, c.data, at, sum, x);
    add_velocity_adjoint(c.model, c.data, at, sum, x, y);
    add_acceleration_adjoint(c.model, c.data, at, sum, x, y, z);
  });
  EXPECT_EQ(count, 0U);
}

}  // namespace
}  // namespace articula::testing::derivatives_test
