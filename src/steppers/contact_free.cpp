#include "articula/steppers/contact_free.hpp"

#include "articula/dynamics/activation.hpp"
#include "articula/dynamics/crba.hpp"
#include "articula/dynamics/springs.hpp"
#include "articula/kinematics/manifold.hpp"
#include "articula/model/sizes.hpp"

namespace articula {

ContactFreeWork::ContactFreeWork(const Model& model)
    : q(model.nq()),
      v(model.nv()),
      acceleration(model.nv()),
      v_next(model.nv()),
      q_next(model.nq()),
      force(model.nv()),
      h_slope(model.nv()) {}

StepStatus contact_free_step(const Model& model, Data& data, ContactFreeWork& work,
                             const ContactFreeSettings& settings, const ConstVectorRef& tau, State& state) {
  const double h = settings.dt;
  require_size("tau", tau.size(), model.nv());
  if (!(h > 0.0 && std::isfinite(h))) throw Error(fmt::format("dt must be positive, not {}", h));
  if (!state.q.allFinite() || !state.v.allFinite() || !tau.allFinite() ||
      (settings.external != nullptr && !settings.external->allFinite())) {
    return StepStatus::input_not_finite;
  }

  // (M + h D) a = tau - springs - c - D v,    v+ = v + h a
  const DynamicsOptions options{settings.external, settings.implicit_gyroscopic ? h : 0.0};
  const Eigen::Map<const VectorX> damping(model.constants().damping.data(), model.nv());
  work.q = state.q;
  work.v = state.v;
  bias_forces(model, data, state.q, state.v, work.force, options);
  work.force = tau - work.force - damping.cwiseProduct(state.v);
  add_spring_forces(model, state.q, work.force);
  work.h_slope = h * damping;
  composite_mass_matrix(model, data);
  if (!factor_mass_matrix(model, data, work.h_slope.data())) return StepStatus::singular_mass;
  work.acceleration = work.force;
  solve_mass_matrix(model, data, work.acceleration);

  work.v_next = state.v + h * work.acceleration;
  integrate(model, state.q, work.v_next, h, work.q_next);
  if (!work.v_next.allFinite() || !work.q_next.allFinite()) return StepStatus::result_not_finite;
  state.v = work.v_next;
  state.q = work.q_next;
  state.time += h;
  return StepStatus::ok;
}

FreeStepWork::FreeStepWork(const Model& model)
    : free(model),
      v_next(model.nv()),
      q_next(model.nq()),
      activation_next(model.na()) {}

StepStatus contact_free_step(const Model& model, Data& data, FreeStepWork& work, const StepSettings& settings,
                             const Input& input, State& state) {
  const StepStatus status = free_velocity(model, data, work.free, settings, state, input, work.v_next);
  if (status != StepStatus::ok) return status;
  integrate(model, state.q, work.v_next, settings.dt, work.q_next);
  next_activations(model, state.activation, work.free.control, settings.dt, work.activation_next);
  if (!work.q_next.allFinite() || !work.activation_next.allFinite()) return StepStatus::result_not_finite;
  state.q = work.q_next;
  state.v = work.v_next;
  state.activation = work.activation_next;
  state.time += settings.dt;
  return StepStatus::ok;
}

}  // namespace articula
