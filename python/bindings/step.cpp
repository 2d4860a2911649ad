// What a step returns: contacts, loops, report.

#include <fmt/format.h>
#include <pybind11/stl.h>

#include "arrays.hpp"
#include "bindings.hpp"

namespace articula::python {

namespace {

py::list contact_list(const NamedStep& step) {
  py::list result;
  for (const StepContact& contact : step.contacts) result.append(NamedContact{contact, step.structure});
  return result;
}

py::str contact_text(const NamedContact& c) {
  return text(fmt::format("<contact of {} and {}: {}, distance {:.3g} m, force ({:.4g}, {:.4g}, {:.4g}) N>",
                          geometry_name(*c.structure, c.geometry_a),
                          geometry_name(*c.structure, c.geometry_b), to_string(c.mode), c.distance,
                          c.force.x(), c.force.y(), c.force.z()));
}

// (contacts, 3) of one vector of each.
template <class Member>
py::array gather(const NamedStep& step, Member member) {
  MatrixX rows(3, static_cast<Eigen::Index>(step.contacts.size()));
  for (size_t i = 0; i < step.contacts.size(); ++i)
    rows.col(static_cast<Eigen::Index>(i)) = step.contacts[i].*member;
  return copy_rows(rows);
}

std::string step_text(const NamedStep& s) {
  int touching = 0;
  for (const StepContact& c : s.contacts) touching += c.mode != ContactMode::separating;
  return fmt::format("<step to {:.6g} s: {}; {} of {} contacts touch, residual {:.1e}>", s.next.time,
                     to_string(s.report.status), touching, s.contacts.size(), s.report.residual);
}

void bind_contact(py::module_& module) {
  py::class_<NamedContact> contact(
      module, "StepContact",
      "A pair of points that touches, or may touch, within the step. World axes; impulses act on B.");
  exported(contact)
      .def_readonly("geometry_a", &StepContact::geometry_a, "Number of the first geometry.")
      .def_readonly("geometry_b", &StepContact::geometry_b, "Number of the second geometry, which is larger.")
      .def_readonly("body_a", &StepContact::body_a, "Number of the first body.")
      .def_readonly("body_b", &StepContact::body_b, "Number of the second body.")
      .def_property_readonly(
          "geometries",
          [](const NamedContact& c) {
            return py::make_tuple(text(geometry_name(*c.structure, c.geometry_a)),
                                  text(geometry_name(*c.structure, c.geometry_b)));
          },
          "Their names.")
      .def_property_readonly(
          "bodies",
          [](const NamedContact& c) {
            const auto& bodies = c.structure->bodies;
            return py::make_tuple(text(bodies[c.body_a].name), text(bodies[c.body_b].name));
          },
          "Their names.")
      .def_property_readonly(
          "mode", [](const NamedContact& c) { return text(to_string(c.mode)); },
          "'separating', 'sticking' or 'sliding'")
      .def_readonly("distance", &StepContact::distance, "m, at the start of the step; negative: overlap")
      .def_property_readonly(
          "position", [](const NamedContact& c) { return copy(c.position); }, "(3,) m")
      .def_property_readonly(
          "frame", [](const NamedContact& c) { return copy_matrix(c.frame); },
          "(3, 3); columns: the normal, from A to B, and two tangents")
      .def_property_readonly(
          "normal", [](const NamedContact& c) { return copy(c.normal()); }, "(3,)")
      .def_property_readonly(
          "impulse", [](const NamedContact& c) { return copy(c.impulse); }, "(3,) N s")
      .def_property_readonly(
          "force", [](const NamedContact& c) { return copy(c.force); }, "(3,) N: impulse / dt")
      .def_property_readonly(
          "torque_impulse", [](const NamedContact& c) { return copy(c.torque_impulse); },
          "(3,) N m s: spinning and rolling friction")
      .def("__repr__", &contact_text);

  py::class_<StepLoop> loop(
      module, "StepLoop", "A loop (connect, weld) and the impulse on its second body that holds it closed.");
  exported(loop)
      .def_readonly("equality", &StepLoop::equality, "Which of the equalities of the file.")
      .def_property_readonly(
          "position_a", [](const StepLoop& l) { return copy(l.position_a); }, "(3,) m")
      .def_property_readonly(
          "position_b", [](const StepLoop& l) { return copy(l.position_b); }, "(3,) m")
      .def_property_readonly(
          "impulse", [](const StepLoop& l) { return copy(l.impulse); }, "(3,) N s, world axes")
      .def_property_readonly(
          "torque_impulse", [](const StepLoop& l) { return copy(l.torque_impulse); }, "(3,) N m s")
      .def("__repr__", [](const StepLoop& l) {
        return fmt::format("<loop {}: impulse ({:.4g}, {:.4g}, {:.4g}) N s>", l.equality, l.impulse.x(),
                           l.impulse.y(), l.impulse.z());
      });
}

void bind_report(py::module_& module) {
  py::class_<StepReport> report(module, "StepReport", "How a step went.");
  exported(report)
      .def_property_readonly(
          "status", [](const StepReport& r) { return text(to_string(r.status)); },
          "'ok', or why the step was not taken")
      .def_property_readonly(
          "ok", [](const StepReport& r) { return r.status == StepStatus::ok; }, "Whether the step was taken.")
      .def_property_readonly(
          "contact", [](const StepReport& r) { return text(to_string(r.contact)); },
          "The solver's verdict, the worst of all islands.")
      .def_readonly("residual", &StepReport::residual, "Largest over the islands, relative.")
      .def_readonly("contacts", &StepReport::contacts, "How many pairs of points touch or may touch.")
      .def_readonly("rows", &StepReport::rows, "Impulses that were solved for.")
      .def_readonly("islands", &StepReport::islands, "Groups that were solved apart.")
      .def_readonly("guessed_islands", &StepReport::guessed_islands, "Those where the first guess was right.")
      .def_readonly("iterations", &StepReport::iterations, "Factorisations.")
      .def_readonly("deepest", &StepReport::deepest,
                    "m: largest overlap at the start of the step, not negative")
      .def_readonly("overflow", &StepReport::overflow,
                    "More contacts than there was room for: some were left out.")
      .def("__repr__", [](const StepReport& r) {
        return fmt::format(
            "<{}: {} contacts, {} rows, {} islands ({} guessed), {} iterations, {}, residual {:.1e}>",
            to_string(r.status), r.contacts, r.rows, r.islands, r.guessed_islands, r.iterations,
            to_string(r.contact), r.residual);
      });
}

}  // namespace

std::string geometry_name(const Structure& structure, int geometry) {
  const GeometryIndex& index = structure.geometries[geometry];
  if (!index.name.empty()) return index.name;
  return fmt::format("geometry {} of {}", geometry, structure.bodies[index.body].name);
}

void bind_step(py::module_& module) {
  bind_contact(module);
  bind_report(module);
  using Shared = std::shared_ptr<NamedStep>;
  py::class_<NamedStep, Shared> step(module, "Step",
                                     "The result of `Simulation.step`, and what it was taken from.");
  exported(step)
      .def_property_readonly(
          "next", [](const Shared& s) { return std::shared_ptr<State>(s, &s->next); },
          "The state after the step.")
      .def_property_readonly(
          "start", [](const NamedStep& s) { return State(s.start); }, "A copy of the state before it.")
      .def_property_readonly(
          "warm", [](const Shared& s) { return std::shared_ptr<WarmStart>(s, &s->warm); },
          "For the next step, to make it faster.")
      .def_property_readonly(
          "input", [](const NamedStep& s) { return Input(s.input); }, "A copy of what acted.")
      .def_property_readonly("contacts", &contact_list, "In the order of their geometries.")
      .def_property_readonly(
          "contact_forces", [](const NamedStep& s) { return gather(s, &StepContact::force); },
          "(contacts, 3) N: on body B, in world axes")
      .def_property_readonly(
          "contact_positions", [](const NamedStep& s) { return gather(s, &StepContact::position); },
          "(contacts, 3) m")
      .def_property_readonly(
          "loops", [](const NamedStep& s) { return s.loops; }, "What holds loops closed.")
      .def_property_readonly(
          "report", [](const NamedStep& s) { return s.report; }, "How the step went.")
      .def_property_readonly(
          "status", [](const NamedStep& s) { return text(to_string(s.report.status)); },
          "'ok': steps that fail raise.")
      .def_property_readonly("ok", &NamedStep::ok, "True: steps that fail raise.")
      .def("__repr__", &step_text);
}

}  // namespace articula::python
