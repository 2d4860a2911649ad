// The solver against closed forms, and on input that has no business being solved.
#include "articula/solvers/solver.hpp"

#include <Eigen/Eigenvalues>
#include <gtest/gtest.h>

#include <random>

#include "tests/support/allocations.hpp"
#include "tests/support/contact_problems.hpp"

namespace articula::testing::solver_test {
namespace {

struct Solved {
  SolveReport report;
  VectorX lam, sigma;
  std::vector<RowMode> guess, mode;
  std::vector<SlideState> slides;
};

Solved solve(const OwnedProblem& problem, const std::vector<RowMode>& guess = {}) {
  ContactSolver work;
  Solved s;
  const int n = static_cast<int>(problem.b.size());
  s.lam = s.sigma = VectorX::Constant(n, std::nan(""));
  s.mode.resize(n);
  s.slides.resize(problem.blocks.size());
  s.guess = guess.empty() ? std::vector<RowMode>(n) : guess;
  s.report = solve_contact(problem.view(0.01), work, !guess.empty(), {s.guess.data(), s.slides.data()},
                           s.mode.data(), s.lam.data(), s.sigma.data());
  return s;
}

Block contact(int first, double mu) {
  Block block{.kind = BlockKind::contact, .first = first, .dim = 3};
  for (double& x : block.mu) x = mu;
  return block;
}

// A box of mass m and half-size (a, a, c) on a plane: four corners, normals and two tangents each.
// Velocities: linear, angular about the centre.
OwnedProblem box_on_plane(FrictionLaw law, double mu, const Eigen::Matrix<double, 6, 1>& free_velocity) {
  const double m = 2.0, a = 0.3, c = 0.2;
  Eigen::Matrix<double, 6, 6> inverse_mass = Eigen::Matrix<double, 6, 6>::Zero();
  inverse_mass.diagonal() << 1 / m, 1 / m, 1 / m, 3 / (m * (a * a + c * c)), 3 / (m * (a * a + c * c)),
      3 / (2 * m * a * a);
  MatrixX J(12, 6);
  OwnedProblem p;
  p.law = law;
  for (int k = 0; k < 4; ++k) {
    const Vector3 r((k & 1) ? a : -a, (k & 2) ? a : -a, -c);
    const Vector3 axes[] = {Vector3::UnitZ(), Vector3::UnitX(), Vector3::UnitY()};
    for (int i = 0; i < 3; ++i) {
      J.block<1, 3>(3 * k + i, 0) = axes[i].transpose();
      J.block<1, 3>(3 * k + i, 3) = r.cross(axes[i]).transpose();
    }
    p.blocks.push_back(contact(3 * k, mu));
  }
  p.G = J * inverse_mass * J.transpose();
  p.b = J * free_velocity;
  p.singular = true;
  return p;
}

using Twist = Eigen::Matrix<double, 6, 1>;

Twist twist(double x, double y, double z) { return (Twist() << x, y, z, 0, 0, 0).finished(); }

TEST(contact_solver, a_box_at_rest_is_carried_by_its_corners_equally) {
  for (FrictionLaw law : {FrictionLaw::pyramid, FrictionLaw::cone}) {
    const Solved s = solve(box_on_plane(law, 0.5, twist(0, 0, -0.1)));
    EXPECT_EQ(s.report.status, SolveStatus::solved);
    for (int k = 0; k < 4; ++k) EXPECT_NEAR(s.lam[3 * k], 2.0 * 0.1 / 4, 1e-8);
    EXPECT_LT(s.sigma.norm(), 1e-15);
    for (RowMode mode : s.mode) EXPECT_EQ(mode, RowMode::hold);
  }
}

// Sideways below mu times the load it sticks although the smallest impulses would pull some corners out of
// their cones: the friction is at the height of the floor, the load moves to the leading edge.
TEST(contact_solver, a_pushed_box_sticks_up_to_mu_times_its_load_and_slides_beyond) {
  const double mu = 0.5;
  for (FrictionLaw law : {FrictionLaw::pyramid, FrictionLaw::cone}) {
    for (double push : {0.1, 0.3, 0.45, 0.49}) {
      const Solved s = solve(box_on_plane(law, mu, twist(push * 0.1, 0, -0.1)));
      EXPECT_NE(s.report.status, SolveStatus::inexact);
      EXPECT_LT(s.report.relative_residual, 1e-12) << push;
      EXPECT_LT(s.sigma.norm(), 1e-14) << push;
      for (RowMode mode : s.mode) EXPECT_TRUE(mode == RowMode::hold || law == FrictionLaw::pyramid) << push;
    }
    for (double push : {0.51, 0.7, 2.0}) {
      const Solved s = solve(box_on_plane(law, mu, twist(push * 0.1, 0, -0.1)));
      EXPECT_LT(s.report.relative_residual, 1e-12) << push;
      for (int k = 0; k < 4; ++k) EXPECT_NEAR(s.sigma[3 * k + 1], (push - mu) * 0.1, 1e-13) << push;
    }
  }
}

// Pushed and turned, corners carry all the friction they can, and not one of them moves.
TEST(contact_solver, what_stands_still_with_all_its_friction_stands_still_to_rounding) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  int still = 0;
  for (int i = 0; i < 300; ++i) {
    Twist free = twist(0.045 * uniform(random), 0.045 * uniform(random), -0.1);
    free.tail<3>() << 0.1 * uniform(random), 0.1 * uniform(random), 0.15 * uniform(random);
    const Solved s = solve(box_on_plane(FrictionLaw::cone, 0.5, free));
    if (std::any_of(s.mode.begin(), s.mode.end(), [](RowMode m) { return m != RowMode::hold; })) continue;
    ++still;
    EXPECT_LT(s.sigma.cwiseAbs().maxCoeff(), 3e-15) << i;
  }
  EXPECT_GT(still, 50);
}

// Contacts beside thirty rows of dry friction, most of which hold: they settle among themselves first.
TEST(contact_solver, contacts_beside_many_rows_that_hold_are_solved_from_any_start) {
  constexpr int dry = 30, contacts = 4, n = dry + 3 * contacts, dofs = 50;
  std::mt19937 random(11);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 40; ++i) {
    OwnedProblem problem;
    const MatrixX J = MatrixX::NullaryExpr(n, dofs, [&] { return normal(random) / std::sqrt(dofs); });
    problem.G = J * J.transpose();
    problem.b = VectorX::NullaryExpr(n, [&] { return 0.3 * normal(random); });
    for (int k = 0; k < dry; ++k)
      problem.blocks.push_back({.kind = BlockKind::interval, .first = k, .bound = k % 3 == 0 ? 0.05 : 2.0});
    for (int k = 0; k < contacts; ++k) {
      problem.blocks.push_back(contact(dry + 3 * k, 0.4));
      problem.b[dry + 3 * k] = -0.5 - std::abs(problem.b[dry + 3 * k]);
    }
    const Solved cold = solve(problem);
    ASSERT_LT(cold.report.relative_residual, 1e-12) << i;
    EXPECT_LT(contact_residual(problem.view(0.01), cold.lam.data()), 1e-12) << i;
    const Solved wrong = solve(problem, std::vector<RowMode>(n, RowMode::hold));
    ASSERT_LT(wrong.report.relative_residual, 1e-12) << i;
    EXPECT_LT((wrong.lam - cold.lam).cwiseAbs().maxCoeff(), 1e-12) << i;
  }
}

