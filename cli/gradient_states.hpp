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

// As many as wanted. Most of them are in contact, and some slide, bounce, or are at an end of a range, if the
// model ever does; the same for the same seed, over however many threads. Of `only` some, by number, the
// others may be left empty.
std::vector<CheckedState> trajectory_states(const Model& model, Contact contact, int count, unsigned seed,
                                            int threads, const std::vector<int>& only = {});

}  // namespace articula::cli
