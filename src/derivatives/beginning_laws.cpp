// Numbers that are zero, and the laws that begin with them. The least dry friction acts against a joint or
// tendon that moves, lam = -side h f: that is its derivative at f = 0, from above, where it has no row.
// Friction of a contact that carries, and restitution of one that comes in fast enough to bounce, have no row
// or another bias as long as they are zero: it is told that they have no derivative.

#include <algorithm>
#include <cmath>

#include "impulse_work.hpp"

namespace articula {

namespace {

// take(dof, coefficient, theta) for all that the friction of a joint or tendon that moves would push, theta
// being that friction, and zero.
template <class Take>
void for_each_frictionless(const Model& model, const VectorX& v, const Take& take) {
  constexpr double rest = 1e-12;  // rad/s, m/s
  const Structure& s = model.structure();
  const auto moves = [&](int theta, double rate) {
    return theta >= 0 && model.theta()[theta] == 0.0 && std::abs(rate) > rest;
  };
  const auto against = [](double rate) { return rate > 0.0 ? -1.0 : 1.0; };
  for (int dof = 0; dof < model.nv(); ++dof) {
    const int theta = s.joints[s.dofs[dof].joint].dry_friction;
    if (moves(theta, v[dof])) take(dof, against(v[dof]), theta);
  }
  for (const TendonIndex& tendon : s.tendons) {
    const double* c = model.theta().data() + tendon.coefficients;
    double rate = 0.0;
    for (size_t i = 0; i < tendon.joints.size(); ++i) rate += c[i] * v[s.joints[tendon.joints[i]].dof];
    if (!moves(tendon.dry_friction, rate)) continue;
    for (size_t i = 0; i < tendon.joints.size(); ++i)
      take(s.joints[tendon.joints[i]].dof, against(rate) * c[i], tendon.dry_friction);
  }
}

}  // namespace

void ImpulseDerivatives::Work::add_friction_that_begins(const double* dtheta, VectorRef dr1) const {
  for_each_frictionless(*model, step->v_next, [&](int dof, double coefficient, int theta) {
    dr1[dof] -= coefficient * settings.dt * dtheta[theta];
  });
}

void ImpulseDerivatives::Work::add_friction_that_begins_against(const ConstVectorRef& y1,
                                                                double* theta_bar) const {
  for_each_frictionless(*model, step->v_next, [&](int dof, double coefficient, int theta) {
    theta_bar[theta] += coefficient * settings.dt * y1[dof];
  });
}

bool ImpulseDerivatives::Work::contact_law_begins(const std::vector<ParameterSlice>& asked) {
  const ContactRows& rows = step->rows;
  const auto asks_for = [&](int theta) {
    return std::any_of(asked.begin(), asked.end(), [&](const ParameterSlice& slice) {
      return slice.offset <= theta && theta < slice.offset + slice.size;
    });
  };
  for (const Item& item : rows.items()) {
    if (item.kind != RowKind::contact || !(rows.lam[rows.row_of(item)] > 0.0)) continue;
    const auto& pair = step->contacts.list[item.index].pair;
    const collision::ContactParameters p = step->colliders.parameters(*model, pair);
    const bool slippery =
        std::any_of(p.friction, p.friction + p.condim - 1, [](double mu) { return mu == 0.0; });
    for (const int collider : {pair.a, pair.b}) {
      const GeometryIndex& geometry =
          model->structure().geometries[step->colliders.list()[collider].geometry];
      if (slippery && asks_for(geometry.friction)) return true;
      if (p.restitution == 0.0 && asks_for(geometry.restitution) && impact_of(item, 0.0).bounces())
        return true;
    }
  }
  return false;
}

}  // namespace articula
