// Whether the modes that are held could follow a change: directions and parameters that have no derivative.

#include <algorithm>
#include <cmath>
#include <limits>

#include "articula/dynamics/crba.hpp"
#include "impulse_work.hpp"

namespace articula {

// ------------------------------------------------------------------ friction at its bound that stands still

// One of two parallel tangents (contact/overruled.hpp): its impulse is held, and it stands still because the
// other one does. What would make it slide would make it slide both ways.
bool ImpulseDerivatives::Work::yields(int row) const {
  return modes[row] == RowMode::yield_upper || modes[row] == RowMode::yield_lower;
}

// dsigma = J dv+ + (explicit change, left in `dsigma` by residual_along)
void ImpulseDerivatives::Work::note_yielding(const ConstVectorRef& dw) {
  not_followed = 0.0;
  const ContactRows& rows = step->rows;
  if (std::none_of(modes.begin(), modes.end(), [](RowMode m) { return m >= RowMode::yield; })) return;
  chosen = dw.head(nv);
  rows.velocities(chosen, c.data());
  double largest = 0.0, slides = 0.0;
  for (int i = 0; i < rows.size(); ++i) {
    if (modes[i] == RowMode::free) continue;
    largest = std::max({largest, std::abs(c[i]), std::abs(dsigma[i])});
    if (yields(i)) slides = std::max(slides, std::abs(c[i] + dsigma[i]));
  }
  if (slides > 0.0) not_followed = slides / largest;
}

// ------------------------------------------------------------------ parameters

namespace {

// Largest |z_i| over scale_i among the inputs asked for.
double largest_share(const VectorX& z, const VectorX& scale, int theta,
                     const std::vector<ParameterSlice>& parameters) {
  double share = 0.0;
  for (const ParameterSlice& slice : parameters) {
    for (int i = theta + slice.offset; i < theta + slice.offset + slice.size; ++i) {
      if (z[i] != 0.0) share = std::max(share, std::abs(z[i]) / std::max(std::abs(z[i]), scale[i]));
    }
  }
  return share;
}

// Whether one of these places a kinematic body that spins where it is: of that slots know nothing.
bool places_what_spins(const Model& model, const Data& data, const std::vector<ParameterSlice>& parameters) {
  return std::any_of(
      model.structure().bodies.begin(), model.structure().bodies.end(), [&](const BodyIndex& body) {
        if (body.kinematic < 0 || !data.kinematic_placed[body.kinematic]) return false;
        if (squared_norm(data.kinematic_twist[body.kinematic].angular) == 0.0) return false;
        return std::any_of(parameters.begin(), parameters.end(), [&](const ParameterSlice& slice) {
          return slice.offset <= body.placement && body.placement < slice.offset + slice.size;
        });
      });
}

}  // namespace

// Rows that depend on others: with (dr/dw)^T y = 0 a change dz is followed if y . (dr/dz) dz = 0; what the
// terms of this sum amount to is known from the same with other signs. Tangents that were left out, and
// friction that yields: dsigma = 0.
void ImpulseDerivatives::examine(const std::vector<ParameterSlice>& parameters) {
  Work& w = *work_;
  const ContactRows& rows = w.step->rows;
  const int nv = w.nv, theta = layout().theta;
  w.cannot_follow = 0.0;
  w.law_begins = !w.relabelled && w.contact_law_begins(parameters);
  if (w.relabelled || parameters.empty()) return;
  if (places_what_spins(*w.model, *w.data, parameters)) w.cannot_follow = 1.0;
  VectorX y(unknowns()), z(layout().size), scale(layout().size);
  std::vector<double> c_bar(rows.size()), rho_bar(rows.size());
  const auto against = [&](VectorX& to) {
    y.head(nv).setZero();
    w.scratch.setZero();
    rows.add_impulses(c_bar.data(), w.scratch);
    solve_mass_matrix(*w.model, *w.data, w.scratch);
    y.head(nv) = w.scratch;
    std::copy(rho_bar.begin(), rho_bar.end(), y.data() + nv);
    to.setZero();
    w.examines = true;
    residual_against(y, to);
    w.examines = false;
  };
  for (size_t k = 0; k < rows.islands().size(); ++k) {
    if (w.laws[k].regular()) continue;
    std::fill(c_bar.begin(), c_bar.end(), 0.0);
    std::fill(rho_bar.begin(), rho_bar.end(), 0.0);
    const int begin = rows.islands()[k].row_begin;
    w.laws[k].null_covectors(c_bar.data() + begin, rho_bar.data() + begin);
    against(z);
    scale.setZero();
    VectorX other(z.size());
    for (const int period : {2, 3}) {
      for (int i = 0; i < rows.size(); ++i) {
        if (i % period == 0) c_bar[i] = -c_bar[i], rho_bar[i] = -rho_bar[i];
      }
      against(other);
      scale = scale.cwiseMax(other.cwiseAbs());
    }
    w.cannot_follow = std::max(w.cannot_follow, largest_share(z, scale, theta, parameters));
  }
  // to += (explicit changes of velocities)^T bar
  const auto add_explicit = [&](const std::vector<double>& bar, VectorX& to) {
    std::fill(w.rho.begin(), w.rho.end(), 0.0);
    w.dsigma = bar;
    w.scratch.setZero();
    w.rates_against(w.scratch.data(), to);
  };
  // All that were left out together, weighted so that none cancel; and their contacts' normals, for the
  // scale.
  std::fill(c_bar.begin(), c_bar.end(), 0.0);
  std::fill(rho_bar.begin(), rho_bar.end(), 0.0);
  double weight = 1.0;
  bool any = false;
  for (size_t k = 0; k < rows.islands().size(); ++k) {
    const int begin = rows.islands()[k].row_begin;
    for (const LawSystem::LeftOut& out : w.laws[k].left_out()) {
      any = true;
      rho_bar[begin + out.normal] = rho_bar[begin + out.row] = weight;
      c_bar[begin + out.row] += weight;
      if (out.ratio != 0.0) c_bar[begin + out.row - 1] -= weight * out.ratio;
      weight = weight > 1.6 ? weight - 0.6180339887 : weight + 0.3819660113;
    }
  }
  if (any) {
    z.setZero();
    scale.setZero();
    add_explicit(c_bar, z);
    add_explicit(rho_bar, scale);
    scale = scale.cwiseAbs().eval();
    w.cannot_follow = std::max(w.cannot_follow, largest_share(z, scale, theta, parameters));
  }
  for (int row = 0; row < rows.size(); ++row) {
    if (!w.yields(row)) continue;
    std::fill(c_bar.begin(), c_bar.end(), 0.0);
    c_bar[row] = 1.0;
    y.setZero();
    w.scratch.setZero();
    rows.add_impulses(c_bar.data(), w.scratch);
    y.head(nv) = w.scratch;
    solve_transposed(y);
    z.setZero();
    residual_against(y, z);
    scale = z.cwiseAbs();
    add_explicit(c_bar, z);
    w.cannot_follow = std::max(w.cannot_follow, largest_share(z, scale, theta, parameters));
  }
}

// ------------------------------------------------------------------ what touches and carries nothing

// Contacts, and ends of ranges. They part on one side, and carry something on the other; unless others keep
// them from moving, as they do with the corners of a box: then a push at the contact does not move it.
// What carries so little that any difference would take it away carries nothing.
bool ImpulseDerivatives::Work::touches_idly() {
  constexpr double counts = 1e-9, touching = 1e-9, nothing = 1e-11;
  if (relabelled) return false;
  const ContactRows& rows = step->rows;
  for (const Item& item : rows.items()) {
    const int row = rows.row_of(item), n = rows.block(item).first;
    const ContactProblem& problem = laws[item.island].problem();
    const bool one_sided = item.kind == RowKind::contact || item.kind == RowKind::joint_limit ||
                           item.kind == RowKind::tendon_limit;
    if (!one_sided || problem.g(n, n) * rows.lam[row] > nothing * problem.velocity_scale) continue;
    if (std::abs(rows.sigma[row]) > touching * problem.velocity_scale) continue;
    if (modes[row] != RowMode::free) return true;
    std::fill(dlam.begin(), dlam.end(), 0.0);
    dlam[row] = 1.0;
    scratch.setZero();
    rows.add_impulses(dlam.data(), scratch);
    chosen.setZero(nv + rows.size());
    chosen.head(nv) = scratch;
    solve_aside(chosen);
    scratch = chosen.head(nv);
    rows.velocities(scratch, dlam.data());
    if (std::abs(dlam[row]) > counts * problem.g(n, n)) return true;
  }
  return false;
}

// ------------------------------------------------------------------ features that tie

namespace {

// How many of a box's coordinates are at their ends: one on a face, two on an edge, three in a corner. More
// than its feature says: a corner of the other shape is over an edge, or edges cross in a corner, and which
// of the two the contact follows is a choice.
bool on_edge(const collision::Shape& shape, const Placement& at, Vec3 point, collision::FeatureKind kind) {
  constexpr double noise = 1e-9;
  if (shape.type != ShapeType::box || kind == collision::FeatureKind::point) return false;
  const Vec3 x = transpose_times(at.R, point - at.p);
  const double size = std::max({shape.size[0], shape.size[1], shape.size[2]});
  int ends = 0;
  for (int i = 0; i < 3; ++i) ends += std::abs(std::abs(x[i]) - shape.size[i]) <= noise * size;
  return ends > (kind == collision::FeatureKind::face ? 1 : 2);
}

}  // namespace

// Whether it makes a difference to the motion where contacts go whose features tie. Many do not: four corners
// that hold a box may be moved about below it.
bool ImpulseDerivatives::Work::ties_matter() {
  constexpr double counts = 1e-9;
  if (relabelled) return false;
  const ContactRows& rows = step->rows;
  for (const ContactRates::Touch& t : rates.touches()) {
    const collision::Contact& contact = step->contacts.list[rows.items()[t.item].index];
    const auto tied = [&](int collider, double side, collision::FeatureKind kind) {
      const collision::Collider& of = step->colliders.list()[collider];
      const Placement link{data->link_R[of.link], data->link_reference[of.link] + data->link_r[of.link]};
      return on_edge(of.shape, link * of.in_link, t.p + t.frame.n * (side * contact.point.distance), kind);
    };
    if (!tied(contact.pair.a, -0.5, contact.point.feature_a.kind) &&
        !tied(contact.pair.b, 0.5, contact.point.feature_b.kind))
      continue;
    for (const Vec3& way : {t.frame.t1, t.frame.t2}) {
      if (shift_matters(t, way, counts)) return true;
    }
  }
  return false;
}

// Without a trace in what is said about the last right-hand side.
void ImpulseDerivatives::Work::solve_aside(VectorX& r) {
  std::vector<double> noted;
  for (size_t k = 0; k < step->rows.islands().size(); ++k) noted.push_back(laws[k].inconsistency());
  solve(r);
  for (size_t k = 0; k < noted.size(); ++k) laws[k].note_inconsistency(noted[k]);
}

// |dv+| against what the change of the contact's wrench would do without contacts.
bool ImpulseDerivatives::Work::shift_matters(const ContactRates::Touch& t, Vec3 way, double counts) {
  const ContactRows& rows = step->rows;
  std::fill(dF.begin(), dF.end(), Force{});
  std::fill(dsigma.begin(), dsigma.end(), 0.0);
  std::fill(rho.begin(), rho.end(), 0.0);
  rates.geometry_along(t, {way, {}, 0.0}, dF.data(), dsigma.data());
  chosen.setZero(nv + rows.size());
  add_projected(dF, 1.0, chosen.data());
  scratch = chosen.head(nv);
  solve_mass_matrix(*model, *data, scratch);
  const double freely_moved = scratch.cwiseAbs().maxCoeff();
  for (size_t k = 0; k < rows.islands().size(); ++k) {
    const int begin = rows.islands()[k].row_begin;
    laws[k].add_explicit(dsigma.data() + begin, rho.data() + begin);
  }
  std::copy(rho.begin(), rho.end(), chosen.data() + nv);
  solve_aside(chosen);
  return chosen.head(nv).cwiseAbs().maxCoeff() > counts * freely_moved;
}

}  // namespace articula
