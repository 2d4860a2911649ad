#include "articula/kinematics/manifold.hpp"

#include "articula/math/lie.hpp"
#include "articula/model/sizes.hpp"

namespace articula {

int turning_dof(const JointIndex& joint) {
  if (joint.type == JointType::ball) return joint.dof;
  return joint.type == JointType::free ? joint.dof + 3 : -1;
}

namespace {

// Entries of q that simply add, and the quaternion's place, of one joint.
struct JointParts {
  int added;       // number of leading entries that add
  int quaternion;  // index in q, or -1
};

JointParts parts_of(const JointIndex& joint) {
  switch (joint.type) {
    case JointType::free: return {3, joint.q + 3};
    case JointType::ball: return {0, joint.q};
    default: return {1, -1};
  }
}

void store_block(MatrixRef& J, int dof, const Mat3& block) { J.block<3, 3>(dof, dof) = block.eigen(); }

void require_square(const MatrixRef& J, int nv, const char* what) {
  require_size(what, J.rows(), nv);
  require_size(what, J.cols(), nv);
}

}  // namespace

void integrate(const Model& model, const ConstVectorRef& q, const ConstVectorRef& d, double scale,
               VectorRef out) {
  require_size("q", q.size(), model.nq());
  require_size("d", d.size(), model.nv());
  require_size("out", out.size(), model.nq());
  for (const JointIndex& joint : model.structure().joints) {
    const JointParts parts = parts_of(joint);
    for (int i = 0; i < parts.added; ++i) {
      out[joint.q + i] = q[joint.q + i] + scale * d[joint.dof + i];
    }
    if (parts.quaternion < 0) continue;
    const Quat turned = load_quaternion(q.data() + parts.quaternion) *
                        exp_rotation(load3(d.data() + turning_dof(joint)) * scale);
    const double length = std::sqrt(turned.w * turned.w + squared_norm(turned.v));
    store_quaternion(out.data() + parts.quaternion, {turned.w / length, turned.v * (1.0 / length)});
  }
}

void difference(const Model& model, const ConstVectorRef& q0, const ConstVectorRef& q1, VectorRef d) {
  require_size("q0", q0.size(), model.nq());
  require_size("q1", q1.size(), model.nq());
  require_size("d", d.size(), model.nv());
  for (const JointIndex& joint : model.structure().joints) {
    const JointParts parts = parts_of(joint);
    for (int i = 0; i < parts.added; ++i) {
      d[joint.dof + i] = q1[joint.q + i] - q0[joint.q + i];
    }
    if (parts.quaternion < 0) continue;
    const Quat between = conjugate(load_quaternion(q0.data() + parts.quaternion)) *
                         load_quaternion(q1.data() + parts.quaternion);
    store3(d.data() + turning_dof(joint), log_rotation(between));
  }
}

void integrate_jacobians(const Model& model, const ConstVectorRef& d, MatrixRef by_q, MatrixRef by_d) {
  require_size("d", d.size(), model.nv());
  require_square(by_q, model.nv(), "by_q");
  require_square(by_d, model.nv(), "by_d");
  by_q.setIdentity();
  by_d.setIdentity();
  for (const JointIndex& joint : model.structure().joints) {
    const int dof = turning_dof(joint);
    if (dof < 0) continue;
    const Vec3 turn = load3(d.data() + dof);
    store_block(by_q, dof, rotation_matrix(exp_rotation(-turn)));
    store_block(by_d, dof, right_jacobian(turn));
  }
}

void difference_jacobians(const Model& model, const ConstVectorRef& q0, const ConstVectorRef& q1,
                          MatrixRef by_q0, MatrixRef by_q1) {
  require_size("q0", q0.size(), model.nq());
  require_size("q1", q1.size(), model.nq());
  require_square(by_q0, model.nv(), "by_q0");
  require_square(by_q1, model.nv(), "by_q1");
  by_q1.setIdentity();
  by_q0.setIdentity();
  by_q0 *= -1.0;
  for (const JointIndex& joint : model.structure().joints) {
    const int dof = turning_dof(joint);
    if (dof < 0) continue;
    const int quaternion = parts_of(joint).quaternion;
    const Vec3 turn = log_rotation(conjugate(load_quaternion(q0.data() + quaternion)) *
                                   load_quaternion(q1.data() + quaternion));
    const Mat3 inverse = inverse_right_jacobian(turn);
    store_block(by_q1, dof, inverse);
    store_block(by_q0, dof, inverse * rotation_matrix(exp_rotation(-turn)) * -1.0);
  }
}

}  // namespace articula
