#include "contact_parameters.hpp"

#include "articula/math/lie.hpp"

namespace articula {

void ContactParameterRates::prepare(const Model& model, const Data& data, const ImpulseWork& work,
                                    const ImpulseSettings& settings, ContactRates& rates,
                                    const std::vector<LawSystem>& laws) {
  model_ = &model;
  data_ = &data;
  work_ = &work;
  settings_ = settings;
  rates_ = &rates;
  laws_ = &laws;
  listed_ = false;
}

void ContactParameterRates::list_terms() {
  if (listed_) return;
  listed_ = true;
  row_terms_.clear();
  force_terms_.clear();
  geometry_terms_.clear();
  rates_->complete();
  const int count = static_cast<int>(rates_->touches().size());
  for (int i = 0; i < count; ++i) contact_terms(i);
  for (const Item& item : work_->rows.items()) {
    if (item.kind != RowKind::contact) limit_terms(item);
  }
}

// ------------------------------------------------------------------ contacts

namespace {

constexpr int friction_slot[5] = {0, 0, 1, 2, 2};  // of slip, spin and roll among a geometry's coefficients

// Where a number that two geometries mix comes from. The larger one holds; where both are equal either could,
// and the derivative is the mean of the two sides.
struct Shares {
  int theta[2];
  double weight[2];
};

Shares mixed(const Model& model, const collision::Colliders& colliders, const collision::ColliderPair& pair,
             int GeometryIndex::* number, int slot) {
  const int geometry[2] = {colliders.list()[pair.a].geometry, colliders.list()[pair.b].geometry};
  const auto& described = model.description().geometries;
  const auto& index = model.structure().geometries;
  Shares shares{{index[geometry[0]].*number + slot, index[geometry[1]].*number + slot}, {0.0, 0.0}};
  const int priority = described[geometry[0]].priority - described[geometry[1]].priority;
  const double difference = model.theta()[shares.theta[0]] - model.theta()[shares.theta[1]];
  if (priority == 0 && difference == 0.0)
    shares.weight[0] = shares.weight[1] = 0.5;
  else
    shares.weight[priority > 0 || (priority == 0 && difference > 0.0) ? 0 : 1] = 1.0;
  return shares;
}

}  // namespace

void ContactParameterRates::add_mixed_row(int row, double sigma, double rho,
                                          const collision::ColliderPair& pair, int GeometryIndex::* number,
                                          int slot) {
  const Shares shares = mixed(*model_, work_->colliders, pair, number, slot);
  for (int i = 0; i < 2; ++i) {
    if (shares.weight[i] != 0.0)
      row_terms_.push_back({shares.theta[i], row, shares.weight[i] * sigma, shares.weight[i] * rho});
  }
}

void ContactParameterRates::contact_terms(int index) {
  const ContactRates::Touch& touch = rates_->touches()[index];
  const Item& item = work_->rows.items()[touch.item];
  const collision::ContactParameters p =
      work_->colliders.parameters(*model_, work_->contacts.list[item.index].pair);
  const Structure& s = model_->structure();
  const double h = settings_.dt;
  // s_N = phi / h, or e (J v)_N
  if (item.bias == BiasMode::gap) row_terms_.push_back({s.timestep, touch.row, -item.phi / (h * h), 0.0});
  if (item.bias == BiasMode::bounce)
    add_mixed_row(touch.row, dot(touch.frame.n, touch.u_before), 0.0, work_->contacts.list[item.index].pair,
                  &GeometryIndex::restitution, 0);
  friction_terms(item, touch, p);
  shape_terms(index);
}

// bounded   lam_t -+ mu lam_N = 0:                rho = ± dmu lam_N
// yielding  the same, and sigma_N ± mu sigma_t = 0: rho = -+ dmu sigma_t, not zero where laws are soft
// sliding   lam_i + mu_i lam_N w_i / |w| = 0:     rho = -dmu_i lam_N d_i - (lam_N / |w|) mu o P (dmu o sigma)
// yielding  the same, and sigma_N - |w| = 0:      rho = d . (dmu o sigma)
void ContactParameterRates::friction_terms(const Item& item, const ContactRates::Touch& touch,
                                           const collision::ContactParameters& p) {
  const collision::ColliderPair& pair = work_->contacts.list[item.index].pair;
  if (pair.written >= 0) return;
  const LawSystem& law = (*laws_)[item.island];
  const Island& island = work_->rows.islands()[item.island];
  const Block& block = work_->rows.block(item);
  const double normal = work_->rows.lam[touch.row];
  int row = touch.row + 1;
  for (int i = 0, t = 0; i + 1 < p.condim; ++i) {
    if (!(p.friction[i] > 0.0)) continue;
    const auto add = [&](int to, double rho) {
      add_mixed_row(to, 0.0, rho, pair, &GeometryIndex::friction, friction_slot[i]);
    };
    const RowMode mode = law.mode()[row - island.row_begin];
    const bool upper = mode == RowMode::upper || mode == RowMode::yield_upper;
    const bool lower = mode == RowMode::lower || mode == RowMode::yield_lower;
    if (upper || lower) add(row, upper ? normal : -normal);
    if (mode == RowMode::yield_upper) add(touch.row, -work_->rows.sigma[row]);
    if (mode == RowMode::yield_lower) add(touch.row, work_->rows.sigma[row]);
    if (mode == RowMode::slide || mode == RowMode::yield) {
      const SlideState& slide = law.slide(item.block);
      const double sigma = work_->rows.sigma[row], factor = slide.normal / slide.speed;
      if (mode == RowMode::yield) add(touch.row, slide.d[t] * sigma);
      for (int k = 0; k < block.tangents(); ++k) {
        double rho = factor * block.mu[k] * slide.d[k] * slide.d[t] * sigma;
        if (k == t) rho -= normal * slide.d[t] + factor * block.mu[t] * sigma;
        add(touch.row + 1 + k, rho);
      }
    }
    ++row;
    ++t;
  }
}

void ContactParameterRates::friction_against(const Item& contact, const double* mu_bar,
                                             double* theta_bar) const {
  const collision::ColliderPair& pair = work_->contacts.list[contact.index].pair;
  if (pair.written >= 0) return;
  const collision::ContactParameters p = work_->colliders.parameters(*model_, pair);
  for (int i = 0, t = 0; i + 1 < p.condim; ++i) {
    if (!(p.friction[i] > 0.0)) continue;
    const Shares shares = mixed(*model_, work_->colliders, pair, &GeometryIndex::friction, friction_slot[i]);
    for (int k = 0; k < 2; ++k) theta_bar[shares.theta[k]] += shares.weight[k] * mu_bar[t];
    ++t;
  }
}

void ContactParameterRates::shape_terms(int index) {
  const ContactRates::Touch& touch = rates_->touches()[index];
  const Item& item = work_->rows.items()[touch.item];
  const collision::Contact& contact = work_->contacts.list[item.index];
  const auto& colliders = work_->colliders.list();
  const Placement at[2] = {collision::collider_placement(work_->colliders, *data_, contact.pair.a),
                           collision::collider_placement(work_->colliders, *data_, contact.pair.b)};
  const int pair[2] = {contact.pair.a, contact.pair.b};
  const collision::SizeDerivatives sizes = collision::differentiate_sizes(
      colliders[pair[0]].shape, at[0], colliders[pair[1]].shape, at[1], contact.point);
  for (int side = 0; side < 2; ++side) {
    const collision::Collider& collider = colliders[pair[side]];
    const GeometryIndex& geometry = model_->structure().geometries[collider.geometry];
    for (int i = 0; i < geometry.size_count; ++i)
      geometry_terms_.push_back({geometry.size + i, index, sizes.size[3 * side + i]});
    // The shape moves on its body: position in the body's axes, quaternion as a turn in its own.
    const Mat3 body_axes = data_->link_R[collider.link] * model_->constants().body_in_link[geometry.body].R;
    const collision::ContactRate* motion = touch.rate->motion + 6 * side;
    const auto add = [&](int theta, Vec3 turn, Vec3 shift) {
      const Vec3 at_contact = shift + cross(turn, touch.p - at[side].p);
      GeometryTerm term{theta, index, {}};
      for (int k = 0; k < 3; ++k) {
        for (const auto& [rate, x] :
             {std::pair(motion + k, turn[k]), std::pair(motion + 3 + k, at_contact[k])}) {
          term.rate.position += rate->position * x;
          term.rate.normal += rate->normal * x;
          term.rate.distance += rate->distance * x;
        }
      }
      geometry_terms_.push_back(term);
    };
    for (int k = 0; k < 3; ++k) add(geometry.placement + k, Vec3(), body_axes.column(k));
    for (int k = 0; k < 4; ++k) {
      double change[4] = {};
      change[k] = 1.0;
      const Vec3 turn = quaternion_turn(model_->theta().data() + geometry.placement + 3, change);
      add(geometry.placement + 3 + k, at[side].R * turn, Vec3());
    }
  }
}

// ------------------------------------------------------------------ limits, dry friction, couplings

void ContactParameterRates::limit_terms(const Item& item) {
  const Structure& s = model_->structure();
  const double h = settings_.dt;
  const int row = work_->rows.row_of(item);
  const bool follows =
      item.kind == RowKind::equality ? rates_->follows(item, item.phi) : item.bias == BiasMode::gap;
  const double slope = follows ? 1.0 / h : 0.0;
  const bool joined = item.kind == RowKind::equality && item.rows >= 3;
  if (slope != 0.0 && !joined) row_terms_.push_back({s.timestep, row, -item.phi / (h * h), 0.0});
  const RowMode mode = work_->rows.mode[row];
  const double sign = mode == RowMode::upper ? 1.0 : mode == RowMode::lower ? -1.0 : 0.0;
  switch (item.kind) {
    case RowKind::dry_friction: {
      const int joint = s.dofs[item.index].joint;
      row_terms_.push_back({s.joints[joint].dry_friction, row, 0.0, sign * h});
      row_terms_.push_back({s.timestep, row, 0.0, sign * model_->constants().dry_friction[item.index]});
      return;
    }
    case RowKind::tendon_friction: {
      const int theta = s.tendons[item.index].dry_friction;
      row_terms_.push_back({theta, row, 0.0, sign * h});
      row_terms_.push_back({s.timestep, row, 0.0, sign * model_->theta()[theta]});
      tendon_terms(item, item.index, 1.0, 0.0);
      return;
    }
    case RowKind::joint_limit: {
      const int range = s.joints[item.index].range;
      row_terms_.push_back({range + (item.upper ? 1 : 0), row, item.upper ? slope : -slope, 0.0});
      return;
    }
    case RowKind::tendon_limit: tendon_terms(item, item.index, item.upper ? -1.0 : 1.0, slope); return;
    case RowKind::equality:
    case RowKind::contact: break;
  }
  if (!joined) {
    const EqualityConstraint& equality = work_->constraints.equalities[item.index];
    if (equality.type == EqualityType::tendon) tendon_terms(item, equality.one, 1.0, slope);
    return;
  }
  for (int part = 0; part < item.rows / 3; ++part) {
    const Vec3 phi = rates_->join_error(row + 3 * part);
    if (!rates_->follows(item, norm(phi))) continue;
    for (int i = 0; i < 3; ++i)
      row_terms_.push_back({s.timestep, row + 3 * part + i, -phi[i] / (h * h), 0.0});
  }
}

// Length and moment arms are linear in the coefficients: dsigma = sign (v+_j + slope q_j) dc_j.
void ContactParameterRates::tendon_terms(const Item& item, int index, double sign, double slope) {
  const Structure& s = model_->structure();
  const int row = work_->rows.row_of(item);
  const TendonIndex& tendon = s.tendons[index];
  for (size_t k = 0; k < tendon.joints.size(); ++k) {
    const JointIndex& joint = s.joints[tendon.joints[k]];
    const int theta = tendon.coefficients + static_cast<int>(k);
    row_terms_.push_back(
        {theta, row, sign * (work_->v_next[joint.dof] + slope * work_->free.q[joint.q]), 0.0});
    force_terms_.push_back({theta, joint.dof, sign * work_->rows.lam[row]});
  }
}

// ------------------------------------------------------------------ products

void ContactParameterRates::along(const double* dtheta, Force* dF, double* dsigma, double* rho,
                                  double* dtau) {
  list_terms();
  for (const RowTerm& term : row_terms_) {
    dsigma[term.row] += term.sigma * dtheta[term.theta];
    rho[term.row] += term.rho * dtheta[term.theta];
  }
  for (const ForceTerm& term : force_terms_) dtau[term.dof] += term.factor * dtheta[term.theta];
  for (const GeometryTerm& term : geometry_terms_) {
    const double x = dtheta[term.theta];
    if (x == 0.0) continue;
    rates_->geometry_along(rates_->touches()[term.touch],
                           {term.rate.position * x, term.rate.normal * x, term.rate.distance * x}, dF,
                           dsigma);
  }
}

void ContactParameterRates::against(const Motion* Y, const double* sigma_bar, const double* rho_bar,
                                    const double* tau_bar, double* theta_bar) {
  list_terms();
  for (const RowTerm& term : row_terms_)
    theta_bar[term.theta] += term.sigma * sigma_bar[term.row] + term.rho * rho_bar[term.row];
  for (const ForceTerm& term : force_terms_) theta_bar[term.theta] += term.factor * tau_bar[term.dof];
  int last = -1;
  collision::ContactRate bar;
  for (const GeometryTerm& term : geometry_terms_) {
    if (term.touch != last)
      bar = rates_->geometry_against(rates_->touches()[last = term.touch], Y, sigma_bar);
    theta_bar[term.theta] += dot(term.rate.position, bar.position) + dot(term.rate.normal, bar.normal) +
                             term.rate.distance * bar.distance;
  }
}

}  // namespace articula
