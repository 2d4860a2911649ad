// Redundant contacts of which some slide and others stand still with all the friction they can have: the
// latter yield. How the load is shared is the limit of soft laws, in which a contact that yields moves by
// eps,
//   law(sigma + eps R lam, lam) = 0,     soft_N = |mu o soft_T|,   lam_T = -mu o lam_N soft_T / |soft_T|,
// so that its force turns with velocities of that order. Soft laws are those of G + eps R, and regular: their
// derivatives are those of any step, at their own solution, with one more term for the change of R. Of five
//   D = -64/21 D(eps) + 184/21 D(2 eps) - 6 D(4 eps) + 29/21 D(8 eps) - 2/21 D(16 eps)
// is left an error of order eps^4. Terms of order 1 / eps, of directions that rows which depend on each other
// cannot follow, are gone as well: what is left of them is that of the least slack. What the hard laws say
// themselves they say better: of the soft ones only the share of the choices Z (load_choice.cpp) is taken, as
// far as it is felt in the motion,
//   dw <- dw + Z Z_v^+ (D dz - dv).
// Where what slides on its cone was granted slack (least_slack.cpp) soft laws have loads of order 1 / eps,
// which extrapolation takes away with everything of that order; hard laws do not know how that slack changes,
// and D dz is all of dv.

#include <Eigen/QR>

#include <algorithm>
#include <cmath>

#include "articula/contact/overruled.hpp"
#include "articula/dynamics/crba.hpp"
#include "impulse_work.hpp"

