#include "articula/kinematics/link_point.hpp"

namespace articula {

LinkPoint body_point(const Model& model, const Data& data, int body, Vec3 offset) {
  const int k = model.structure().bodies[body].link;
  const Placement& in_link = model.constants().body_in_link[body];
  return {k, data.link_r[k] + data.link_R[k] * (in_link.p + in_link.R * offset)};
}

LinkPoint frame_point(const Model& model, const Data& data, int frame) {
  const FrameIndex& index = model.structure().frames[frame];
  return body_point(model, data, index.body, load3(model.theta().data() + index.placement));
}

LinkPoint point_on_body(const Model& model, const Data& data, int body, const Vector3& world_point) {
  const int k = model.structure().bodies[body].link;
  return {k, Vec3(world_point) - data.link_reference[k]};
}

Vector6 velocity_at(const Data& data, const LinkPoint& at) {
  const Motion& v = data.link_v[at.link];
  Vector6 both;
  both << point_velocity(v, at.r).eigen(), v.angular.eigen();
  return both;
}

// The acceleration of a point is that of the moving point, not of what passes the reference point:
//   p'' = a_linear + a_angular x r + w x p',   gravity put back.
// A kinematic body moves on with constant twist:  p'' = w x (w x r).
Vector6 acceleration_at(const Model& model, const Data& data, const LinkPoint& at) {
  const LinkKind kind = model.structure().links[at.link].kind;
  if (kind == LinkKind::world) return Vector6::Zero();
  const Motion& v = data.link_v[at.link];
  Vector6 both = Vector6::Zero();
  if (kind == LinkKind::kinematic) {
    both.head<3>() = cross(v.angular, cross(v.angular, at.r)).eigen();
    return both;
  }
  const Motion& a = data.link_a[at.link];
  both << (point_velocity(a, at.r) + cross(v.angular, point_velocity(v, at.r)) + model.gravity()).eigen(),
      a.angular.eigen();
  return both;
}

int last_dof(const Structure& s, int link) {
  while (link > 0 && s.links[link].dof_end == s.links[link].dof_begin) link = s.links[link].parent;
  return link > 0 ? s.links[link].dof_end - 1 : -1;
}

}  // namespace articula
