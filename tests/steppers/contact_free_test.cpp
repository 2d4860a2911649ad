#include "articula/steppers/contact_free.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "articula/dynamics/aba.hpp"
#include "articula/dynamics/crba.hpp"
#include "articula/dynamics/springs.hpp"
#include "articula/error.hpp"
#include "articula/kinematics/manifold.hpp"
#include "articula/steppers/runge_kutta.hpp"
#include "tests/support/random_tree.hpp"

namespace articula::testing::contact_free_test {
namespace {

State random_start(const Model& model, std::mt19937& random) {
  const RandomState start = random_state(model, random);
  return {start.q, start.v, {}, 0.0};
}

// The step's own equations, solved densely: (M + h D) v+ = M v + h (tau - c - springs), q+ = q (+) h v+.
TEST(contact_free_step, solves_its_equations) {
  for (int seed = 0; seed < 30; ++seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    const Model model = random_model(random, {.bodies = 1 + seed});
    Data data(model);
    ContactFreeWork work(model);
    const int nv = model.nv();
    State state = random_start(model, random);
    const State before = state;
    const VectorX tau = uniform_vector(random, nv);
    const StepSettings settings{.dt = 0.01, .implicit_gyroscopic = seed % 2 == 0};
    ASSERT_EQ(contact_free_step(model, data, work, settings, {.forces = tau}, state), StepStatus::ok);

    VectorX bias(nv), force = tau, q(model.nq());
    bias_forces(model, data, before.q, before.v, bias, {.gyroscopic_step = seed % 2 == 0 ? 0.01 : 0.0});
    add_spring_forces(model, before.q, force);
    MatrixX M(nv, nv);
    crba(model, data, before.q);
    dense_mass_matrix(model, data, M);
    MatrixX M_hat = M;
    M_hat.diagonal() += 0.01 * Eigen::Map<const VectorX>(model.constants().damping.data(), nv);
    const VectorX v = M_hat.llt().solve(M * before.v + 0.01 * (force - bias));
    integrate(model, before.q, v, 0.01, q);
    EXPECT_LT(relative_difference(state.v, v), 1e-10) << "seed " << seed;
    EXPECT_LT(relative_difference(state.q, q), 1e-12) << "seed " << seed;
    EXPECT_DOUBLE_EQ(state.time, 0.01);
  }
}

TEST(contact_free_step, is_a_pure_function_of_its_arguments) {
  std::mt19937 random(1);
  const Model model = random_model(random, {.bodies = 12});
  const State start = random_start(model, random);
  const VectorX tau = uniform_vector(random, model.nv());
  Data used(model);
  ContactFreeWork used_work(model);
  for (int i = 0; i < 5; ++i) {  // leave traces of other states
    State other = random_start(model, random);
    ASSERT_EQ(contact_free_step(model, used, used_work, {}, {.forces = tau}, other), StepStatus::ok);
  }
  Data fresh(model);
  ContactFreeWork fresh_work(model);
  State a = start, b = start;
  ASSERT_EQ(contact_free_step(model, used, used_work, {}, {.forces = tau}, a), StepStatus::ok);
  ASSERT_EQ(contact_free_step(model, fresh, fresh_work, {}, {.forces = tau}, b), StepStatus::ok);
  EXPECT_EQ(a.q, b.q);
  EXPECT_EQ(a.v, b.v);
}

// Both steppers, one after the other, on the same arguments.
template <class Check>
void with_each_stepper(const Model& model, Check check) {
  Data data(model);
  ContactFreeWork work(model);
  RungeKuttaWork rk_work(model);
  check([&](State& state, const VectorX& tau, double dt) {
    return contact_free_step(model, data, work, {.dt = dt}, {.forces = tau}, state);
  });
  check([&](State& state, const VectorX& tau, double dt) {
    return runge_kutta_step(model, data, rk_work, dt, tau, state);
  });
}

TEST(steppers, refuse_what_is_not_finite_and_leave_the_state_alone) {
  std::mt19937 random(2);
  const Model model = build(chain_description(4));
  const State start = random_start(model, random);
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  with_each_stepper(model, [&](auto step) {
    const VectorX zero = VectorX::Zero(4), broken = VectorX::Constant(4, nan);
    State state = start;
    EXPECT_EQ(step(state, broken, 0.01), StepStatus::input_not_finite);
    EXPECT_EQ(state.q, start.q);
    state.v[2] = nan;
    EXPECT_EQ(step(state, zero, 0.01), StepStatus::input_not_finite);
    state = start;
    state.v.setConstant(1e200);  // squares overflow
    const State fast = state;
    EXPECT_EQ(step(state, zero, 0.01), StepStatus::result_not_finite);
    EXPECT_EQ(state.v, fast.v);
    EXPECT_EQ(state.q, fast.q);
    EXPECT_EQ(state.time, 0.0);
  });
}

TEST(steppers, refuse_time_steps_and_sizes_that_make_no_sense) {
  const Model model = build(chain_description(2));
  with_each_stepper(model, [&](auto step) {
    State state = neutral_state(model);
    const VectorX zero = VectorX::Zero(2);
    for (const double dt : {0.0, -0.01, std::numeric_limits<double>::infinity()}) {
      EXPECT_THROW(step(state, zero, dt), Error);
    }
    EXPECT_THROW(step(state, VectorX::Zero(3), 0.01), Error);
    state.q.resize(5);
    state.q.setZero();
    EXPECT_THROW(step(state, zero, 0.01), Error);
  });
}

// Two parallel slides without mass between them: M is singular although each slide moves mass.
TEST(steppers, report_a_singular_mass_matrix) {
  Description d;
  BodyDescription body;
  body.joints = {JointDescription{.type = JointType::slide}, JointDescription{.type = JointType::slide}};
  body.inertia.mass = 1.0;
  body.inertia.inertia = Matrix3::Identity();
  d.bodies.push_back(body);
  const Model model = build(d);
  with_each_stepper(model, [&](auto step) {
    State state = neutral_state(model);
    EXPECT_EQ(step(state, VectorX::Zero(2), 0.01), StepStatus::singular_mass);
    EXPECT_EQ(state.q, VectorX::Zero(2));
  });
}

}  // namespace
}  // namespace articula::testing::contact_free_test
