// Where friction is at its bound on redundant contacts (a box that slides on its four corners), the law
// leaves open how they share the load, and that matters to the motion. The step takes the limit of soft laws
//   r(w) + eps q(w) = 0,   q = (law by sigma) R lam,   eps -> 0.
// With w = w0 + eps w1:  r_w w1 = -q.  Let eta^T r_w = 0 and r_w zeta = 0. What decides is eta^T (r_w w1 + q)
// = 0, and its derivative along (dz, dw) decides how the choice changes:
//   t = eta^T (d/d(w1) [r_z dz + r_w dw] + q_w dw) = 0,      dw <- dw - zeta H^-1 t(dz, dw),   H = t(0,
//   zeta).
// d/d(w1), the derivative of derivatives in the direction w1, is a difference of those of two steps beside
// this one; everything but the direction of sliding is linear in w, so that little is lost. What slides very
// slowly turns within a very short shift: its velocities are shifted apart from all else.
//
// Contacts that stand still with all the friction they can have yield: their impulses stay on the boundary
// g(lam) = 0 of what is admissible, and in soft laws they move against it, by eps tau grad g (yielding.hpp).
// tau is one more unknown, and q = (law by sigma) (R lam - tau grad g); then loads that move nothing take
// part in the choice as well:
//   eta^T q = 0 for all eta,   g(lam) = 0,      H = [ t(0, zeta)  -eta^T (law by sigma) grad g;  grad g^T
//   zeta  0 ].

#include <algorithm>
#include <cmath>

#include "articula/dynamics/crba.hpp"
#include "impulse_work.hpp"

