#include "articula/kinematics/jacobian.hpp"

#include "articula/model/sizes.hpp"

namespace articula {

namespace {

void clear(const Model& model, MatrixRef& J) {
  if (J.rows() != 3) require_size("rows of J", J.rows(), 6);
  require_size("columns of J", J.cols(), model.nv());
  J.setZero();
}

}  // namespace

// Linear rows: S.linear + S.angular x r; angular rows: S.angular.
void jacobian_at(const Model& model, const Data& data, const LinkPoint& at, MatrixRef J) {
  clear(model, J);
  const Structure& s = model.structure();
  for (int d = last_dof(s, at.link); d >= 0; d = s.dofs[d].parent) {
    const Motion& S = data.S[d];
    store3(&J(0, d), point_velocity(S, at.r));
    if (J.rows() == 6) store3(&J(3, d), S.angular);
  }
}

// d/dt (S.linear + S.angular x r) = S'.linear + S'.angular x r + S.angular x r'
void jacobian_rate_at(const Model& model, const Data& data, const LinkPoint& at, MatrixRef Jdot) {
  clear(model, Jdot);
  const Structure& s = model.structure();
  const Vec3 velocity = point_velocity(data.link_v[at.link], at.r);
  for (int d = last_dof(s, at.link); d >= 0; d = s.dofs[d].parent) {
    const Motion& rate = data.S_dot[d];
    store3(&Jdot(0, d), point_velocity(rate, at.r) + cross(data.S[d].angular, velocity));
    if (Jdot.rows() == 6) store3(&Jdot(3, d), rate.angular);
  }
}

void body_jacobian(const Model& model, const Data& data, int body, Eigen::Ref<Matrix6X> J) {
  jacobian_at(model, data, body_point(model, data, body), J);
}
void frame_jacobian(const Model& model, const Data& data, int frame, Eigen::Ref<Matrix6X> J) {
  jacobian_at(model, data, frame_point(model, data, frame), J);
}
void point_jacobian(const Model& model, const Data& data, int body, const Vector3& world_point,
                    Eigen::Ref<Matrix3X> J) {
  jacobian_at(model, data, point_on_body(model, data, body, world_point), J);
}

void body_jacobian_rate(const Model& model, const Data& data, int body, Eigen::Ref<Matrix6X> Jdot) {
  jacobian_rate_at(model, data, body_point(model, data, body), Jdot);
}
void frame_jacobian_rate(const Model& model, const Data& data, int frame, Eigen::Ref<Matrix6X> Jdot) {
  jacobian_rate_at(model, data, frame_point(model, data, frame), Jdot);
}
void point_jacobian_rate(const Model& model, const Data& data, int body, const Vector3& world_point,
                         Eigen::Ref<Matrix3X> Jdot) {
  jacobian_rate_at(model, data, point_on_body(model, data, body, world_point), Jdot);
}

}  // namespace articula
