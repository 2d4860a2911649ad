#include "articula/simulation/step_modes.hpp"

#include "articula/error.hpp"

namespace articula {

StepModes modes_of(const Simulation& simulation, const Step& step) {
  if (!step.ok()) throw Error("a step that failed ({}) has no modes", to_string(step.status()));
  const Simulation::Lease workspace(simulation, step.serial);
  Step again;
  workspace->recall(step, again);
  StepModes modes;
  if (workspace->contact) {
    const ImpulseWork& work = *workspace->contact;
    modes.frozen = freeze(work);
    modes.signature.read_rows(simulation.model().structure(), work.rows, contact_keys(work.contacts),
                              simulation.settings().recovery_speed);
  }
  modes.signature.read_sides(simulation.model(), workspace->data, workspace->motion(), simulation.dt());
  return modes;
}

std::optional<State> held_step(const Simulation& simulation, const State& x, const Input& input,
                               const StepModes& modes) {
  const Simulation::Lease workspace(simulation);
  Step result;
  workspace->step(x, input, result, &modes.frozen);
  // Equations of held modes that were not solved are no step.
  if (!result.ok() || result.report.contact == SolveStatus::inexact) return std::nullopt;
  return std::move(result.next);
}

}  // namespace articula
