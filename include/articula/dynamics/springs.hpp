#pragma once
// Springs. A hinge or slide is pulled towards its spring reference; a ball or free joint
// towards its neutral pose, by the rotation vector (and shift) from there.

#include "articula/dynamics/crba.hpp"

namespace articula {

// tau_d += -k (q (-) q_spring)_d
void add_spring_forces(const Model& model, const ConstVectorRef& q, VectorRef tau);

// sum k |q (-) q_spring|^2 / 2
double spring_energy(const Model& model, const ConstVectorRef& q);

// Springs of tendons: tau += their forces, and sum k (l - nearest length of rest)^2 / 2  (tendons.cpp)
void add_tendon_spring_forces(const Model& model, const ConstVectorRef& q, VectorRef tau);
double tendon_spring_energy(const Model& model, const ConstVectorRef& q);

// dtau += derivative along dq (nv) and dtheta (all parameters; null: none).
void add_spring_directional(const Model& model, const ConstVectorRef& q, const ConstVectorRef& dq,
                            const double* dtheta, VectorRef dtau);

// q_bar += (dtau/dq)^T y,   theta_bar += (dtau/dtheta)^T y (null: not wanted)
void add_spring_adjoint(const Model& model, const ConstVectorRef& q, const ConstVectorRef& y, VectorRef q_bar,
                        double* theta_bar);

// J += scale dtau/dq, block-diagonal; entry (i, j) of J is at i row_stride + j column_stride.
void add_spring_jacobian(const Model& model, const ConstVectorRef& q, double scale, double* J, int row_stride,
                         int column_stride);

}  // namespace articula
