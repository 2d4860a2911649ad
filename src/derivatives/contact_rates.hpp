#pragma once
// How the rows of a step change when bodies are displaced: explicit derivatives of the constraint velocities
// sigma and of the wrenches J^T lam at given v+ and lam.
//
// A body moves by the twist Z and its velocity changes by dV = Z x V + m (displacements.hpp). Of a contact at
// p with axes a_i (n, t1, t2; the same for spin and roll), u and w the relative velocities, f and m the
// impulses on B:
//   dp, dn, dphi   follow from Z_A, Z_B by the derivatives of the collision (geometric)
//   du = dV_B(p) - dV_A(p) + w x dp,      dw = dW_B - dW_A            (kinematic, and p moving over both)
//   dsigma_i = a_i . du + da_i . u,  da_i = (frame rate) dn,  ds_N = dphi / h  or  e (n . du' + dn . u')
//   dF_B = (r x df + dp x f + dm, df),   df = sum lam_i da_i,   dF_A = -(the same about A's reference point)
// Joined points x_A, x_B have p = (x_A + x_B)/2, phi = x_B - x_A and the axes of the world:
//   dsigma = du + ds,  ds = (ds/dphi) dphi,  dF_B = (dp x f, 0) = -dF_A
// `against` is the transpose of `along`, line by line.

#include "articula/dynamics/rnea_derivatives.hpp"
#include "articula/steppers/impulse.hpp"
#include "dynamics/displacements.hpp"

namespace articula {

// What happens to one body.
struct BodyRate {
  Motion Z, dV, dV_before;  // displacement; change of velocity at v+, and at v
};
struct BodyRateBar {
  Force Z, dV, dV_before;
};

class ContactRates {
 public:
  explicit ContactRates(const Model& model) : model_(&model) {}

  // For the last step; `after` holds velocities for v+ (link_v and psi_dot alone), `before` the kinematics
  // and velocities for v (if something bounces). Rows that `modes` leave free carry nothing, and nothing
  // depends on how fast they part: they are left out.
  void prepare(const Model& model, const Data& before, const Data& after, const ImpulseWork& work,
               const ImpulseSettings& settings, const std::vector<RowMode>& modes);
  bool on_bodies() const { return !touches_.empty() || !joins_.empty(); }
  // From now on with these impulses (one for each row of the step) in place of those of the step.
  void carry(const double* lam);

  // Wrenches of all impulses on the links' bodies (about their trees' reference points), and forces at the
  // joints that are not wrenches: limits, dry friction, couplings.
  void add_wrenches(WrenchField& field) const;
  // The same per link; and the bodies that have any.
  void add_wrenches_on_links(std::vector<Force>& links) const;
  void add_wrenches(double factor, PosedWrenches& posed) const;
  const std::vector<int>& bodies() const { return bodies_; }

  // Adds to dF (per body) and dsigma (rows) and dtau (nv: change of J^T lam that is no wrench).
  void along(const BodyRate* bodies, const double* dq, Force* dF, double* dsigma, double* dtau) const;
  // Y (per body): covector of dF; sigma_bar, tau_bar: of dsigma, dtau.
  void against(const Motion* Y, const double* sigma_bar, const double* tau_bar, BodyRateBar* bodies,
               double* q_bar) const;

  bool one_sided() const { return one_sided_; }

  // Columns by q of everything but contacts: sigma_by_q (rows x nv), and `scale` times d(J^T lam)/dq into
  // `residual`.
  void add_other_columns(const ImpulseWork& work, double scale, RowMatrixRef sigma_by_q, double* residual,
                         int stride) const;

  // A contact whose point, normal and distance change by `rate` by themselves (another shape); and the
  // transpose.
  struct Touch;
  void geometry_along(const Touch& t, const collision::ContactRate& rate, Force* dF, double* dsigma) const;
  collision::ContactRate geometry_against(const Touch& t, const Motion* Y, const double* sigma_bar,
                                          bool turns = true) const;
  // What only parameters need: they move sides that no joint does, and turn normals that no joint turns.
  void complete();
  // Error of the joined points or frames whose first row this is.
  Vec3 join_error(int row) const;
  // Whether the bias of an equality follows its error, |phi|.
  bool follows(const Item& item, double error) const;

