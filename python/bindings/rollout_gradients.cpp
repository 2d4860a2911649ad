// Gradients of losses over many steps: adjoints, sensitivities, Hessian-vector products.

#include <fmt/format.h>
#include <pybind11/stl.h>

#include "arguments.hpp"
#include "articula/simulation/rollout_gradient.hpp"
#include "bindings.hpp"

namespace articula::python {

namespace {

// A loss in Python adds to a covector of its own, which it may keep: ours is gone after the call.
Loss read_loss(const py::function& loss) {
  return [&loss](int i, const State& state, const ConstVectorRef& control, LossCovector& covector) {
    const py::gil_scoped_acquire acquired;
    const auto own = std::make_shared<LossCovector>(covector);
    const py::object value = loss(i, std::make_shared<State>(state), copy(control), own);
    const Numbers number = numbers("the value of the loss", value, {});
    require_finite("the value of the loss", number.data(), 1);
    require_finite("the covector of q", own->q.data(), own->q.size());
    require_finite("the covector of v", own->v.data(), own->v.size());
    require_finite("the covector of activation", own->activation.data(), own->activation.size());
    require_finite("the covector of control", own->control.data(), own->control.size());
    covector = *own;
    return *number.data();
  };
}

Numbers read_controls(const char* what, const Simulation& simulation, const py::object& given) {
  Numbers array = numbers(what, given);
  const int nu = simulation.model().nu();
  if (array.ndim() != 2 || array.shape(1) != nu)
    throw Error("{} has shape {}, not (steps, {})", what, shape_text(array.shape(), array.ndim()), nu);
  return array;
}

std::shared_ptr<RolloutGradient> gradient(const Simulation& simulation, const State& x,
                                          const py::object& controls, const py::function& loss,
                                          const py::object& parameters, const std::string& mode, int stride,
                                          double most_bytes, const py::kwargs& options) {
  require_state(x, simulation.model());
  if (stride < 0) throw Error("stride must not be negative, as {} is; 0: chosen by memory", stride);
  const Numbers given = read_controls("controls", simulation, controls);
  RolloutGradientSettings settings;
  settings.gradient = read_gradient_settings(simulation.model(), parameters, mode, options);
  settings.stride = stride;
  settings.most_bytes = most_bytes;
  const auto columns = as_columns(given, simulation.model().nu(), given.shape(0));
  const Loss read = read_loss(loss);
  const py::gil_scoped_release released;
  return std::make_shared<RolloutGradient>(rollout_gradient(simulation, x, columns, read, settings));
}

py::array sensitivity(const Simulation& simulation, const State& x, const py::object& controls,
                      const py::object& parameters) {
  require_state(x, simulation.model());
  const Numbers given = read_controls("controls", simulation, controls);
  const auto columns = as_columns(given, simulation.model().nu(), given.shape(0));
  const GradientSettings settings =
      read_gradient_settings(simulation.model(), parameters, "exact", py::kwargs());
  MatrixX result;
  {
    const py::gil_scoped_release released;
    result = rollout_sensitivity(simulation, x, columns, settings.parameters);
  }
  return copy_matrix(result);
}

py::array hessian_product(const Simulation& simulation, const State& x, const py::object& controls,
                          const py::object& direction, const py::function& loss, double difference_step) {
  require_state(x, simulation.model());
  const Numbers given = read_controls("controls", simulation, controls);
  const Numbers along = numbers("direction", direction, {given.shape(0), given.shape(1)});
  require_finite("direction", along.data(), along.size());
  if (!(difference_step > 0.0) || !std::isfinite(difference_step))
    throw Error("difference_step must be positive and finite, not {}", difference_step);
  const int nu = simulation.model().nu();
  const Loss read = read_loss(loss);
  MatrixX result;
  {
    const py::gil_scoped_release released;
    result = hessian_vector_product(simulation, x, as_columns(given, nu, given.shape(0)),
                                    as_columns(along, nu, given.shape(0)), read, difference_step);
  }
  return copy_rows(result);
}

void bind_covector(py::module_& module) {
  using Shared = std::shared_ptr<LossCovector>;
  py::class_<LossCovector, Shared> covector(
      module, "LossCovector", "What a loss adds its derivatives to. The arrays are views: add to them.");
  const auto part = [](VectorX LossCovector::* member) {
    return [member](const py::object& self) { return view(self.cast<LossCovector&>().*member, self); };
  };
  // `covector.q += ...` reads, adds in place and assigns.
  const auto assign = [](VectorX LossCovector::* member, const char* what) {
    return [member, what](LossCovector& c, const py::object& values) {
      VectorX& target = c.*member;
      target = VectorX(as_vector(numbers(what, values, {target.size()})));
    };
  };
  exported(covector)
      .def_property("q", part(&LossCovector::q), assign(&LossCovector::q, "q"),
                    "(nv,): by q, in the tangent space")
      .def_property("v", part(&LossCovector::v), assign(&LossCovector::v, "v"), "(nv,): by v")
      .def_property("activation", part(&LossCovector::activation),
                    assign(&LossCovector::activation, "activation"), "(na,): by the activations")
      .def_property("control", part(&LossCovector::control), assign(&LossCovector::control, "control"),
                    "(nu,): by the controls of the step; of no effect after the last one");
}

void bind_result(py::module_& module) {
  using Shared = std::shared_ptr<RolloutGradient>;
  py::class_<RolloutGradient, Shared> result(module, "RolloutGradient",
                                             "Of a loss over many steps, by everything that went in.");
  const auto part = [](VectorX RolloutGradient::* member) {
    return [member](const py::object& self) { return view(self.cast<RolloutGradient&>().*member, self); };
  };
  exported(result)
      .def_readonly("loss", &RolloutGradient::loss, "The sum of all that the loss returned.")
      .def_property_readonly("q", part(&RolloutGradient::q), "(nv,): by the first q, in the tangent space")
      .def_property_readonly("v", part(&RolloutGradient::v), "(nv,): by the first v")
      .def_property_readonly("activation", part(&RolloutGradient::activation), "(na,)")
      .def_property_readonly(
          "controls",
          [](const py::object& self) { return view_rows(self.cast<RolloutGradient&>().controls, self); },
          "(steps, nu)")
      .def_property_readonly("parameters", part(&RolloutGradient::parameters),
                             "Of the slices asked for, one after the other.")
      .def_property_readonly(
          "rollout", [](const Shared& g) { return std::shared_ptr<Rollout>(g, &g->rollout); },
          "The states; of every `stride`-th step only, if stride > 1.")
      .def_readonly("one_sided", &RolloutGradient::one_sided,
                    "Steps where a derivative that does not exist was chosen from one side.")
      .def_readonly("invalid", &RolloutGradient::invalid,
                    "Steps without a derivative: the gradient is cut there.")
      .def_readonly("bytes", &RolloutGradient::bytes, "That checkpoints took.")
      .def("__repr__", [](const RolloutGradient& g) {
        return fmt::format("<gradient of a loss of {:.6g} over {} steps; {} one-sided, {} invalid>", g.loss,
                           g.controls.cols(), g.one_sided, g.invalid);
      });
}

}  // namespace

void bind_rollout_gradients(py::module_& module) {
  bind_covector(module);
  bind_result(module);
  const char* doc =
      "The gradient of L = sum_i l_i(x_i, u_i) + l_T(x_T) over the steps under `controls` (steps, nu), by "
      "the "
      "adjoint. `loss(i, state, control, covector)` returns l_i and adds its derivatives to covector.q, .v "
      "(nv,), .activation (na,), .control (nu,); it is called last step first, and after the last step (i = "
      "steps) with an empty control. parameters, mode and options as for pullback. stride: steps between "
      "checkpoints, 0: all are kept while that takes less than most_bytes. Raises Error if a step fails.";
  py::class_<Simulation, std::shared_ptr<Simulation>>(py::object(module.attr("Simulation")))
      .def("rollout_gradient", &gradient, py::arg("x"), py::arg("controls"), py::arg("loss"),
           py::arg("parameters") = py::none(), py::arg("mode") = "exact", py::arg("stride") = 0,
           py::arg("most_bytes") = 256e6, doc)
      .def("rollout_sensitivity", &sensitivity, py::arg("x"), py::arg("controls"), py::arg("parameters"),
           "(2 nv + na, k): derivatives of the state after the steps under `controls` (steps, nu), q in the "
           "tangent space, by the k numbers of the parameters, forwards along the rollout.")
      .def("hessian_vector_product", &hessian_product, py::arg("x"), py::arg("controls"),
           py::arg("direction"), py::arg("loss"), py::arg("difference_step") = 1e-4,
           "(steps, nu): the Hessian of a loss (as for rollout_gradient) by all controls times a direction "
           "(steps, nu), by differences of the adjoint with the modes of every step held.");
}

}  // namespace articula::python
