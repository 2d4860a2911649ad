#pragma once
// A physically consistent parametrisation of a body's inertia: any ten numbers are a real body.
//
// The ten inertial numbers of a body (parameters.hpp) belong to a distribution of positive mass exactly
// if the pseudo-inertia, the second moment of mass in homogeneous coordinates, is positive definite:
//     Pi = [ Sigma  h ; h^T  m ],   Sigma = sum m r r^T = tr(I)/2 1 - I,   h = m c
// Its upper Cholesky factor, with logarithms on the diagonal, has no constraints (Rucker and Wensing,
// "Smooth parameterization of rigid-body inertia", 2022):
//     Pi = U U^T,   U = e^alpha [ e^d1 s12  s13  t1 ;  0 e^d2 s23 t2 ;  0 0 e^d3 t3 ;  0 0 0 1 ]
// Order: alpha, d1, d2, d3, s12, s23, s13, t1, t2, t3. Optimisers may step in these numbers freely.

#include "articula/model/parameters.hpp"

namespace articula {

using LogCholeskyVector = Eigen::Matrix<double, 10, 1>;
using Matrix10 = Eigen::Matrix<double, 10, 10>;

InertialVector from_log_cholesky(const LogCholeskyVector& parameters);

// d(inertial numbers) / d(log-Cholesky numbers)
Matrix10 log_cholesky_jacobian(const LogCholeskyVector& parameters);

// Throws Error if the body is not real, or on the boundary: without mass, a point, a rod, a plate.
LogCholeskyVector to_log_cholesky(const InertialVector& pi);

}  // namespace articula
