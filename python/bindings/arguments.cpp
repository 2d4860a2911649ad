#include "arguments.hpp"

#include <fmt/format.h>

#include "bindings.hpp"

namespace articula::python {

VectorX finite_vector(const char* what, py::handle given, py::ssize_t size) {
  const Numbers array = numbers(what, given, {size});
  require_finite(what, array.data(), array.size());
  return as_vector(array);
}

VectorX configuration(const Model& model, py::handle q) {
  VectorX result = finite_vector("q", q, model.nq());
  require_rotations(model, result);
  return result;
}

int body_number(const Model& model, const char* what, py::handle given) {
  if (PyUnicode_Check(given.ptr())) return model.body(utf8(what, given));
  if (!PyIndex_Check(given.ptr()))
    throw py::type_error(fmt::format("{} must be the name or the number of a body", what));
  const auto number = given.cast<py::ssize_t>();
  if (number < 0 || number >= model.nbody())
    throw Error("{} is {}, but bodies are numbered 0 to {}", what, number, model.nbody() - 1);
  return static_cast<int>(number);
}

// ------------------------------------------------------------------ derivatives

namespace {

GradientMode mode_named(const std::string& name) {
  constexpr std::array modes{GradientMode::exact, GradientMode::complementarity_aware, GradientMode::elastic,
                             GradientMode::randomised, GradientMode::finite_difference};
  std::string known;
  for (const GradientMode mode : modes) {
    if (name == to_string(mode)) return mode;
    known += fmt::format("{}'{}'", known.empty() ? "" : ", ", to_string(mode));
  }
  throw Error("mode must be one of {}, not '{}'", known, name);
}

void add_parameters(const Model& model, const std::string& pattern, std::vector<ParameterSlice>& slices) {
  const std::vector<ParameterSlice> found = model.parameters().matching(pattern);
  if (found.empty()) model.parameters().find(pattern);  // throws, with the nearest names
  slices.insert(slices.end(), found.begin(), found.end());
}

template <class Value>
Value read_option(const std::string& name, py::handle given, const char* kind) {
  try {
    return given.cast<Value>();
  } catch (const py::cast_error&) {
    throw py::type_error(
        fmt::format("{} must be {}, not {}", name, kind, py::repr(given).cast<std::string>()));
  }
}

// Of no effect in another mode, where it would pass for one that has.
void require_mode_of(const std::string& option, GradientMode mode) {
  const bool of_differences = option == "ridders" || option == "difference_step";
  const GradientMode own = of_differences ? GradientMode::finite_difference : GradientMode::randomised;
  if (mode != own)
    throw Error("{} is an option of mode '{}', not of '{}'", option, to_string(own), to_string(mode));
}

}  // namespace

GradientSettings read_gradient_settings(const Model& model, const py::object& parameters,
                                        const std::string& mode, const py::kwargs& options) {
  GradientSettings settings;
  settings.mode = mode_named(mode);
  const char* const what = "the name of a parameter";
  if (py::isinstance<py::str>(parameters)) {
    add_parameters(model, utf8(what, parameters), settings.parameters);
  } else if (!parameters.is_none()) {
    if (!py::isinstance<py::iterable>(parameters))
      throw py::type_error("parameters must be a name, a pattern, or a list of them");
    for (const py::handle pattern : parameters)
      add_parameters(model, utf8(what, pattern), settings.parameters);
  }
  for (const auto& [key, value] : options) {
    const std::string name = utf8("the name of an option", key);
    if (name == "ridders")
      settings.ridders = read_option<bool>(name, value, "True or False");
    else if (name == "difference_step")
      settings.difference_step = read_option<double>(name, value, "a number");
    else if (name == "samples")
      settings.samples = read_option<int>(name, value, "a whole number below 2^31");
    else if (name == "position_spread")
      settings.position_spread = read_option<double>(name, value, "a number");
    else if (name == "velocity_spread")
      settings.velocity_spread = read_option<double>(name, value, "a number");
    else if (name == "control_spread")
      settings.control_spread = read_option<double>(name, value, "a number");
    else if (name == "seed")
      settings.seed = read_option<std::uint64_t>(name, value, "a whole number from 0 to 2^64 - 1");
    else
      throw py::type_error(fmt::format("gradients have no option '{}'", name));
    require_mode_of(name, settings.mode);
  }
  return settings;
}

}  // namespace articula::python