namespace articula {

namespace {

// eps: less leaves rounding (of directions in which contacts yield 1e-14 / eps, or they are not found), and
// more what is of order eps^4 next to rows that nearly depend on each other.
constexpr double hard[] = {1e-7, 1e-6};
constexpr double weights[] = {-64.0 / 21.0, 184.0 / 21.0, -6.0, 29.0 / 21.0, -2.0 / 21.0};

}  // namespace

// The solution of the soft laws in these modes.
bool ImpulseDerivatives::Work::solve_softly(double eps, const std::vector<RowMode>& soft_modes,
                                            std::vector<double>& lam, std::vector<double>& velocities) {
  const ContactRows& rows = step->rows;
  lam = rows.lam;
  velocities = rows.sigma;
  ModeSystem system;
  for (const Item& item : rows.items()) {
    // Islands begin with their first block.
    if (item.block != 0 || !(soft.softness[0][item.island] > 0.0)) continue;
    const Island& island = rows.islands()[item.island];
    const int at = island.row_begin;
    const ContactProblem problem = rows.problem(island, settings.dt);
    std::vector<SlideState> slides(problem.blocks.size());
    for (size_t k = 0; k < slides.size(); ++k) {
      const Block& block = problem.blocks[k];
      const int n = at + block.first;
      if (block.kind != BlockKind::contact || block.dim == 1) continue;
      const bool yields = soft_modes[n + 1] == RowMode::yield;
      double squared = 0.0;
      for (int i = 0; i < block.tangents(); ++i) {
        slides[k].d[i] = yields ? -rows.lam[n + 1 + i] / block.mu[i] : block.mu[i] * rows.sigma[n + 1 + i];
        squared += slides[k].d[i] * slides[k].d[i];
      }
      for (double& d : slides[k].d) d = squared > 0.0 ? d / std::sqrt(squared) : 0.0;
      slides[k].speed = yields ? 0.0 : std::sqrt(squared);
      slides[k].normal = std::max(rows.lam[n], 1e-300);
    }
    system.forget();
    system.begin(problem, nullptr, eps);
    constexpr int most_steps = 40;
    constexpr double rounding = 1e-14;
    double turned = 1.0, previous = 1e300;
    for (int i = 0;
         i < most_steps && (turned > 1e-12 && (turned < 0.25 * previous || turned > rounding / eps)); ++i) {
      previous = turned;
      if (!system.soft_step(problem, soft_modes.data() + at, slides.data(), lam.data() + at,
                            velocities.data() + at, turned))
        return false;
    }
    if (!(turned <= rounding / eps)) return false;
  }
  return true;
}

// dR/dz of every block that carries something.
bool ImpulseDerivatives::Work::find_weight_rates(bool with_parameters) {
  const ContactRows& rows = step->rows;
  const std::vector<Item>& items = rows.items();
  const int used = used_inputs(with_parameters);
  soft.weight_rates.setZero(static_cast<Eigen::Index>(items.size()), used);
  VectorX by_z(residual.inputs().size);
  for (size_t k = 0; k < items.size(); ++k) {
    const double* lam = rows.lam.data() + rows.row_of(items[k]);
    if (!(soft.softness[0][items[k].island] > 0.0)) continue;
    if (std::all_of(lam, lam + items[k].rows, [](double x) { return x == 0.0; })) continue;
    by_z.head(used).setZero();
    if (!add_weight_rate(items[k], with_parameters, 1.0, by_z)) return false;
    soft.weight_rates.row(static_cast<Eigen::Index>(k)) = by_z.head(used).transpose();
  }
  return true;
}

// Loads shared otherwise, and the motion they make; of those that make none nobody need know.
void ImpulseDerivatives::Work::find_soft_ways() {
  constexpr double none = 1e-18;  // of the energy that the same impulses have apart
  const ContactRows& rows = step->rows;
  soft.ways.resize(nv + rows.size(), 0);
  soft.measure.resize(0, nv);
  std::vector<double> lam(rows.size());
  VectorX p(nv), v(nv);
  for (size_t k = 0; k < rows.islands().size(); ++k) {
    if (!(soft.softness[0][k] > 0.0)) continue;
    const int begin = rows.islands()[k].row_begin;
    const ContactProblem& problem = laws[k].problem();
    for (int way = 0; way < laws[k].choices(); ++way) {
      std::fill(lam.begin(), lam.end(), 0.0);
      laws[k].choice_impulses(way, lam.data() + begin);
      double apart = 0.0;
      for (int i = 0; i < problem.size; ++i) apart += problem.g(i, i) * lam[begin + i] * lam[begin + i];
      p.setZero();
      rows.add_impulses(lam.data(), p);
      v = p;
      solve_mass_matrix(*model, *data, v);
      if (!(p.dot(v) > none * apart)) continue;
      const Eigen::Index at = soft.ways.cols();
      soft.ways.conservativeResize(Eigen::NoChange, at + 1);
      soft.ways.col(at) << v, Eigen::Map<const VectorX>(lam.data(), rows.size());
      soft.ways.col(at) /= v.norm();
    }
  }
  if (soft.ways.cols() == 0) return;
  // Several ways may make one motion: together they say nothing of it but noise.
  Eigen::CompleteOrthogonalDecomposition<MatrixX> felt(nv, soft.ways.cols());
  felt.setThreshold(1e-8);
  felt.compute(soft.ways.topRows(nv));
  soft.measure = felt.pseudoInverse();
}

// Soft laws at these eps and at twice as much each time, with their derivatives. False if they have no
// solution, or lead to other loads than those of the step.
bool ImpulseDerivatives::Work::prepare_soft_sides(double eps) {
  constexpr double same = 1e-4;
  const ContactRows& rows = step->rows;
  std::vector<double> lam, velocities, change, limit(rows.lam.size(), 0.0);
  VectorX shift(nv);
  for (int side = 0; side < SoftLimit::sides; ++side) {
    const double own = eps * (1 << side);
    soft.softness[side] = soft.softness[0];
    for (double& each : soft.softness[side]) each = each > 0.0 ? own : 0.0;
    if (!solve_softly(own, soft.modes, lam, velocities)) return false;
    if (!soft.side[side]) soft.side[side] = std::make_unique<Shifted>(*model, *step);
    Shifted& there = *soft.side[side];
    there.take(*data, *step);
    there.step.rows.lam = lam;
    there.step.rows.sigma = velocities;
    change = lam;
    for (size_t i = 0; i < lam.size(); ++i) {
      change[i] -= rows.lam[i];
      limit[i] += weights[side] * lam[i];
    }
    shift.setZero();
    rows.add_impulses(change.data(), shift);
    solve_mass_matrix(*model, *data, shift);
    there.step.v_next += shift;
    Work& inner = *there.derivatives.work_;
    inner.wants_choice = false;
    inner.given_modes = &soft.modes;
    inner.softness = soft.softness[side];
    inner.weight_rates = &soft.weight_rates;
    if (!there.derivatives.prepare(*model, there.data, there.step, settings)) return false;
  }
  double largest = 0.0, off = 0.0;
  for (size_t i = 0; i < limit.size(); ++i) {
    largest = std::max(largest, std::abs(rows.lam[i]));
    off = std::max(off, std::abs(limit[i] - rows.lam[i]));
  }
  return off <= same * largest;
}

// False if there is no need for it, or soft laws lead elsewhere.
bool ImpulseDerivatives::Work::find_soft_limit(bool with_parameters, bool of_yielding) {
  const ContactRows& rows = step->rows;
  soft.active = false;
  soft.columns_found = 0;
  soft.softness[0].assign(rows.islands().size(), 0.0);
  bool yields = false;
  soft.whole = false;
  for (size_t k = 0; k < rows.islands().size(); ++k) {
    if (laws[k].regular()) continue;
    // Slack that the state does not feel is less than what extrapolation leaves, some 1e-9.
    if (laws[k].grants_slack(false)) {
      soft.softness[0][k] = 1.0;
      soft.whole |= laws[k].slack_slides() && !laws[k].slack_is_least();
    }
    if (!laws[k].slides() || laws[k].find_choices() == 0) continue;
    soft.softness[0][k] = 1.0;
    yields |= laws[k].turns_yielding();
  }
  soft.modes = modes;
  yields = yields && mark_yielding(rows, soft.modes);
  if (!(yields && of_yielding) && !soft.whole) return false;
  soft.active =
      std::any_of(std::begin(hard), std::end(hard), [&](double eps) { return prepare_soft_sides(eps); }) &&
      find_weight_rates(with_parameters);
  if (soft.active && !soft.whole) find_soft_ways();
  return soft.active;
}

// dw: on entry that of the hard laws.
void ImpulseDerivatives::Work::soft_along(const ConstVectorRef& dz, VectorRef dw) {
  if (soft.ways.cols() == 0 && !soft.whole) return;
  VectorX dv = -dw.head(nv), each(dw.size());
  for (int side = 0; side < SoftLimit::sides; ++side) {
    ImpulseDerivatives& there = soft.side[side]->derivatives;
    there.residual_along(dz, each);
    there.solve(each);
    dv -= weights[side] * each.head(nv);
  }
  if (soft.whole)
    dw.head(nv) += dv;
  else
    dw += soft.ways * (soft.measure * dv);
}

// What soft laws say of the choices by the first inputs, up to the controls or the forces: Z_v^+ D, or all of
// D. Of few choices, products with the derivatives of soft laws are cheaper than the derivatives.
void ImpulseDerivatives::Work::find_soft_columns(int inputs) {
  if (soft.columns_found >= inputs) return;
  soft.columns_found = inputs;
  constexpr int few = 3;
  const int many = static_cast<int>(soft.ways.cols());
  soft.columns.setZero(soft.whole ? nv : many, inputs);
  if (!soft.whole && many <= few) {
    VectorX y(nv + step->rows.size()), part(residual.inputs().size);
    for (int k = 0; k < many; ++k) {
      for (int side = 0; side < SoftLimit::sides; ++side) {
        soft_product(side, soft.measure.row(k).transpose(), false, y, part);
        soft.columns.row(k) += weights[side] * part.head(inputs).transpose();
      }
    }
    return;
  }
  for (int side = 0; side < SoftLimit::sides; ++side) {
    Work& there = *soft.side[side]->derivatives.work_;
    there.by_control = true;
    there.by_force = inputs > residual.inputs().force;
    there.velocity_columns();
    if (soft.whole)
      soft.columns += weights[side] * there.blocks.leftCols(inputs);
    else
      soft.columns += weights[side] * (soft.measure * there.blocks.leftCols(inputs));
  }
}

// The same as soft_along for all columns; blocks holds dv+ of the hard laws.
void ImpulseDerivatives::Work::soft_columns() {
  if (soft.ways.cols() == 0 && !soft.whole) return;
  find_soft_columns(by_force ? residual.inputs().wrench : residual.inputs().force);
  for_each_part_of_columns([&](int column, int input, int count) {
    auto own = blocks.middleCols(column, count);
    const auto softly = soft.columns.middleCols(input, count);
    if (soft.whole)
      own = softly;
    else
      own += soft.ways.topRows(nv) * (softly - RowMatrix(soft.measure * own));
  });
}

// part = (dv+/dz)^T v_bar of soft laws.
void ImpulseDerivatives::Work::soft_product(int side, const ConstVectorRef& v_bar, bool with_parameters,
                                            VectorX& y, VectorX& part) {
  ImpulseDerivatives& there = soft.side[side]->derivatives;
  there.want_parameters(with_parameters);
  y.setZero();
  y.head(nv) = v_bar;
  there.solve_transposed(y);
  part.head(used_inputs(with_parameters)).setZero();
  there.residual_against(y, part);
}

// z_bar -= (dr/dz)^T (dr/dw)^-T (the part of w_bar that is felt by soft laws); on return w_bar is the rest.
// By the first inputs it is a product with the columns, so that Jacobians and products are one to rounding:
// products with soft laws have some nine digits in common.
void ImpulseDerivatives::Work::soft_against(VectorRef w_bar, VectorRef z_bar) {
  if (soft.ways.cols() == 0 && !soft.whole) return;
  find_soft_columns(residual.inputs().force);
  const VectorX felt = soft.whole ? VectorX(w_bar.head(nv)) : VectorX(soft.ways.transpose() * w_bar);
  const VectorX v_bar = soft.whole ? felt : VectorX(soft.measure.transpose() * felt);
  const int first = residual.inputs().force, others = used_inputs(wants_parameters) - first;
  VectorX y(w_bar.size()), part(z_bar.size());
  for (int side = 0; side < SoftLimit::sides; ++side) {
    soft_product(side, v_bar, wants_parameters, y, part);
    z_bar.segment(first, others) += weights[side] * part.segment(first, others);
  }
  z_bar.head(first) += soft.columns.leftCols(first).transpose() * felt;
  w_bar.head(nv) -= v_bar;
}

// Soft velocities change with the weights: dsigma += eps dR lam.
void ImpulseDerivatives::Work::add_softening_along(const ConstVectorRef& dz) {
  if (softness.empty()) return;
  const ContactRows& rows = step->rows;
  for (size_t k = 0; k < rows.items().size(); ++k) {
    const Item& item = rows.items()[k];
    if (!softly(item.island)) continue;
    const double rate = softness[item.island] *
                        weight_rates->row(static_cast<Eigen::Index>(k)).dot(dz.head(weight_rates->cols()));
    const int n = rows.row_of(item);
    for (int i = n; i < n + item.rows; ++i) dsigma[i] += rate * rows.lam[i];
  }
}

// The same for all columns.
void ImpulseDerivatives::Work::add_softening_columns() {
  if (softness.empty()) return;
  const ContactRows& rows = step->rows;
  for (size_t k = 0; k < rows.items().size(); ++k) {
    const Item& item = rows.items()[k];
    if (!softly(item.island)) continue;
    const int n = rows.row_of(item);
    const auto rate = weight_rates->row(static_cast<Eigen::Index>(k));
    for (int i = n; i < n + item.rows; ++i) {
      if (rows.lam[i] == 0.0) continue;
      for_each_part_of_columns([&](int column, int input, int count) {
        row_columns.row(i).segment(column, count) +=
            softness[item.island] * rows.lam[i] * rate.segment(input, count);
      });
    }
  }
}

void ImpulseDerivatives::Work::add_softening_against(VectorRef z_bar) const {
  if (softness.empty()) return;
  const ContactRows& rows = step->rows;
  for (size_t k = 0; k < rows.items().size(); ++k) {
    const Item& item = rows.items()[k];
    if (!softly(item.island)) continue;
    const int n = rows.row_of(item);
    double share = 0.0;
    for (int i = n; i < n + item.rows; ++i) share += dsigma[i] * rows.lam[i];
    z_bar.head(weight_rates->cols()) +=
        softness[item.island] * share * weight_rates->row(static_cast<Eigen::Index>(k)).transpose();
  }
}

}  // namespace articula
