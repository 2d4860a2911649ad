#pragma once
// States at which check-gradients looks: along trajectories that fall, bounce, slide, rest and run into
// limits.

#include "articula/simulation/simulation.hpp"

namespace articula::cli {

struct CheckedState {
  State state;
  Input input;
  bool in_contact = false;  // a contact or a limit carries something
};

// As many as wanted, most of them in contact if the model ever is; the same for the same seed.
std::vector<CheckedState> trajectory_states(const Model& model, Contact contact, int count, unsigned seed);

}  // namespace articula::cli