TEST(contact_solver, a_cone_slides_straight_and_a_pyramid_does_not) {
  const Solved cone = solve(box_on_plane(FrictionLaw::cone, 0.5, twist(0.3, 0.1, -0.1)));
  EXPECT_LT(cone.report.relative_residual, 1e-12);
  for (int k = 0; k < 4; ++k) EXPECT_NEAR(cone.sigma[3 * k + 2] / cone.sigma[3 * k + 1], 1.0 / 3.0, 1e-12);
  const Solved pyramid = solve(box_on_plane(FrictionLaw::pyramid, 0.5, twist(0.3, 0.1, -0.1)));
  EXPECT_LT(pyramid.report.relative_residual, 1e-12);
  for (int k = 0; k < 4; ++k) {
    EXPECT_NEAR(pyramid.sigma[3 * k + 1], 0.25, 1e-13);
    EXPECT_NEAR(pyramid.sigma[3 * k + 2], 0.05, 1e-13);
  }
}

TEST(contact_solver, of_all_impulses_that_make_the_motion_the_smallest_are_returned) {
  const OwnedProblem p = box_on_plane(FrictionLaw::pyramid, 0.5, twist(0.04, 0.0, -0.1));
  const Solved s = solve(p);
  ASSERT_EQ(s.report.status, SolveStatus::solved);
  // Any admissible impulse with the same effect is larger: walk along the null space of G.
  const Eigen::SelfAdjointEigenSolver<MatrixX> eigen(p.G);
  const ContactProblem view = p.view();
  const auto size = [&](const VectorX& lam) {
    double sum = 0.0;
    for (const Block& block : p.blocks)
      sum += view.mobility(block) * lam.segment(block.first, block.dim).squaredNorm();
    return sum;
  };
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  int admissible = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    VectorX lam = s.lam;
    for (int i = 0; i < 6; ++i) lam += 0.01 * uniform(random) * eigen.eigenvectors().col(i);
    if (contact_residual(view, lam.data()) > 1e-12) continue;
    ++admissible;
    EXPECT_GE(size(lam), size(s.lam) * (1.0 - 1e-9));
  }
  EXPECT_GT(admissible, 20);
}

