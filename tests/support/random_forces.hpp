#pragma once
// Random robots with everything that exerts forces: springs, dampers, tendons, actuators of every
// transmission, law and limit, a medium, and bodies carried against gravity.

#include "tests/support/random_tree.hpp"

namespace articula::testing {

// Adds to a description from random_description (joints get names). `limits`: with clamps that hold.
void add_random_forces(Description& description, std::mt19937& random, bool limits = true);

Model random_force_model(int seed, bool limits = true);

struct RandomInputs {
  VectorX activation, control;
};
RandomInputs random_inputs(const Model& model, std::mt19937& random);

}  // namespace articula::testing
