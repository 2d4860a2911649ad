#pragma once
// Directions along which check-gradients compares derivatives of a step with differences.

#include <random>

#include "articula/model/model.hpp"

namespace articula::cli {

// Drag has no second derivative where a velocity is zero.
bool in_medium(const Model& model);

// How large a change of each parameter may be: as the number itself, or where that is small, enough to
// matter beside the inertia that the joint moves (felt_inertia).
VectorX parameter_scales(const Model& model, const VectorX& felt);

// And of each control.
VectorX control_scales(const Model& model);

// And of the wrenches on bodies: those that would make each of them, alone, accelerate alike. The same push
// on a robot and on a thin plate beside it would make the plate's free motion all there is.
VectorX wrench_scales(const Model& model);

// Eight random directions (columns, of all inputs of a step) among the parameters of one kind, each number to
// its own scale. Without columns where the model has no such parameters.
MatrixX parameter_directions(const Model& model, ParameterKind kind, const VectorX& scales,
                             std::mt19937& random);

}  // namespace articula::cli
