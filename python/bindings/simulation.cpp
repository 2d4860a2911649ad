// Simulation, rollouts, joint reactions.

#include "articula/simulation/simulation.hpp"

#include <fmt/format.h>
#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include "arrays.hpp"
#include "articula/kinematics/manifold.hpp"
#include "articula/simulation/rollout.hpp"
#include "articula/steppers/free_motion.hpp"
#include "bindings.hpp"

namespace articula::python {

namespace {

using SharedSimulation = std::shared_ptr<Simulation>;

// Converting None to a null pointer is pybind11's last resort, after an exception raised and dropped: a
// tenth of a short step.
const WarmStart* warm_start(const py::object& given) {
  if (given.is_none()) return nullptr;
  if (!py::isinstance<WarmStart>(given)) throw py::type_error("warm must be a WarmStart or None");
  return given.cast<const WarmStart*>();
}

std::shared_ptr<NamedStep> step(const Simulation& simulation, const State& x, const py::object& u,
                                const py::object& given_warm) {
  const WarmStart* warm = warm_start(given_warm);
  require_state(x, simulation.model());
  auto result = std::make_shared<NamedStep>();
  read_input(u, simulation.model(), result->input);
  if (warm != nullptr) result->warm = *warm;
  result->structure = simulation.model().shared_structure();
  {
    const py::gil_scoped_release released;
    simulation.step(x, result->input, *result);
  }
  if (!result->ok()) throw_failed_step(result->report.status, simulation.model(), x, result->input);
  return result;
}

// ------------------------------------------------------------------ rollouts

std::shared_ptr<Rollout> roll_out(const Simulation& simulation, const State& x, const py::object& controls,
                                  const WarmStart* warm) {
  require_state(x, simulation.model());
  const Numbers given = numbers("controls", controls);
  const int nu = simulation.model().nu();
  if (given.ndim() != 2 || given.shape(1) != nu)
    throw Error("controls has shape {}, not (steps, {})", shape_text(given.shape(), given.ndim()), nu);
  const auto columns = as_columns(given, nu, given.shape(0));
  const py::gil_scoped_release released;
  return std::make_shared<Rollout>(rollout(simulation, x, columns, warm != nullptr ? *warm : WarmStart{}));
}

std::shared_ptr<Rollout> roll_out_controlled(const Simulation& simulation, const State& x, int steps,
                                             const py::function& controller, const WarmStart* warm) {
  require_state(x, simulation.model());
  const Controller control = [&](int i, const State& state, Input& input) {
    const py::gil_scoped_acquire acquired;
    input = {};
    read_input(controller(i, std::make_shared<State>(state)), simulation.model(), input);
  };
  const py::gil_scoped_release released;
  return std::make_shared<Rollout>(
      rollout(simulation, x, steps, control, warm != nullptr ? *warm : WarmStart{}));
}

void bind_rollout(py::module_& module) {
  using Shared = std::shared_ptr<Rollout>;
  py::class_<Rollout, Shared> bound(
      module, "Rollout",
      "States before each step and after the last; fewer than asked for if a step failed.");
  exported(bound)
      .def_property_readonly(
          "q", [](const py::object& s) { return view_rows(s.cast<Rollout&>().q, s); }, "(steps + 1, nq)")
      .def_property_readonly(
          "v", [](const py::object& s) { return view_rows(s.cast<Rollout&>().v, s); }, "(steps + 1, nv)")
      .def_property_readonly(
          "activation", [](const py::object& s) { return view_rows(s.cast<Rollout&>().activation, s); },
          "(steps + 1, na)")
      .def_property_readonly(
          "time", [](const py::object& s) { return view(s.cast<Rollout&>().time, s); }, "(steps + 1,) s")
      .def_property_readonly("steps", &Rollout::steps, "Steps that were taken.")
      .def_property_readonly(
          "reports", [](const Rollout& r) { return r.reports; }, "Of all steps, and of one that failed.")
      .def_property_readonly(
          "warm", [](const Shared& r) { return std::shared_ptr<WarmStart>(r, &r->warm); },
          "For the next step, to make it faster.")
      .def_property_readonly(
          "status", [](const Rollout& r) { return text(to_string(r.status())); }, "Of the last step tried.")
      .def_property_readonly(
          "ok", [](const Rollout& r) { return r.status() == StepStatus::ok; },
          "Whether all steps were taken.")
      .def(
          "state",
          [](const Rollout& r, int i) {
            const int count = r.steps() + 1;
            if (i < -count || i >= count)
              throw py::index_error(fmt::format("the rollout has states 0 to {}, not {}", count - 1, i));
            return r.state(i < 0 ? i + count : i);
          },
          py::arg("i"), "A copy of the state before step i.")
      .def("last", &Rollout::last, "A copy of the state after the last step.")
      .def("__len__", &Rollout::steps)
      .def("__repr__", [](const Rollout& r) {
        return fmt::format("<rollout of {} steps from {:.6g} s to {:.6g} s: {}>", r.steps(), r.time[0],
                           r.time[r.steps()], to_string(r.status()));
      });

  const char* doc = "Many steps in a row, under `controls` (steps, nu). It ends where a step fails.";
  const char* controlled_doc =
      "Many steps in a row; `controller(i, state)` returns the controls (nu,), an Input, or None.";
  module.def("rollout", &roll_out, py::arg("simulation"), py::arg("x"), py::arg("controls"),
             py::arg("warm") = py::none(), doc);
  module.def("rollout", &roll_out_controlled, py::arg("simulation"), py::arg("x"), py::arg("steps"),
             py::arg("controller"), py::arg("warm") = py::none(), controlled_doc);
}

py::str simulation_text(const Simulation& s) {
  return text(fmt::format("<simulation of '{}': dt {:g} s, contact {}>", s.model().description().name, s.dt(),
                          to_string(s.settings().contact)));
}

}  // namespace

SimulationSettings make_settings(std::optional<double> dt, const std::string& contact, double recovery_speed,
                                 std::optional<double> bounce_speed, bool implicit_gyroscopic,
                                 int most_contacts) {
  SimulationSettings settings;
  settings.dt = dt;
  settings.recovery_speed = recovery_speed;
  settings.bounce_speed = bounce_speed;
  settings.implicit_gyroscopic = implicit_gyroscopic;
  settings.most_contacts = most_contacts;
  for (const Contact known : {Contact::none, Contact::lcp, Contact::ncp}) {
    settings.contact = known;
    if (contact == to_string(known)) return settings;
  }
  throw Error("contact must be 'ncp', 'lcp' or 'none', not '{}'", contact);
}

py::dict settings_dict(const SimulationSettings& s) {
  using namespace py::literals;
  return py::dict("dt"_a = s.dt, "contact"_a = text(to_string(s.contact)),
                  "recovery_speed"_a = s.recovery_speed, "bounce_speed"_a = s.bounce_speed,
                  "implicit_gyroscopic"_a = s.implicit_gyroscopic, "most_contacts"_a = s.most_contacts);
}

void require_rotations(const Model& model, const ConstVectorRef& q) {
  const int i = joint_without_direction(model, q);
  if (i < 0) return;
  const JointIndex& joint = model.structure().joints[i];
  const int first = joint.q + turning_dof(joint) - joint.dof;
  throw Error("q: the quaternion of joint '{}' (entries {} to {}) has {} length; 1 0 0 0 is no rotation",
              joint.name, first, first + 3, q.segment<4>(first).squaredNorm() > 0.0 ? "too large a" : "no");
}

void throw_failed_step(StepStatus status, const Model& model, const State& x, const Input& input) {
  if (status == StepStatus::input_not_finite) {
    require_finite("q", x.q.data(), x.q.size());
    require_finite("v", x.v.data(), x.v.size());
    require_finite("activation", x.activation.data(), x.activation.size());
    require_finite("controls", input.controls.data(), input.controls.size());
    require_finite("forces", input.forces.data(), input.forces.size());
    require_finite("wrenches", input.wrenches.data(), input.wrenches.size());
    require_finite("kinematic_twist", input.kinematic_twist.data(), input.kinematic_twist.size());
    for (const Pose& pose : input.kinematic_pose) require_finite("kinematic_pose", pose.position.data(), 3);
    require_finite("time", &x.time, 1);
    require_rotations(model, x.q);
  }
  throw Error("the step was not taken: {}", to_string(status));
}

void bind_simulation(py::module_& module) {
  py::class_<Simulation, SharedSimulation> bound(
      module, "Simulation", "A model, a time step and a contact law. Immutable: threads may share one.");
  exported(bound)
      .def(py::init([](const Model& model, std::optional<double> dt, const std::string& contact,
                       double recovery_speed, std::optional<double> bounce_speed, bool implicit_gyroscopic,
                       int most_contacts) {
             return std::make_shared<Simulation>(
                 model, make_settings(dt, contact, recovery_speed, bounce_speed, implicit_gyroscopic,
                                      most_contacts));
           }),
           py::arg("model"), py::arg("dt") = py::none(), py::arg("contact") = "ncp",
           py::arg("recovery_speed") = 0.2, py::arg("bounce_speed") = py::none(),
           py::arg("implicit_gyroscopic") = true, py::arg("most_contacts") = 0,
           "dt: s, default the model's own. contact: 'ncp' (friction cones), 'lcp' (pyramids), 'none' (no "
           "contacts, limits, "
           "loops or dry friction). recovery_speed: m/s, overlaps vanish no faster. bounce_speed: m/s, "
           "slower impacts do "
           "not bounce, default 2 dt g. most_contacts: room for this many, 0: what the model can need.")
      .def_property_readonly(
          "model",
          [](const SharedSimulation& s) {
            return std::shared_ptr<Model>(s, const_cast<Model*>(&s->model()));
          },
          "The model that is stepped.")
      .def_property_readonly("dt", &Simulation::dt, "s")
      .def_property_readonly(
          "settings", [](const Simulation& s) { return settings_dict(s.settings()); },
          "What it was made with, as keyword arguments.")
      .def("step", &step, py::arg("x"), py::arg("u") = py::none(), py::arg("warm") = py::none(),
           "One step from the state x under controls u (nu,), an Input, or None. A pure function of its "
           "arguments; `warm` is a guess that makes it faster, and picks one motion where the laws allow "
           "several. Raises Error for wrong shapes, and for numbers that are not "
           "finite.")
      .def("rollout", &roll_out, py::arg("x"), py::arg("controls"), py::arg("warm") = py::none(),
           "Many steps in a row, under `controls` (steps, nu). It ends where a step fails.")
      .def("rollout", &roll_out_controlled, py::arg("x"), py::arg("steps"), py::arg("controller"),
           py::arg("warm") = py::none(),
           "The same with `controller(i, state)`, which returns the controls (nu,), an Input, or None.")
      .def(
          "joint_reactions",
          [](const Simulation& s, const NamedStep& taken) {
            if (taken.structure.get() != &s.model().structure())
              throw Error("this step was taken with another model");
            return copy_rows(joint_reactions(s, taken));
          },
          py::arg("step"),
          "(njoint, 6): force (N) and torque (N m) that the inner side of each joint exerts on the outer "
          "side, in world "
          "axes about the joint's anchor.")
      .def("__repr__", &simulation_text)
      .def(py::pickle(
          [](const SharedSimulation& s) {
            return py::make_tuple(std::make_shared<Model>(s->model()), settings_dict(s->settings()));
          },
          [](const py::tuple& kept) {
            if (kept.size() != 2) throw Error("this is no pickled simulation");
            const auto rebuild = py::module_::import("articula").attr("Simulation");
            return rebuild(kept[0], **kept[1].cast<py::dict>()).cast<SharedSimulation>();
          }));
  bind_rollout(module);
}

}  // namespace articula::python
