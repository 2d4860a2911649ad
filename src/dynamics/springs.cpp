#include "articula/dynamics/springs.hpp"

#include "articula/kinematics/manifold.hpp"
#include "articula/math/lie.hpp"
#include "articula/model/sizes.hpp"

namespace articula {

namespace {

// How far a joint is from rest: its adding entries, then its turn.
struct Stretch {
  int added = 0;
  std::array<double, 3> shift{};
  int turning = -1;
  Vec3 turn;
};

Stretch stretch_of(const Model& model, const ConstVectorRef& q, const JointIndex& joint) {
  Stretch stretch;
  const double* rest = model.neutral_configuration().data() + joint.q;
  const double* now = q.data() + joint.q;
  if (joint.type == JointType::hinge || joint.type == JointType::slide) {
    stretch.added = 1;
    stretch.shift[0] = now[0] - model.theta()[joint.spring_reference];
    return stretch;
  }
  stretch.turning = turning_dof(joint);
  const int quaternion = stretch.turning - joint.dof;
  stretch.added = quaternion;
  for (int i = 0; i < stretch.added; ++i) stretch.shift[i] = now[i] - rest[i];
  stretch.turn =
      log_rotation(conjugate(load_quaternion(rest + quaternion)) * load_quaternion(now + quaternion));
  return stretch;
}

// Calls visit(joint, k, stretch) for every joint with a spring, or for all joints.
template <class Visit>
void for_each_joint(const Model& model, const ConstVectorRef& q, bool without_spring_too, Visit visit) {
  require_size("q", q.size(), model.nq());
  for (const JointIndex& joint : model.structure().joints) {
    const double k = model.theta()[joint.stiffness];
    if (k != 0.0 || without_spring_too) visit(joint, k, stretch_of(model, q, joint));
  }
}

}  // namespace

void add_spring_forces(const Model& model, const ConstVectorRef& q, VectorRef tau) {
  require_size("tau", tau.size(), model.nv());
  for_each_joint(model, q, false, [&](const JointIndex& joint, double k, const Stretch& stretch) {
    for (int i = 0; i < stretch.added; ++i) tau[joint.dof + i] -= k * stretch.shift[i];
    for (int i = 0; stretch.turning >= 0 && i < 3; ++i) {
      tau[stretch.turning + i] -= k * stretch.turn[i];
    }
  });
}

double spring_energy(const Model& model, const ConstVectorRef& q) {
  double sum = 0.0;
  for_each_joint(model, q, false, [&](const JointIndex&, double k, const Stretch& stretch) {
    for (double shift : stretch.shift) sum += 0.5 * k * shift * shift;
    sum += 0.5 * k * squared_norm(stretch.turn);
  });
  return sum;
}

namespace {

// How the turn of a stretched ball or free joint changes with q, and with its rest pose.
struct TurnRates {
  Mat3 by_q, by_rest;
  explicit TurnRates(Vec3 turn)
      : by_q(inverse_right_jacobian(turn)),
        by_rest(by_q * rotation_matrix(exp_rotation(-turn)) * -1.0) {}
};

// Where theta keeps the rest pose of a free joint; a ball's is the identity.
const double* rest_pose(const Model& model, const JointIndex& joint) {
  if (joint.type != JointType::free) return nullptr;
  return model.theta().data() + model.structure().bodies[joint.body].placement;
}

}  // namespace

void add_spring_directional(const Model& model, const ConstVectorRef& q, const ConstVectorRef& dq,
                            const double* dtheta, VectorRef dtau) {
  const double* theta = model.theta().data();
  for_each_joint(model, q, dtheta != nullptr, [&](const JointIndex& joint, double k, const Stretch& stretch) {
    const double dk = dtheta == nullptr ? 0.0 : dtheta[joint.stiffness];
    const double* rest = dtheta == nullptr ? nullptr : rest_pose(model, joint);
    const double* drest = rest == nullptr ? nullptr : dtheta + (rest - theta);
    const double dreference =
        dtheta != nullptr && joint.spring_reference >= 0 ? dtheta[joint.spring_reference] : 0.0;
    for (int i = 0; i < stretch.added; ++i) {
      const double moved = dq[joint.dof + i] - dreference - (drest == nullptr ? 0.0 : drest[i]);
      dtau[joint.dof + i] -= dk * stretch.shift[i] + k * moved;
    }
    if (stretch.turning < 0) return;
    const TurnRates rates(stretch.turn);
    Vec3 turned = rates.by_q * load3(dq.data() + stretch.turning);
    if (drest != nullptr) turned += rates.by_rest * quaternion_turn(rest + 3, drest + 3);
    for (int i = 0; i < 3; ++i) dtau[stretch.turning + i] -= dk * stretch.turn[i] + k * turned[i];
  });
}

namespace {

// Calls visit(dof, k) for hinges and slides that have a spring, and returns whether others do, too.
template <class Visit>
bool for_each_straight_spring(const Model& model, Visit visit) {
  const double* theta = model.theta().data();
  bool others = false;
  for (const JointIndex& joint : model.structure().joints) {
    const double k = theta[joint.stiffness];
    if (k == 0.0) continue;
    if (joint.type == JointType::hinge || joint.type == JointType::slide)
      visit(joint.dof, k);
    else
      others = true;
  }
  return others;
}

}  // namespace

void add_spring_adjoint(const Model& model, const ConstVectorRef& q, const ConstVectorRef& y, VectorRef q_bar,
                        double* theta_bar) {
  const double* theta = model.theta().data();
  // Without parameters it does not matter how far a straight spring is stretched.
  const bool straight = theta_bar == nullptr;
  if (straight && !for_each_straight_spring(model, [&](int d, double k) { q_bar[d] -= k * y[d]; })) return;
  for_each_joint(
      model, q, theta_bar != nullptr, [&](const JointIndex& joint, double k, const Stretch& stretch) {
        const double* rest = theta_bar == nullptr ? nullptr : rest_pose(model, joint);
        double* rest_bar = rest == nullptr ? nullptr : theta_bar + (rest - theta);
        if (straight && stretch.turning < 0) return;
        for (int i = 0; i < stretch.added; ++i) {
          const double y_i = y[joint.dof + i];
          q_bar[joint.dof + i] -= k * y_i;
          if (theta_bar == nullptr) continue;
          theta_bar[joint.stiffness] -= stretch.shift[i] * y_i;
          if (joint.spring_reference >= 0) theta_bar[joint.spring_reference] += k * y_i;
          if (rest_bar != nullptr) rest_bar[i] += k * y_i;
        }
        if (stretch.turning < 0) return;
        const TurnRates rates(stretch.turn);
        const Vec3 y_turn = load3(y.data() + stretch.turning);
        const Vec3 turned = transpose_times(rates.by_q, y_turn) * k;
        for (int i = 0; i < 3; ++i) q_bar[stretch.turning + i] -= turned[i];
        if (theta_bar != nullptr) theta_bar[joint.stiffness] -= dot(stretch.turn, y_turn);
        if (rest_bar != nullptr) {
          add_quaternion_covector(rest + 3, transpose_times(rates.by_rest, y_turn) * -k, rest_bar + 3);
        }
      });
}

void add_spring_jacobian(const Model& model, const ConstVectorRef& q, double scale, double* J, int row_stride,
                         int column_stride) {
  const auto at = [&](int i, int j) -> double& { return J[i * row_stride + j * column_stride]; };
  if (!for_each_straight_spring(model, [&](int d, double k) { at(d, d) -= scale * k; })) return;
  for_each_joint(model, q, false, [&](const JointIndex& joint, double k, const Stretch& stretch) {
    if (stretch.turning < 0) return;
    for (int i = 0; i < stretch.added; ++i) at(joint.dof + i, joint.dof + i) -= scale * k;
    const Mat3 rate = TurnRates(stretch.turn).by_q;
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j)
        at(stretch.turning + i, stretch.turning + j) -= scale * k * rate.column(j)[i];
    }
  });
}

}  // namespace articula
