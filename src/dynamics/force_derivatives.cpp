#include "articula/dynamics/force_derivatives.hpp"

#include "actuator_terms.hpp"
#include "articula/dynamics/springs.hpp"
#include "articula/model/sizes.hpp"
#include "field_derivatives.hpp"
#include "model/reflected.hpp"

namespace articula {

ForceDerivativeWork::ForceDerivativeWork(const Model& model)
    : displacement(model.nbody()),
      change(model.nbody()),
      dof_displacement(model.nv()),
      displacement_bar(model.nbody()),
      change_bar(model.nbody()),
      dof_bar(model.nv()),
      path(model.nbody()),
      scaled(model.nv()),
      arms(model.nv()),
      by_motion(model.nlink()),
      by_turn(model.nlink()),
      dof_rate(model.nv()),
      dof_change(model.nv()),
      dof_turn(model.nv()) {
  only_scalar = true;
  for (int i = 0; i < model.nu(); ++i) only_scalar = only_scalar && on_scalar_joint(model, i);
  find_movers(model, *this);
  find_sides(model, ForceWork(model), *this);
  for (WrenchField* wrenches : {&field, &held}) {
    wrenches->own.resize(model.nbody());
    wrenches->subtree.resize(model.nbody());
  }
  for (VectorX* vector : {&length, &velocity, &input, &raw, &force}) *vector = VectorX::Zero(model.nu());
  const auto ntendon = static_cast<Eigen::Index>(model.structure().tendons.size());
  for (VectorX* vector : {&tendon_length, &tendon_velocity, &tendon_pull, &tendon_drive, &tendon_sum}) {
    *vector = VectorX::Zero(ntendon);
  }
}

void hold_wrenches(const Model& model, ForceDerivativeWork& work, bool active) {
  work.held.active = active;
  if (active) sum_subtrees(model, work.held);
}

void compensation_scale(const Model& model, const ForceWork& forces, VectorX& scale) {
  for (int d = 0; d < model.nv(); ++d) {
    const Carrier by = carrier(model, model.structure().dofs[d].joint);
    scale[d] = by == Carrier::hand ? 1.0 : by == Carrier::actuator ? forces.unlimited[d] : 0.0;
  }
}

namespace {

// Whether drag matters: in a medium, or where the medium is what changes.
bool drag_along_matters(const Model& model, const double* dtheta) {
  const Structure& s = model.structure();
  return in_medium(model) || (dtheta != nullptr && (dtheta[s.density] != 0.0 || dtheta[s.viscosity] != 0.0));
}

void fields_along(const Model& model, const Data& data, const ForceWork& forces, ForceDerivativeWork& work,
                  const ForceDirection& along, double* dtau) {
  const Structure& s = model.structure();
  const auto change_of = [&](int b) { return BodyChange{work.displacement[b], work.change[b], along.theta}; };
  if (drag_along_matters(model, along.theta)) {
    clear(work.field);
    for (int b = 1; b < model.nbody(); ++b) {
      if (has_drag(model, b)) work.field.own[b] = drag_along(model, data, b, change_of(b));
    }
    work.scaled.setOnes();
    add_field_along(model, data, forces.drag, work, work.scaled.data(), dtau);
  }
  if (forces.compensation.active) {
    clear(work.field);
    for (int b = 1; b < model.nbody(); ++b) {
      if (s.bodies[b].gravity_compensation == 0.0) continue;
      work.field.own[b] = compensation_along(model, data, b, change_of(b));
    }
    compensation_scale(model, forces, work.scaled);
    add_field_along(model, data, forces.compensation, work, work.scaled.data(), dtau);
  }
  if (work.held.active) {
    clear(work.field);
    work.scaled.setOnes();
    add_field_along(model, data, work.held, work, work.scaled.data(), dtau);
  }
}

void fields_against(const Model& model, const Data& data, const ForceWork& forces, ForceDerivativeWork& work,
                    const ConstVectorRef& y, double* theta_bar) {
  const Structure& s = model.structure();
  const auto add = [&](int b, auto against) {
    BodyCovector to{work.displacement_bar[b], work.change_bar[b], theta_bar};
    against(model, data, b, work.path[b], to);
    work.displacement_bar[b] = to.Z;
    work.change_bar[b] = to.m;
  };
  if (in_medium(model) || theta_bar != nullptr) {
    sum_paths(model, data, work, y.data());
    for (int b = 1; b < model.nbody(); ++b) {
      if (has_drag(model, b)) add(b, drag_against);
    }
    if (in_medium(model)) add_field_against(model, data, forces.drag, work, y.data());
  }
  if (forces.compensation.active) {
    compensation_scale(model, forces, work.scaled);
    work.scaled.array() *= y.array();
    sum_paths(model, data, work, work.scaled.data());
    for (int b = 1; b < model.nbody(); ++b) {
      if (s.bodies[b].gravity_compensation != 0.0) add(b, compensation_against);
    }
    add_field_against(model, data, forces.compensation, work, work.scaled.data());
  }
  if (work.held.active) add_field_against(model, data, work.held, work, y.data());
}

bool any_field(const Model& model, const ForceWork& forces, const ForceDerivativeWork& work) {
  return in_medium(model) || forces.compensation.active || forces.thrust.active || work.held.active;
}

}  // namespace

void forces_directional(const Model& model, const Data& data, const ForceWork& forces,
                        ForceDerivativeWork& work, const ForceArguments& at, const ParameterWork* parameters,
                        const ForceDirection& along, VectorRef dtau, VectorRef dslope) {
  const Structure& s = model.structure();
  require_size("dtau", dtau.size(), s.nv);
  require_size("dslope", dslope.size(), s.nv);
  const Eigen::Map<const VectorX> q(at.q, s.nq);
  // Actuators first: what limits the joints scales the sum.
  dtau.setZero();
  dslope.setZero();
  const bool displaces = any_field(model, forces, work) || drag_along_matters(model, along.theta);
  if (displaces) displace(model, data, work, parameters, along);
  tendons_along(model, forces, work, at, along);
  inputs_along(model, work, at, along);
  measure_along(model, forces, work, at, along);
  if (forces.thrust.active) measure_frames_along(model, data, forces, work, along);
  actuators_along(model, forces, work, along.theta);
  transmit_along(model, forces, work, at, along, dtau.data());
  if (forces.thrust.active) {
    transmit_frames_along(model, data, forces, work);
    work.scaled.setOnes();
    add_field_along(model, data, forces.thrust, work, work.scaled.data(), dtau.data());
  }
  work.scaled.setZero();
  add_tendons_along(model, forces, work, along, work.scaled.data(), dtau.data());
  dtau = dtau.cwiseProduct(forces.unlimited) + work.scaled;
  slope_along(model, forces, work, along.theta, dslope.data());

  if (displaces) fields_along(model, data, forces, work, along, dtau.data());
  const std::vector<double>& damping = model.constants().damping;
  for (int d = 0; along.v != nullptr && d < s.nv; ++d) dtau[d] -= damping[d] * along.v[d];
  if (along.q != nullptr) {
    add_spring_directional(model, q, Eigen::Map<const VectorX>(along.q, s.nv), along.theta, dtau);
  } else if (along.theta != nullptr) {
    work.scaled.setZero();
    add_spring_directional(model, q, work.scaled, along.theta, dtau);
  }
  if (along.theta == nullptr) return;
  for_each_damping_partial(s, model.theta(), [&](int d, int k, double partial) {
    dtau[d] -= partial * along.theta[k] * at.v[d];
    dslope[d] += partial * along.theta[k];
  });
}

void forces_adjoint(const Model& model, const Data& data, const ForceWork& forces, ForceDerivativeWork& work,
                    const ForceArguments& at, const ParameterWork* parameters, const ConstVectorRef& tau_bar,
                    const ConstVectorRef& slope_bar, ForceGradient& to) {
  const Structure& s = model.structure();
  require_size("tau_bar", tau_bar.size(), s.nv);
  require_size("slope_bar", slope_bar.size(), s.nv);
  const Eigen::Map<const VectorX> q(at.q, s.nq);
  Eigen::Map<VectorX> q_bar(to.q, s.nv);
  const std::vector<double>& damping = model.constants().damping;
  for (int d = 0; d < s.nv; ++d) to.v[d] -= damping[d] * tau_bar[d];
  add_spring_adjoint(model, q, tau_bar, q_bar, to.theta);
  if (to.theta != nullptr) {
    for_each_damping_partial(s, model.theta(), [&](int d, int k, double partial) {
      to.theta[k] += partial * (slope_bar[d] - at.v[d] * tau_bar[d]);
    });
  }

  const bool displaces = any_field(model, forces, work);
  if (displaces) clear_displacement_covectors(work);
  fields_against(model, data, forces, work, tau_bar, to.theta);
  if (work.only_scalar && s.tendons.empty() && to.theta == nullptr) {
    scalar_actuators_against(model, forces, at, tau_bar.data(), slope_bar.data(), to);
    if (displaces) gather_displacements(model, data, work, parameters, to);
    return;
  }
  work.scaled = tau_bar.cwiseProduct(forces.unlimited);
  const double* actuator_bar = work.scaled.data();
  add_tendons_against(model, forces, work, tau_bar.data(), actuator_bar, to);
  transmit_against(model, forces, work, at, actuator_bar, to);
  if (forces.thrust.active) {
    sum_paths(model, data, work, actuator_bar);
    add_field_against(model, data, forces.thrust, work, actuator_bar);
    transmit_frames_against(model, data, forces, work);
  }
  work.length.setZero();
  work.velocity.setZero();
  work.input.setZero();
  slope_against(model, forces, work, slope_bar.data(), to.theta);
  actuators_against(model, forces, work, to.theta);
  if (forces.thrust.active) measure_frames_against(model, data, forces, work, to);
  measure_against(model, forces, work, at, to);
  inputs_against(model, work, at, to);
  tendons_against(model, forces, work, at, to);
  if (displaces) gather_displacements(model, data, work, parameters, to);
}

}  // namespace articula
