#include "articula/simulation/disturbed_step.hpp"

#include <limits>

#include "articula/error.hpp"
#include "articula/kinematics/manifold.hpp"
#include "articula/model/sizes.hpp"

namespace articula {

DisturbedStep::DisturbedStep(const Model& model, const SimulationSettings& settings)
    : model_(&model),
      settings_(complete(model, settings)),
      layout_(model),
      data_(model) {
  if (settings.contact == Contact::none)
    free_.emplace(model);
  else
    contact_.emplace(model, settings.most_contacts);
}

bool DisturbedStep::take(const Model& model, double dt, const Input& input, State& state, bool held) {
  report_ = {};
  if (!contact_) {
    report_.status =
        contact_free_step(model, data_, *free_, {dt, settings_.implicit_gyroscopic}, input, state);
  } else {
    ImpulseSettings settings = impulse_settings(settings_);
    settings.dt = dt;
    if (held) settings.frozen = &modes_;
    if (warm_)
      guess_ = found_;
    else
      guess_.entries.clear();
    if (&model != model_ || varied_) contact_->set_numbers(model);
    varied_ = &model != model_;
    // What pressed in the undisturbed step has a row at once, however fast it seems to part: it would be
    // called for all the same, after a search for impulses without it.
    for (const WarmStart::Entry& entry : guess_.entries) {
      if (!held && entry.mode[0] == RowMode::hold) contact_->rows.call(entry.key);
    }
    report_ = impulse_step(model, data_, *contact_, settings, input, state, guess_);
  }
  // Equations of held modes that were not solved are no step.
  return report_.status == StepStatus::ok && !(held && report_.contact == SolveStatus::inexact);
}

bool DisturbedStep::begin(const State& start, const Input& input) {
  start_ = start;
  end_ = start;
  input_ = input;
  const Model& model = *model_;
  if (input_.controls.size() == 0) input_.controls.setZero(model.nu());
  if (input_.forces.size() == 0) input_.forces.setZero(model.nv());
  found_.entries.clear();
  if (!take(model, *settings_.dt, input_, end_, false)) return false;
  if (contact_) modes_ = freeze(*contact_);
  found_ = guess_;
  return true;
}

bool DisturbedStep::at(const ConstVectorRef& dz, double t, VectorRef x) {
  require_size("dz", dz.size(), layout_.size);
  require_size("x", x.size(), outputs());
  const Model& model = *model_;
  const int nv = model.nv(), na = model.na(), timestep = model.structure().timestep;
  x.setConstant(std::numeric_limits<double>::quiet_NaN());
  state_ = start_;
  integrate(model, start_.q, dz.segment(layout_.q, nv), t, state_.q);
  state_.v += t * dz.segment(layout_.v, nv);
  state_.activation += t * dz.segment(layout_.activation, na);
  changed_ = input_;
  changed_.controls += t * dz.segment(layout_.control, model.nu());
  changed_.forces += t * dz.segment(layout_.force, nv);
  const Eigen::Map<const ExternalWrenches> wrenches(dz.data() + layout_.wrench, 6, model.nbody());
  if (!wrenches.isZero(0.0)) {
    if (changed_.wrenches.size() == 0) changed_.wrenches.setZero(6, model.nbody());
    changed_.wrenches += t * wrenches;
  }
  const auto dtheta = dz.tail(model.theta().size());
  const double dt = *settings_.dt + t * dtheta[timestep];
  bool taken = false, varied = false;
  variant_.reset();
  for (int i = 0; i < dtheta.size() && !varied; ++i) varied = dtheta[i] != 0.0 && i != timestep;
  if (!varied) {
    taken = dt > 0.0 && take(model, dt, changed_, state_, held_);
  } else {
    VectorX theta = model.theta() + t * dtheta;
    theta[timestep] = model.theta()[timestep];
    try {
      variant_.emplace(model.with(theta));
      taken = dt > 0.0 && take(*variant_, dt, changed_, state_, held_);
    } catch (const Error&) {  // numbers that describe no real body
      return false;
    }
  }
  if (!taken) return false;
  difference(model, end_.q, state_.q, x.head(nv));
  x.segment(nv, nv) = state_.v;
  x.tail(na) = state_.activation;
  return true;
}

}  // namespace articula
