#include "articula/solvers/group_factor.hpp"

#include <Eigen/LU>
#include <gtest/gtest.h>

#include <numeric>

#include "articula/solvers/solver.hpp"
#include "tests/support/random_tree.hpp"
#include "tests/support/scene.hpp"

namespace articula::testing::group_factor_test {
namespace {

// Blocks of one to six rows between bodies of one to nine columns, some of them on one body alone.
struct Heap {
  Heap(std::mt19937& random, int bodies, int count) {
    const auto pick = [&](int low, int high) {
      return std::uniform_int_distribution<int>(low, high)(random);
    };
    begin.push_back(0);
    for (int k = 0; k < bodies; ++k) begin.push_back(begin.back() + pick(1, 9));
    sides.resize(count);
    for (int k = 0; k < count; ++k) {
      const int a = pick(0, bodies - 1), b = pick(-1, bodies - 1);
      blocks.push_back({.kind = BlockKind::contact, .first = rows, .dim = pick(1, 6)});
      rows += blocks.back().dim;
      of.push_back({a, b == a ? -1 : b});
    }
    W = MatrixX::Zero(rows, begin.back());
    for (int k = 0; k < count; ++k) {
      for (int side = 0; side < 2; ++side) {
        if (of[k][side] < 0) continue;
        const int group = of[k][side], width = begin[group + 1] - begin[group];
        std::vector<double>& numbers = kept.emplace_back(blocks[k].dim * width);
        for (double& x : numbers) x = uniform(random, -1.0, 1.0);
        for (int i = 0; i < blocks[k].dim; ++i) {
          for (int d = 0; d < width; ++d) W(blocks[k].first + i, begin[group] + d) = numbers[i * width + d];
        }
      }
    }
    std::size_t next = 0;
    for (int k = 0; k < count; ++k) {
      for (int side = 0; side < 2; ++side) {
        if (of[k][side] >= 0) sides[k][side] = {of[k][side], kept[next++].data()};
      }
    }
    room.resize(begin.back());
    G = W * W.transpose();
    roots = {begin, sides, room.data()};
  }
  ContactProblem problem() const {
    return {.blocks = blocks, .size = rows, .G = G.data(), .stride = rows, .roots = &roots};
  }

