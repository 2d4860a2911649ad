// The module articula._native.v3 (or baseline): the C++ interface in the same words.

#include "arrays.hpp"
#include "articula/error.hpp"
#include "articula/version.hpp"
#include "bindings.hpp"
#include "observations.hpp"

namespace articula::python {

// Not pybind11's own translator: it loses a message that quotes a file whose name is no UTF-8.
static void bind_error(py::module_& module) {
  static PyObject* const error = PyErr_NewExceptionWithDoc(
      "articula.Error", "Bad input; the message says what would be accepted.", PyExc_ValueError, nullptr);
  if (error == nullptr) throw py::error_already_set();
  module.attr("Error") = py::handle(error);
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const Error& e) {
      PyErr_SetObject(error, text(e.what()).ptr());
    }
  });
}

// pybind11 before 2.12 misreads the arrays of NumPy 2: every number would be wrong, without a word.
static void require_readable_arrays() {
#if PYBIND11_VERSION_HEX < 0x020C0000
  const auto version = py::module_::import("numpy").attr("__version__").cast<std::string>();
  if (version.starts_with("0.") || version.starts_with("1.")) return;
  PyErr_Format(
      PyExc_ImportError,
      "articula was built with pybind11 %d.%d, which cannot read the arrays of NumPy %s: use NumPy 1, "
      "or install articula with pip, which builds it for NumPy 2",
      PYBIND11_VERSION_MAJOR, PYBIND11_VERSION_MINOR, version.c_str());
  throw py::error_already_set();
#endif
}

}  // namespace articula::python

PYBIND11_MODULE(ARTICULA_MODULE, module) {
  using namespace articula::python;
  module.doc() = "Articula's compiled core; use it through the package `articula`.";
  require_readable_arrays();
  bind_error(module);
  module.attr("__version__") = std::string(articula::version);
  bind_model(module);
  bind_state(module);
  bind_step(module);
  bind_simulation(module);
  bind_modes(module);
  bind_batch(module);
  bind_gradients(module);
  bind_rollout_gradients(module);
  bind_kinematics(module);
  bind_queries(module);
  bind_sensors(module);
  bind_observations(module);
}
