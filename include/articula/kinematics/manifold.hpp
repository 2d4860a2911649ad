#pragma once
// The configuration manifold: q (+) d moves q along a tangent vector d (nv), q1 (-) q0 is the way
// back. A ball turns by R exp(d) (d in the child's axes), a free joint shifts in the world and turns
// likewise, hinges and slides add.

#include "articula/model/model.hpp"

namespace articula {

// out = q (+) scale d; out may be q itself. Quaternions come out normalised.
void integrate(const Model& model, const ConstVectorRef& q, const ConstVectorRef& d, double scale,
               VectorRef out);

// d = q1 (-) q0, so that q0 (+) d = q1.
void difference(const Model& model, const ConstVectorRef& q0, const ConstVectorRef& q1, VectorRef d);

// Derivatives of q (+) d in tangent spaces, nv x nv (block-diagonal):
//   with respect to q: exp(-d) on turning blocks, 1 elsewhere;   to d: Jr(d) there, 1 elsewhere
void integrate_jacobians(const Model& model, const ConstVectorRef& d, MatrixRef by_q, MatrixRef by_d);

// Derivatives of d = q1 (-) q0:   by q0: -Jr^-1(d) exp(-d),   by q1: Jr^-1(d)
void difference_jacobians(const Model& model, const ConstVectorRef& q0, const ConstVectorRef& q1,
                          MatrixRef by_q0, MatrixRef by_q1);

// First of the three turning dofs of a ball or free joint, or -1.
int turning_dof(const JointIndex& joint);

}  // namespace articula
