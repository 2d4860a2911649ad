#include <algorithm>
#include <limits>

#include "articula/math/lie.hpp"
#include "row_builder.hpp"

namespace articula {

double ContactRows::Builder::idle_rate(const IdleRow& row, const collision::Colliders& colliders,
                                       const collision::Contacts& contacts, const VectorX& x) const {
  if (row.kind == RowKind::contact) {
    const collision::Contact& contact = contacts.list[row.index];
    const int a = colliders.list()[contact.pair.a].link, b = colliders.list()[contact.pair.b].link;
    const Vec3 at = contact.point.position;
    RowAxes normal;
    normal.add(contact.point.normal, false);
    return velocity_now(a, at - data.link_reference[a], b, at - data.link_reference[b], normal)[0];
  }
  const double sign = row.upper ? -1.0 : 1.0;
  if (row.kind == RowKind::tendon_limit) return sign * tendon_rate(row.index, x);
  const JointIndex& joint = model.structure().joints[row.index];
  if (joint.type != JointType::ball) return sign * x[joint.dof];
  const Vec3 turn = log_rotation(load_quaternion(q.data() + joint.q));
  const double angle = norm(turn);
  return angle > 1e-12 ? -dot(turn, load3(x.data() + joint.dof)) / angle : -x[joint.dof];
}

void ContactRows::move_idle(const Model& model, const Data& data, const collision::Colliders& colliders,
                            const collision::Contacts& contacts, double h, const VectorX& q,
                            const VectorX& x) {
  const RowSettings settings{.dt = h};
  const Builder builder{*this, model, data, *constraints_, settings, q, x, x};
  for (IdleRow& row : idle_) row.velocity = row.phi / h + builder.idle_rate(row, colliders, contacts, x);
  for (CoastingDof& each : coasting_) each.velocity = each.side * x[each.dof];
}

double ContactRows::least_idle_velocity() const {
  double least = std::numeric_limits<double>::infinity();
  for (const IdleRow& row : idle_) least = std::min(least, row.velocity);
  for (const CoastingDof& each : coasting_) least = std::min(least, each.velocity);
  return least;
}

void ContactRows::call_idle(const RowSettings& settings) {
  for (const IdleRow& row : idle_) {
    if (!(row.velocity > settings.parting_speed)) called_.push_back(row.key);
  }
  for (const CoastingDof& each : coasting_) {
    if (!(each.velocity > settings.coasting_speed)) called_.push_back(each.key);
  }
}

}  // namespace articula
