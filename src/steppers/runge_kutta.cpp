#include "articula/steppers/runge_kutta.hpp"

#include "articula/dynamics/aba.hpp"
#include "articula/dynamics/springs.hpp"
#include "articula/kinematics/manifold.hpp"
#include "articula/math/lie.hpp"
#include "articula/model/sizes.hpp"

namespace articula {

RungeKuttaWork::RungeKuttaWork(const Model& model)
    : q(model.nq()),
      v(model.nv()),
      force(model.nv()),
      d(model.nv()),
      d_rate(model.nv()),
      d_sum(model.nv()),
      acceleration(model.nv()),
      v_sum(model.nv()) {}

namespace {

// d' = v, but Jr^-1(d) w on turning blocks.
void tangent_rate(const Model& model, const VectorX& d, const VectorX& v, VectorX& rate) {
  rate = v;
  for (const JointIndex& joint : model.structure().joints) {
    const int dof = turning_dof(joint);
    if (dof < 0) continue;
    store3(rate.data() + dof, inverse_right_jacobian(load3(d.data() + dof)) * load3(v.data() + dof));
  }
}

}  // namespace

StepStatus runge_kutta_step(const Model& model, Data& data, RungeKuttaWork& work, double dt,
                            const ConstVectorRef& tau, State& state) {
  require_size("tau", tau.size(), model.nv());
  if (!(dt > 0.0 && std::isfinite(dt))) throw Error(fmt::format("dt must be positive, not {}", dt));
  if (!state.q.allFinite() || !state.v.allFinite() || !tau.allFinite()) {
    return StepStatus::input_not_finite;
  }
  constexpr double reach[4] = {0.0, 0.5, 0.5, 1.0}, weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
  const Eigen::Map<const VectorX> damping(model.constants().damping.data(), model.nv());
  work.d_sum.setZero();
  work.v_sum.setZero();
  for (int stage = 0; stage < 4; ++stage) {
    const double ahead = dt * reach[stage];
    if (stage == 0)
      work.d.setZero(), work.v = state.v;
    else
      work.d = ahead * work.d_rate, work.v = state.v + ahead * work.acceleration;
    integrate(model, state.q, work.d, 1.0, work.q);
    work.force = tau - damping.cwiseProduct(work.v);
    add_spring_forces(model, work.q, work.force);
    if (!aba(model, data, work.q, work.v, work.force, work.acceleration)) {
      const bool finite = work.q.allFinite() && work.v.allFinite();
      return finite ? StepStatus::singular_mass : StepStatus::result_not_finite;
    }
    tangent_rate(model, work.d, work.v, work.d_rate);
    work.d_sum += weight[stage] * work.d_rate;
    work.v_sum += weight[stage] * work.acceleration;
  }
  integrate(model, state.q, work.d_sum, dt, work.q);
  work.v = state.v + dt * work.v_sum;
  if (!work.q.allFinite() || !work.v.allFinite()) return StepStatus::result_not_finite;
  state.q = work.q;
  state.v = work.v;
  state.time += dt;
  return StepStatus::ok;
}

}  // namespace articula
