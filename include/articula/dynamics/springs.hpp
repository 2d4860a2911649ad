#pragma once
// Joint springs. A hinge or slide is pulled towards its spring reference; a ball or free joint
// towards its neutral pose, by the rotation vector (and shift) from there.

#include "articula/model/model.hpp"

namespace articula {

// tau_d += -k (q (-) q_spring)_d
void add_spring_forces(const Model& model, const ConstVectorRef& q, VectorRef tau);

// sum k |q (-) q_spring|^2 / 2
double spring_energy(const Model& model, const ConstVectorRef& q);

// d(-k (q (-) q_spring))/dq of one joint's dofs (block of 1, 3 or 6), added to J (nv x nv).
void add_spring_stiffness(const Model& model, const ConstVectorRef& q, MatrixRef J);

}  // namespace articula
