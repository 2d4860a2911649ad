#include "contact_rates.hpp"

#include "articula/math/lie.hpp"

namespace articula {

namespace {

using collision::ContactRate;

// Columns of three rates at a time.
Vec3 sum3(const ContactRate* rate, Vec3 x, Vec3 ContactRate::* part) {
  return rate[0].*part * x[0] + rate[1].*part * x[1] + rate[2].*part * x[2];
}
double sum3(const ContactRate* rate, Vec3 x) {
  return rate[0].distance * x[0] + rate[1].distance * x[1] + rate[2].distance * x[2];
}
Vec3 transposed3(const ContactRate* rate, Vec3 dp, Vec3 dn, double dphi) {
  const auto one = [&](const ContactRate& r) {
    return dot(r.position, dp) + dot(r.normal, dn) + r.distance * dphi;
  };
  return {one(rate[0]), one(rate[1]), one(rate[2])};
}

const Vec3& axis_of(const collision::ContactFrame& frame, int axis) {
  return axis == 0 ? frame.n : axis == 1 ? frame.t1 : frame.t2;
}

}  // namespace

Motion ContactRates::velocity(const Data& data, int body) const {
  return body == 0 ? Motion{} : data.link_v[model_->structure().bodies[body].link];
}

void ContactRates::prepare(const Model& model, const Data& before, const Data& after, const ImpulseWork& work,
                           const ImpulseSettings& settings, const std::vector<RowMode>& modes) {
  model_ = &model;
  before_ = &before;
  after_ = &after;
  work_ = &work;
  settings_ = settings;
  h_ = settings.dt;
  one_sided_ = complete_ = false;
  touches_.clear();
  joins_.clear();
  scalars_.clear();
  bodies_.clear();
  const auto& items = work.rows.items();
  if (room_.size() < items.size()) room_.resize(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    const bool bodies = items[i].kind == RowKind::equality && items[i].rows >= 3;
    if (!bodies && modes[work.rows.row_of(items[i])] == RowMode::free) continue;
    if (items[i].kind == RowKind::contact)
      add_touch(items[i], static_cast<int>(i));
    else if (bodies)
      add_join(items[i]);
    else
      add_scalar(items[i]);
  }
}

void ContactRates::add_touch(const Item& item, int index) {
  const Structure& s = model_->structure();
  const collision::Contact& contact = work_->contacts.list[item.index];
  Touch& t = touches_.emplace_back();
  t.rate = &room_[touches_.size() - 1];
  t.item = index;
  t.row = work_->rows.row_of(item);
  t.rows = item.rows;
  const collision::Collider &a = work_->colliders.list()[contact.pair.a],
                            &b = work_->colliders.list()[contact.pair.b];
  const int link_a = a.link, link_b = b.link;
  t.body_a = s.geometries[a.geometry].body;
  t.body_b = s.geometries[b.geometry].body;
  t.moves_a = moved_by_joints(s, t.body_a);
  t.moves_b = moved_by_joints(s, t.body_b);
  if (t.moves_a) list_body(t.body_a);
  if (t.moves_b) list_body(t.body_b);
  t.p = contact.point.position;
  t.r_a = t.p - before_->link_reference[link_a];
  t.r_b = t.p - before_->link_reference[link_b];
  t.frame = work_->rows.frame(item);
  const collision::ContactParameters parameters = work_->colliders.parameters(*model_, contact.pair);
  t.spin_free = work_->rows.any_tangents(item.index);
  if (!t.spin_free) one_sided_ |= collision::near_pole(t.frame.n);
  int row = 1;
  for (int i = 1; i < parameters.condim; ++i) {
    if (!(parameters.friction[i - 1] > 0.0)) continue;
    t.axis[row] = i % 3;
    t.angular[row++] = i >= 3;
  }
  const auto relative = [&](const Data& data, Vec3& u, Vec3& w) {
    const Motion v_a = velocity(data, t.body_a), v_b = velocity(data, t.body_b);
    u = point_velocity(v_b, t.r_b) - point_velocity(v_a, t.r_a);
    w = v_b.angular - v_a.angular;
  };
  relative(*after_, t.u, t.w);
  carry(t, work_->rows.lam.data());
  t.gap_slope = item.bias == BiasMode::gap ? 1.0 / h_ : 0.0;
  t.restitution = parameters.restitution;
  t.bounce = item.bias == BiasMode::bounce ? parameters.restitution : 0.0;
  if (item.bias == BiasMode::bounce) relative(*before_, t.u_before, t.w_before);
  find_motion_rates(t);
}

void ContactRates::carry(Touch& t, const double* lam) {
  t.f = t.m = {};
  for (int i = 0; i < t.rows; ++i) {
    t.lam[i] = lam[t.row + i];
    (t.angular[i] ? t.m : t.f) += axis_of(t.frame, t.axis[i]) * t.lam[i];
  }
}

void ContactRates::carry(const double* lam) {
  for (Touch& t : touches_) carry(t, lam);
  for (Join& j : joins_) j.lam = load3(lam + j.row);
  for (Scalar& scalar : scalars_) scalar.lam = lam[scalar.row];
}

void ContactRates::find_motion_rates(Touch& t) {
  collision::differentiate(work_->colliders, *before_, work_->contacts, work_->rows.items()[t.item].index,
                           t.moves_a, t.moves_b, *t.rate);
  one_sided_ |= t.rate->one_sided;
  if (t.rate->turns) find_frame_rates(t);
}

void ContactRates::find_frame_rates(Touch& t) {
  for (int k = 0; k < 3; ++k) {
    const Vec3 unit = Mat3::identity().column(k);
    const collision::ContactFrame rate = t.spin_free ? collision::cone_frame_rate(t.frame, unit)
                                                     : collision::pyramid_frame_rate(t.frame, unit);
    (&t.t_rate[0].x)[k] = rate.t1;
    (&t.t_rate[1].x)[k] = rate.t2;
  }
}

void ContactRates::complete() {
  if (complete_) return;
  complete_ = true;
  for (Touch& t : touches_) {
    const bool all = t.moves_a && t.moves_b;
    t.moves_a = t.moves_b = true;
    if (!all) find_motion_rates(t);
    if (!t.rate->turns) find_frame_rates(t);
  }
}

bool ContactRates::follows(const Item& item, double error) const {
  return item.bias == BiasMode::gap || std::abs(error) <= h_ * settings_.recovery_speed;
}

void ContactRates::add_join(const Item& item) {
  const Structure& s = model_->structure();
  const EqualityConstraint& equality = work_->constraints.equalities[item.index];
  const auto placed = [&](const Anchor& anchor) {  // from the reference point of its tree
    return Placement{before_->link_R[anchor.link], before_->link_r[anchor.link]} * anchor.in_link;
  };
  const Placement first = placed(equality.first), second = placed(equality.second);
  const Vec3 between =
      before_->link_reference[equality.second.link] - before_->link_reference[equality.first.link];
  const Vec3 gap = (second.p - first.p) + between;
  for (int part = 0; part < item.rows / 3; ++part) {
    Join& j = joins_.emplace_back();
    j.row = work_->rows.row_of(item) + 3 * part;
    j.body_a = s.links[equality.first.link].body;
    j.body_b = s.links[equality.second.link].body;
    list_body(j.body_a);
    list_body(j.body_b);
    j.x_a = first.p;
    j.x_b = second.p;
    j.r_a = first.p + gap * 0.5;
    j.r_b = j.r_a - between;
    j.w = velocity(*after_, j.body_b).angular - velocity(*after_, j.body_a).angular;
    j.lam = load3(work_->rows.lam.data() + j.row);
    j.turning = part == 1;
    j.scale = j.turning ? equality.torque_scale : 1.0;
    Vec3 phi = gap * j.scale;
    if (j.turning) {
      // R = R_2 R_1^T:  dR = [w_2 - R w_1]x R,   dlog = Jl^-1(log) (w_2 - R w_1),  Jl(x) = Jr(-x)
      const Mat3 R = second.R * transpose(first.R);
      const Vec3 turn = log_rotation(rotation_quaternion(R));
      phi = turn * j.scale;
      j.phi_by_b = inverse_right_jacobian(-turn) * j.scale;
      j.phi_by_a = j.phi_by_b * R * -1.0;
    }
    j.phi = phi;
    // s = phi / h, or recovery_speed phi / |phi|
    const double error = norm(phi);
    const Vec3 n = error > 0.0 ? phi * (1.0 / error) : Vec3();
    j.slope = follows(item, error) ? Mat3::diagonal(1.0 / h_)
                                   : (Mat3::identity() - outer(n, n)) * (settings_.recovery_speed / error);
  }
}

void ContactRates::add_scalar(const Item& item) {
  const Structure& s = model_->structure();
  Scalar& scalar = scalars_.emplace_back();
  scalar.row = work_->rows.row_of(item);
  scalar.item = static_cast<int>(&item - work_->rows.items().data());
  scalar.lam = work_->rows.lam[scalar.row];
  scalar.slope = item.bias == BiasMode::gap ? 1.0 / h_ : 0.0;
  if (item.kind == RowKind::joint_limit && s.joints[item.index].type == JointType::ball) {
    // a = x/|x|, x = log R:  da = (1 - a a^T) Jr^-1(x) / |x| dq, and j = -a
    const Vec3 turn = log_rotation(load_quaternion(work_->free.q.data() + s.joints[item.index].q));
    const double angle = norm(turn);
    if (angle <= 1e-12) return;
    const Vec3 axis = turn * (1.0 / angle);
    scalar.curve = Scalar::Curve::ball;
    scalar.element = s.joints[item.index].dof;
    scalar.ball = (Mat3::identity() - outer(axis, axis)) * inverse_right_jacobian(turn) * (-1.0 / angle);
    return;
  }
  if (item.kind != RowKind::equality) return;
  const EqualityConstraint& equality = work_->constraints.equalities[item.index];
  scalar.slope = follows(item, item.phi) ? 1.0 / h_ : 0.0;
  if (equality.two < 0) return;
  const bool joint = equality.type == EqualityType::joint;
  double x = -equality.reference_two;
  if (joint) {
    x += work_->free.q[s.joints[equality.two].q];
  } else {
    const double* c = model_->theta().data() + s.tendons[equality.two].coefficients;
    for (int k : s.tendons[equality.two].joints) x += *c++ * work_->free.q[s.joints[k].q];
  }
  const auto& c = equality.polynomial;
  scalar.curvature = -(2.0 * c[2] + x * (6.0 * c[3] + x * 12.0 * c[4]));
  scalar.curve = joint ? Scalar::Curve::joint : Scalar::Curve::tendon;
  scalar.element = joint ? s.joints[equality.two].dof : equality.two;
}

// x . (dj/dq y), symmetric for joints and tendons.
double ContactRates::curved(const Scalar& scalar, const double* x, const double* y) const {
  switch (scalar.curve) {
    case Scalar::Curve::straight: return 0.0;
    case Scalar::Curve::ball: return dot(load3(x + scalar.element), scalar.ball * load3(y + scalar.element));
    case Scalar::Curve::joint: return scalar.curvature * x[scalar.element] * y[scalar.element];
    case Scalar::Curve::tendon: break;
  }
  const TendonIndex& tendon = model_->structure().tendons[scalar.element];
  const double* c = model_->theta().data() + tendon.coefficients;
  double along_x = 0.0, along_y = 0.0;
  for (int k : tendon.joints) {
    along_x += *c * x[model_->structure().joints[k].dof];
    along_y += *c++ * y[model_->structure().joints[k].dof];
  }
  return scalar.curvature * along_x * along_y;
}

// out += factor (dj/dq) x, or its transpose
void ContactRates::add_curved(const Scalar& scalar, const double* x, double factor, bool transposed,
                              double* out) const {
  switch (scalar.curve) {
    case Scalar::Curve::straight: return;
    case Scalar::Curve::ball: {
      const Vec3 turn = load3(x + scalar.element);
      const Vec3 y = (transposed ? transpose_times(scalar.ball, turn) : scalar.ball * turn) * factor;
      for (int i = 0; i < 3; ++i) out[scalar.element + i] += y[i];
      return;
    }
    case Scalar::Curve::joint: out[scalar.element] += factor * scalar.curvature * x[scalar.element]; return;
    case Scalar::Curve::tendon: break;
  }
  const TendonIndex& tendon = model_->structure().tendons[scalar.element];
  const double* c = model_->theta().data() + tendon.coefficients;
  double along = 0.0;
  for (size_t k = 0; k < tendon.joints.size(); ++k)
    along += c[k] * x[model_->structure().joints[tendon.joints[k]].dof];
  for (size_t k = 0; k < tendon.joints.size(); ++k)
    out[model_->structure().joints[tendon.joints[k]].dof] += factor * scalar.curvature * along * c[k];
}

void ContactRates::list_body(int body) {
  for (int listed : bodies_) {
    if (listed == body) return;
  }
  bodies_.push_back(body);
}

// visit(body, wrench on it)
template <class Visit>
void ContactRates::for_each_wrench(const Visit& visit) const {
  for (const Touch& t : touches_) {
    visit(t.body_b, Force{t.m + cross(t.r_b, t.f), t.f});
    visit(t.body_a, Force{-(t.m + cross(t.r_a, t.f)), -t.f});
  }
  for (const Join& j : joins_) {
    if (j.turning) {
      visit(j.body_b, Force{j.lam * j.scale, {}});
      visit(j.body_a, Force{j.lam * -j.scale, {}});
    } else {
      visit(j.body_b, Force{cross(j.r_b, j.lam), j.lam});
      visit(j.body_a, Force{-cross(j.r_a, j.lam), -j.lam});
    }
  }
}

void ContactRates::add_wrenches(WrenchField& field) const {
  for_each_wrench([&](int body, const Force& wrench) { field.own[body] += wrench; });
}

void ContactRates::add_wrenches_on_links(std::vector<Force>& links) const {
  const Structure& s = model_->structure();
  for_each_wrench([&](int body, const Force& wrench) { links[s.bodies[body].link] += wrench; });
}

void ContactRates::add_wrenches(double factor, PosedWrenches& posed) const {
  const Structure& s = model_->structure();
  for_each_wrench([&](int body, const Force& wrench) { posed.add(s.bodies[body].link, wrench * factor); });
}

void ContactRates::geometry_along(const Touch& t, const ContactRate& rate, Force* dF, double* dsigma) const {
  const Vec3 dp = rate.position, dn = rate.normal;
  const Vec3 daxis[3] = {dn, t.t_rate[0] * dn, t.t_rate[1] * dn};
  const Vec3 du = cross(t.w, dp);
  Vec3 df, dm;
  for (int i = 0; i < t.rows; ++i) {
    const Vec3 axis = axis_of(t.frame, t.axis[i]), change = daxis[t.axis[i]];
    (t.angular[i] ? dm : df) += change * t.lam[i];
    dsigma[t.row + i] += t.angular[i] ? dot(change, t.w) : dot(axis, du) + dot(change, t.u);
  }
  dsigma[t.row] +=
      t.gap_slope * rate.distance + t.bounce * (dot(t.frame.n, cross(t.w_before, dp)) + dot(dn, t.u_before));
  const Vec3 turning = cross(dp, t.f) + dm;
  dF[t.body_b] += Force{cross(t.r_b, df) + turning, df};
  dF[t.body_a] -= Force{cross(t.r_a, df) + turning, df};
}

ContactRate ContactRates::geometry_against(const Touch& t, const Motion* Y, const double* sigma_bar,
                                           bool turns) const {
  const Vec3 y = point_velocity(Y[t.body_b], t.r_b) - point_velocity(Y[t.body_a], t.r_a);
  const Vec3 y_turn = Y[t.body_b].angular - Y[t.body_a].angular;
  Vec3 axis_bar[3], u_bar;
  for (int i = 0; i < t.rows; ++i) {
    const double bar = sigma_bar[t.row + i];
    if (turns)
      axis_bar[t.axis[i]] += (t.angular[i] ? y_turn : y) * t.lam[i] + (t.angular[i] ? t.w : t.u) * bar;
    if (!t.angular[i]) u_bar += axis_of(t.frame, t.axis[i]) * bar;
  }
  const double bounce_bar = t.bounce * sigma_bar[t.row];
  const Vec3 position = cross(t.f, y_turn) + cross(u_bar, t.w) + cross(t.frame.n * bounce_bar, t.w_before);
  if (!turns) return {position, {}, t.gap_slope * sigma_bar[t.row]};
  return {position,
          axis_bar[0] + transpose_times(t.t_rate[0], axis_bar[1]) +
              transpose_times(t.t_rate[1], axis_bar[2]) + t.u_before * bounce_bar,
          t.gap_slope * sigma_bar[t.row]};
}

void ContactRates::touch_along(const Touch& t, const BodyRate* bodies, Force* dF, double* dsigma) const {
  const BodyRate &a = bodies[t.body_a], &b = bodies[t.body_b];
  const ContactRate* rate = t.rate->motion;
  const Vec3 x_a = point_velocity(a.Z, t.r_a), x_b = point_velocity(b.Z, t.r_b);
  const auto total = [&](Vec3 ContactRate::* part) {
    return (sum3(rate, a.Z.angular, part) + sum3(rate + 3, x_a, part)) +
           (sum3(rate + 6, b.Z.angular, part) + sum3(rate + 9, x_b, part));
  };
  const double dphi =
      (sum3(rate, a.Z.angular) + sum3(rate + 3, x_a)) + (sum3(rate + 6, b.Z.angular) + sum3(rate + 9, x_b));
  geometry_along(t, {total(&ContactRate::position), total(&ContactRate::normal), dphi}, dF, dsigma);
  const Vec3 du = point_velocity(b.dV, t.r_b) - point_velocity(a.dV, t.r_a);
  const Vec3 dw = b.dV.angular - a.dV.angular;
  for (int i = 0; i < t.rows; ++i)
    dsigma[t.row + i] += dot(axis_of(t.frame, t.axis[i]), t.angular[i] ? dw : du);
  if (t.bounce == 0.0) return;
  const Vec3 du_before = point_velocity(b.dV_before, t.r_b) - point_velocity(a.dV_before, t.r_a);
  dsigma[t.row] += t.bounce * dot(t.frame.n, du_before);
}

void ContactRates::touch_against(const Touch& t, const Motion* Y, const double* sigma_bar,
                                 BodyRateBar* bodies) const {
  const ContactRate bar = geometry_against(t, Y, sigma_bar, t.rate->turns);
  Vec3 u_bar, w_bar;
  for (int i = 0; i < t.rows; ++i)
    (t.angular[i] ? w_bar : u_bar) += axis_of(t.frame, t.axis[i]) * sigma_bar[t.row + i];
  const Vec3 before_bar = t.frame.n * (t.bounce * sigma_bar[t.row]);
  const auto spread = [&](BodyRateBar& body, Vec3 r, const ContactRate* rate, double sign) {
    const Vec3 x_bar = transposed3(rate + 3, bar.position, bar.normal, bar.distance);
    body.Z += Force{transposed3(rate, bar.position, bar.normal, bar.distance) + cross(r, x_bar), x_bar};
    body.dV += Force{(w_bar + cross(r, u_bar)) * sign, u_bar * sign};
    if (t.bounce != 0.0) body.dV_before += Force{cross(r, before_bar) * sign, before_bar * sign};
  };
  if (t.moves_a) spread(bodies[t.body_a], t.r_a, t.rate->motion, -1.0);
  if (t.moves_b) spread(bodies[t.body_b], t.r_b, t.rate->motion + 6, 1.0);
}

void ContactRates::join_along(const Join& j, const BodyRate* bodies, Force* dF, double* dsigma) const {
  const BodyRate &a = bodies[j.body_a], &b = bodies[j.body_b];
  Vec3 change;
  if (j.turning) {
    const Vec3 dphi = j.phi_by_b * b.Z.angular + j.phi_by_a * a.Z.angular;
    change = (b.dV.angular - a.dV.angular) * j.scale + j.slope * dphi;
  } else {
    const Vec3 dx_a = point_velocity(a.Z, j.x_a), dx_b = point_velocity(b.Z, j.x_b);
    const Vec3 dp = (dx_a + dx_b) * 0.5, moment = cross(dp, j.lam);
    change =
        point_velocity(b.dV, j.r_b) - point_velocity(a.dV, j.r_a) + cross(j.w, dp) + j.slope * (dx_b - dx_a);
    dF[j.body_b].moment += moment;
    dF[j.body_a].moment -= moment;
  }
  for (int i = 0; i < 3; ++i) dsigma[j.row + i] += change[i];
}

void ContactRates::join_against(const Join& j, const Motion* Y, const double* sigma_bar,
                                BodyRateBar* bodies) const {
  const Vec3 bar = load3(sigma_bar + j.row), phi_bar = j.slope * bar;
  BodyRateBar &a = bodies[j.body_a], &b = bodies[j.body_b];
  if (j.turning) {
    a.dV.moment -= bar * j.scale;
    b.dV.moment += bar * j.scale;
    a.Z.moment += transpose_times(j.phi_by_a, phi_bar);
    b.Z.moment += transpose_times(j.phi_by_b, phi_bar);
    return;
  }
  // (w x dp) . bar = dp . (bar x w);   Y . (dp x lam) = dp . (lam x Y)
  const Vec3 p_bar = cross(bar, j.w) + cross(j.lam, Y[j.body_b].angular - Y[j.body_a].angular);
  const Vec3 xb_bar = p_bar * 0.5 + phi_bar, xa_bar = p_bar * 0.5 - phi_bar;
  b.Z += Force{cross(j.x_b, xb_bar), xb_bar};
  a.Z += Force{cross(j.x_a, xa_bar), xa_bar};
  b.dV += Force{cross(j.r_b, bar), bar};
  a.dV -= Force{cross(j.r_a, bar), bar};
}

void ContactRates::along(const BodyRate* bodies, const double* dq, Force* dF, double* dsigma,
                         double* dtau) const {
  for (const Touch& t : touches_) touch_along(t, bodies, dF, dsigma);
  for (const Join& j : joins_) join_along(j, bodies, dF, dsigma);
  for (const Scalar& scalar : scalars_) {
    const Item& item = work_->rows.items()[scalar.item];
    if (scalar.slope != 0.0) dsigma[scalar.row] += scalar.slope * work_->rows.scalar_velocity(item, dq);
    if (scalar.curve == Scalar::Curve::straight) continue;
    dsigma[scalar.row] += curved(scalar, work_->v_next.data(), dq);
    add_curved(scalar, dq, scalar.lam, false, dtau);
  }
}

void ContactRates::against(const Motion* Y, const double* sigma_bar, const double* tau_bar,
                           BodyRateBar* bodies, double* q_bar) const {
  for (const Touch& t : touches_) touch_against(t, Y, sigma_bar, bodies);
  for (const Join& j : joins_) join_against(j, Y, sigma_bar, bodies);
  for (const Scalar& scalar : scalars_) {
    const Item& item = work_->rows.items()[scalar.item];
    const double bar = sigma_bar[scalar.row];
    if (scalar.slope != 0.0) work_->rows.add_scalar_impulse(item, scalar.slope * bar, q_bar);
    if (scalar.curve == Scalar::Curve::straight) continue;
    add_curved(scalar, work_->v_next.data(), bar, true, q_bar);
    add_curved(scalar, tau_bar, scalar.lam, true, q_bar);
  }
}

// What a moment on a body is at the dofs that move it.
void ContactRates::add_moment_column(int body, Vec3 moment, double* column, int stride) const {
  const Structure& s = model_->structure();
  const LinkIndex& link = s.links[s.bodies[body].link];
  if (link.dof_begin == link.dof_end) return;
  for (int d = link.dof_end - 1; d >= 0; d = s.dofs[d].parent)
    column[static_cast<std::size_t>(d) * stride] += dot(before_->S[d].angular, moment);
}

void ContactRates::add_join_columns(const Join& j, double scale, RowMatrixRef sigma_by_q, double* residual,
                                    int stride) const {
  const Structure& s = model_->structure();
  for (int side = 0; side < 2; ++side) {
    const int body = side == 0 ? j.body_a : j.body_b;
    const LinkIndex& link = s.links[s.bodies[body].link];
    if (link.dof_begin == link.dof_end) continue;
    const Vec3 at = side == 0 ? j.x_a : j.x_b, r = side == 0 ? j.r_a : j.r_b;
    const double sign = side == 0 ? -1.0 : 1.0;
    const Motion V = velocity(*after_, body);
    for (int e = link.dof_end - 1; e >= 0; e = s.dofs[e].parent) {
      const Motion& S = before_->S[e];
      const Motion dV = cross(S, V) + after_->psi_dot[e];
      const Vec3 dx = point_velocity(S, at), dp = dx * 0.5;
      Vec3 change;
      if (j.turning) {
        change =
            dV.angular * (sign * j.scale) + j.slope * ((side == 0 ? j.phi_by_a : j.phi_by_b) * S.angular);
      } else {
        change = (point_velocity(dV, r) + j.slope * dx) * sign + cross(j.w, dp);
        const Vec3 moment = cross(dp, j.lam) * scale;
        add_moment_column(j.body_b, moment, residual + e, stride);
        add_moment_column(j.body_a, -moment, residual + e, stride);
      }
      for (int i = 0; i < 3; ++i) sigma_by_q(j.row + i, e) += change[i];
    }
  }
}

void ContactRates::add_other_columns(const ImpulseWork& work, double scale, RowMatrixRef sigma_by_q,
                                     double* residual, int stride) const {
  for (const Join& j : joins_) add_join_columns(j, scale, sigma_by_q, residual, stride);
  for (const Scalar& scalar : scalars_) {
    double* row = &sigma_by_q(scalar.row, 0);
    if (scalar.slope != 0.0) work.rows.add_scalar_impulse(work.rows.items()[scalar.item], scalar.slope, row);
    if (scalar.curve == Scalar::Curve::straight) continue;
    add_curved(scalar, work.v_next.data(), 1.0, true, row);
    // A row of d(J^T lam)/dq for each dof that the row acts on.
    const int nv = model_->nv();
    unit_.assign(nv, 0.0);
    for (int d = 0; d < nv; ++d) {
      unit_[d] = 1.0;
      add_curved(scalar, unit_.data(), scale * scalar.lam, true,
                 residual + static_cast<std::size_t>(d) * stride);
      unit_[d] = 0.0;
    }
  }
}

Vec3 ContactRates::join_error(int row) const {
  for (const Join& j : joins_) {
    if (j.row == row) return j.phi;
  }
  return {};
}

}  // namespace articula
