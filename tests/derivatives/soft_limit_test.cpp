// Redundant contacts of which some slide and others stand still with all the friction they can have: how they
// share the load decides about the motion, and changes with everything.

#include <Eigen/LU>
#include <Eigen/QR>
#include <gtest/gtest.h>

#include <cmath>

#include "articula/contact/overruled.hpp"
#include "articula/derivatives/differences.hpp"
#include "articula/io/mjcf.hpp"
#include "articula/model/builder.hpp"
#include "articula/simulation/disturbed_step.hpp"

namespace articula::testing::soft_limit_test {
namespace {

// A foot that stands on two points (or four), and a leg whose round end slides beside one of them as it turns
// about it: foot and leg share the load there in many ways.
Model foot_and_leg(bool planar) {
  const std::string joints = planar ? R"(<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>
                                         <joint axis="0 1 0"/>)"
                                    : "<freejoint/>";
  const std::string foot = planar ? R"(type="capsule" fromto="0 0 0 0.4 0 0" size="0.05" density="1000")"
                                  : R"(type="box" pos="0.2 0 0" size="0.2 0.1 0.05" density="500")";
  return build(parse_mjcf(R"(<mujoco><option timestep="0.01"/><default><geom friction="0.8 0 0"/></default>
      <worldbody><geom type="plane" size="5 5 1"/><body pos="0 0 0.05">)" +
                          joints + "<geom " + foot + R"(/>
        <body><joint axis="0.1 1 0.2"/>
          <geom type="capsule" fromto="0 0 0 0 0 0.5" size="0.05" density="1000"/></body>
      </body></worldbody></mujoco>)"));
}

struct Push {
  bool planar;
  Contact law;
  double force;
};

class YieldingContacts : public ::testing::TestWithParam<Push> {};

// The leg turns, and the foot is pushed.
State turning(const Model& model) {
  State x = neutral_state(model);
  x.v[model.nv() - 1] = 1.0;
  return x;
}

Input pushed(const Model& model, const Push& push) {
  Input input;
  input.forces = VectorX::Zero(model.nv());
  input.forces[0] = push.force;
  if (!push.planar) input.forces[1] = 0.3 * push.force, input.forces[5] = 1.0;
  return input;
}

// Differences of the step as it is are the oracle.
TEST_P(YieldingContacts, have_the_derivatives_of_the_step) {
  const Push push = GetParam();
  const Model model = foot_and_leg(push.planar);
  const int nv = model.nv();
  const State x = turning(model);
  const Input input = pushed(model, push);

  const Simulation simulation(model, {.contact = push.law});
  const Step step = simulation.step(x, input);
  {
    const Simulation::Lease workspace(simulation, step.serial);
    const ContactRows& rows = workspace->contact->rows;
    std::vector<RowMode> modes = rows.mode;
    ASSERT_TRUE(mark_yielding(rows, modes)) << "the case that this is about";
  }
  StepJacobians exact;
  simulation.jacobians(step, {}, exact);
  EXPECT_FALSE(exact.certificate.one_sided);

  articula::DisturbedStep disturbed(model, simulation.settings());
  ASSERT_TRUE(disturbed.begin(x, input));
  VectorX dz = VectorX::Zero(disturbed.layout().size), there(disturbed.outputs());
  MatrixX reference(2 * nv, nv);
  const auto end = [&](double t) -> VectorX {
    EXPECT_TRUE(disturbed.at(dz, t, there));
    return there;
  };
  for (int i = 0; i < nv; ++i) {
    dz[disturbed.layout().v + i] = 1.0;
    reference.col(i) = ridders_differences(end, {1e-4, 3e-5}).derivative;
    dz[disturbed.layout().v + i] = 0.0;
  }
  const MatrixX found = exact.by_state.middleCols(nv, nv);
  EXPECT_LT((found - reference).cwiseAbs().maxCoeff(), 1e-10 * reference.cwiseAbs().maxCoeff());

  // What stands still goes on doing so whatever the velocity was, to rounding: that is no matter of soft
  // laws.
  {
    const Simulation::Lease workspace(simulation, step.serial);
    const ContactRows& rows = workspace->contact->rows;
    std::vector<double> moves(static_cast<size_t>(rows.size()));
    for (int i = 0; i < nv; ++i) {
      const VectorX v = found.col(i).tail(nv);
      rows.velocities(v, moves.data());
      for (int row = 0; row < rows.size(); ++row) {
        if (rows.mode[row] == RowMode::hold) {
          EXPECT_LT(std::abs(moves[row]), 1e-14) << i << " " << row;
        }
      }
    }
  }

  const VectorX covector = VectorX::LinSpaced(nv, -1.0, 1.0);
  StepGradient gradient;
  const std::vector<ParameterSlice> frictions = model.parameters().of_kind(ParameterKind::friction);
  simulation.pullback(step, {covector, covector, {}}, {.parameters = frictions}, gradient);
  VectorX both(2 * nv), back(2 * nv);
  both << covector, covector;
  back << gradient.q, gradient.v;
  EXPECT_LT((exact.by_state.transpose() * both - back).norm(), 1e-10 * back.norm());

  // The bound itself changes with the coefficient, which is the same everywhere.
  double by_friction = 0.0;
  int at = 0;
  for (const ParameterSlice& slice : frictions) {
    dz[disturbed.layout().theta + slice.offset] = 1.0;
    by_friction += gradient.parameters[at];
    at += slice.size;
  }
  const VectorX expected = ridders_differences(end, {1e-4, 3e-5}).derivative;
  EXPECT_NEAR(by_friction, expected.dot(both), 1e-9 * expected.norm() * both.norm());
}

// Of all loads z that could be added, and move nothing: J^T z = 0, and what slides keeps to its law. A
// tangent along which nothing can move (out of the plane of a planar robot) carries nothing.
MatrixX loads_that_move_nothing(const ContactProblem& problem, const RowMode* mode, const double* lam) {
  const int n = problem.size;
  MatrixX A = MatrixX::Zero(2 * n, n);
  for (const Block& block : problem.blocks) {
    const double g = problem.mobility(block);
    for (int i = block.first; i < block.first + block.dim; ++i) {
      for (int j = 0; j < n; ++j) A(i, j) = problem.g(i, j) / g;
      if (problem.g(i, i) < 1e-20 * g) A(n + i, i) = 1.0;
      if (mode[i] == RowMode::hold) continue;
      A(n + i, i) = 1.0;
      if (mode[i] != RowMode::free) A(n + i, block.first) = -lam[i] / lam[block.first];
    }
  }
  Eigen::FullPivLU<MatrixX> factor(A);
  factor.setThreshold(1e-10);
  return Eigen::HouseholderQR<MatrixX>(factor.kernel()).householderQ() *
         MatrixX::Identity(n, factor.dimensionOfKernel());
}

// The smallest in lam^T R lam of all loads that make this motion: along whatever moves nothing R lam is
// balanced by the bounds that press against it,  N^T (R lam - sum tau grad g) = 0,  tau >= 0.
TEST_P(YieldingContacts, have_the_smallest_loads) {
  const Push push = GetParam();
  const Model model = foot_and_leg(push.planar);
  const Simulation simulation(model, {.contact = push.law});
  const Step step = simulation.step(turning(model), pushed(model, push));
  const Simulation::Lease workspace(simulation, step.serial);
  const ContactRows& rows = workspace->contact->rows;
  ASSERT_EQ(rows.islands().size(), 1u);
  const ContactProblem problem = rows.problem(rows.islands()[0], 0.0);
  const MatrixX N = loads_that_move_nothing(problem, rows.mode.data(), rows.lam.data());
  VectorX softly = VectorX::Zero(problem.size);
  std::vector<VectorX> bounds;
  for (const Block& block : problem.blocks) {
    const double *lam = rows.lam.data() + block.first, g = problem.mobility(block);
    const auto bound = [&](int i, double by_normal, double by_tangent) {
      if (bounds.empty() || bounds.back()[block.first] == 0.0 || push.law == Contact::lcp)
        bounds.push_back(VectorX::Zero(problem.size));
      bounds.back()[block.first] = by_normal;
      bounds.back()[block.first + 1 + i] = by_tangent;
    };
    double used = 0.0;
    for (int i = 0; i < block.dim; ++i) softly[block.first + i] = g * lam[i];
    for (int i = 0; i < block.tangents(); ++i) used += std::pow(lam[1 + i] / (block.mu[i] * lam[0]), 2);
    for (int i = 0; i < block.tangents() && rows.mode[block.first + 1 + i] == RowMode::hold; ++i) {
      const double own = lam[1 + i] / (block.mu[i] * lam[0]);
      if (push.law == Contact::ncp && used > 1.0 - 1e-9) bound(i, 1.0, -own / block.mu[i]);
      if (push.law == Contact::lcp && std::abs(own) > 1.0 - 1e-9)
        bound(i, block.mu[i], own > 0.0 ? -1.0 : 1.0);
    }
  }
  ASSERT_FALSE(bounds.empty());
  MatrixX E(N.cols(), static_cast<long>(bounds.size()));
  for (size_t k = 0; k < bounds.size(); ++k) E.col(static_cast<long>(k)) = N.transpose() * bounds[k];
  const VectorX q = N.transpose() * softly, tau = E.colPivHouseholderQr().solve(q);
  EXPECT_LT((E * tau - q).norm(), 1e-10 * softly.norm());
  EXPECT_GT(tau.minCoeff(), -1e-10 * softly.norm());
}

INSTANTIATE_TEST_SUITE_P(derivatives, YieldingContacts,
                         ::testing::Values(Push{true, Contact::ncp, 14.0}, Push{false, Contact::ncp, 28.0},
                                           Push{false, Contact::ncp, 35.0}, Push{false, Contact::lcp, 28.0},
                                           Push{false, Contact::lcp, 35.0}));

}  // namespace
}  // namespace articula::testing::soft_limit_test
