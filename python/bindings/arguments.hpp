#pragma once
// Arguments that mean something in a model, checked.

#include "arrays.hpp"
#include "articula/simulation/gradient.hpp"

namespace articula::python {

// A copy of (size,) numbers, all finite.
VectorX finite_vector(const char* what, py::handle given, py::ssize_t size);
// q (nq,): finite, and its quaternions have directions.
VectorX configuration(const Model& model, py::handle q);
// A body by its name or number.
int body_number(const Model& model, const char* what, py::handle given);

// mode, parameters (None, a pattern, or several) and options of derivatives.
GradientSettings read_gradient_settings(const Model& model, const py::object& parameters,
                                        const std::string& mode, const py::kwargs& options);

}  // namespace articula::python
