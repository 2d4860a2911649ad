// Where biases contradict each other, rows that hold are granted the least slack. With soft laws
//   sigma + eps R lam = 0,    lam = y / eps + lam_0 + ...
// it is sigma = -R y, with impulses y that move nothing, J^T y = 0. The slack changes with y and with the
// weights R:
//   dsigma = -dR y - R dy,    (J Mhat^-1 J^T) dy = -J Mhat^-1 dJ^T y,
// where the part of dy that moves nothing is what makes the rows consistent (law_system.hpp). So much for y
// of rows that hold. What slides may stand beside them: it takes part in the system, and y has no share of
// it. Where it has, under the pyramid law y has the friction of normals with it, y = B x, and with J^T B x =
// 0
//   dsigma_N = -dR x - R dx,    (A^T J Mhat^-1 J^T B) dx = -A^T J Mhat^-1 (dJ^T B + J^T dB) x.
// On cones soft laws tell (soft_limit.cpp).

#include <algorithm>
#include <cmath>

#include "articula/dynamics/crba.hpp"
#include "impulse_work.hpp"

namespace articula {

namespace {

bool grants(const LawSystem& law, bool with_parameters) {
  return law.grants_slack(with_parameters) && law.slack_is_least();
}

// What rounding leaves of sigma = 0 is no slack, beside rows that were granted some.
bool is_slack(const LawSystem& law, double sigma) {
  return std::abs(sigma) > 1e-14 * law.problem().velocity_scale;
}

// dR y is of the order of the slack itself, however nearly rows depend on others: less than 1e-13 m/s is
// rounding.
bool moves_weights(const LawSystem& law, bool with_parameters) {
  return law.slack() > 1e-10 || (with_parameters && law.slack() * law.problem().velocity_scale > 1e-13);
}

}  // namespace

bool ImpulseDerivatives::Work::grants_slack(bool with_parameters) const {
  return wants_choice && !relabelled &&
         std::any_of(laws.begin(), laws.begin() + static_cast<long>(step->rows.islands().size()),
                     [&](const LawSystem& law) { return grants(law, with_parameters); });
}

// By how much of y to shift impulses: by as much as they are.
double ImpulseDerivatives::Work::slack_shift(const std::vector<double>& y) const {
  double largest = 0.0, load = 0.0;
  for (size_t i = 0; i < y.size(); ++i) {
    largest = std::max(largest, std::abs(y[i]));
    load = std::max(load, std::abs(step->rows.lam[i]));
  }
  return largest > 0.0 ? std::max(load, 1e-9) / largest : 1.0;
}

// slack.by_input: rows x inputs, of the right-hand sides of rows that hold.
void ImpulseDerivatives::Work::find_slack(bool with_parameters) {
  if (slack.found && (slack.with_parameters || !with_parameters)) return;
  slack.found = true;
  slack.with_parameters = with_parameters;
  const ContactRows& rows = step->rows;
  const int theta = residual.inputs().theta;
  slack.by_input.setZero(rows.size(), used_inputs(with_parameters));
  // As if it did not change where that is not known; the certificate says one-sided wherever slack is
  // granted.
  if (with_parameters && !find_slack_by_parameters()) slack.by_input.setZero();
  slack.by_input.leftCols(std::min<Eigen::Index>(theta, slack.by_input.cols())).setZero();
  if (!grants_slack(false)) return;
  find_slack_impulses();
  const int used = used_inputs(false);
  VectorX unit = VectorX::Zero(rows.size()), by_z(residual.inputs().size);
  for (int i = 0; i < rows.size(); ++i) {
    if (modes[i] != RowMode::hold) continue;
    by_z.head(used).setZero();
    unit[i] = 1.0;
    add_slack_by_state(unit.data(), by_z);
    unit[i] = 0.0;
    slack.by_input.row(i).head(used) = by_z.head(used).transpose();
  }
}

// Row by row, for directions; false if that is not known.
bool ImpulseDerivatives::Work::find_slack_by_parameters() {
  const ContactRows& rows = step->rows;
  const VectorX no_motion = VectorX::Zero(nv);
  VectorX by_z(residual.inputs().size);
  for (size_t k = 0; k < rows.islands().size(); ++k) {
    LawSystem& law = laws[k];
    if (!grants(law, true)) continue;
    const int begin = rows.islands()[k].row_begin;
    std::vector<double> y(rows.size(), 0.0);
    law.slack_impulses(rows.sigma.data() + begin, y.data() + begin);
    for (const Item& item : rows.items()) {
      const int n = rows.row_of(item);
      const auto granted = [&](int i) {
        return modes[i] == RowMode::hold && y[i] != 0.0 && is_slack(law, rows.sigma[i]);
      };
      bool any = false;
      for (int i = n; i < n + item.rows; ++i) any = any || granted(i);
      if (!any || !moves_weights(law, true)) continue;
      by_z.setZero();
      if (!add_weight_rate(item, true, 1.0, by_z)) return false;
      for (int i = n; i < n + item.rows; ++i) {
        if (granted(i)) slack.by_input.row(i) -= y[i] * by_z.transpose();
      }
    }
    const double by = slack_shift(y);
    for (int side = 0; side < 2; ++side) {
      if (!shift_step(no_motion, y, still, side == 0 ? by : -by, side)) return false;
    }
    for (int i = begin; i < begin + rows.islands()[k].rows; ++i) add_slack_row(static_cast<int>(k), i, by);
  }
  return true;
}

// y of all islands that are granted slack.
void ImpulseDerivatives::Work::find_slack_impulses() {
  const ContactRows& rows = step->rows;
  slack.y.assign(rows.size(), 0.0);
  for (size_t k = 0; k < rows.islands().size(); ++k) {
    const int begin = rows.islands()[k].row_begin;
    if (grants(laws[k], false)) laws[k].slack_impulses(rows.sigma.data() + begin, slack.y.data() + begin);
  }
}

// Mhat^-1 J^T K^-T R y2 of an island's rows that hold: eta of  sum_i y2_i (-R_i dy_i) = eta . dJ^T y, and
// behind it the covector of what bounds make of y, dB x.
VectorX ImpulseDerivatives::Work::slack_covector(int island, const double* y2) {
  const ContactRows& rows = step->rows;
  const Island& of = rows.islands()[island];
  std::vector<double> weighted(rows.size(), 0.0), by_law(rows.size(), 0.0);
  for (int i = of.row_begin; i < of.row_begin + of.rows; ++i) {
    if (modes[i] == RowMode::hold) weighted[i] = laws[island].weight(i - of.row_begin) * y2[i];
  }
  std::fill(c.begin(), c.end(), 0.0);
  laws[island].solve_transposed(weighted.data() + of.row_begin, c.data() + of.row_begin,
                                by_law.data() + of.row_begin);
  scratch.setZero();
  rows.add_impulses(c.data(), scratch);
  solve_mass_matrix(*model, *data, scratch);
  VectorX eta = VectorX::Zero(nv + rows.size());
  eta.head(nv) = -scratch;  // lam = -K^-1 c
  for (int i = 0; i < rows.size(); ++i) {
    if (modes[i] != RowMode::hold) eta[nv + i] = -by_law[i];
  }
  return eta;
}

// The same with parameters: dJ^T y is the difference of residuals beside the step, lam +- by y.
bool ImpulseDerivatives::Work::add_slack_against(int island, const double* y2, VectorX& by_z) {
  const ContactRows& rows = step->rows;
  std::vector<double> y(rows.size(), 0.0);
  laws[island].slack_impulses(rows.sigma.data() + rows.islands()[island].row_begin,
                              y.data() + rows.islands()[island].row_begin);
  for (const Item& item : rows.items()) {
    double share = 0.0;
    if (!moves_weights(laws[island], true)) break;
    for (int i = rows.row_of(item); i < rows.row_of(item) + item.rows; ++i) {
      if (modes[i] == RowMode::hold && is_slack(laws[island], rows.sigma[i])) share -= y[i] * y2[i];
    }
    if (share != 0.0 && !add_weight_rate(item, true, share, by_z)) return false;
  }
  VectorX z(by_z.size());
  const VectorX eta = slack_covector(island, y2);
  const double by = slack_shift(y);
  for (int side = 0; side < 2; ++side) {
    const double sign = side == 0 ? 1.0 : -1.0;
    if (!shift_step(VectorX::Zero(nv), y, still, sign * by, side)) return false;
    ImpulseDerivatives& there = shifted[side]->derivatives;
    there.want_parameters(true);
    z.setZero();
    there.residual_against(eta, z);
    by_z += 0.5 * sign / by * z;
  }
  return true;
}

// by_z += (what slack adds by the state)^T y2, of the slack that the state feels; after find_slack_impulses.
void ImpulseDerivatives::Work::add_slack_by_state(const double* y2, VectorX& by_z) {
  const ContactRows& rows = step->rows;
  VectorX eta = VectorX::Zero(nv);
  for (size_t k = 0; k < rows.islands().size(); ++k) {
    if (grants(laws[k], false)) eta += slack_covector(static_cast<int>(k), y2).head(nv);
  }
  impulses_against(slack.y.data(), eta.data(), by_z.data() + residual.inputs().q);
  for (const Item& item : rows.items()) {
    const int n = rows.row_of(item);
    double share = 0.0;
    if (!moves_weights(laws[item.island], false)) continue;
    for (int i = n; i < n + item.rows; ++i) {
      if (modes[i] == RowMode::hold) share -= slack.y[i] * y2[i];
    }
    if (share != 0.0) add_weight_rate(item, false, share, by_z);
  }
}

// z_bar += (what slack adds by z)^T y2, all rows together. By parameters, where that is not known, it is as
// if slack did not change.
void ImpulseDerivatives::Work::slack_against(const double* y2, VectorRef z_bar) {
  const ContactRows& rows = step->rows;
  VectorX by_z(z_bar.size());
  if (grants_slack(false)) {
    const int used = used_inputs(false);
    find_slack_impulses();
    by_z.head(used).setZero();
    add_slack_by_state(y2, by_z);
    z_bar.head(used) += by_z.head(used);
  }
  if (!wants_parameters) return;
  bool known = true;
  by_z.setZero();
  for (size_t k = 0; k < rows.islands().size() && known; ++k)
    known = !grants(laws[k], true) || add_slack_against(static_cast<int>(k), y2, by_z);
  const Eigen::Index many = z_bar.size() - residual.inputs().theta;
  if (known) z_bar.tail(many) += by_z.tail(many);
}

// For all columns: row_columns holds dsigma, of which  -dR y - R dy  is the slack's.
void ImpulseDerivatives::Work::add_slack_columns() {
  const ContactRows& rows = step->rows;
  find_slack_impulses();
  const int width = (nv + 3) / 4 * 4;
  slack.blocks.setZero(nv, width);
  slack.rows.setZero(rows.size(), width);
  rates.carry(slack.y.data());
  add_held_columns(slack.blocks.data(), width);
  columns.add(*model, *data, after, *step, rates, 1.0, slack.rows.leftCols(nv), slack.blocks.data(), width);
  rates.carry(rows.lam.data());
  slack.rows.setZero();
  project_columns(*model, *data, rows.root_inverse(), slack.blocks);
  equations.add_velocities(slack.blocks.data(), width, slack.rows.data());
  for (size_t k = 0; k < rows.islands().size(); ++k) {
    if (!grants(laws[k], false)) continue;
    const int begin = rows.islands()[k].row_begin;
    laws[k].solve_columns(slack.rows.data() + static_cast<std::size_t>(begin) * width, width);
    for (int i = begin; i < begin + rows.islands()[k].rows; ++i) {
      if (modes[i] == RowMode::hold)
        row_columns.row(i).head(nv) += laws[k].weight(i - begin) * slack.rows.row(i).head(nv);
    }
  }
  VectorX by_z(residual.inputs().size);
  for (const Item& item : rows.items()) {
    const int n = rows.row_of(item);
    const auto y = Eigen::Map<const VectorX>(slack.y.data() + n, item.rows);
    if (y.isZero(0.0) || !moves_weights(laws[item.island], false)) continue;
    by_z.head(used_inputs(false)).setZero();
    add_weight_rate(item, false, 1.0, by_z);
    for (int i = 0; i < item.rows; ++i) {
      if (modes[n + i] != RowMode::hold) continue;
      for_each_part_of_columns([&](int column, int input, int count) {
        row_columns.row(n + i).segment(column, count) += y[i] * by_z.segment(input, count).transpose();
      });
    }
  }
}

// Of parameters, one row:  -R_i dy_i = eta . dJ^T y,  eta = Mhat^-1 J^T K^-1 e_i R_i
void ImpulseDerivatives::Work::add_slack_row(int island, int row, double by) {
  const ContactRows& rows = step->rows;
  if (modes[row] != RowMode::hold) return;
  std::vector<double> unit(rows.size(), 0.0);
  unit[row] = 1.0;
  const VectorX eta = slack_covector(island, unit.data());
  VectorX z = VectorX::Zero(residual.inputs().size);
  for (int side = 0; side < 2; ++side) {
    ImpulseDerivatives& there = shifted[side]->derivatives;
    there.want_parameters(true);
    z.head(slack.by_input.cols()).setZero();
    there.residual_against(eta, z);
    slack.by_input.row(row) += (side == 0 ? 0.5 : -0.5) / by * z.head(slack.by_input.cols()).transpose();
  }
}

}  // namespace articula