// A joint that an end of its range and dry friction hold together: half of the load each is the smallest.
// With all that friction can have, a little more than half, soft laws would do as well, for all that their
// rounding tells.
TEST(contact_solver, friction_that_is_nearly_at_its_bound_shares_a_load_alike_from_any_start) {
  constexpr double load = 2e-4, other = 0.5;
  OwnedProblem p;
  p.law = FrictionLaw::cone;
  p.blocks = {{.kind = BlockKind::interval, .first = 0, .dim = 1, .bound = 0.5 * load * (1.0 + 1e-3)},
              {.kind = BlockKind::unilateral, .first = 1, .dim = 1},
              {.kind = BlockKind::unilateral, .first = 2, .dim = 1}};
  p.G = MatrixX::Identity(3, 3);
  p.G(0, 1) = p.G(1, 0) = 1.0;
  p.b = Vector3(-load, -load, -other);
  p.singular = true;
  const Solved held = solve(p, {RowMode::hold, RowMode::hold, RowMode::hold}),
               bounded = solve(p, {RowMode::upper, RowMode::hold, RowMode::hold}), cold = solve(p);
  EXPECT_NEAR(held.lam[0], 0.5 * load, 1e-12);
  EXPECT_NEAR(held.lam[1], 0.5 * load, 1e-12);
  EXPECT_EQ(bounded.lam, held.lam);
  EXPECT_EQ(cold.lam, held.lam);
}

// Gaps of a foot that rolls disagree by less than a residual counts, and corners part by that much, loaded.
// They slide nevertheless.
TEST(contact_solver, corners_that_part_by_rounding_alone_slide_as_the_others_do) {
  for (const double apart : {1e-10, 3e-10}) {
    OwnedProblem p = box_on_plane(FrictionLaw::pyramid, 0.5, twist(2.0, -1.5, -0.1));
    for (int k = 0; k < 4; ++k) p.b[3 * k] += k == 0 || k == 3 ? apart : -apart;
    const Solved s = solve(p);
    EXPECT_LE(s.report.status, SolveStatus::multiple);
    for (int k = 0; k < 4; ++k) {
      EXPECT_GT(s.lam[3 * k], 0.01);
      EXPECT_EQ(s.mode[3 * k], RowMode::hold);
      EXPECT_EQ(s.mode[3 * k + 1], RowMode::lower);
      EXPECT_EQ(s.mode[3 * k + 2], RowMode::upper);
    }
  }
}