namespace articula {

namespace {

constexpr double shift = 1e-4;  // of impulses and velocities, relative

}  // namespace

// What derivatives read of a step. How it was found (its solver, where shapes were apart) they do not.
void ImpulseDerivatives::Work::Shifted::take(const Data& from_data, const ImpulseWork& from) {
  data = from_data;
  step.colliders = from.colliders;
  step.contacts.list = from.contacts.list;
  step.constraints = from.constraints;
  step.rows = from.rows;
  step.free = from.free;
  step.v_free = from.v_free;
  step.v_next = from.v_next;
  step.idle_velocity = from.idle_velocity;
  step.ambiguous = from.ambiguous;
}

bool ImpulseDerivatives::Work::shift_step(const VectorX& v1, const std::vector<double>& lam1,
                                          const std::vector<double>& soft1, double by, int side) {
  if (!shifted[side]) shifted[side] = std::make_unique<Shifted>(*model, *step);
  Shifted& s = *shifted[side];
  if (!s.same) {
    s.same = true;
    s.take(*data, *step);
  }
  s.step.v_next = step->v_next + by * v1;
  for (size_t i = 0; i < lam1.size(); ++i) {
    s.step.rows.lam[i] = step->rows.lam[i] + by * lam1[i];
    s.step.rows.sigma[i] = step->rows.sigma[i] + by * soft1[i];
  }
  s.derivatives.work_->wants_choice = false;
  s.derivatives.work_->given_modes = &modes;
  s.derivatives.work_->solves = false;
  return s.derivatives.prepare(*model, s.data, s.step, settings);
}

// eta and zeta of one of the island's choices, and (law by sigma)^T eta.
void ImpulseDerivatives::Work::add_choice_vectors(int island, int index) {
  const ContactRows& rows = step->rows;
  const int begin = rows.islands()[island].row_begin, at = choice.count(), unknowns = nv + rows.size();
  choice.ways.conservativeResize(unknowns, at + 1);
  choice.eta.conservativeResize(unknowns, at + 1);
  choice.weighted.conservativeResize(rows.size(), at + 1);

  VectorX eta = VectorX::Zero(unknowns), way = VectorX::Zero(unknowns);
  std::vector<double> bar(rows.size(), 0.0);
  laws[island].choice_covectors(index, bar.data() + begin, eta.data() + nv + begin);
  scratch.setZero();
  rows.add_impulses(bar.data(), scratch);
  solve_mass_matrix(*model, *data, scratch);
  eta.head(nv) = scratch;
  choice.eta.col(at) = eta;

  laws[island].choice_impulses(index, way.data() + nv + begin);
  scratch.setZero();
  rows.add_impulses(way.data() + nv, scratch);
  solve_mass_matrix(*model, *data, scratch);
  way.head(nv) = scratch;
  choice.ways.col(at) = way;

  VectorX sigma = VectorX::Zero(rows.size()), ignored_lam = VectorX::Zero(rows.size());
  laws[island].against(eta.data() + nv + begin, sigma.data() + begin, ignored_lam.data() + begin);
  choice.weighted.col(at) = sigma;
}

// What the steps beside this one tell of a condition, eta^T (r_z dz + r_w dw): their difference over 2 by.
void ImpulseDerivatives::Work::add_difference(int island, int at, const VectorX& eta, double by,
                                              bool with_parameters) {
  const ContactRows& rows = step->rows;
  const int begin = rows.islands()[island].row_begin, used = used_inputs(with_parameters);
  VectorX z(residual.inputs().size), by_sigma = VectorX::Zero(rows.size()), by_lam = by_sigma;
  for (int side = 0; side < 2; ++side) {
    ImpulseDerivatives& there = shifted[side]->derivatives;
    const double factor = (side == 0 ? 0.5 : -0.5) / by;
    z.head(used).setZero();
    there.want_parameters(with_parameters);
    there.residual_against(eta, z);  // minus (dr/dz)^T eta
    choice.by_input.row(at) -= factor * z.head(used).transpose();
    VectorX sigma_there = VectorX::Zero(rows.size()), lam_there = VectorX::Zero(rows.size());
    there.work_->laws[island].against(eta.data() + nv + begin, sigma_there.data() + begin,
                                      lam_there.data() + begin);
    by_sigma += factor * sigma_there;
    by_lam += factor * lam_there;
  }
  scratch.setZero();
  rows.add_impulses(by_sigma.data(), scratch);
  choice.by_unknown.row(at).head(nv) += scratch.transpose();
  choice.by_unknown.row(at).tail(rows.size()) += by_lam.transpose();
}

// q_w dw: R dlam is one more velocity.
void ImpulseDerivatives::Work::add_softness(int island, int at) {
  const ContactProblem& problem = laws[island].problem();
  const int begin = nv + step->rows.islands()[island].row_begin;
  for (const Block& block : problem.blocks) {
    for (int i = block.first; i < block.first + block.dim; ++i)
      choice.by_unknown(at, begin + i) += problem.mobility(block) * choice.weighted(begin - nv + i, at);
  }
}

// q_z dz: the weights change, too.
void ImpulseDerivatives::Work::add_weights(bool with_parameters) {
  const ContactRows& rows = step->rows;
  // Of forces and wrenches they know nothing.
  const int used = with_parameters ? residual.inputs().size : residual.inputs().force;
  VectorX by_z(residual.inputs().size);
  const auto share_of = [&](const Item& item) {
    VectorX share = VectorX::Zero(choice.count());
    for (int i = rows.row_of(item); i < rows.row_of(item) + item.rows; ++i)
      share += rows.lam[i] * choice.weighted.row(i).transpose();
    return share;
  };
  // Rows that no choice concerns have rounding errors for shares.
  constexpr double rounding = 1e-14;
  const auto weight_of = [&](const Item& item) {
    return laws[item.island].problem().mobility(rows.block(item));
  };
  double largest = 0.0;
  for (const Item& item : rows.items())
    largest = std::max(largest, weight_of(item) * share_of(item).cwiseAbs().maxCoeff());
  for (const Item& item : rows.items()) {
    const VectorX share = share_of(item);
    if (weight_of(item) * share.cwiseAbs().maxCoeff() <= rounding * largest) continue;
    by_z.head(used).setZero();
    if (!add_weight_rate(item, with_parameters, 1.0, by_z)) choice.failed = true;
    choice.by_input.leftCols(used).noalias() += share * by_z.head(used).transpose();
  }
}

void ImpulseDerivatives::Work::find_choice(bool with_parameters) {
  if (choice.found && (choice.with_parameters || !with_parameters)) return;
  choice.found = true;
  choice.with_parameters = with_parameters;
  choice.failed = false;
  const ContactRows& rows = step->rows;
  choice.ways.resize(nv + rows.size(), 0);
  choice.by_input.resize(0, used_inputs(with_parameters));
  choice.by_unknown.resize(0, nv + rows.size());
  choice.weighted.resize(rows.size(), 0);
  soft.active = false;
  choice.eta.resize(nv + rows.size(), 0);
  choice.yielding.clear();
  if (!wants_choice || relabelled) return;
  if (find_soft_limit(with_parameters, false)) return;

  std::vector<double> lam1(rows.size(), 0.0), softening(rows.size(), 0.0);
  std::vector<int> island_of;  // of every choice
  for (int k = 0; k < static_cast<int>(rows.islands().size()); ++k) {
    if (laws[k].regular() || !laws[k].slides()) continue;
    if (!begin_choices(k, lam1, softening)) choice.failed = true;
    island_of.resize(choice.count(), k);
  }
  if (choice.count() > 0 && !find_conditions(island_of, lam1, softening, with_parameters)) {
    choice.failed = true;
    choice.ways.resize(nv + rows.size(), 0);
  }
  if (choice.failed && find_soft_limit(with_parameters, true)) choice.failed = false;
}

// The choices of an island, and how softness moves it. False, and no choices, if that is not known.
bool ImpulseDerivatives::Work::begin_choices(int k, std::vector<double>& lam1,
                                             std::vector<double>& softening) {
  constexpr double solvable = 1e-5;
  const ContactRows& rows = step->rows;
  LawSystem& law = laws[k];
  const int begin = rows.islands()[k].row_begin, size = rows.islands()[k].rows;
  const int first = choice.count(), many = law.find_choices(law.turns_yielding());
  if (many == 0) return true;
  for (int j = 0; j < many; ++j) add_choice_vectors(k, j);
  for (const Block& block : law.problem().blocks) {
    const double R = law.problem().mobility(block);
    for (int i = begin + block.first; i < begin + block.first + block.dim; ++i)
      softening[i] = R * rows.lam[i];
  }
  const size_t yielding = choice.yielding.size();
  bool good = !law.turns_yielding() || find_yielding_speeds(k, first, softening);
  if (good) {
    std::vector<double> none(size, 0.0), right(size, 0.0);
    law.add_explicit(softening.data() + begin, right.data());
    const double noted = law.inconsistency();  // of what was asked for, not of this
    law.solve(none.data(), right.data(), lam1.data() + begin);
    good = law.inconsistency() <= solvable;
    law.note_inconsistency(noted);
  }
  if (good) return true;
  choice.ways.conservativeResize(Eigen::NoChange, first);
  choice.eta.conservativeResize(Eigen::NoChange, first);
  choice.weighted.conservativeResize(Eigen::NoChange, first);
  choice.yielding.resize(yielding);
  std::fill_n(lam1.begin() + begin, size, 0.0);
  std::fill_n(softening.begin() + begin, size, 0.0);
  return false;
}

// Contacts whose laws are in no condition: how they turn does not matter, however slowly they slide.
void ImpulseDerivatives::Work::leave_out_of_shift(std::vector<double>& soft1) {
  constexpr double nothing = 1e-11;
  const ContactRows& rows = step->rows;
  auto laws_of = choice.eta.bottomRows(rows.size());
  const double counts = nothing * laws_of.cwiseAbs().maxCoeff();
  for (const Item& item : rows.items()) {
    const int n = rows.row_of(item);
    auto own = laws_of.middleRows(n, item.rows);
    if (item.kind != RowKind::contact || own.cwiseAbs().maxCoeff() > counts) continue;
    own.setZero();
    std::fill_n(soft1.begin() + n, item.rows, 0.0);
  }
}

// The largest shifts along (lam1, soft1) by which impulses, and directions in which contacts slide, turn by
// little: of everything; and of what slides so slowly that differences over its shift would see nothing of
// the rest, each contact's own, for its velocities alone. soft1 of these is moved there.
double ImpulseDerivatives::Work::find_shifts(const std::vector<double>& lam1, std::vector<double>& soft1,
                                             SlowShift& slow) const {
  constexpr double slowly = 1e-3;
  const ContactRows& rows = step->rows;
  double by = 1e300;
  const auto within = [&](double number, double change) {
    return change != 0.0 ? shift * std::abs(number / change) : 1e300;
  };
  slow.soft.assign(rows.size(), 0.0);
  slow.scale.assign(rows.size(), 0.0);
  slow.any = false;
  double largest = 0.0, largest_change = 0.0;
  const auto own = [&](const Item& item) {
    const int n = rows.row_of(item);
    double speed = 0.0, change = 0.0;
    for (int i = 1; i < item.rows; ++i) {
      speed = std::hypot(speed, rows.sigma[n + i]);
      change = std::hypot(change, soft1[n + i]);
    }
    return within(speed, change);
  };
  const auto slides = [&](const Item& item) {
    return item.kind == RowKind::contact && item.rows > 1 &&
           rows.mode[rows.row_of(item) + 1] == RowMode::slide;
  };
  for (const Item& item : rows.items()) {
    const int n = rows.row_of(item);
    if (slides(item) && own(item) < 1e300) by = std::min(by, within(rows.lam[n], lam1[n]));
    largest = std::max(largest, std::abs(rows.lam[n]));
    largest_change = std::max(largest_change, std::abs(lam1[n]));
  }
  by = std::min(by, within(largest, largest_change));
  const double usual = by;
  for (const Item& item : rows.items()) {
    if (!slides(item)) continue;
    const double most = own(item);
    if (most >= slowly * usual) {
      by = std::min(by, most);
      continue;
    }
    slow.any = true;
    for (int i = rows.row_of(item); i < rows.row_of(item) + item.rows; ++i) {
      slow.soft[i] = most * soft1[i];
      slow.scale[i] = 1.0 / most;
      soft1[i] = 0.0;
    }
  }
  return by;
}

// Only their own laws know of velocities of contacts: what all else has in common would hide them.
bool ImpulseDerivatives::Work::add_slow(const std::vector<int>& island_of, const SlowShift& slow,
                                        bool with_parameters) {
  const VectorX no_motion = VectorX::Zero(nv);
  for (int side = 0; side < 2; ++side) {
    if (!shift_step(no_motion, still, slow.soft, side == 0 ? 1.0 : -1.0, side)) return false;
  }
  for (size_t i = 0; i < island_of.size(); ++i) {
    const int at = static_cast<int>(i);
    VectorX eta = VectorX::Zero(choice.eta.rows());
    for (size_t row = 0; row < slow.scale.size(); ++row) {
      const auto k = nv + static_cast<Eigen::Index>(row);
      eta[k] = slow.scale[row] * choice.eta(k, at);
    }
    add_difference(island_of[i], at, eta, 1.0, with_parameters);
  }
  return true;
}

// False if they do not tell how the choice changes.
bool ImpulseDerivatives::Work::find_conditions(const std::vector<int>& island_of,
                                               const std::vector<double>& lam1,
                                               const std::vector<double>& softening, bool with_parameters) {
  const ContactRows& rows = step->rows;
  const int choices = choice.count(), all = choices + static_cast<int>(choice.yielding.size());
  VectorX v1 = VectorX::Zero(nv);
  std::vector<double> soft1(rows.size());
  rows.add_impulses(lam1.data(), v1);
  solve_mass_matrix(*model, *data, v1);
  rows.velocities(v1, soft1.data());
  for (size_t i = 0; i < soft1.size(); ++i) soft1[i] += softening[i];
  leave_out_of_shift(soft1);
  SlowShift slow;
  const double by = find_shifts(lam1, soft1, slow);
  if (!(by > 0.0 && by < 1e300)) return false;
  for (int side = 0; side < 2; ++side) {
    if (!shift_step(v1, lam1, soft1, side == 0 ? by : -by, side)) return false;
  }
  choice.by_input.setZero(all, used_inputs(with_parameters));
  choice.by_unknown.setZero(all, nv + rows.size());
  for (int i = 0; i < choices; ++i) {
    add_difference(island_of[i], i, choice.eta.col(i), by, with_parameters);
    add_softness(island_of[i], i);
  }
  if (slow.any && !add_slow(island_of, slow, with_parameters)) return false;
  choice.ways.conservativeResize(Eigen::NoChange, all);
  choice.ways.rightCols(all - choices).setZero();
  choice.weighted.conservativeResize(Eigen::NoChange, all);
  choice.weighted.rightCols(all - choices).setZero();
  add_weights(with_parameters);
  MatrixX H = MatrixX::Zero(all, all);
  add_yielding(choices, with_parameters, H);
  H += choice.by_unknown * choice.ways;
  choice.H.compute(H);
  return H.allFinite() && !choice.failed && choice.H.rcond() > 1e-10;
}

void ImpulseDerivatives::Work::choose_along(const ConstVectorRef& dz, VectorX& dw) {
  const bool with_parameters = !dz.tail(dz.size() - residual.inputs().theta).isZero(0.0);
  find_choice(with_parameters);
  if (soft.active) return soft_along(dz, dw);
  if (choice.count() == 0) return;
  dw -= choice.ways *
        choice.H.solve(choice.by_input * dz.head(choice.by_input.cols()) + choice.by_unknown * dw);
}

void ImpulseDerivatives::Work::choose_against(VectorRef w_bar, VectorRef z_bar) {
  find_choice(wants_parameters);
  if (soft.active) {
    soft_against(w_bar, z_bar);
    return;
  }
  if (choice.count() == 0) return;
  const VectorX felt = choice.ways.transpose() * w_bar;
  const VectorX t_bar = choice.H.transpose().solve(felt);
  w_bar -= choice.by_unknown.transpose() * t_bar;
  z_bar.head(choice.by_input.cols()) -= choice.by_input.transpose() * t_bar;
}

// blocks holds dv+, row_columns dlam.
void ImpulseDerivatives::Work::choose_columns() {
  find_choice(false);
  const int rows = step->rows.size();
  if (soft.active) return soft_columns();
  if (choice.count() == 0) return;
  RowMatrix t = choice.by_unknown.leftCols(nv) * blocks + choice.by_unknown.rightCols(rows) * row_columns;
  for_each_part_of_columns([&](int column, int input, int count) {
    t.middleCols(column, count) += choice.by_input.middleCols(input, count);
  });
  blocks -= choice.ways.topRows(nv) * choice.H.solve(MatrixX(t));
}

}  // namespace articula
