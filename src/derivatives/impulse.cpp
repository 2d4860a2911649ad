#include "articula/derivatives/impulse.hpp"

#include <algorithm>

#include "articula/contact/overruled.hpp"
#include "articula/dynamics/crba.hpp"
#include "articula/kinematics/motion.hpp"
#include "articula/model/sizes.hpp"
#include "dynamics/slots.hpp"
#include "impulse_work.hpp"
#include "kinematics/motion_sweep.hpp"

namespace articula {

ImpulseDerivatives::Work::Work(const Model& robot)
    : nv(robot.nv()),
      na(robot.na()),
      nu(robot.nu()),
      residual(robot),
      output(robot),
      rates(robot),
      after(robot),
      movers(robot),
      slots_after(robot),
      slots_before(robot),
      acceleration(robot.nv()),
      scratch(robot.nv()),
      mass_product(robot.nv()),
      ignored(robot.nv()),
      bodies(robot.nbody()),
      body_bars(robot.nbody()),
      dF(robot.nbody()),
      link_force(robot.nlink()),
      link_change(robot.nlink()),
      link_wrench(robot.nlink()),
      Y(robot.nbody()),
      virtual_v(robot.nlink()),
      virtual_rate(robot.nv()),
      columns(robot),
      posed(robot) {
  field.own.resize(robot.nbody());
}

ImpulseDerivatives::ImpulseDerivatives(const Model& model) : work_(std::make_unique<Work>(model)) {}
ImpulseDerivatives::~ImpulseDerivatives() = default;

const StepInputs& ImpulseDerivatives::layout() const { return work_->residual.inputs(); }
int ImpulseDerivatives::unknowns() const { return work_->nv + work_->step->rows.size(); }
int ImpulseDerivatives::outputs() const { return 2 * work_->nv + work_->na; }

bool ImpulseDerivatives::prepare(const Model& model, Data& data, const ImpulseWork& step,
                                 const ImpulseSettings& settings) {
  Work& w = *work_;
  w.model = &model;
  w.data = &data;
  w.step = &step;
  w.settings = settings;
  const double h = settings.dt;
  w.acceleration = (step.v_next - step.free.v) / h;
  w.bounces = false;
  for (const Item& item : step.rows.items()) w.bounces |= item.bias == BiasMode::bounce;
  if (w.bounces) propagate_motion(model, data, step.free.v.data(), nullptr);
  if (w.given_modes != nullptr) {
    w.modes = *w.given_modes;
  } else {
    w.modes = step.rows.mode;
    overrule_friction(step.rows, w.modes);
  }
  w.after_ready = false;
  if (w.touches_bodies()) w.sweep_after();
  w.rates.prepare(model, data, w.after, step, settings, w.modes);

  w.contacts_held = false;
  w.residual.prepare(model, data, step.free, {h, settings.implicit_gyroscopic}, w.acceleration);
  w.output.prepare(model, step.free, step.v_next, h);
  w.slots_found = false;

  for (std::vector<double>* vector : {&w.dsigma, &w.rho, &w.c, &w.dlam}) vector->resize(step.rows.size());
  w.still.assign(step.rows.size(), 0.0);
  w.relabelled = false;
  w.choice.found = w.slack.found = w.impacts_found = false;
  for (const auto& side : w.shifted) {
    if (side) side->same = false;
  }
  w.not_followed = w.cannot_follow = 0.0;
  w.law_begins = false;
  w.solved = false;
  return w.factor_laws();
}

// Contact forces become part of the smooth residual, where they stay in place while the robot moves.
void ImpulseDerivatives::Work::hold_contacts() {
  if (contacts_held || !rates.on_bodies()) return;
  contacts_held = true;
  auto& held = residual.held_forces();
  std::fill(field.own.begin(), field.own.end(), Force{});
  rates.add_wrenches(field);
  for (size_t b = 0; b < held.size(); ++b) held[b] = field.own[b] * (1.0 / settings.dt);
  residual.hold_forces();
}

// Whether some row that carries something acts on bodies: then their velocities for v+ matter.
bool ImpulseDerivatives::Work::touches_bodies() const {
  const ContactRows& rows = step->rows;
  return std::any_of(rows.items().begin(), rows.items().end(), [&](const Item& item) {
    return item.kind == RowKind::contact ? modes[rows.row_of(item)] != RowMode::free
                                         : item.kind == RowKind::equality && item.rows >= 3;
  });
}

// Velocities for v+.
void ImpulseDerivatives::Work::sweep_after() {
  if (after_ready) return;
  after_ready = true;
  sweep_velocities(*model, *data, step->v_next.data(), after);
}

// What only parameters need; `after` has the step's kinematics, too, then.
void ImpulseDerivatives::Work::find_all_slots() {
  if (slots_found) return;
  slots_found = after_ready = true;
  after.kinematic_pose = data->kinematic_pose;
  after.kinematic_placed = data->kinematic_placed;
  after.kinematic_twist = data->kinematic_twist;
  after.link_R = data->link_R;
  after.link_r = data->link_r;
  after.link_reference = data->link_reference;
  after.S = data->S;
  after.sine = data->sine;
  after.cosine = data->cosine;
  propagate_motion(*model, after, step->v_next.data(), nullptr);
  motion_rates(*model, after, step->v_next.data(), nullptr);
  find_slots(*model, after, step->free.q, slots_after);
  if (!bounces) return;
  motion_rates(*model, *data, step->free.v.data(), acceleration.data());
  find_slots(*model, *data, step->free.q, slots_before);
}

bool ImpulseDerivatives::Work::factor_laws() {
  const ContactRows& rows = step->rows;
  const auto& islands = rows.islands();
  if (laws.size() < islands.size()) laws.resize(islands.size());
  for (size_t k = 0; k < islands.size(); ++k) {
    const int begin = islands[k].row_begin;
    const ContactProblem problem = rows.problem(islands[k], settings.dt);
    const RowMode* mode = modes.data() + begin;
    const double *lam = rows.lam.data() + begin, *sigma = rows.sigma.data() + begin;
    const double give = softness.empty() ? 0.0 : softness[k];
    if (!solves)
      laws[k].linearise(problem, mode, lam, sigma, give);
    else if (!laws[k].prepare(problem, mode, lam, sigma, give))
      return false;
  }
  // Of the step itself, and not of steps beside it.
  const auto may_keep = [&](const LawSystem& law) {
    return law.may_keep_loads() || (step->ambiguous && !law.regular());
  };
  if (wants_choice && !relabelled && softness.empty() &&
      std::any_of(laws.begin(), laws.begin() + static_cast<long>(islands.size()), may_keep)) {
    const std::vector<bool> keeps = islands_that_keep_loads(*step);
    for (size_t k = 0; k < islands.size(); ++k) {
      if (keeps[k] && may_keep(laws[k])) laws[k].keep_loads();
    }
  }
  parameters.prepare(*model, *data, *step, settings, rates, laws);
  return true;
}

bool ImpulseDerivatives::Work::may_choose() const {
  if (!wants_choice) return false;
  for (size_t k = 0; k < step->rows.islands().size(); ++k) {
    if (!laws[k].regular() && laws[k].slides()) return true;
  }
  return false;
}

bool ImpulseDerivatives::relabel(const std::vector<RowMode>& modes) {
  require_size("modes", static_cast<long>(modes.size()), work_->step->rows.size());
  Work& w = *work_;
  w.modes = modes;
  w.relabelled = modes != w.step->rows.mode;
  if (!w.relabelled) overrule_friction(w.step->rows, w.modes);
  w.not_followed = w.cannot_follow = 0.0;
  w.law_begins = false;
  w.choice.found = w.slack.found = false;
  // What carried something in the step still does, and moves with its bodies.
  w.sweep_after();
  std::vector<RowMode> carrying = w.modes;
  for (size_t i = 0; i < carrying.size(); ++i) {
    if (carrying[i] == RowMode::free) carrying[i] = w.step->rows.mode[i];
  }
  w.rates.prepare(*w.model, *w.data, w.after, *w.step, w.settings, carrying);
  return w.factor_laws();
}

void ImpulseDerivatives::want_parameters(bool wanted) { work_->wants_parameters = wanted; }

// Mhat dv - J^T dlam = rho_1,  law(J dv, dlam) = rho_2
void ImpulseDerivatives::solve(VectorRef r) { work_->solve(r); }

void ImpulseDerivatives::Work::solve(VectorRef r) {
  auto r1 = r.head(nv);
  solve_mass_matrix(*model, *data, r1);
  if (step->rows.size() == 0) return;
  scratch = r1;
  step->rows.velocities(scratch, c.data());
  const auto& islands = step->rows.islands();
  for (size_t k = 0; k < islands.size(); ++k) {
    const int begin = islands[k].row_begin;
    laws[k].solve(c.data() + begin, r.data() + nv + begin, dlam.data() + begin);
  }
  std::copy(dlam.begin(), dlam.end(), r.data() + nv);
  scratch.setZero();
  step->rows.add_impulses(dlam.data(), scratch);
  solve_mass_matrix(*model, *data, scratch);
  r1 += scratch;
}

// With z = D^-1/2 L^-T r_1:  J Mhat^-1 r_1 = W z,   Mhat^-1 (r_1 + J^T c) = L^-1 D^-1/2 (z + W^T c)
void ImpulseDerivatives::solve_transposed(VectorRef r) {
  Work& w = *work_;
  const ContactRows& rows = w.step->rows;
  auto r1 = r.head(w.nv);
  w.right_side = r1;
  w.solved = true;
  if (rows.size() == 0) {
    solve_mass_matrix(*w.model, *w.data, r1);
    w.solution = r1;
    return;
  }
  w.solution = r1;
  project_vector(*w.model, *w.data, rows.root_inverse(), w.solution);
  rows.projected_velocities(w.solution, w.dlam.data());
  for (int i = 0; i < rows.size(); ++i) w.dlam[i] += r[w.nv + i];
  const auto& islands = rows.islands();
  for (size_t k = 0; k < islands.size(); ++k) {
    const int begin = islands[k].row_begin;
    w.laws[k].solve_transposed(w.dlam.data() + begin, w.c.data() + begin, r.data() + w.nv + begin);
  }
  rows.add_impulses(w.c.data(), w.right_side, w.solution);
  recover_vector(*w.model, *w.data, rows.root_inverse(), w.solution);
  r1 = w.solution;
}

// Displacements of bodies along a direction, and what they do to rows and wrenches.
void ImpulseDerivatives::Work::rates_along(const double* dq, const double* dv, const double* dtheta) {
  const Structure& s = model->structure();
  find_all_slots();
  rates.complete();
  ForceDirection direction{.q = dq, .theta = dtheta};
  displace(*model, after, movers, &slots_after, direction);
  for (int b = 0; b < model->nbody(); ++b) {
    const Motion V = b == 0 ? Motion{} : after.link_v[s.bodies[b].link];
    bodies[b] = {movers.displacement[b], cross(movers.displacement[b], V) + movers.change[b], {}};
  }
  if (bounces) {
    direction.v = dv;
    displace(*model, *data, movers, &slots_before, direction);
    for (int b = 0; b < model->nbody(); ++b) {
      const Motion V = b == 0 ? Motion{} : data->link_v[s.bodies[b].link];
      bodies[b].dV_before = cross(movers.displacement[b], V) + movers.change[b];
    }
  }
  std::fill(dF.begin(), dF.end(), Force{});
  std::fill(dsigma.begin(), dsigma.end(), 0.0);
}

// r_d += sign S_d . (sum of the wrenches on the subtree)
void ImpulseDerivatives::Work::add_projected(const std::vector<Force>& wrenches, double sign, double* r) {
  const Structure& s = model->structure();
  std::fill(link_force.begin(), link_force.end(), Force{});
  for (int b = 1; b < model->nbody(); ++b) link_force[s.bodies[b].link] += wrenches[b];
  for (int k = model->nlink() - 1; k > 0; --k) {
    const LinkIndex& link = s.links[k];
    for (int d = link.dof_begin; d < link.dof_end; ++d) r[d] += sign * dot(data->S[d], link_force[k]);
    if (!link.root) link_force[link.parent] += link_force[k];
  }
}

void ImpulseDerivatives::residual_along(const ConstVectorRef& dz, VectorRef dr) {
  Work& w = *work_;
  const Structure& s = w.model->structure();
  const StepInputs& in = layout();
  const double h = w.settings.dt, dh = dz[in.theta + s.timestep];
  const double *dq = dz.data() + in.q, *dv = dz.data() + in.v, *dtheta = dz.data() + in.theta;
  auto dr1 = dr.head(w.nv);
  w.hold_contacts();
  w.residual.along(dz, dr1);
  dr1 *= h;
  // The step's acceleration is (v+ - v) / h with v+ held.
  w.scratch = dz.segment(in.v, w.nv) + dh * w.acceleration;
  multiply_mass_matrix(*w.model, *w.data, w.scratch, w.mass_product);
  dr1 -= w.mass_product + w.step->free.h_slope.cwiseProduct(w.scratch);
  if (dh != 0.0) {
    w.scratch.setZero();
    w.step->rows.add_impulses(w.step->rows.lam.data(), w.scratch);
    dr1 += dh / h * w.scratch;
  }
  // Friction that coasts, lam = -side h f: its share of dh / h J^T lam is its change with h.
  for (const CoastingDof& each : w.step->rows.coasting())
    dr1[each.dof] += each.side * h * dtheta[w.friction_of(each)];
  w.add_friction_that_begins(dtheta, dr1);
  if (w.step->rows.size() == 0) return;
  w.rates_along(dq, dv, dtheta);
  w.scratch.setZero();
  w.rates.along(w.bodies.data(), dq, w.dF.data(), w.dsigma.data(), w.scratch.data());
  std::fill(w.rho.begin(), w.rho.end(), 0.0);
  w.parameters.along(dtheta, w.dF.data(), w.dsigma.data(), w.rho.data(), w.scratch.data());
  w.add_softening_along(dz);
  w.add_projected(w.dF, 1.0, w.scratch.data());
  dr1 -= w.scratch;
  const auto& islands = w.step->rows.islands();
  for (size_t k = 0; k < islands.size(); ++k)
    w.laws[k].add_explicit(w.dsigma.data() + islands[k].row_begin, w.rho.data() + islands[k].row_begin);
  for (size_t i = 0; i < w.rho.size(); ++i) dr[w.nv + static_cast<int>(i)] = -w.rho[i];
  const bool with_parameters = !dz.tail(dz.size() - in.theta).isZero(0.0);
  if (!w.grants_slack(with_parameters)) return;
  w.find_slack(with_parameters);
  dr.tail(w.slack.by_input.rows()) -= w.slack.by_input * dz.head(w.slack.by_input.cols());
}

void ImpulseDerivatives::residual_against(const ConstVectorRef& y, VectorRef z_bar) {
  Work& w = *work_;
  const Structure& s = w.model->structure();
  const StepInputs& in = layout();
  const double h = w.settings.dt;
  const auto y1 = y.head(w.nv);
  for (int d = 0; d < w.nv; ++d) w.scratch[d] = h * y[d];
  if (w.wants_parameters) w.hold_contacts();
  w.residual.against(w.scratch, z_bar, w.wants_parameters, w.wants_parameters);
  if (w.solved && std::equal(y.data(), y.data() + w.nv, w.solution.data())) {
    w.mass_product.swap(w.right_side);  // y is what was solved for
    w.solved = false;
  } else {
    w.scratch = y1;
    multiply_mass_matrix(*w.model, *w.data, w.scratch, w.mass_product);
    w.mass_product += w.step->free.h_slope.cwiseProduct(y1);
  }
  for (int d = 0; d < w.nv; ++d) z_bar[in.v + d] += w.mass_product[d];
  if (w.wants_parameters) {
    w.scratch.setZero();
    w.step->rows.add_impulses(w.step->rows.lam.data(), w.scratch);
    z_bar[in.theta + s.timestep] += w.mass_product.dot(w.acceleration) - y1.dot(w.scratch) / h;
    for (const CoastingDof& each : w.step->rows.coasting())
      z_bar[in.theta + w.friction_of(each)] -= each.side * h * y1[each.dof];
    w.add_friction_that_begins_against(y1, z_bar.data() + in.theta);
  }
  if (w.step->rows.size() == 0) return;

  std::fill(w.dsigma.begin(), w.dsigma.end(), 0.0);
  const auto& islands = w.step->rows.islands();
  for (size_t k = 0; k < islands.size(); ++k)
    w.laws[k].add_explicit_transposed(y.data() + w.nv + islands[k].row_begin,
                                      w.dsigma.data() + islands[k].row_begin);
  std::copy(y.data() + w.nv, y.data() + w.nv + w.rho.size(), w.rho.begin());
  w.add_softening_against(z_bar);
  w.rates_against(y.data(), z_bar);
  if (!w.grants_slack(w.wants_parameters && !w.examines)) return;
  w.slack_against(y.data() + w.nv, z_bar);
}

// Of covectors of displacements and velocities of bodies, and of J^T lam with contact forces W that stay
// where they are, the one of q, from the leaves to the root:
//   dV = Z x V + m,   Z = sum S dq,   m = sum psi' dq,      d(S_d . W_d) = Z . (S_d x* W_d)
// where Z includes the dof's own block, and W_d is all that acts behind d.
void ImpulseDerivatives::Work::gather_positions(const double* y1, double* q_bar) {
  const Structure& s = model->structure();
  const int nlink = model->nlink();
  for (int k = 1; k < nlink; ++k) link_force[k] = link_change[k] = link_wrench[k] = {};
  for (int b : rates.bodies()) {
    const int k = s.bodies[b].link;
    link_change[k] += body_bars[b].dV;
    link_force[k] += cross(after.link_v[k], body_bars[b].dV) + body_bars[b].Z;
  }
  rates.add_wrenches_on_links(link_wrench);
  for (int k = nlink - 1; k > 0; --k) {
    const LinkIndex& link = s.links[k];
    const Force change = link_change[k];
    for (int end = link.dof_end; end > link.dof_begin;) {
      const int begin = s.dofs[end - 1].block_begin;
      for (int d = begin; d < end; ++d) link_force[k] += cross(data->S[d] * y1[d], link_wrench[k]);
      const Force force = link_force[k];
      for (int d = begin; d < end; ++d) {
        const Motion &S = data->S[d], &psi_dot = after.psi_dot[d];
        q_bar[d] +=
            sum(elementwise(S.angular, force.moment) + elementwise(S.linear, force.linear) +
                elementwise(psi_dot.angular, change.moment) + elementwise(psi_dot.linear, change.linear));
      }
      end = begin;
    }
    if (link.root) continue;
    link_force[link.parent] += link_force[k];
    link_change[link.parent] += change;
    link_wrench[link.parent] += link_wrench[k];
  }
}

// The same for velocities before the step, dV = Z x V + m,  m = sum (psi' dq + S dv).
void ImpulseDerivatives::Work::gather_velocities_before(double* q_bar, double* v_bar) {
  const Structure& s = model->structure();
  for (int k = 1; k < model->nlink(); ++k) link_force[k] = link_change[k] = {};
  for (int b : rates.bodies()) {
    const int k = s.bodies[b].link;
    link_change[k] += body_bars[b].dV_before;
    link_force[k] += cross(data->link_v[k], body_bars[b].dV_before);
  }
  for (int k = model->nlink() - 1; k > 0; --k) {
    const LinkIndex& link = s.links[k];
    for (int d = link.dof_begin; d < link.dof_end; ++d) {
      q_bar[d] += dot(data->S[d], link_force[k]) + dot(data->psi_dot[d], link_change[k]);
      v_bar[d] += dot(data->S[d], link_change[k]);
    }
    if (link.root) continue;
    link_force[link.parent] += link_force[k];
    link_change[link.parent] += link_change[k];
  }
}

// As rates_against, without parameters; right after the smooth residual's product, h y1, whose sums over
// paths serve here, too.
void ImpulseDerivatives::Work::state_rates_against(const double* y1, VectorRef z_bar) {
  const Structure& s = model->structure();
  const StepInputs& in = residual.inputs();
  if (!rates.on_bodies()) return rates.against(nullptr, dsigma.data(), y1, nullptr, z_bar.data() + in.q);
  sweep_after();
  for (int b : rates.bodies()) {
    Y[b] = residual.path_motion()[s.bodies[b].link] * (1.0 / settings.dt);
    body_bars[b] = {};
  }
  rates.against(Y.data(), dsigma.data(), y1, body_bars.data(), z_bar.data() + in.q);
  gather_positions(y1, z_bar.data() + in.q);
  if (bounces) gather_velocities_before(z_bar.data() + in.q, z_bar.data() + in.v);
}

// z_bar += gradient of  y1 . (change of J^T lam)  +  (covectors in dsigma) . (changes of sigma)  + rho .
// (...)
void ImpulseDerivatives::Work::rates_against(const double* y1, VectorRef z_bar) {
  if (!wants_parameters) return state_rates_against(y1, z_bar);
  const Structure& s = model->structure();
  const StepInputs& in = residual.inputs();
  find_all_slots();
  rates.complete();
  sum_paths(*model, *data, movers, y1);
  for (int b = 0; b < model->nbody(); ++b) {
    Y[b] = movers.path[b];
    body_bars[b] = {};
  }
  double* theta_bar = z_bar.data() + in.theta;
  parameters.against(Y.data(), dsigma.data(), rho.data(), y1, theta_bar);
  rates.against(Y.data(), dsigma.data(), y1, body_bars.data(), z_bar.data() + in.q);
  const auto gather = [&](const Data& at, const ParameterWork& slots, Force BodyRateBar::* part,
                          bool position, double* v_bar) {
    clear_displacement_covectors(movers);
    for (int b = 1; b < model->nbody(); ++b) {
      const Force& dV_bar = body_bars[b].*part;
      movers.change_bar[b] = dV_bar;
      movers.displacement_bar[b] = cross(at.link_v[s.bodies[b].link], dV_bar);
      if (position) movers.displacement_bar[b] += body_bars[b].Z;
    }
    ForceGradient to{.q = z_bar.data() + in.q, .v = v_bar, .theta = theta_bar};
    gather_displacements(*model, at, movers, &slots, to);
  };
  gather(after, slots_after, &BodyRateBar::dV, true, ignored.data());
  if (bounces) gather(*data, slots_before, &BodyRateBar::dV_before, false, z_bar.data() + in.v);
}

void ImpulseDerivatives::output_along(const ConstVectorRef& dw, const ConstVectorRef& dz, VectorRef dx) {
  Work& w = *work_;
  w.note_yielding(dw);
  if (!w.may_choose()) return w.output.along(layout(), dw.head(w.nv), dz, dx);
  w.chosen = dw;
  w.choose_along(dz, w.chosen);
  w.output.along(layout(), w.chosen.head(w.nv), dz, dx);
}

void ImpulseDerivatives::output_against(const ConstVectorRef& x_bar, VectorRef w_bar, VectorRef z_bar) {
  w_bar.tail(w_bar.size() - work_->nv).setZero();
  work_->output.against(layout(), x_bar, work_->wants_parameters, w_bar.head(work_->nv), z_bar);
  if (work_->may_choose()) work_->choose_against(w_bar, z_bar);
}

}  // namespace articula
