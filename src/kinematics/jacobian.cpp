#include "articula/kinematics/jacobian.hpp"

#include "articula/model/sizes.hpp"

namespace articula {

namespace {

// A point of a link, from the tree's reference point.
struct LinkPoint {
  int link;
  Vec3 r;
};

LinkPoint body_point(const Model& model, const Data& data, int body, Vec3 offset) {
  const int k = model.structure().bodies[body].link;
  const Placement& in_link = model.constants().body_in_link[body];
  return {k, data.link_r[k] + data.link_R[k] * (in_link.p + in_link.R * offset)};
}

LinkPoint frame_point(const Model& model, const Data& data, int frame) {
  const FrameIndex& index = model.structure().frames[frame];
  return body_point(model, data, index.body, load3(model.theta().data() + index.placement));
}

LinkPoint world_to_link(const Model& model, const Data& data, int body, const Vector3& point) {
  const int k = model.structure().bodies[body].link;
  return {k, Vec3(point) - data.link_reference[k]};
}

// The last dof that moves the link, or -1.
int last_dof(const Structure& s, int link) {
  while (link > 0 && s.links[link].dof_end == s.links[link].dof_begin) link = s.links[link].parent;
  return link > 0 ? s.links[link].dof_end - 1 : -1;
}

// Linear rows: S.linear + S.angular x r; angular rows (of a 6-row J): S.angular.
template <class Jacobian>
void fill_jacobian(const Model& model, const Data& data, LinkPoint at, Jacobian& J) {
  require_size("columns of J", J.cols(), model.nv());
  J.setZero();
  const Structure& s = model.structure();
  for (int d = last_dof(s, at.link); d >= 0; d = s.dofs[d].parent) {
    const Motion& S = data.S[d];
    store3(&J(0, d), point_velocity(S, at.r));
    if (J.rows() == 6) store3(&J(3, d), S.angular);
  }
}

// d/dt (S.linear + S.angular x r) = S'.linear + S'.angular x r + S.angular x r'
template <class Jacobian>
void fill_jacobian_rate(const Model& model, const Data& data, LinkPoint at, Jacobian& J) {
  require_size("columns of J", J.cols(), model.nv());
  J.setZero();
  const Structure& s = model.structure();
  const Vec3 velocity = point_velocity(data.link_v[at.link], at.r);
  for (int d = last_dof(s, at.link); d >= 0; d = s.dofs[d].parent) {
    const Motion& rate = data.S_dot[d];
    store3(&J(0, d), point_velocity(rate, at.r) + cross(data.S[d].angular, velocity));
    if (J.rows() == 6) store3(&J(3, d), rate.angular);
  }
}

}  // namespace

void body_jacobian(const Model& model, const Data& data, int body, Eigen::Ref<Matrix6X> J) {
  fill_jacobian(model, data, body_point(model, data, body, Vec3()), J);
}
void frame_jacobian(const Model& model, const Data& data, int frame, Eigen::Ref<Matrix6X> J) {
  fill_jacobian(model, data, frame_point(model, data, frame), J);
}
void point_jacobian(const Model& model, const Data& data, int body, const Vector3& world_point,
                    Eigen::Ref<Matrix3X> J) {
  fill_jacobian(model, data, world_to_link(model, data, body, world_point), J);
}

void body_jacobian_rate(const Model& model, const Data& data, int body, Eigen::Ref<Matrix6X> Jdot) {
  fill_jacobian_rate(model, data, body_point(model, data, body, Vec3()), Jdot);
}
void frame_jacobian_rate(const Model& model, const Data& data, int frame, Eigen::Ref<Matrix6X> Jdot) {
  fill_jacobian_rate(model, data, frame_point(model, data, frame), Jdot);
}
void point_jacobian_rate(const Model& model, const Data& data, int body, const Vector3& world_point,
                         Eigen::Ref<Matrix3X> Jdot) {
  fill_jacobian_rate(model, data, world_to_link(model, data, body, world_point), Jdot);
}

}  // namespace articula
