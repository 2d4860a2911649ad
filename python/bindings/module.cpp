// The module articula._native.v3 (or baseline): the C++ interface in the same words.

#include "articula/error.hpp"
#include "articula/version.hpp"
#include "bindings.hpp"
#include "observations.hpp"

PYBIND11_MODULE(ARTICULA_MODULE, module) {
  using namespace articula::python;
  module.doc() = "Articula's compiled core; use it through the package `articula`.";
  py::register_exception<articula::Error>(module, "Error", PyExc_ValueError).attr("__module__") = "articula";
  module.attr("__version__") = std::string(articula::version);
  bind_model(module);
  bind_state(module);
  bind_step(module);
  bind_simulation(module);
  bind_batch(module);
  bind_gradients(module);
  bind_observations(module);
}
