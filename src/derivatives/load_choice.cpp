// Where friction is at its bound on redundant contacts (a box that slides on its four corners), the law
// leaves open how they share the load, and that matters to the motion. The step takes the limit of soft laws
//   r(w) + eps q(w) = 0,   q = (law by sigma) R lam,   eps -> 0.
// With w = w0 + eps w1:  r_w w1 = -q.  Let eta^T r_w = 0 and r_w zeta = 0. What decides is eta^T (r_w w1 + q)
// = 0, and its derivative along (dz, dw) decides how the choice changes:
//   t = eta^T (d/d(w1) [r_z dz + r_w dw] + q_w dw) = 0,      dw <- dw - zeta H^-1 t(dz, dw),   H = t(0,
//   zeta).
// d/d(w1), the derivative of derivatives in the direction w1, is a difference of those of two steps beside
// this one; everything but the direction of sliding is linear in w, so that little is lost.

#include <cmath>

#include "articula/dynamics/crba.hpp"
#include "impulse_work.hpp"

namespace articula {

namespace {

constexpr double shift = 1e-4;  // of impulses and velocities, relative

}  // namespace

bool ImpulseDerivatives::Work::shift_step(const VectorX& v1, const std::vector<double>& lam1,
                                          const std::vector<double>& soft1, double by, int side,
                                          bool only_first_of_it) {
  if (!shifted[side]) shifted[side] = std::make_unique<Shifted>(*model, *step);
  Shifted& s = *shifted[side];
  if (!s.same) {
    s.same = true;
    s.data = *data;
    s.step = *step;
  }
  s.step.v_next = step->v_next + by * v1;
  for (size_t i = 0; i < lam1.size(); ++i) {
    s.step.rows.lam[i] = step->rows.lam[i] + by * lam1[i];
    s.step.rows.sigma[i] = step->rows.sigma[i] + by * soft1[i];
  }
  s.derivatives.work_->wants_choice = false;
  s.derivatives.work_->given_modes = &modes;
  s.derivatives.work_->only_first = only_first_of_it;
  return s.derivatives.prepare(*model, s.data, s.step, settings);
}

// Row `index` of the island's choices: eta, then its products with derivatives on both sides.
void ImpulseDerivatives::Work::add_choice(int island, int index, double by, bool with_parameters) {
  const ContactRows& rows = step->rows;
  const Island& of = rows.islands()[island];
  const int begin = of.row_begin, at = choice.count();
  const int unknowns = nv + rows.size(), inputs = residual.inputs().size, used = used_inputs(with_parameters);
  choice.by_input.conservativeResize(at + 1, used);
  choice.by_unknown.conservativeResize(at + 1, unknowns);
  choice.ways.conservativeResize(unknowns, at + 1);

  VectorX eta = VectorX::Zero(unknowns), way = VectorX::Zero(unknowns);
  std::vector<double> bar(rows.size(), 0.0);
  laws[island].choice_covectors(index, bar.data() + begin, eta.data() + nv + begin);
  scratch.setZero();
  rows.add_impulses(bar.data(), scratch);
  solve_mass_matrix(*model, *data, scratch);
  eta.head(nv) = scratch;

  laws[island].choice_impulses(index, way.data() + nv + begin);
  scratch.setZero();
  rows.add_impulses(way.data() + nv, scratch);
  solve_mass_matrix(*model, *data, scratch);
  way.head(nv) = scratch;
  choice.ways.col(at) = way;

  VectorX by_z = VectorX::Zero(used), z(inputs), by_sigma = VectorX::Zero(rows.size()),
          by_lam = VectorX::Zero(rows.size());
  for (int side = 0; side < 2; ++side) {
    ImpulseDerivatives& there = shifted[side]->derivatives;
    const double factor = (side == 0 ? 0.5 : -0.5) / by;
    z.head(used).setZero();
    there.want_parameters(with_parameters);
    there.residual_against(eta, z);  // minus (dr/dz)^T eta
    by_z -= factor * z.head(used);
    VectorX sigma = VectorX::Zero(rows.size()), lam = VectorX::Zero(rows.size());
    there.work_->laws[island].against(eta.data() + nv + begin, sigma.data() + begin, lam.data() + begin);
    by_sigma += factor * sigma;
    by_lam += factor * lam;
  }
  // q_w dw: R dlam is one more velocity.
  VectorX sigma = VectorX::Zero(rows.size()), ignored_lam = VectorX::Zero(rows.size());
  laws[island].against(eta.data() + nv + begin, sigma.data() + begin, ignored_lam.data() + begin);
  const ContactProblem& problem = laws[island].problem();
  for (const Block& block : problem.blocks) {
    const double R = problem.mobility(block);
    for (int i = begin + block.first; i < begin + block.first + block.dim; ++i) by_lam[i] += R * sigma[i];
  }
  choice.weighted.conservativeResize(rows.size(), at + 1);
  choice.weighted.col(at) = sigma;
  choice.by_input.row(at) = by_z.transpose();
  scratch.setZero();
  rows.add_impulses(by_sigma.data(), scratch);
  choice.by_unknown.row(at).head(nv) = scratch.transpose();
  choice.by_unknown.row(at).tail(rows.size()) = by_lam.transpose();
}

// q_z dz: the weights change, too.
void ImpulseDerivatives::Work::add_weights(bool with_parameters) {
  const ContactRows& rows = step->rows;
  const int used = used_inputs(with_parameters);
  VectorX by_z(residual.inputs().size);
  for (const Item& item : rows.items()) {
    const int n = rows.row_of(item);
    VectorX share = VectorX::Zero(choice.count());
    for (int i = n; i < n + item.rows; ++i) share += rows.lam[i] * choice.weighted.row(i).transpose();
    if (share.isZero(0.0)) continue;
    by_z.head(used).setZero();
    if (!add_weight_rate(item, with_parameters, 1.0, by_z)) choice.failed = true;
    choice.by_input += share * by_z.head(used).transpose();
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
  if (!wants_choice || relabelled) return;
  if (find_soft_limit(with_parameters)) return;

  std::vector<double> lam1(rows.size(), 0.0), soft1(rows.size(), 0.0), softening(rows.size(), 0.0);
  std::vector<int> count(rows.islands().size(), 0);
  int choices = 0;
  for (size_t k = 0; k < count.size(); ++k) {
    LawSystem& law = laws[k];
    if (law.regular() || !law.slides()) continue;
    const int begin = rows.islands()[k].row_begin, size = rows.islands()[k].rows;
    count[k] = law.find_choices();
    if (count[k] == 0) continue;
    for (const Block& block : law.problem().blocks) {
      const double R = law.problem().mobility(block);
      for (int i = begin + block.first; i < begin + block.first + block.dim; ++i)
        softening[i] = R * rows.lam[i];
    }
    std::vector<double> none(size, 0.0), right(size, 0.0);
    law.add_explicit(softening.data() + begin, right.data());
    const double noted = law.inconsistency();  // of what was asked for, not of this
    law.solve(none.data(), right.data(), lam1.data() + begin);
    const double inconsistency = law.inconsistency();
    law.note_inconsistency(noted);
    if (law.turns_yielding() || inconsistency > 1e-5) {
      choice.failed = true;
      count[k] = 0;
      std::fill_n(lam1.begin() + begin, size, 0.0);
      std::fill_n(softening.begin() + begin, size, 0.0);
    }
    choices += count[k];
  }
  if (choices == 0) return;

  VectorX v1 = VectorX::Zero(nv);
  rows.add_impulses(lam1.data(), v1);
  solve_mass_matrix(*model, *data, v1);
  rows.velocities(v1, soft1.data());
  for (size_t i = 0; i < soft1.size(); ++i) soft1[i] += softening[i];
  // Impulses, and the directions in which contacts slide, turn by little.
  double by = 1e300;
  const auto keep = [&](double number, double change) {
    if (change != 0.0) by = std::min(by, shift * std::abs(number / change));
  };
  double largest = 0.0, largest_change = 0.0;
  for (const Item& item : rows.items()) {
    if (count[item.island] == 0) continue;
    const int n = rows.row_of(item);
    double speed = 0.0, change = 0.0;
    for (int i = 1; i < item.rows; ++i) {
      speed = std::hypot(speed, rows.sigma[n + i]);
      change = std::hypot(change, soft1[n + i]);
    }
    if (item.kind == RowKind::contact && item.rows > 1 && rows.mode[n + 1] == RowMode::slide) {
      keep(speed, change);
      keep(rows.lam[n], lam1[n]);
    }
    largest = std::max(largest, std::abs(rows.lam[n]));
    largest_change = std::max(largest_change, std::abs(lam1[n]));
  }
  keep(largest, largest_change);
  bool good = by > 0.0 && by < 1e300;
  for (int side = 0; side < 2 && good; ++side) good = shift_step(v1, lam1, soft1, side == 0 ? by : -by, side);
  for (size_t k = 0; k < count.size() && good; ++k) {
    for (int j = 0; j < count[k]; ++j) add_choice(static_cast<int>(k), j, by, with_parameters);
  }
  if (good) add_weights(with_parameters);
  if (choice.count() > 0) choice.H.compute(choice.by_unknown * choice.ways);
  if (!good || !(choice.H.matrixLU().allFinite() && choice.H.rcond() > 1e-10)) {
    choice.failed = true;
    choice.ways.resize(nv + rows.size(), 0);
  }
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

// blocks holds dv+, row_columns dlam; columns are the first inputs, up to the controls.
void ImpulseDerivatives::Work::choose_columns() {
  find_choice(false);
  const StepInputs& in = residual.inputs();
  const int rows = step->rows.size(), inputs = in.force;
  if (soft.active) return soft_columns();
  if (choice.count() == 0) return;
  RowMatrix t = choice.by_unknown.leftCols(nv) * blocks + choice.by_unknown.rightCols(rows) * row_columns;
  t.leftCols(inputs) += choice.by_input.leftCols(inputs);
  blocks -= choice.ways.topRows(nv) * choice.H.solve(MatrixX(t));
}

}  // namespace articula
