#include "articula/steppers/contact_free.hpp"

#include "articula/dynamics/activation.hpp"
#include "articula/kinematics/manifold.hpp"

namespace articula {

ContactFreeWork::ContactFreeWork(const Model& model)
    : free(model),
      v_next(model.nv()),
      q_next(model.nq()),
      activation_next(model.na()) {}

StepStatus contact_free_step(const Model& model, Data& data, ContactFreeWork& work,
                             const StepSettings& settings, const Input& input, State& state) {
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