  int rows = 0;
  std::vector<int> begin;
  std::vector<Block> blocks;
  std::vector<std::array<int, 2>> of;
  std::vector<std::vector<double>> kept;
  std::vector<std::array<RowRoots::Side, 2>> sides;
  std::vector<double> room;
  MatrixX W, G;
  RowRoots roots;
};

// K = A^T G B + S with one unknown less than a block has rows, where it has several.
void solves_as_a_dense_factor_does(bool symmetric) {
  std::mt19937 random(symmetric ? 3 : 4);
  int negative = 0;
  for (int round = 0; round < 30; ++round) {
    const Heap heap(random, 4 + round, 20 + 3 * round);
    int unknowns = 0;
    for (const Block& block : heap.blocks) unknowns += std::max(1, block.dim - 1);
    MatrixX A = MatrixX::Zero(heap.rows, unknowns), B = A, S = MatrixX::Zero(unknowns, unknowns);
    GroupFactor factor;
    factor.begin(heap.problem());
    int at = 0;
    for (int k = 0; k < static_cast<int>(heap.blocks.size()); ++k) {
      const Block& block = heap.blocks[k];
      const int count = std::max(1, block.dim - 1);
      const GroupFactor::Matrices of = factor.add(k, count);
      for (int i = 0; i < count; ++i) {
        for (int r = 0; r < block.dim; ++r) {
          A(block.first + r, at + i) = of.A[i * block.dim + r] = uniform(random, -1.0, 1.0);
          B(block.first + r, at + i) = of.B[i * block.dim + r] =
              symmetric ? A(block.first + r, at + i) : uniform(random, -1.0, 1.0);
        }
        for (int j = 0; j < count; ++j)
          S(at + i, at + j) = of.S[i * count + j] = i == j      ? uniform(random, 0.01, 1.0)
                                                    : symmetric ? 0.0
                                                                : uniform(random, -0.3, 0.3);
      }
      at += count;
    }
    const MatrixX K = A.transpose() * heap.W * heap.W.transpose() * B + S;
    VectorX x = VectorX::Random(unknowns);
    const VectorX expected = K.partialPivLu().solve(x);
    ASSERT_TRUE(factor.factor(symmetric));
    factor.solve(x.data());
    EXPECT_LT((x - expected).lpNorm<Eigen::Infinity>(), 1e-9 * expected.lpNorm<Eigen::Infinity>()) << round;
    const double sign = K.partialPivLu().determinant() > 0.0 ? 1.0 : -1.0;
    EXPECT_EQ(factor.determinant_sign(), sign) << round;
    negative += sign < 0.0;
  }
  if (!symmetric) EXPECT_GT(negative, 0) << "the sign must be put to the test";
}

TEST(group_factor, symmetric_systems_are_solved_as_a_dense_factor_does) {
  solves_as_a_dense_factor_does(true);
}
TEST(group_factor, any_system_is_solved_as_a_dense_factor_does) { solves_as_a_dense_factor_does(false); }

TEST(group_factor, a_singular_block_is_told) {
  std::mt19937 random(5);
  const Heap heap(random, 3, 8);
  GroupFactor factor;
  factor.begin(heap.problem());
  for (int k = 0; k < 8; ++k) factor.add(k, 1);
  EXPECT_FALSE(factor.factor(true)) << "S is zero";
}

// A wall of bricks: what touches shares bodies with many others.
Description wall() {
  constexpr double friction = 0.4;
  Description d = empty_world();
  add_floor(d, {.friction = friction});
  for (int layer = 0; layer < 4; ++layer) {
    for (int k = 0; k < 5; ++k)
      add_box(d, "brick" + std::to_string(5 * layer + k), {0.1, 0.05, 0.05}, 1.0,
              {0.2 * k + 0.1 * (layer % 2), 0.0, 0.05 + 0.1 * layer},
              {.friction = friction, .condim = layer == 3 ? 6 : 3, .spinning = 1e-3, .rolling = 1e-4});
  }
  return d;
}

// The rows of a step, as they are and without their roots.
TEST(group_factor, islands_of_many_rows_have_roots_whose_product_is_G) {
  Scene scene(wall(), 0.002);
  scene.velocity(7)[1] = 1.0;
  scene.step();
  ASSERT_EQ(scene.work.rows.islands().size(), 1u);
  const ContactProblem problem = scene.work.rows.problem(scene.work.rows.islands()[0], 0.02);
  ASSERT_GT(problem.size, 100);
  ASSERT_NE(problem.roots, nullptr);
  EXPECT_EQ(problem.roots->columns(), 6 * 20);
  ContactProblem plain = problem;
  plain.roots = nullptr;
  std::mt19937 random(6);
  VectorX lam(problem.size), by_roots(problem.size), by_rows(problem.size);
  for (double& x : lam) x = uniform(random, -1.0, 1.0);
  contact_velocities(problem, lam.data(), by_roots.data());
  contact_velocities(plain, lam.data(), by_rows.data());
  EXPECT_LT((by_roots - by_rows).lpNorm<Eigen::Infinity>(), 1e-12 * by_rows.lpNorm<Eigen::Infinity>());
  EXPECT_NEAR(contact_residual(problem, lam.data()), contact_residual(plain, lam.data()), 1e-11);
}

// Judged by G, whichever way they were solved.
TEST(group_factor, the_laws_of_a_wall_that_is_pushed_hold_with_roots_and_without) {
  for (const FrictionLaw law : {FrictionLaw::cone, FrictionLaw::pyramid}) {
    Scene scene(wall(), 0.002, law);
    scene.velocity(7)[1] = 1.0;
    scene.velocity(12)[2] = 0.5;
    for (int step = 0; step < 5; ++step) {
      scene.step();
      const ContactProblem problem = scene.work.rows.problem(scene.work.rows.islands()[0], 0.02);
      ASSERT_TRUE(GroupFactor::serves(problem));
      ContactProblem plain = problem;
      plain.roots = nullptr;
      for (const ContactProblem& given : {problem, plain}) {
        ContactSolver solver;
        solver.reserve(given.size, static_cast<int>(given.blocks.size()), 120, 20);
        std::vector<RowMode> guess(given.size), mode(given.size);
        std::vector<SlideState> slides(given.blocks.size());
        VectorX lam = VectorX::Zero(given.size), sigma(given.size);
        const SolveReport report = solve_contact(given, solver, false, {guess.data(), slides.data()},
                                                 mode.data(), lam.data(), sigma.data());
        EXPECT_NE(report.status, SolveStatus::inexact);
        EXPECT_LT(contact_residual(plain, lam.data()), 1.1e-9 * problem.velocity_scale) << step;
      }
    }
  }
}

}  // namespace
}  // namespace articula::testing::group_factor_test