TEST(contact_solver, opposed_recovery_gets_the_least_slack) {
  // A body between two walls, each asking it to leave at 0.1 and 0.3 m/s: they meet in the middle.
  OwnedProblem p;
  p.blocks = {{.kind = BlockKind::unilateral, .first = 0}, {.kind = BlockKind::unilateral, .first = 1}};
  p.G = MatrixX::Ones(2, 2);
  p.G(0, 1) = p.G(1, 0) = -1.0;
  p.b = Eigen::Vector2d(-0.1, -0.3);
  const Solved s = solve(p);
  EXPECT_EQ(s.report.status, SolveStatus::infeasible_bias);
  EXPECT_NEAR(s.report.slack, 0.2, 1e-5);
  EXPECT_NEAR(s.sigma[0], -0.2, 1e-5);
  EXPECT_NEAR(s.sigma[1], -0.2, 1e-5);
  EXPECT_TRUE((s.lam.array() >= 0.0).all());
  EXPECT_LT(s.lam.maxCoeff(), 1.0);
}

// The same walls ask for a thousandth of what else goes on: too little to be told from what soft rows leave
// of loads, and the more so the harder they are.
TEST(contact_solver, a_little_opposed_recovery_gets_the_least_slack_beside_fast_motion) {
  OwnedProblem p;
  for (int i = 0; i < 3; ++i) p.blocks.push_back({.kind = BlockKind::unilateral, .first = i});
  p.G = MatrixX::Identity(3, 3);
  p.G(0, 1) = p.G(1, 0) = -1.0;
  p.bias = Vector3(-1e-3, -3e-3, 0.0);
  p.b = Vector3(-1e-3, -3e-3, -5.0);
  const Solved s = solve(p);
  EXPECT_EQ(s.report.status, SolveStatus::infeasible_bias);
  EXPECT_NEAR(s.report.slack, 2e-3, 1e-7);
  EXPECT_NEAR(s.sigma[0], -2e-3, 1e-7);
  EXPECT_NEAR(s.sigma[1], -2e-3, 1e-7);
  EXPECT_NEAR(s.sigma[2], 0.0, 1e-9);
  EXPECT_LT(s.report.iterations, 60) << "it was proven, not tried out";
}

// A ball of 1 kg in a slot whose sides open by 0.05 rad each, too deep in both: normals push it out along x,
// and friction holds it where mu > tan(0.05).
OwnedProblem ball_in_slot(FrictionLaw law, double mu) {
  constexpr double opening = 0.05, recovery = 0.2;
  MatrixX J(6, 3);
  OwnedProblem p;
  p.law = law;
  for (int k = 0; k < 2; ++k) {
    const double side = k == 0 ? 1.0 : -1.0;
    J.row(3 * k) << std::sin(opening), side * std::cos(opening), 0.0;
    J.row(3 * k + 1) << std::cos(opening), -side * std::sin(opening), 0.0;
    J.row(3 * k + 2) << 0.0, 0.0, 1.0;
    p.blocks.push_back(contact(3 * k, mu));
  }
  p.G = J * J.transpose();
  p.bias = VectorX::Zero(6);
  p.bias[0] = p.bias[3] = -recovery;
  p.b = p.bias + J * Vector3(0.0, 0.0, -0.01);
  return p;
}

