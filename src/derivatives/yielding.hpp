#pragma once
// Friction at its bound that stands still: the boundary g(lam) = 0 of the admissible impulses of a contact.
//   cone      g = lam_N - n,   n = |lam_T / mu|
//   pyramid   g = mu_i lam_N -+ lam_i,   one for each tangent at its bound
// The smallest impulses on the boundary are those for which soft velocities are along its normal,
//   sigma + eps R lam = eps tau grad g,   tau >= 0.

#include "articula/contact/rows.hpp"

namespace articula {

struct YieldingBound {
  int item = 0, row = 0, dim = 0;  // the contact, its first row
  double scale = 1.0;              // g and its derivatives are times this: sqrt(R)
  double speed = 0.0;              // tau
  double gradient[6] = {};
  double curvature[6][6] = {};
  double by_friction[5] = {};              // dg / dmu_i
  double gradient_by_friction[6][5] = {};  // d grad g / dmu_i
};

// lam: of the contact's rows.
YieldingBound cone_bound(const Block& block, const double* lam, double scale);
YieldingBound pyramid_bound(const Block& block, const double* lam, int tangent, double scale);

}  // namespace articula
