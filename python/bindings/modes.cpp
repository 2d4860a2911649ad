// The modes of steps: compared, and held.

#include <fmt/format.h>

#include "arrays.hpp"
#include "articula/simulation/step_modes.hpp"
#include "bindings.hpp"

namespace articula::python {

namespace {

// Modes, and the structure of the model that they belong to, which variants share.
struct NamedModes : StepModes {
  std::shared_ptr<const Structure> structure;
};

void require_own(const Simulation& simulation, const std::shared_ptr<const Structure>& structure,
                 const char* what) {
  if (structure.get() != &simulation.model().structure())
    throw Error("{} was taken with another model", what);
}

NamedModes modes(const Simulation& simulation, const NamedStep& step) {
  require_own(simulation, step.structure, "this step");
  const py::gil_scoped_release released;
  return {modes_of(simulation, step), step.structure};
}

State step_held(const Simulation& simulation, const State& x, const py::object& u, const NamedModes& held) {
  require_own(simulation, held.structure, "the step of these modes");
  require_state(x, simulation.model());
  Input input;
  read_input(u, simulation.model(), input);
  std::optional<State> next;
  {
    const py::gil_scoped_release released;
    next = held_step(simulation, x, input, held);
  }
  if (!next) {
    const bool finite = x.q.allFinite() && x.v.allFinite() && x.activation.allFinite() &&
                        input.controls.allFinite() && input.forces.allFinite() && input.wrenches.allFinite();
    if (!finite) throw_failed_step(StepStatus::input_not_finite, simulation.model(), x, input);
    throw Error("no step keeps these modes here");
  }
  return *next;
}

}  // namespace

void bind_modes(py::module_& module) {
  py::class_<NamedModes> bound(
      module, "Modes",
      "The modes of a step. Two are equal if all that carries something does the same (contacts told apart "
      "by "
      "their features, those that slide to one side within 11 degrees), and forces are on the same side of "
      "their kinks: between such steps the derivative does not jump.");
  exported(bound)
      .def(
          "__eq__", [](const NamedModes& a, const NamedModes& b) { return a == b; }, py::is_operator())
      .def("__repr__", [](const NamedModes& m) {
        return fmt::format("<modes of {} contacts, limits, loops and frictions>", m.frozen.entries.size());
      });
  bound.attr("__hash__") = py::none();  // equality is not transitive
  py::class_<Simulation, std::shared_ptr<Simulation>>(py::object(module.attr("Simulation")))
      .def("modes", &modes, py::arg("step"),
           "The modes of a step, to compare with those of another, or to hold.")
      .def("held_step", &step_held, py::arg("x"), py::arg("u"), py::arg("modes"),
           "The state after a step that keeps the modes of another one, of this model or a variant "
           "(`model.with_`): the smooth function whose derivative `jacobians` and `pullback` give. Raises "
           "Error where it has no solution.");
}

}  // namespace articula::python
