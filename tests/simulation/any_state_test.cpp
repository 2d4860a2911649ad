// Gradients at any state at all are numbers.

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "articula/error.hpp"
#include "articula/io/load.hpp"
#include "articula/kinematics/manifold.hpp"
#include "articula/simulation/simulation.hpp"
#include "tests/support/scene.hpp"

namespace articula::testing::any_state_test {
namespace {

bool all_finite(const StepGradient& gradient) {
  return gradient.q.allFinite() && gradient.v.allFinite() && gradient.activation.allFinite() &&
         gradient.control.allFinite() && gradient.force.allFinite() && gradient.wrench.allFinite() &&
         gradient.parameters.allFinite();
}

// Poses anywhere (deep in the floor, in themselves), as built (exact touching), at rest or fast.
State any_state(const Model& model, std::mt19937& random) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  State x = neutral_state(model);
  VectorX bend(model.nv());
  const double wild = uniform(random) < 0.3 ? 0.0 : uniform(random) < 0.5 ? 0.05 : 1.0;
  for (double& d : bend) d = wild * normal(random);
  integrate(model, x.q, bend, 1.0, x.q);
  const double speed = uniform(random) < 0.4 ? 0.0 : uniform(random) < 0.5 ? 0.5 : 20.0;
  for (double& v : x.v) v = speed * normal(random);
  return x;
}

// How many gradients were looked at.
int expect_numbers(const Model& model, int states, std::mt19937& random) {
  int looked_at = 0;
  for (const Contact law : {Contact::ncp, Contact::lcp}) {
    const Simulation simulation(model, {.contact = law});
    Step step;
    StepGradient gradient;
    StepJacobians jacobians;
    GradientSettings settings{.parameters = model.parameters().slices()};
    const StepCovector covector{VectorX::Ones(model.nv()), VectorX::Ones(model.nv()), {}};
    for (int i = 0; i < states; ++i) {
      step.warm.entries.clear();
      simulation.step(any_state(model, random), step.input, step);
      if (!step.ok()) continue;
      for (const GradientMode mode :
           {GradientMode::exact, GradientMode::complementarity_aware, GradientMode::elastic}) {
        settings.mode = mode;
        simulation.pullback(step, covector, settings, gradient);
        EXPECT_TRUE(all_finite(gradient)) << model.description().name << " " << i << " " << to_string(mode);
      }
      simulation.jacobians(step, {}, jacobians);
      EXPECT_TRUE(jacobians.by_state.allFinite() && jacobians.by_control.allFinite());
      ++looked_at;
      if (i % 30 != 0 || model.nv() > 20) continue;  // differences of all inputs take a while
      settings.mode = GradientMode::randomised;
      settings.samples = 4;
      simulation.pullback(step, covector, settings, gradient);
      EXPECT_TRUE(all_finite(gradient)) << "randomised";
      GradientSettings differences{.mode = GradientMode::finite_difference};
      try {
        simulation.pullback(step, covector, differences, gradient);
        EXPECT_TRUE(all_finite(gradient)) << "finite_difference";
      } catch (const Error& error) {  // a step beside this one that was not solved exactly has no difference
        EXPECT_NE(std::string(error.what()).find("cannot be taken"), std::string::npos) << error.what();
      }
    }
  }
  return looked_at;
}

// In full 100,000 states, more of small models than of those whose solves take long.
TEST(gradients_at_any_state, of_all_models_are_numbers) {
  std::mt19937 random(1);
  const bool full = std::getenv("ARTICULA_FULL") != nullptr;
  std::vector<Model> models;
  double shares = 0.0;
  const auto share = [](const Model& model) { return 1.0 / (5.0 + model.nv() * model.nv()); };
  for (const std::string& name : model_names()) {
    models.push_back(load(name));
    shares += share(models.back());
  }
  int looked_at = 0, least = 0;
  for (const Model& model : models) {
    const int states = full ? 100 + static_cast<int>(50000.0 * share(model) / shares) : 2;
    looked_at += expect_numbers(model, states, random);
    least += states;
  }
  EXPECT_GT(looked_at, full ? 100000 : least);  // of twice as many, some steps may fail
}

// Every contact twice, masses that differ by a million.
TEST(gradients_at_any_state, of_duplicate_contacts_and_mass_ratios_of_a_million_are_numbers) {
  std::mt19937 random(2);
  Description d = empty_world();
  add_floor(d);
  d.geometries.push_back(d.geometries.back());
  d.geometries.back().name = "floor_again";
  add_box(d, "light", {0.1, 0.1, 0.05}, 1e-3, {0, 0, 0.05});
  add_box(d, "heavy", {0.1, 0.1, 0.05}, 1e3, {0, 0, 0.15});
  const int states = std::getenv("ARTICULA_FULL") != nullptr ? 2000 : 50;
  EXPECT_GT(expect_numbers(build(d), states, random), states);
}

}  // namespace
}  // namespace articula::testing::any_state_test
