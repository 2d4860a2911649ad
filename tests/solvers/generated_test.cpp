// Generated problems (tests/support/contact_problems), judged by the residual that knows no solver.
// ARTICULA_FULL=1 runs the acceptance size, ARTICULA_SEED another sequence.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "articula/error.hpp"
#include "articula/solvers/solver.hpp"
#include "tests/support/problem_archive.hpp"

namespace articula::testing::generated_test {
namespace {

int problems() { return std::getenv("ARTICULA_FULL") ? 100000 : 1000; }
unsigned seed() {
  const char* text = std::getenv("ARTICULA_SEED");
  return text ? static_cast<unsigned>(std::strtoul(text, nullptr, 10)) : 1u;
}

class generated_problems : public ::testing::TestWithParam<FrictionLaw> {};

TEST_P(generated_problems, are_solved_to_rounding_and_the_rest_is_flagged) {
  std::mt19937 random(seed());
  ContactSolver work;
  int unsolved = 0, singular = 0;
  const int count = problems();
  for (int k = 0; k < count; ++k) {
    const OwnedProblem p = random_contact_problem(random, {.law = GetParam()});
    const ContactProblem view = p.view(0.01);
    std::vector<RowMode> guess(view.size), mode(view.size);
    std::vector<SlideState> slides(view.blocks.size());
    VectorX lam(view.size), sigma(view.size);
    const SolveReport report = solve_contact(view, work, false, {guess.data(), slides.data()}, mode.data(),
                                             lam.data(), sigma.data());
    const double residual = contact_residual(view, lam.data()) / view.velocity_scale;
    EXPECT_NEAR(report.relative_residual, residual, 1e-12);
    EXPECT_LT((p.G * lam + p.b - sigma).lpNorm<Eigen::Infinity>(), 1e-9 * view.velocity_scale);
    singular += p.singular;
    if (residual <= 1e-9) continue;
    ++unsolved;
    EXPECT_EQ(report.status, SolveStatus::inexact) << k;
  }
  EXPECT_LE(unsolved, count / 10000);
  EXPECT_GE(singular, count * 3 / 10);
}

// Solved from nothing, from its own modes, and from modes that are all wrong: where both say that the
// solution is the one there is, and move alike, all bits agree.
TEST_P(generated_problems, give_the_same_bits_however_they_are_started) {
  std::mt19937 random(seed() + 1);
  ContactSolver work;
  int compared = 0, other_motion = 0;
  for (int k = 0; k < 300; ++k) {
    const OwnedProblem p = random_contact_problem(random, {.law = GetParam()});
    const ContactProblem view = p.view(0.01);
    const int n = view.size;
    std::vector<RowMode> found(n), mode(n), again_mode(n);
    std::vector<SlideState> slides(view.blocks.size());
    VectorX lam(n), sigma(n), again(n), again_sigma(n);
    const SolveReport cold = solve_contact(view, work, false, {found.data(), slides.data()}, mode.data(),
                                           lam.data(), sigma.data());
    for (int start = 0; start < 3; ++start) {
      std::vector<RowMode> guess = found;
      std::vector<SlideState> guess_slides = slides;
      for (const Block& block : p.blocks) {
        const RowMode wrong = block.kind == BlockKind::equality || start == 2 ? RowMode::hold
                              : block.kind == BlockKind::interval             ? RowMode::upper
                                                                              : RowMode::free;
        if (start > 0) std::fill_n(guess.begin() + block.first, block.dim, wrong);
      }
      const SolveReport warm = solve_contact(view, work, true, {guess.data(), guess_slides.data()},
                                             again_mode.data(), again.data(), again_sigma.data());
      if (cold.status != SolveStatus::solved || warm.status != SolveStatus::solved) continue;
      ++compared;
      if ((sigma - again_sigma).lpNorm<Eigen::Infinity>() > 1e-7 * view.velocity_scale) {
        ++other_motion;
        continue;
      }
      EXPECT_EQ(std::memcmp(lam.data(), again.data(), sizeof(double) * n), 0) << k << " start " << start;
      EXPECT_EQ(std::memcmp(sigma.data(), again_sigma.data(), sizeof(double) * n), 0) << k;
      EXPECT_EQ(mode, again_mode) << k;
    }
  }
  EXPECT_GT(compared, 600);
  EXPECT_LE(other_motion, compared / 100);
}

// Gaps and recovery of contacts at random: every third time they contradict each other.
OwnedProblem problem_with_biases(std::mt19937& random, FrictionLaw law) {
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  OwnedProblem p = random_contact_problem(random, {.law = law, .most_bodies = 3});
  p.bias = VectorX::Zero(p.b.size());
  for (const Block& block : p.blocks) {
    if (block.kind != BlockKind::contact) continue;
    p.bias[block.first] = uniform(random);
    p.b[block.first] += p.bias[block.first];
  }
  return p;
}

// Which slack makes biases agree is not determined: it is that of a solve from nothing.
TEST_P(generated_problems, are_granted_the_same_slack_however_they_are_started) {
  std::mt19937 random(seed() + 3);
  ContactSolver work;
  int compared = 0;
  for (int k = 0; k < 300; ++k) {
    const OwnedProblem p = problem_with_biases(random, GetParam());
    const ContactProblem view = p.view(0.01);
    std::vector<RowMode> found(view.size), mode(view.size);
    std::vector<SlideState> slides(view.blocks.size());
    VectorX lam(view.size), sigma(view.size);
    const SolveReport cold = solve_contact(view, work, false, {found.data(), slides.data()}, mode.data(),
                                           lam.data(), sigma.data());
    for (int start = 0; start < 3; ++start) {
      std::vector<RowMode> guess = found;
      std::vector<SlideState> guess_slides = slides;
      if (start > 0) std::fill(guess.begin(), guess.end(), start == 1 ? RowMode::free : RowMode::hold);
      VectorX again = start == 0 ? lam : VectorX::Zero(view.size), again_sigma(view.size);
      const SolveReport warm = solve_contact(view, work, true, {guess.data(), guess_slides.data()},
                                             mode.data(), again.data(), again_sigma.data());
      if (warm.status != SolveStatus::infeasible_bias) continue;
      ++compared;
      EXPECT_EQ(cold.status, warm.status) << k << " start " << start;
      EXPECT_TRUE(lam == again) << k << " start " << start;
      EXPECT_EQ(cold.slack, warm.slack) << k << " start " << start;
    }
  }
  EXPECT_GT(compared, 100) << "the case that this is about";
}

// What a workspace solved before leaves no trace; biases that nothing can meet lead through all searches.
TEST_P(generated_problems, give_the_same_bits_whatever_was_solved_before) {
  std::mt19937 random(seed() + 2);
  ContactSolver used;
  int contradicting = 0;
  for (int k = 0; k < 80; ++k) {
    const OwnedProblem p = problem_with_biases(random, GetParam());
    const ContactProblem view = p.view(0.01);
    for (std::vector<double>* left :
         {&used.start, &used.trial, &used.trial_sigma, &used.between, &used.approximate, &used.dilated,
          &used.kept, &used.relaxed, &used.balance})
      left->assign(view.size, 1e6);  // loads without end, of another problem
    VectorX lam[2];
    for (const bool again : {false, true}) {
      ContactSolver fresh;
      std::vector<RowMode> guess(view.size), mode(view.size);
      std::vector<SlideState> slides(view.blocks.size());
      VectorX sigma(view.size);
      lam[again].resize(view.size);
      const SolveReport report =
          solve_contact(view, again ? used : fresh, false, {guess.data(), slides.data()}, mode.data(),
                        lam[again].data(), sigma.data());
      contradicting += report.status == SolveStatus::infeasible_bias;
    }
    EXPECT_TRUE(lam[0] == lam[1]) << k;
  }
  EXPECT_GT(contradicting, 10) << "the case that this is about";
}

// Impulses and velocities that obey the cones, and the problem that they solve: its biases do not contradict
// each other, whatever it seems like where nothing slides.
OwnedProblem problem_with_a_solution(std::mt19937& random) {
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  OwnedProblem p =
      random_contact_problem(random, {.most_bodies = 2, .most_contacts = 3, .other_rows = false});
  VectorX lam = VectorX::Zero(p.b.size()), sigma = lam;
  p.bias = lam;
  for (const Block& block : p.blocks) {
    const int n = block.first;
    if (uniform(0.0, 1.0) < 0.25) {
      sigma[n] = uniform(0.01, 1.0);
      for (int i = 1; i < block.dim; ++i) sigma[n + i] = uniform(-1.0, 1.0);
      continue;
    }
    const double softest = p.G.diagonal().segment(n, block.dim).maxCoeff();
    lam[n] = uniform(0.01, 0.1) / softest;
    p.bias[n] = -uniform(0.0, 0.2);
    VectorX d(block.tangents());
    for (double& x : d) x = uniform(-1.0, 1.0);
    d.normalize();
    const bool slides = uniform(0.0, 1.0) < 0.5;
    const double share = slides ? 1.0 : uniform(0.0, 0.9), speed = slides ? uniform(0.01, 1.0) : 0.0;
    for (int i = 0; i < block.tangents(); ++i) {
      lam[n + 1 + i] = -share * block.mu[i] * lam[n] * d[i];
      sigma[n + 1 + i] = speed * d[i] / block.mu[i];
    }
  }
  p.b = sigma - p.G * lam;
  return p;
}

// Those where Newton's and Lemke's methods end nowhere, and loads in which friction takes part speak of a
// jam.
TEST(contact_problems, with_a_solution_are_not_taken_for_jams) {
  struct Number {
    unsigned seed;
    int problem;
  };
  ContactSolver work;
  for (const Number& number :
       {Number{16, 185}, Number{41, 566}, Number{11, 665}, Number{21, 20}, Number{53, 819}}) {
    std::mt19937 random(number.seed);
    OwnedProblem p;
    for (int k = 0; k <= number.problem; ++k) p = problem_with_a_solution(random);
    const ContactProblem view = p.view(0.01);
    std::vector<RowMode> guess(view.size), mode(view.size);
    std::vector<SlideState> slides(view.blocks.size());
    VectorX lam(view.size), sigma(view.size);
    const SolveReport report = solve_contact(view, work, false, {guess.data(), slides.data()}, mode.data(),
                                             lam.data(), sigma.data());
    EXPECT_EQ(report.status, SolveStatus::solved) << number.seed;
    EXPECT_LT(contact_residual(view, lam.data()), 1e-9 * view.velocity_scale);
  }
}

// Bodies that friction nearly jams: a solution exists, since no bias asks for motion, and its loads are up to
// 1e5 times what stops the motion. Slack must not be granted in its place, and the central path must not be
// lost to rounding, nor to an equality whose impulse grows.
TEST(contact_problems, that_are_nearly_jammed_are_solved) {
  struct Place {
    unsigned seed;
    unsigned long long draws;  // of the generator, before the problem
    int size;
  };
  ContactSolver work;
  for (const Place& place :
       {Place{1, 39120688, 36}, Place{3, 2939438, 43}, Place{3, 4228915, 46}, Place{7, 19087663, 34}}) {
    std::mt19937 random(place.seed);
    random.discard(place.draws);
    const OwnedProblem p = random_contact_problem(random, {.law = FrictionLaw::cone});
    const ContactProblem view = p.view(0.01);
    ASSERT_EQ(view.size, place.size) << "the generator is another";
    std::vector<RowMode> guess(view.size), mode(view.size);
    std::vector<SlideState> slides(view.blocks.size());
    VectorX lam(view.size), sigma(view.size);
    const SolveReport report = solve_contact(view, work, false, {guess.data(), slides.data()}, mode.data(),
                                             lam.data(), sigma.data());
    EXPECT_LE(report.status, SolveStatus::multiple) << place.seed << " " << place.draws;
    EXPECT_LT(contact_residual(view, lam.data()), 1e-9 * view.velocity_scale) << place.seed;
  }
}

INSTANTIATE_TEST_SUITE_P(laws, generated_problems, ::testing::Values(FrictionLaw::pyramid, FrictionLaw::cone),
                         [](const auto& info) {
                           return info.param == FrictionLaw::pyramid ? "pyramid" : "cone";
                         });

TEST(problem_archive, brings_problems_back_to_the_bit) {
  const std::filesystem::path path = std::filesystem::path(::testing::TempDir()) / "problems.bin";
  std::filesystem::remove(path);
  std::mt19937 random(3);
  std::vector<OwnedProblem> written;
  for (int part = 0; part < 2; ++part) {
    ProblemRecorder recorder(path);
    for (int k = 0; k < 3; ++k) {
      written.push_back(random_contact_problem(random));
      recorder.record(written.back().view(0.01));
    }
  }
  ProblemArchive archive(path);
  OwnedProblem read;
  for (const OwnedProblem& p : written) {
    ASSERT_TRUE(archive.next(read));
    EXPECT_EQ(read.G, p.G);
    EXPECT_EQ(read.b, p.b);
    EXPECT_EQ(read.law, p.law);
    ASSERT_EQ(read.blocks.size(), p.blocks.size());
    for (std::size_t k = 0; k < p.blocks.size(); ++k) {
      EXPECT_EQ(read.blocks[k].kind, p.blocks[k].kind);
      EXPECT_EQ(read.blocks[k].first, p.blocks[k].first);
      EXPECT_EQ(read.blocks[k].bound, p.blocks[k].bound);
      EXPECT_EQ(read.blocks[k].mu[0], p.blocks[k].mu[0]);
    }
    EXPECT_EQ(read.view().velocity_scale, p.view(0.01).velocity_scale);
  }
  EXPECT_FALSE(archive.next(read));
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 5);
  ProblemArchive cut(path);
  EXPECT_THROW(while (cut.next(read)){}, Error);
  std::ofstream(path) << "something else entirely";
  EXPECT_THROW(ProblemArchive{path}, Error);
  EXPECT_THROW(ProblemRecorder{path}, Error);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace articula::testing::generated_test
