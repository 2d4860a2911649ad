#pragma once

#include "bindings.hpp"

namespace articula::python {

void bind_observations(py::module_& module);

}  // namespace articula::python
