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

// Calls visit(joint, k, stretch) for every joint that has a spring.
template <class Visit>
void for_each_spring(const Model& model, const ConstVectorRef& q, Visit visit) {
  require_size("q", q.size(), model.nq());
  for (const JointIndex& joint : model.structure().joints) {
    const double k = model.theta()[joint.stiffness];
    if (k != 0.0) visit(joint, k, stretch_of(model, q, joint));
  }
}

}  // namespace

void add_spring_forces(const Model& model, const ConstVectorRef& q, VectorRef tau) {
  require_size("tau", tau.size(), model.nv());
  for_each_spring(model, q, [&](const JointIndex& joint, double k, const Stretch& stretch) {
    for (int i = 0; i < stretch.added; ++i) tau[joint.dof + i] -= k * stretch.shift[i];
    for (int i = 0; stretch.turning >= 0 && i < 3; ++i) {
      tau[stretch.turning + i] -= k * stretch.turn[i];
    }
  });
}

double spring_energy(const Model& model, const ConstVectorRef& q) {
  double sum = 0.0;
  for_each_spring(model, q, [&](const JointIndex&, double k, const Stretch& stretch) {
    for (double shift : stretch.shift) sum += 0.5 * k * shift * shift;
    sum += 0.5 * k * squared_norm(stretch.turn);
  });
  return sum;
}

void add_spring_stiffness(const Model& model, const ConstVectorRef& q, MatrixRef J) {
  for_each_spring(model, q, [&](const JointIndex& joint, double k, const Stretch& stretch) {
    for (int i = 0; i < stretch.added; ++i) J(joint.dof + i, joint.dof + i) -= k;
    if (stretch.turning < 0) return;
    J.block<3, 3>(stretch.turning, stretch.turning) -= k * inverse_right_jacobian(stretch.turn).eigen();
  });
}

}  // namespace articula
