#include "articula/solvers/continuation.hpp"

#include <gtest/gtest.h>

#include "articula/solvers/solver.hpp"
#include "tests/support/contact_problems.hpp"

namespace articula::testing::continuation_test {
namespace {

struct Solution {
  VectorX lam, sigma;
  std::vector<RowMode> mode;
  std::vector<SlideState> slides;
};

Solution start_at_rest(const ContactProblem& problem) {
  return {.lam = VectorX::Zero(problem.size),
          .sigma = VectorX::Zero(problem.size),
          .mode = std::vector<RowMode>(problem.size, RowMode::free),
          .slides = std::vector<SlideState>(problem.blocks.size())};
}

bool follow(const ContactProblem& problem, Solution& s) {
  Continuation continuation;
  ModeSystem system;
  const VectorX start = s.lam;
  return continuation.solve(problem, system, {start.data()}, s.mode.data(), s.slides.data(), s.lam.data(),
                            s.sigma.data());
}

// A mass on dry friction, sigma = lam - v: it sticks up to v = bound, and slips beyond.
TEST(continuation, friction_gives_way_where_it_must) {
  OwnedProblem problem;
  problem.blocks = {{.kind = BlockKind::interval, .bound = 1.0}};
  problem.G = MatrixX::Ones(1, 1);
  for (double v : {0.5, 3.0, -3.0}) {
    problem.b = VectorX::Constant(1, -v);
    for (RowMode from : {RowMode::hold, RowMode::upper, RowMode::lower}) {
      Solution s = start_at_rest(problem.view(0.01));
      s.mode[0] = from;
      ASSERT_TRUE(follow(problem.view(0.01), s));
      EXPECT_NEAR(s.lam[0], std::clamp(v, -1.0, 1.0), 1e-6);
    }
  }
}

// A point that falls at w and slides at (u, 0): lam_N = w, and friction takes what it can of u.
TEST(continuation, a_contact_closes_and_slides_or_sticks) {
  for (FrictionLaw law : {FrictionLaw::pyramid, FrictionLaw::cone}) {
    for (double u : {0.1, 2.0}) {
      OwnedProblem problem;
      problem.law = law;
      problem.blocks = {{.kind = BlockKind::contact, .dim = 3, .mu = {0.5, 0.5}}};
      problem.G = MatrixX::Identity(3, 3);
      problem.b = Vector3(-1.0, u, 0.0);
      Solution s = start_at_rest(problem.view(0.01));
      ASSERT_TRUE(follow(problem.view(0.01), s));
      EXPECT_NEAR(s.lam[0], 1.0, 1e-6);
      EXPECT_NEAR(s.lam[1], -std::min(u, 0.5), 1e-6);
      EXPECT_NEAR(s.lam[2], 0.0, 1e-6);
    }
  }
}

// From the solution of one problem to that of another nearby, judged by the residual alone. Paths that get
// lost say so; few do.
TEST(continuation, leads_from_one_solution_to_the_next) {
  std::mt19937 random(12);
  std::normal_distribution<double> normal;
  ContactSolver solver;
  int tried = 0, lost = 0;
  for (int k = 0; k < 300; ++k) {
    OwnedProblem problem =
        random_contact_problem(random, {.law = FrictionLaw::pyramid, .most_bodies = 4, .most_contacts = 6});
    const ContactProblem before = problem.view(0.01);
    Solution s = start_at_rest(before);
    std::vector<RowMode> motion(before.size);
    if (solve_contact(before, solver, false, {s.mode.data(), s.slides.data()}, motion.data(), s.lam.data(),
                      s.sigma.data())
            .status != SolveStatus::solved)
      continue;
    ++tried;
    // What impulses could do, so that rows that repeat each other go on agreeing.
    VectorX impulses(before.size);
    for (double& x : impulses) x = normal(random);
    const VectorX change = problem.G * impulses;
    problem.b += 0.1 * before.velocity_scale / change.cwiseAbs().maxCoeff() * change;
    const ContactProblem after = problem.view(0.01);
    if (!follow(after, s)) {
      ++lost;
      continue;
    }
    const double gives = usual_softness * (problem.G.diagonal().array() * s.lam.array().abs()).maxCoeff();
    EXPECT_LE(contact_residual(after, s.lam.data()), 1e-4 * after.velocity_scale + 10.0 * gives) << k;
  }
  EXPECT_GT(tried, 200);
  EXPECT_LT(lost, tried / 5);
}

}  // namespace
}  // namespace articula::testing::continuation_test