  // A contact, or a point or a turning that two bodies share.
  struct Touch {
    int item = 0, row = 0;
    int body_a = 0, body_b = 0;
    Vec3 r_a, r_b;  // of p, from the trees' reference points
    Vec3 p;
    collision::ContactFrame frame;
    Mat3 t_rate[2];  // dt_i = t_rate_i dn; if no motion changes n, only when complete
    bool spin_free = false;
    bool moves_a = false, moves_b = false;  // with some joint, or all is complete
    int axis[6] = {};                       // of each row: 0 n, 1 t1, 2 t2
    bool angular[6] = {};
    int rows = 0;
    Vec3 u, w;  // relative velocity and turning at v+
    Vec3 u_before, w_before;
    Vec3 f, m;  // impulses on B
    double lam[6] = {};
    double gap_slope = 0.0;  // ds_N / dphi
    double bounce = 0.0;     // e where it bounces
    double restitution = 0.0;
    collision::ContactDerivatives* rate = nullptr;  // of the sides that move
  };
  const std::vector<Touch>& touches() const { return touches_; }

 private:
  struct Join {
    int row = 0, body_a = 0, body_b = 0;
    Vec3 x_a, x_b;  // the points, from the reference points
    Vec3 r_a, r_b;  // of p, halfway between them
    Vec3 w;         // relative turning at v+
    Vec3 lam, phi;
    bool turning = false;
    double scale = 1.0;
    Mat3 slope;               // ds / dphi
    Mat3 phi_by_b, phi_by_a;  // turning: dphi = phi_by_b w_b + phi_by_a w_a
  };
  // A row on dofs only: sigma = j . v+ + s(phi), dphi = j . dq; j itself changes where it is curved.
  struct Scalar {
    int row = 0, item = 0;
    double slope = 0.0;  // ds / dphi
    double lam = 0.0;
    enum class Curve { straight, ball, joint, tendon } curve = Curve::straight;
    int element = -1;        // ball: its first dof; joint: dof; tendon: its number
    double curvature = 0.0;  // dj = curvature (x . dq) x, x the gradient of the joint or tendon
    Mat3 ball;               // dj = ball dq
  };

  template <class Visit>
  void for_each_wrench(const Visit& visit) const;
  void list_body(int body);
  void add_touch(const Item& item, int index);
  void find_motion_rates(Touch& t);
  static void find_frame_rates(Touch& t);
  static void carry(Touch& t, const double* lam);
  void add_join(const Item& item);
  void add_scalar(const Item& item);
  void touch_along(const Touch& t, const BodyRate* bodies, Force* dF, double* dsigma) const;
  void touch_against(const Touch& t, const Motion* Y, const double* sigma_bar, BodyRateBar* bodies) const;
  void join_along(const Join& j, const BodyRate* bodies, Force* dF, double* dsigma) const;
  void join_against(const Join& j, const Motion* Y, const double* sigma_bar, BodyRateBar* bodies) const;
  void add_moment_column(int body, Vec3 moment, double* column, int stride) const;
  void add_join_columns(const Join& j, double scale, RowMatrixRef sigma_by_q, double* residual,
                        int stride) const;
  double curved(const Scalar& scalar, const double* x, const double* y) const;
  void add_curved(const Scalar& scalar, const double* x, double factor, bool transposed, double* out) const;
  Motion velocity(const Data& data, int body) const;

  const Model* model_;
  const Data* before_ = nullptr;
  const Data* after_ = nullptr;
  const ImpulseWork* work_ = nullptr;
  double h_ = 0.0;
  ImpulseSettings settings_;
  std::vector<Touch> touches_;
  std::vector<collision::ContactDerivatives> room_;  // of the touches
  std::vector<Join> joins_;
  std::vector<Scalar> scalars_;
  std::vector<int> bodies_;
  bool one_sided_ = false, complete_ = false;
  mutable std::vector<double> unit_;  // nv
};

}  // namespace articula
