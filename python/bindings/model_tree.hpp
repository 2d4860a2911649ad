#pragma once
// A model as people read it.

#include <string>

#include "articula/model/model.hpp"

namespace articula::python {

const char* joint_type_name(JointType type);

// "Model 'hopper': nq 6, ..." and the tree of bodies with their joints and masses.
std::string model_tree(const Model& model);

}  // namespace articula::python
