#pragma once
// Everything that MuJoCo and we both compute without constraints, at random states.

#include <string>

#include "articula/model/model.hpp"
#include "bench/peers/peer_load.hpp"

namespace articula::testing {

// Largest difference of each quantity over all states, relative to the largest number of that quantity in the
// state (of forces: of all forces, where those of one kind may be zero).
struct Agreement {
  std::string sizes;  // what does not even have the same size; empty: all have
  double masses = 0, mass_matrix = 0, bias = 0, passive = 0, actuator_force = 0, actuator = 0, smooth = 0,
         sensors = 0;
  std::string worst_sensor;
  double worst() const;
  std::string text() const;
};

// Turns the constraints of `peer` off.
Agreement compare_with_mujoco(const PeerApi& mujoco, const peers::PeerModelPtr& peer, const Model& model,
                              int states);

}  // namespace articula::testing
