#pragma once
// Where everything is: poses of links, bodies and frames, and the motion each degree of freedom
// makes.

#include "articula/model/data.hpp"

namespace articula {

// Fills link_R, link_r, link_reference, S and S_local for the configuration q (nq). Quaternions need not be
// normalised. Poses of kinematic bodies are those set in data.
void forward_kinematics(const Model& model, Data& data, const ConstVectorRef& q);

// Fills local_inertia; place_inertias also link_inertia.
void rotate_inertias(const Model& model, Data& data);
void place_inertias(const Model& model, Data& data);

// Poses in the world, after forward_kinematics.
Placement body_placement(const Model& model, const Data& data, int body);
Placement frame_placement(const Model& model, const Data& data, int frame);

}  // namespace articula
