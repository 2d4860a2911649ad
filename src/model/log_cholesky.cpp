#include "articula/model/log_cholesky.hpp"

#include <cmath>

#include "articula/error.hpp"

namespace articula {

namespace {

// Pi / m = [ B B^T + t t^T   t ; t^T   1 ],   m = e^(2 alpha)
struct Factor {
  double mass;
  Matrix3 B;  // upper triangular
  Vector3 t;
};

Factor factor_of(const LogCholeskyVector& p) {
  Factor f;
  f.mass = std::exp(2.0 * p[0]);
  f.B << std::exp(p[1]), p[4], p[6],  //
      0.0, std::exp(p[2]), p[5],      //
      0.0, 0.0, std::exp(p[3]);
  f.t = p.tail<3>();
  return f;
}

// I = tr(Sigma) 1 - Sigma; linear, so that it serves derivatives too.
InertialVector inertial_vector(double m, const Vector3& h, const Matrix3& sigma) {
  InertialVector pi;
  pi << m, h, sigma(1, 1) + sigma(2, 2), -sigma(0, 1), -sigma(0, 2), sigma(0, 0) + sigma(2, 2), -sigma(1, 2),
      sigma(0, 0) + sigma(1, 1);
  return pi;
}

Matrix3 second_moment(const Factor& f) { return f.B * f.B.transpose() + f.t * f.t.transpose(); }

}  // namespace

InertialVector from_log_cholesky(const LogCholeskyVector& parameters) {
  const Factor f = factor_of(parameters);
  return inertial_vector(f.mass, f.mass * f.t, f.mass * second_moment(f));
}

// alpha scales everything; the others change the factor, d(U U^T) = dU U^T + U dU^T:
//   entry (i, j) of B:  dSigma = m (e_i B_j^T + B_j e_i^T), B_j the column; d = e^d on the diagonal
//   entry i of t:       dSigma = m (e_i t^T + t e_i^T),  dh = m e_i
Matrix10 log_cholesky_jacobian(const LogCholeskyVector& parameters) {
  const Factor f = factor_of(parameters);
  const auto symmetric = [&](int i, const Vector3& column) -> Matrix3 {
    const Matrix3 half = f.mass * Vector3::Unit(i) * column.transpose();
    return half + half.transpose();
  };
  constexpr struct {
    int row, column;
  } entries[] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {1, 2}, {0, 2}};
  Matrix10 J;
  J.col(0) = 2.0 * from_log_cholesky(parameters);
  for (int e = 0; e < 6; ++e) {
    const auto [i, j] = entries[e];
    const double scale = i == j ? f.B(i, i) : 1.0;
    J.col(1 + e) = inertial_vector(0.0, Vector3::Zero(), scale * symmetric(i, f.B.col(j)));
  }
  for (int i = 0; i < 3; ++i) {
    J.col(7 + i) = inertial_vector(0.0, f.mass * Vector3::Unit(i), symmetric(i, f.t));
  }
  return J;
}

// The factor from the last row up: Sigma_c / m = B B^T about the centre of mass.
LogCholeskyVector to_log_cholesky(const InertialVector& pi) {
  const char* const boundary =
      "the inertia has no log-Cholesky numbers: mass and principal moments must be those of a body with "
      "extent "
      "in all three directions (each moment positive and less than the sum of the other two)";
  if (!(pi[0] > 0.0) || !pi.allFinite()) throw Error(boundary);
  const Vector3 t = pi.segment<3>(1) / pi[0];
  Matrix3 I;
  I << pi[4], pi[5], pi[6], pi[5], pi[7], pi[8], pi[6], pi[8], pi[9];
  const Matrix3 S = (0.5 * I.trace() * Matrix3::Identity() - I) / pi[0] - t * t.transpose();
  const double b22 = S(2, 2);
  if (!(b22 > 0.0)) throw Error(boundary);
  const double d3 = std::sqrt(b22), s23 = S(1, 2) / d3, s13 = S(0, 2) / d3;
  const double b11 = S(1, 1) - s23 * s23;
  if (!(b11 > 0.0)) throw Error(boundary);
  const double d2 = std::sqrt(b11), s12 = (S(0, 1) - s13 * s23) / d2;
  const double b00 = S(0, 0) - s12 * s12 - s13 * s13;
  if (!(b00 > 0.0)) throw Error(boundary);
  LogCholeskyVector parameters;
  parameters << 0.5 * std::log(pi[0]), 0.5 * std::log(b00), std::log(d2), std::log(d3), s12, s23, s13, t;
  return parameters;
}

}  // namespace articula
