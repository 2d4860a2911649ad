#include "differentiator.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "articula/derivatives/differences.hpp"
#include "articula/error.hpp"
#include "articula/kinematics/manifold.hpp"
#include "articula/model/sizes.hpp"
#include "derivatives/certificate.hpp"
#include "parameter_sizes.hpp"

namespace articula {

namespace {

VectorX found(const std::optional<VectorX>& change, std::string_view by) {
  if (change) return *change;
  throw Error(
      "the step cannot be taken on either side of its {}: take a smaller difference_step, or do without "
      "derivatives by it",
      by);
}

}  // namespace

std::string_view to_string(GradientMode mode) {
  switch (mode) {
    case GradientMode::exact: return "exact";
    case GradientMode::complementarity_aware: return "complementarity_aware";
    case GradientMode::elastic: return "elastic";
    case GradientMode::randomised: return "randomised";
    case GradientMode::finite_difference: return "finite_difference";
  }
  return "unknown";
}

StepDifferentiator::StepDifferentiator(const Model& model, const SimulationSettings& settings)
    : settings_(settings),
      layout_(model) {
  if (settings.contact == Contact::none)
    free_.emplace(model);
  else
    contact_.emplace(model);
  x_bar_.resize(2 * model.nv() + model.na());
  z_bar_.setZero(layout_.size);
}

bool StepDifferentiator::prepare(StepWorkspace& last) {
  const Model& model = last.model();
  if (contact_) {
    if (!contact_->prepare(model, last.data, *last.contact, impulse_settings(last.settings()))) return false;
  } else {
    free_->prepare(model, last.data, *last.free, {last.dt(), last.settings().implicit_gyroscopic});
  }
  w_.resize(implicit().unknowns());
  return true;
}

void StepDifferentiator::certify(const StepWorkspace& last, GradientCertificate& certificate) {
  if (contact_) return contact_->certify(certificate);
  const ServoMargin servos = servo_margin(last.model(), last.free->free.forces, last.dt());
  certificate = {.impulse_margin = servos.impulse, .velocity_margin = servos.velocity};
  certificate.one_sided = at_force_kink(last.model(), last.free->free, last.dt());
}

void StepDifferentiator::along(StepWorkspace& last, const ConstVectorRef& dz, VectorRef dx) {
  if (!prepare(last)) throw Error("the contact equations of this step have no factor, and it no derivative");
  push_forward(implicit(), dz, w_, dx);
}

// ------------------------------------------------------------------ Jacobians

void StepDifferentiator::exact_jacobians(StepWorkspace& last, const GradientSettings& settings,
                                         StepJacobians& result) {
  const Model& model = last.model();
  const int n = 2 * model.nv() + model.na(), rows = settings.velocities_alone ? model.nv() : n;
  result.by_state.resize(rows, n);
  result.by_control.resize(rows, settings.controls ? model.nu() : 0);
  result.by_force.resize(rows, settings.forces ? model.nv() : 0);
  if (!prepare(last)) {
    for (MatrixX* matrix : {&result.by_state, &result.by_control, &result.by_force}) matrix->setZero();
    result.certificate = {.valid = false};
    return;
  }
  contact_ ? contact_->jacobians(result.by_state, result.by_control, result.by_force)
           : free_->jacobians(result.by_state, result.by_control, result.by_force);
  if (settings.certificate)
    certify(last, result.certificate);
  else
    result.certificate = {};
}

void StepDifferentiator::jacobians(StepWorkspace& last, const State& start, const Input& input,
                                   const GradientSettings& settings, StepJacobians& result) {
  const Model& model = last.model();
  const int nv = model.nv();
  const bool usual = settings.controls && !settings.forces && !settings.velocities_alone;
  if (settings.mode != GradientMode::exact && !usual)
    throw Error("forces, and velocities alone, have Jacobians in mode exact only, not {}",
                to_string(settings.mode));
  switch (settings.mode) {
    case GradientMode::exact: return exact_jacobians(last, settings, result);
    case GradientMode::complementarity_aware:
      throw Error("complementarity_aware chooses by the loss: it has a pullback, and no Jacobians");
    case GradientMode::elastic: {
      exact_jacobians(last, settings, result);
      if (!contact_ || !result.certificate.valid) return;
      const BounceTiming timing = bounce_timing(model, last.data, *last.contact, last.dt());
      result.by_state.topLeftCorner(nv, nv) += timing.jump * timing.rate;
      return;
    }
    case GradientMode::finite_difference: return difference_jacobians(last, start, input, settings, result);
    case GradientMode::randomised: break;
  }
  exact_jacobians(last, settings, result);
  StepJacobians sample;
  MatrixX by_state = MatrixX::Zero(result.by_state.rows(), result.by_state.cols());
  MatrixX by_control = MatrixX::Zero(result.by_control.rows(), result.by_control.cols());
  int taken = 0;
  for_each_sample(last, start, input, settings, [&](StepWorkspace& near) {
    exact_jacobians(near, settings, sample);
    if (!sample.certificate.valid) return;
    by_state += sample.by_state;
    by_control += sample.by_control;
    ++taken;
  });
  if (taken == 0) return;  // then the exact one, where everything nearby failed
  result.by_state = by_state / taken;
  result.by_control = by_control / taken;
}

// ------------------------------------------------------------------ pullbacks

void StepDifferentiator::exact_gradient(bool parameters) {
  contact_ ? contact_->want_parameters(parameters) : free_->want_parameters(parameters);
  pull_back(implicit(), x_bar_, w_, z_bar_);
}

// Nimble, IV-D: with dl/dsigma = J v_bar, contacts whose parting would lower the loss part, those whose
// approach would hold. The assignment with the larger |dl/dv|^2 + |dl/dtau|^2 / h is kept.
void StepDifferentiator::complementarity_aware_gradient(StepWorkspace& last,
                                                        const std::vector<ParameterSlice>& parameters,
                                                        GradientCertificate& certificate) {
  const ContactRows& rows = last.contact->rows;
  const int nv = last.model().nv();
  VectorX v_bar(w_.size());
  contact_->output_against(x_bar_, v_bar, z_bar_);
  exact_gradient(!parameters.empty());
  contact_->examine(parameters);
  certify(last, certificate);
  sigma_bar_.resize(rows.size());
  const VectorX head = v_bar.head(nv);
  rows.velocities(head, sigma_bar_.data());
  modes_ = rows.mode;
  for (const Item& item : rows.items()) {
    const bool one_way = item.kind == RowKind::contact || item.kind == RowKind::joint_limit ||
                         item.kind == RowKind::tendon_limit;
    const int at = rows.row_of(item);
    const double wish = sigma_bar_[at];
    if (!one_way || wish == 0.0) continue;
    if (wish < 0.0)
      std::fill(modes_.begin() + at, modes_.begin() + at + item.rows, RowMode::free);
    else if (modes_[at] == RowMode::free)
      std::fill(modes_.begin() + at, modes_.begin() + at + item.rows, RowMode::hold);
  }
  if (modes_ == rows.mode) return;
  const auto worth = [&](const VectorX& z) {
    return z.segment(layout_.v, nv).squaredNorm() + z.segment(layout_.force, nv).squaredNorm() / last.dt();
  };
  z_other_ = z_bar_;
  if (!contact_->relabel(modes_)) return;
  exact_gradient(!parameters.empty());
  if (worth(z_bar_) > worth(z_other_))
    certify(last, certificate);
  else
    std::swap(z_bar_, z_other_);
}

void StepDifferentiator::pullback(StepWorkspace& last, const State& start, const Input& input,
                                  const StepCovector& covector, const GradientSettings& settings,
                                  StepGradient& result) {
  const Model& model = last.model();
  const int nv = model.nv(), na = model.na();
  const auto part = [](const char* name, const VectorX& given, int size, double* to) {
    if (given.size() == 0) {
      std::fill_n(to, size, 0.0);
    } else {
      require_size(name, given.size(), size);
      std::copy_n(given.data(), size, to);
    }
  };
  part("the covector of q", covector.q, nv, x_bar_.data());
  part("the covector of v", covector.v, nv, x_bar_.data() + nv);
  part("the covector of activation", covector.activation, na, x_bar_.data() + 2 * nv);
  const bool parameters = !settings.parameters.empty();
  if (settings.mode == GradientMode::finite_difference) {
    difference_gradient(last, start, input, settings, result.certificate);
    return unpack(model, settings, result);
  }
  if (!prepare(last)) {
    z_bar_.setZero();
    result.certificate = {.valid = false};
    return unpack(model, settings, result);
  }
  if (settings.mode == GradientMode::complementarity_aware && contact_) {
    complementarity_aware_gradient(last, settings.parameters, result.certificate);
    return unpack(model, settings, result);
  }
  exact_gradient(parameters);
  if (contact_) contact_->examine(settings.parameters);
  certify(last, result.certificate);
  if (settings.mode == GradientMode::elastic && contact_) {
    const BounceTiming timing = bounce_timing(model, last.data, *last.contact, last.dt());
    z_bar_.segment(layout_.q, nv) += timing.rate.transpose() * (timing.jump.transpose() * x_bar_.head(nv));
  }
  if (settings.mode == GradientMode::randomised) {
    VectorX sum = VectorX::Zero(z_bar_.size());
    const VectorX exact = z_bar_;
    int taken = 0;
    for_each_sample(last, start, input, settings, [&](StepWorkspace& near) {
      if (!prepare(near)) return;
      exact_gradient(parameters);
      sum += z_bar_;
      ++taken;
    });
    z_bar_ = taken > 0 ? VectorX(sum / taken) : exact;
  }
  unpack(model, settings, result);
}

void StepDifferentiator::unpack(const Model& model, const GradientSettings& settings,
                                StepGradient& result) const {
  const int nv = model.nv();
  const auto take = [&](VectorX& to, int offset, int count) {
    to.resize(count);
    std::copy_n(z_bar_.data() + offset, count, to.data());
  };
  take(result.q, layout_.q, nv);
  take(result.v, layout_.v, nv);
  take(result.activation, layout_.activation, model.na());
  take(result.control, layout_.control, model.nu());
  take(result.force, layout_.force, nv);
  result.wrench.resize(6, model.nbody());
  std::copy_n(z_bar_.data() + layout_.wrench, 6 * model.nbody(), result.wrench.data());
  Eigen::Index size = 0, at = 0;
  for (const ParameterSlice& slice : settings.parameters) size += slice.size;
  result.parameters.resize(size);
  for (const ParameterSlice& slice : settings.parameters) {
    result.parameters.segment(at, slice.size) = z_bar_.segment(layout_.theta + slice.offset, slice.size);
    at += slice.size;
  }
}

// ------------------------------------------------------------------ other steps nearby

template <class Visit>
void StepDifferentiator::for_each_sample(StepWorkspace& last, const State& start, const Input& input,
                                         const GradientSettings& settings, const Visit& visit) {
  const Model& model = last.model();
  if (settings.samples < 1) throw Error("samples must be at least 1, not {}", settings.samples);
  for (const double spread : {settings.position_spread, settings.velocity_spread, settings.control_spread})
    if (!(spread >= 0.0 && std::isfinite(spread)))
      throw Error("a spread must be finite and not negative, not {}", spread);
  if (!sampled_) sampled_ = std::make_unique<StepWorkspace>(model, last.settings());
  sampled_->use(model);
  std::mt19937_64 random(settings.seed);
  std::normal_distribution<double> normal;
  VectorX dq(model.nv()), dv(model.nv()), du(model.nu());
  State near = start;
  Input disturbed = input;
  Step step;
  for (int i = 0; i < settings.samples; ++i) {
    if (i % 2 == 0) {
      for (double& x : dq) x = settings.position_spread * normal(random);
      for (double& x : dv) x = settings.velocity_spread * normal(random);
      for (double& x : du) x = settings.control_spread * normal(random);
    } else {
      dq = -dq, dv = -dv, du = -du;
    }
    integrate(model, start.q, dq, 1.0, near.q);
    near.v = start.v + dv;
    disturbed.controls = input.controls.size() > 0 ? VectorX(input.controls + du) : du;
    step.warm.entries.clear();
    sampled_->step(near, disturbed, step);
    if (step.ok()) visit(*sampled_);
  }
}

DisturbedStep& StepDifferentiator::disturbed(const Model& model) {
  if (!disturbed_ || disturbed_model_ != &model) {
    disturbed_ = std::make_unique<DisturbedStep>(model, settings_);
    disturbed_model_ = &model;
  }
  return *disturbed_;
}

// Of second order: (f(h) - f(-h)) / 2h, or where the step cannot be taken to one side, as at the end of a
// parameter's range, (-5 f(s) + 8 f(2s) - 3 f(3s)) / 2s to the other, 3s = h: f may jump at zero, where a law
// begins to hold (one_sided_differences). Nothing where it can be taken to neither.
std::optional<VectorX> StepDifferentiator::difference_along(const ConstVectorRef& dz,
                                                            const GradientSettings& settings,
                                                            GradientCertificate& certificate) {
  DisturbedStep& at = *disturbed_;
  VectorX x(at.outputs()), ahead(at.outputs()), behind(at.outputs());
  const auto evaluate = [&](double t) -> VectorX {
    if (!at.at(dz, t, x))
      throw Error("the step cannot be taken at a difference of {}: take a smaller one", t);
    return x;
  };
  if (!(settings.difference_step > 0.0))
    throw Error("difference_step must be positive, not {}", settings.difference_step);
  const double step = settings.ridders ? 100.0 * settings.difference_step : settings.difference_step;
  const bool above = at.at(dz, step, ahead), below = at.at(dz, -step, behind);
  if (!above && !below) return {};
  if (above && below)
    return settings.ridders ? ridders_differences(evaluate, step).derivative
                            : VectorX((ahead - behind) / (2.0 * step));
  certificate.one_sided = true;
  const double h = above ? step : -step, s = h / 3.0;
  if (settings.ridders) return one_sided_differences(evaluate, h).derivative;
  return (-5.0 * evaluate(s) + 8.0 * evaluate(2.0 * s) - 3.0 * (above ? ahead : behind)) / (2.0 * s);
}

void StepDifferentiator::difference_jacobians(StepWorkspace& last, const State& start, const Input& input,
                                              const GradientSettings& settings, StepJacobians& result) {
  const Model& model = last.model();
  const int n = 2 * model.nv() + model.na();
  if (!disturbed(model).begin(start, input)) throw Error("the step cannot be taken from a cold start");
  result.by_state.resize(n, n);
  result.by_control.resize(n, model.nu());
  result.by_force.resize(n, 0);
  result.certificate = {};
  VectorX dz = VectorX::Zero(layout_.size);
  for (int i = 0; i < n + model.nu(); ++i) {
    dz[i] = 1.0;  // StepInputs begins with q, v, activations, controls
    const VectorX column = found(difference_along(dz, settings, result.certificate), "state or input");
    if (i < n)
      result.by_state.col(i) = column;
    else
      result.by_control.col(i - n) = column;
    dz[i] = 0.0;
  }
}

void StepDifferentiator::difference_gradient(StepWorkspace& last, const State& start, const Input& input,
                                             const GradientSettings& settings,
                                             GradientCertificate& certificate) {
  const Model& model = last.model();
  if (!disturbed(model).begin(start, input)) throw Error("the step cannot be taken from a cold start");
  certificate = {};
  z_bar_.setZero();
  VectorX dz = VectorX::Zero(layout_.size);
  for (int i = 0; i < layout_.theta; ++i) {
    dz[i] = 1.0;
    z_bar_[i] = x_bar_.dot(found(difference_along(dz, settings, certificate), "state or input"));
    dz[i] = 0.0;
  }
  if (settings.parameters.empty()) return;
  const VectorX sizes = parameter_sizes(model, last.dt());
  for (const ParameterSlice& slice : settings.parameters) {
    for (int i = slice.offset; i < slice.offset + slice.size; ++i)
      z_bar_[layout_.theta + i] = x_bar_.dot(difference_by(slice, i, sizes, settings, certificate));
  }
}

// By theta_i. Bodies at the edge of what is real, rods and those without mass, are so with more of a ball:
//   df(e_i) = df(e_i + ball) - df(ball)
VectorX StepDifferentiator::difference_by(const ParameterSlice& slice, int i, const VectorX& sizes,
                                          const GradientSettings& settings,
                                          GradientCertificate& certificate) {
  VectorX dz = VectorX::Zero(layout_.size);
  auto dtheta = dz.tail(sizes.size());
  dtheta[i] = sizes[i];
  std::optional<VectorX> change = difference_along(dz, settings, certificate);
  if (!change && slice.kind == ParameterKind::inertia) {
    dtheta[slice.offset] += sizes[slice.offset];
    for (const int moment : {4, 7, 9}) dtheta[slice.offset + moment] += 3.0 * sizes[slice.offset + moment];
    change = difference_along(dz, settings, certificate);
    dtheta[i] -= sizes[i];
    if (change) *change -= found(difference_along(dz, settings, certificate), slice.name);
  }
  return found(change, slice.name) / sizes[i];
}

}  // namespace articula
