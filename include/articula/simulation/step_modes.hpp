#pragma once
// The modes of a step, to compare steps by and to hold: what checks of derivatives need.
//
//   const StepModes modes = modes_of(sim, s);
//   modes == modes_of(sim, sim.step(x, u));    // one smooth piece: differences are those of one function
//   held_step(sim, x, u, modes);               // this function itself, beyond the piece, too

#include <optional>

#include "articula/simulation/simulation.hpp"
#include "articula/simulation/step_signature.hpp"

namespace articula {

struct StepModes {
  FrozenModes frozen;
  StepSignature signature;

  // Whether rows that carry something do the same, slide to the same side, and forces are on the same side
  // of their kinks. Not transitive: directions of sliding may differ by 11 degrees.
  bool operator==(const StepModes& there) const {
    return signature.same_rows(there.signature) && signature.same_sides(there.signature);
  }
};

// Of a step that this simulation took. Throws Error for a step that failed.
StepModes modes_of(const Simulation& simulation, const Step& step);

// The state after a step that keeps the modes of another one, of the same model or of a variant
// (model.with): the smooth function whose derivative the step's derivative is. None where it has no solution.
std::optional<State> held_step(const Simulation& simulation, const State& x, const Input& input,
                               const StepModes& modes);

}  // namespace articula
