#pragma once
// The explicit derivatives of contact_rates.hpp for every dof at once: columns of d sigma / dq, and of d(J^T
// lam)/dq at contact forces that move (the part that keeps them in place is the smooth residual's).
//
// A contact's rates are linear in the twists of its two bodies at the contact point: 12 columns, computed
// once. A dof on the way to a body has one twist there, so that its column costs a few products.

#include "articula/dynamics/crba.hpp"
#include "contact_rates.hpp"

namespace articula {

class ContactColumns {
 public:
  explicit ContactColumns(const Model& model);

  // With the kinematics `at`, and velocities `after` for v+.
  // sigma_by_q (rows of the step x nv, zero before) and residual (nv x nv, row-major with `stride`): `scale`
  // times d(J^T lam)/dq is added there.
  void add(const Model& model, const Data& at, const Data& after, const ImpulseWork& work,
           const ContactRates& rates, double scale, RowMatrixRef sigma_by_q, double* residual, int stride);
  // e (J_N by q and v) of contacts that bounce.
  void add_bounces(const Model& model, const Data& before, const ContactRates& rates, RowMatrixRef sigma_by_q,
                   RowMatrixRef sigma_by_v);

 private:
  struct Response;
  void add_touch(const Data& at, const Data& after, const ContactRates::Touch& t, double scale,
                 RowMatrixRef sigma_by_q, double* residual, int stride);

  const Model* model_ = nullptr;
  int width_ = 0;
  AlignedVector wrench_;      // 6 rows: change of the wrench about p with each of the dofs below
  std::vector<int> columns_;  // dofs that move the contact
  std::vector<int> place_;    // nv: where a dof is among them, or -1
  std::vector<Motion> arm_;   // nv: motion of B against A at p with each dof
};

}  // namespace articula