TEST(contact_solver, a_ball_slides_out_of_a_slot_unless_friction_holds_it_there) {
  for (const FrictionLaw law : {FrictionLaw::pyramid, FrictionLaw::cone}) {
    const Solved out = solve(ball_in_slot(law, 0.03));
    EXPECT_EQ(out.report.status, SolveStatus::solved);
    EXPECT_NEAR(out.sigma[0], 0.0, 1e-9);
    EXPECT_NEAR(out.sigma[1], 0.2 / std::tan(0.05), 1e-6);
    const Solved jammed = solve(ball_in_slot(law, 0.5));
    EXPECT_EQ(jammed.report.status, SolveStatus::infeasible_bias);
    EXPECT_NEAR(jammed.report.slack, 0.2, 1e-4);
    EXPECT_LT(jammed.sigma.tail(2).norm(), 1e-4) << "it stays";
    EXPECT_LT(jammed.lam.norm(), 1.0);
    EXPECT_LT(jammed.report.iterations, 80) << "that it jams was proven, not tried out";
  }
}

// Two contacts next to each other on an arm of two joints, a little too deep: if both stuck, their biases
// would contradict each other; one of them slides, and nothing does.
TEST(contact_solver, biases_that_contradict_each_other_only_if_friction_holds_are_met_by_what_slides) {
  OwnedProblem p;
  MatrixX J(6, 2);
  J << 0.8170, 0.0, -0.8599, 0.2009, -1.0029, -0.3061, 0.8169, 0.0005, -0.8597, 0.2010, -1.0028, -0.3065;
  VectorX s(6);
  s << -3.5e-4, 0.0, 0.0, -5.0e-4, 0.0, 0.0;
  p.blocks = {contact(0, 1.0), contact(3, 1.0)};
  p.G = J * J.transpose();
  p.b = J * Eigen::Vector2d(-0.0466, 0.0805) + s;
  p.bias = s;
  p.singular = true;
  for (const FrictionLaw law : {FrictionLaw::pyramid, FrictionLaw::cone}) {
    p.law = law;
    const Solved found = solve(p);
    EXPECT_EQ(found.report.status, SolveStatus::solved) << static_cast<int>(law);
    EXPECT_GE(std::min(found.sigma[0], found.sigma[3]), -1e-12) << "nobody gives way";
    EXPECT_GT(found.sigma.segment<2>(1).norm(), 1e-3) << "the case that this is about";
  }
}

// A foot of which corners carry all they can and rest: what biases contradict each other by (feet that roll)
// must not turn their forces off the cones. Otherwise no modes stand up to the residual, and all searches,
// hundreds of iterations, come to the same end.
TEST(contact_solver, feet_whose_biases_contradict_each_other_a_little_are_solved_at_once) {
  constexpr double contradiction = 3e-11;
  std::mt19937 random(3);
  std::uniform_real_distribution<double> number(-1.0, 1.0);
  int yielding = 0, searched = 0;
  for (int k = 0; k < 600; ++k) {
    Eigen::Matrix<double, 6, 1> free_velocity;
    free_velocity << 0.5 * number(random), 0.5 * number(random), -1.0, number(random), number(random),
        number(random);
    OwnedProblem p = box_on_plane(FrictionLaw::cone, 0.8, free_velocity);
    const Solved consistent = solve(p);
    for (double& b : p.b) b += contradiction * number(random);
    const Solved s = solve(p);
    EXPECT_LT(contact_residual(p.view(0.01), s.lam.data()), 1e-9 * p.view(0.01).velocity_scale) << k;
    if (std::count(s.guess.begin(), s.guess.end(), RowMode::yield) == 0) continue;
    ++yielding;
    searched += s.report.iterations > 60;
    if (consistent.report.status == SolveStatus::solved && s.report.status == SolveStatus::solved)
      EXPECT_LT((s.sigma - consistent.sigma).cwiseAbs().maxCoeff(), 1e-9) << k;
  }
  EXPECT_GT(yielding, 100) << "the case that this is about";
  EXPECT_LT(searched, yielding / 20);
}

