#pragma once
// The explicit derivatives of contact_rates.hpp for every dof at once: columns of d sigma / dq, and of d(J^T
// lam)/dq at contact forces that move (the part that keeps them in place is the smooth residual's).
//
// A contact's rates are linear in the twists of its two bodies at the contact point. Contacts of the same two
// bodies refer to the first one's point, c: with the twists of all dofs there, each row takes one combination
// of them, and the sum of the wrenches one product.

#include "articula/dynamics/crba.hpp"
#include "contact_rates.hpp"

namespace articula {

class ContactColumns {
 public:
  explicit ContactColumns(const Model& model);

  // With the kinematics `at`, and velocities `after` for v+.
  // sigma_by_q (rows of the step x nv) and residual (nv x nv), row-major and padded to fours: `scale` times
  // d(J^T lam)/dq is added to the latter. Without contacts of which one body moves, if they are not wanted.
  void add(const Model& model, const Data& at, const Data& after, const ImpulseWork& work,
           const ContactRates& rates, double scale, RowMatrixRef sigma_by_q, double* residual, int stride,
           bool grounded = true);
  // e (J_N by q and v) of contacts that bounce.
  void add_bounces(const Model& model, const Data& before, const ContactRates& rates, RowMatrixRef sigma_by_q,
                   RowMatrixRef sigma_by_v);

  // Of contacts of which one body moves: rows of sigma_by_q, and, over h, rates of posed wrenches in place of
  // a residual.
  void add_grounded(const Model& model, const Data& at, const Data& after, const ContactRates& rates,
                    double h, RowMatrixRef sigma_by_q, PosedWrenches& posed);

 private:
  struct Response;
  enum class Place : char { off, a, b, both };
  void store(AlignedVector& to, int dof, const Motion& m) const;
  void add(AlignedVector& to, int dof, const Motion& m) const;
  void begin_pair(const Data& at, const Data& after, const ContactRates::Touch& first);
  void add_combination(const AlignedVector& from, const double (&factor)[6], double* row) const;
  void add_touch(const ContactRates::Touch& t, Vec3 offset, RowMatrixRef sigma_by_q);
  void end_pair(double scale, double* residual, int stride);
  void list_ways(const Model& model);
  void add_grounded(const ContactRates::Touch& t, int side, const Motion& V, double h,
                    RowMatrixRef sigma_by_q, PosedWrenches& posed);

  // Four dofs next to each other, of which some are on the way to a link: their bits are set.
  struct Quad {
    int first = 0;
    long long mask[4] = {};
  };

  const Model* model_ = nullptr;
  int width_ = 0;                             // nv, in fours
  AlignedVector twist_[2], change_, wrench_;  // 6 rows each; zero but for the dofs that move the pair
  Force response_[2][6];                      // of the wrench on B about c, to the twists of A and B there
  std::vector<Place> place_;                  // nv: which of the bodies a dof moves
  std::vector<int> dofs_, quads_;             // that move one of them; the fours they are in
  bool moves_[2] = {}, turns_ = false;
  std::vector<Quad> ways_;        // of all links
  std::vector<int> way_begin_;    // nlink + 1
  AlignedVector axes_, turning_;  // 6 rows each: S and psi' of every dof
};

}  // namespace articula
