// Gradients over many steps.

#include "articula/simulation/rollout_gradient.hpp"

#include <gtest/gtest.h>

#include "articula/io/load.hpp"
#include "tests/support/scene.hpp"

namespace articula::testing::rollout_gradient_test {
namespace {

// 1/2 |v_T|^2 + weight . v_i + |u|^2 / 2
double test_loss(int, const State& state, const ConstVectorRef& control, LossCovector& covector) {
  covector.v += 0.1 * state.v;
  covector.q.array() += 0.01;
  if (control.size() > 0) covector.control += control;
  return 0.05 * state.v.squaredNorm() + 0.5 * control.squaredNorm();
}

MatrixX waves(int rows, int columns) {
  MatrixX controls(rows, columns);
  for (int i = 0; i < columns; ++i) controls.col(i).setConstant(0.2 * std::sin(0.05 * i));
  return controls;
}

TEST(rollout_gradient, of_a_thousand_steps_equals_the_chain_of_jacobians) {
  for (const Contact law : {Contact::ncp, Contact::lcp}) {
    const Simulation simulation(load("half_cheetah"), {.dt = 0.002, .contact = law});
    const Model& model = simulation.model();
    const int nv = model.nv(), steps = 1000;
    const MatrixX controls = waves(model.nu(), steps);
    const State start = neutral_state(model);
    const auto last = [&](int i, const State& state, const ConstVectorRef&, LossCovector& covector) {
      if (i < steps) return 0.0;
      covector.q.setOnes();
      covector.v = state.v;
      return 0.5 * state.v.squaredNorm();
    };
    const RolloutGradient gradient = rollout_gradient(simulation, start, controls, last);
    Step step;
    step.next = start;
    std::vector<StepJacobians> chain;
    for (int i = 0; i < steps; ++i) {
      step.input.controls = controls.col(i);
      simulation.step(step.next, step.input, step);
      chain.push_back(simulation.jacobians(step));
    }
    VectorX x_bar(2 * nv);
    x_bar << VectorX::Ones(nv), step.next.v;
    double scale = 0.0, worst = 0.0;
    for (int i = steps - 1; i >= 0; --i) {
      const VectorX u_bar = chain[i].by_control.transpose() * x_bar;
      x_bar = chain[i].by_state.transpose() * x_bar;
      scale = std::max(scale, u_bar.cwiseAbs().maxCoeff());
      worst = std::max(worst, (u_bar - gradient.controls.col(i)).cwiseAbs().maxCoeff());
    }
    EXPECT_LT(worst, 1e-8 * scale);
    EXPECT_LT((x_bar.head(nv) - gradient.q).norm(), 1e-8 * x_bar.norm());
    EXPECT_LT((x_bar.tail(nv) - gradient.v).norm(), 1e-8 * x_bar.norm());
    EXPECT_EQ(gradient.invalid, 0);
  }
}

TEST(rollout_gradient, has_the_same_bits_for_every_stride_of_checkpoints) {
  const Simulation simulation(load("quadruped"));
  const MatrixX controls = waves(simulation.model().nu(), 50);
  const State start = neutral_state(simulation.model());
  const RolloutGradient all = rollout_gradient(simulation, start, controls, test_loss);
  for (const int stride : {4, 7, 50, 1000}) {
    const RolloutGradient some = rollout_gradient(simulation, start, controls, test_loss, {.stride = stride});
    EXPECT_EQ(all.loss, some.loss) << stride;
    EXPECT_TRUE(all.controls == some.controls && all.q == some.q && all.v == some.v) << stride;
    EXPECT_LT(some.bytes, all.bytes);
  }
}

TEST(rollout_gradient, equals_differences_of_the_loss_and_forward_sensitivities) {
  const Model model = load("cart_pole");
  const Simulation simulation(model, {.dt = 0.01, .contact = Contact::none});
  const MatrixX controls = waves(model.nu(), 40);
  State start = neutral_state(model);
  start.q[1] = 0.3;
  RolloutGradientSettings settings;
  settings.gradient.parameters = model.parameters().matching("gravity");
  const auto end_only = [&](int i, const State& state, const ConstVectorRef&, LossCovector& covector) {
    if (i < 40) return 0.0;
    covector.q[0] = 1.0;
    return state.q[0];
  };
  const RolloutGradient gradient = rollout_gradient(simulation, start, controls, end_only, settings);
  const MatrixX sensitivity = rollout_sensitivity(simulation, start, controls, settings.gradient.parameters);
  EXPECT_LT((sensitivity.row(0).transpose() - gradient.parameters).norm(), 1e-12);
  for (const int i : {0, 20, 39}) {
    constexpr double eps = 1e-5;
    MatrixX up = controls, down = controls;
    up(0, i) += eps;
    down(0, i) -= eps;
    const double difference =
        (rollout(simulation, start, up).last().q[0] - rollout(simulation, start, down).last().q[0]) /
        (2 * eps);
    EXPECT_NEAR(gradient.controls(0, i), difference, 1e-7 * std::abs(difference) + 1e-10);
  }
}

// Modes held, the Hessian is symmetric: d1 . H d2 = d2 . H d1.
TEST(rollout_gradient, gives_hessian_vector_products_of_a_symmetric_hessian) {
  for (const Contact law : {Contact::ncp, Contact::none}) {
    const Simulation simulation(load("half_cheetah"), {.contact = law});
    const MatrixX controls = waves(simulation.model().nu(), 30);
    State start = neutral_state(simulation.model());
    const MatrixX one = MatrixX::Random(controls.rows(), controls.cols()),
                  two = MatrixX::Random(controls.rows(), controls.cols());
    const auto product = [&](const MatrixX& direction) {
      return hessian_vector_product(simulation, start, controls, direction, test_loss);
    };
    const double forth = (two.array() * product(one).array()).sum();
    const double back = (one.array() * product(two).array()).sum();
    EXPECT_NEAR(forth, back, 1e-5 * std::abs(forth));
  }
}

}  // namespace
}  // namespace articula::testing::rollout_gradient_test