void expect_sane(const OwnedProblem& p, const char* what) {
  const Solved s = solve(p);
  EXPECT_TRUE(s.lam.allFinite() && s.sigma.allFinite()) << what;
  EXPECT_TRUE(std::isfinite(s.report.residual)) << what;
}

TEST(contact_solver, degenerate_problems_give_finite_answers) {
  for (FrictionLaw law : {FrictionLaw::pyramid, FrictionLaw::cone}) {
    OwnedProblem p = box_on_plane(law, 0.5, twist(0.3, 0.1, -0.1));
    const OwnedProblem sound = p;
    for (Block& block : p.blocks) std::fill(std::begin(block.mu), std::end(block.mu), 0.0);
    Solved s = solve(p);
    EXPECT_LT(s.report.relative_residual, 1e-9) << "mu = 0";
    EXPECT_NEAR(s.sigma[1], 0.3, 1e-9);
    p = sound;
    p.b.setZero();
    s = solve(p);
    EXPECT_EQ(s.report.relative_residual, 0.0) << "nothing to do";
    p = sound;
    p.G.setZero();
    expect_sane(p, "immovable");
    for (double scale : {1e-9, 1e9}) {
      p = sound;
      p.G *= scale;
      EXPECT_LT(solve(p).report.relative_residual, 1e-9) << scale;
    }
    p = sound;
    p.b[0] = std::nan("");
    const Solved lost = solve(p);
    EXPECT_EQ(lost.report.status, SolveStatus::inexact);
  }
}

// Two points of one foot, whose first tangents are one direction, and move apart in it by 1e-8 m/s: with
// loads of 1 and 2 N s the first, mu = 0.5, slides under all its friction, and the second holds against it.
TEST(contact_solver, of_two_points_that_cannot_both_hold_the_weaker_slides_and_is_found_at_once) {
  constexpr double apart = 1e-8, mu = 0.5;
  for (FrictionLaw law : {FrictionLaw::pyramid, FrictionLaw::cone}) {
    OwnedProblem p;
    p.law = law;
    p.blocks = {contact(0, mu), contact(3, mu)};
    p.G = MatrixX::Identity(6, 6);
    p.G(1, 4) = p.G(4, 1) = 1.0;
    p.b = VectorX::Zero(6);
    p.b[0] = -1.0;
    p.b[3] = -2.0;
    p.b[4] = apart;
    const Solved s = solve(p);
    EXPECT_EQ(s.report.status, SolveStatus::solved);
    EXPECT_NEAR(s.sigma[1], -apart, 1e-15);
    EXPECT_NEAR(s.sigma[4], 0.0, 1e-15);
    EXPECT_NEAR(s.lam[1], mu * 1.0, 1e-12);
    EXPECT_NEAR(s.lam[4], -mu * 1.0 - apart, 1e-12);
    EXPECT_LE(s.report.iterations, 15);
  }
}

TEST(contact_solver, solving_allocates_nothing_once_room_is_reserved) {
  SKIP_UNLESS_ALLOCATIONS_ARE_COUNTED();
  std::mt19937 random(5);
  ContactSolver work;
  work.reserve(200, 200);
  for (int k = 0; k < 60; ++k) {
    const OwnedProblem p =
        random_contact_problem(random, {.law = k % 2 == 0 ? FrictionLaw::pyramid : FrictionLaw::cone});
    const ContactProblem view = p.view(0.01);
    std::vector<RowMode> guess(view.size), mode(view.size);
    std::vector<SlideState> slides(view.blocks.size());
    VectorX lam(view.size), sigma(view.size);
    const auto count = allocations_during([&] {
      solve_contact(view, work, false, {guess.data(), slides.data()}, mode.data(), lam.data(), sigma.data(),
                    k % 3 == 0);
    });
    EXPECT_EQ(count, 0u) << k;
  }
}

}  // namespace
}  // namespace articula::testing::solver_test
