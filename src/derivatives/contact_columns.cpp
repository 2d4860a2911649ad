#include "contact_columns.hpp"

#include <algorithm>

#include "articula/math/strips.hpp"
#include "math/transpose.hpp"

namespace articula {

namespace {

Vec3 direction_of(const collision::ContactFrame& frame, int axis) {
  return axis == 0 ? frame.n : axis == 1 ? frame.t1 : frame.t2;
}

Motion velocity(const Model& model, const Data& data, int body) {
  return body == 0 ? Motion{} : data.link_v[model.structure().bodies[body].link];
}

}  // namespace

// Changes of sigma (rows across the lanes) and of the wrench on B about c, per unit of one of the six motions
// of a side at c = p - offset.
struct ContactColumns::Response {
  struct Column {
    Lanes sigma[2]{};
    Force wrench;
  };
  Column column[6];

  // axes: of the linear rows, across the lanes
  Response(const ContactRates::Touch& t, int side, const Mat3* axes, Vec3 offset) {
    const int registers = t.rows > 4 ? 2 : 1;
    for (int k = 0; k < 6; ++k) {
      const collision::ContactRate& rate = t.rate->motion[6 * side + k];
      Column& c = column[k];
      const Vec3 du = cross(t.w, rate.position);
      c.wrench.moment = cross(rate.position, t.f);
      if (t.rate->turns) {
        const Vec3 change[3] = {rate.normal, t.t_rate[0] * rate.normal, t.t_rate[1] * rate.normal};
        for (int i = 0; i < t.rows; ++i) {
          const Vec3 da = change[t.axis[i]];
          (t.angular[i] ? c.wrench.moment : c.wrench.linear) += da * t.lam[i];
          c.sigma[i / 4][i % 4] = dot(da, t.angular[i] ? t.w : t.u);
        }
        c.wrench.moment += cross(offset, c.wrench.linear);
      }
      for (int q = 0; q < registers; ++q) c.sigma[q] += (axes[q] * du).lanes;
      c.sigma[0][0] += t.gap_slope * rate.distance;
      if (t.bounce != 0.0)
        c.sigma[0][0] +=
            t.bounce * (dot(t.frame.n, cross(t.w_before, rate.position)) + dot(rate.normal, t.u_before));
    }
    // The point's velocity is x + w x offset.
    for (int k = 0; k < 3; ++k) {
      const int next = (k + 1) % 3, last = (k + 2) % 3;
      add(column[k], column[3 + last], offset[next]);
      add(column[k], column[3 + next], -offset[last]);
    }
  }

  static void add(Column& to, const Column& from, double factor) {
    for (int q = 0; q < 2; ++q) to.sigma[q] += from.sigma[q] * broadcast(factor);
    to.wrench += from.wrench * factor;
  }
};

ContactColumns::ContactColumns(const Model& model)
    : model_(&model),
      width_((model.nv() + 3) / 4 * 4),
      place_(model.nv(), Place::off) {
  const std::size_t size = static_cast<std::size_t>(6) * width_;
  for (AlignedVector* numbers : {&twist_[0], &twist_[1], &change_, &wrench_}) numbers->assign(size, 0.0);
  dofs_.reserve(model.nv());
  quads_.reserve(width_ / 4);
  for (AlignedVector* numbers : {&axes_, &turning_}) numbers->assign(size, 0.0);
  list_ways(model);
}

void ContactColumns::list_ways(const Model& model) {
  const Structure& s = model.structure();
  way_begin_.assign(model.nlink() + 1, 0);
  for (int k = 0; k < model.nlink(); ++k) {
    way_begin_[k] = static_cast<int>(ways_.size());
    const LinkIndex& link = s.links[k];
    for (int e = link.dof_begin == link.dof_end ? -1 : link.dof_end - 1; e >= 0; e = s.dofs[e].parent) {
      const int first = e / 4 * 4;
      if (way_begin_[k] == static_cast<int>(ways_.size()) || ways_.back().first != first)
        ways_.push_back({first, {}});
      ways_.back().mask[e - first] = -1;
    }
  }
  way_begin_.back() = static_cast<int>(ways_.size());
}

void ContactColumns::store(AlignedVector& to, int dof, const Motion& m) const {
  for (int k = 0; k < 3; ++k) {
    to[k * width_ + dof] = m.angular[k];
    to[(3 + k) * width_ + dof] = m.linear[k];
  }
}

void ContactColumns::add(AlignedVector& to, int dof, const Motion& m) const {
  for (int k = 0; k < 3; ++k) {
    to[k * width_ + dof] += m.angular[k];
    to[(3 + k) * width_ + dof] += m.linear[k];
  }
}

// Of every dof that moves one of the bodies: its twist at c, and how it changes their relative velocity
// there, dV = S x V + psi'.
void ContactColumns::begin_pair(const Data& at, const Data& after, const ContactRates::Touch& first) {
  const Structure& s = model_->structure();
  turns_ = false;
  for (int side = 0; side < 2; ++side) {
    std::fill(std::begin(response_[side]), std::end(response_[side]), Force{});
    const int body = side == 0 ? first.body_a : first.body_b;
    const LinkIndex& link = s.links[s.bodies[body].link];
    moves_[side] = link.dof_begin != link.dof_end;
    if (!moves_[side]) continue;
    const Vec3 r = side == 0 ? first.r_a : first.r_b;
    const double sign = side == 0 ? -1.0 : 1.0;
    const Motion V = velocity(*model_, after, body);
    for (int e = link.dof_end - 1; e >= 0; e = s.dofs[e].parent) {
      const Motion& S = at.S[e];
      store(twist_[side], e, {S.angular, point_velocity(S, r)});
      const Motion dV = cross(S, V) + after.psi_dot[e];
      add(change_, e, Motion{dV.angular, point_velocity(dV, r)} * sign);
      if (place_[e] == Place::off) {
        dofs_.push_back(e);
        place_[e] = side == 0 ? Place::a : Place::b;
      } else {
        place_[e] = Place::both;
      }
    }
  }
  std::sort(dofs_.begin(), dofs_.end());
  for (int e : dofs_) {
    const int quad = e / 4 * 4;
    if (quads_.empty() || quads_.back() != quad) quads_.push_back(quad);
  }
}

// row(e) += sum over k of factor_k from_k(e)
void ContactColumns::add_combination(const AlignedVector& from, const double (&factor)[6],
                                     double* row) const {
  Lanes scale[6];
  for (int k = 0; k < 6; ++k) scale[k] = broadcast(factor[k]);
  for (int quad : quads_) {
    const double* column = from.data() + quad;
    Lanes even = load_lanes(row + quad), odd{};
    for (int k = 0; k < 6; k += 2) {
      even += load_lanes(column + k * width_) * scale[k];
      odd += load_lanes(column + (k + 1) * width_) * scale[k + 1];
    }
    store_lanes(row + quad, even + odd);
  }
}

// dsigma_i = a_i . (dV at p) + its response to either side's twist
void ContactColumns::add_touch(const ContactRates::Touch& t, Vec3 offset, RowMatrixRef sigma_by_q) {
  Mat3 axes[2]{};  // of linear rows, across the lanes
  for (int i = 0; i < t.rows; ++i) {
    const Vec3 axis = direction_of(t.frame, t.axis[i]);
    const Vec3 turn = t.angular[i] ? axis : cross(offset, axis), shift = t.angular[i] ? Vec3() : axis;
    add_combination(change_, {turn[0], turn[1], turn[2], shift[0], shift[1], shift[2]},
                    &sigma_by_q(t.row + i, 0));
    axes[i / 4].x.lanes[i % 4] = shift[0];
    axes[i / 4].y.lanes[i % 4] = shift[1];
    axes[i / 4].z.lanes[i % 4] = shift[2];
  }
  turns_ |= t.rate->turns;
  for (int side = 0; side < 2; ++side) {
    if (!moves_[side]) continue;
    const Response response(t, side, axes, offset);
    for (int i = 0; i < t.rows; ++i) {
      double factor[6];
      for (int k = 0; k < 6; ++k) factor[k] = response.column[k].sigma[i / 4][i % 4];
      add_combination(twist_[side], factor, &sigma_by_q(t.row + i, 0));
    }
    for (int k = 0; k < 6; ++k) response_[side][k] += response.column[k].wrench;
  }
}

// wrench_(e) = what e does to the wrench on B about c, and with the relative motion A_d at c,
//   residual(d, e) += scale A_d . wrench_(e)
// What moves both bodies alike does not move one against the other.
void ContactColumns::end_pair(double scale, double* residual, int stride) {
  const int count = turns_ ? 6 : 3;  // no force changes where no normal turns
  for (int quad : quads_) {
    for (int r = 0; r < count; ++r) {
      Lanes sum{};
      for (int side = 0; side < 2; ++side) {
        if (!moves_[side]) continue;
        for (int k = 0; k < 6; ++k) {
          const Force& W = response_[side][k];
          sum +=
              load_lanes(&twist_[side][k * width_ + quad]) * broadcast(r < 3 ? W.moment[r] : W.linear[r - 3]);
        }
      }
      store_lanes(&wrench_[r * width_ + quad], sum);
    }
  }
  for (int d : dofs_) {
    if (place_[d] == Place::both) continue;
    const int side = place_[d] == Place::a ? 0 : 1;
    const double sign = side == 0 ? -scale : scale;
    double* row = residual + static_cast<std::size_t>(d) * stride;
    Lanes arm[6];
    for (int k = 0; k < 6; ++k) arm[k] = broadcast(sign * twist_[side][k * width_ + d]);
    for (int quad : quads_) {
      const double* column = wrench_.data() + quad;
      Lanes sum = load_lanes(row + quad);
      for (int k = 0; k < 3; ++k) sum += load_lanes(column + k * width_) * arm[k];
      for (int k = 3; k < count; ++k) sum += load_lanes(column + k * width_) * arm[k];
      store_lanes(row + quad, sum);
    }
  }
  for (int e : dofs_) {
    place_[e] = Place::off;
    for (AlignedVector* numbers : {&twist_[0], &twist_[1], &change_}) store(*numbers, e, {});
  }
  dofs_.clear();
  quads_.clear();
}

namespace {

bool has_dofs(const Structure& s, int body) {
  const LinkIndex& link = s.links[s.bodies[body].link];
  return link.dof_begin != link.dof_end;
}

// Six rows of numbers from motions.
void transpose_motions(const std::vector<Motion>& motions, int width, AlignedVector& rows) {
  const int count = static_cast<int>(motions.size());
  for (int d = 0; d < count; d += 4) {
    Lanes angular[4]{}, linear[4]{};
    for (int i = 0; i < std::min(4, count - d); ++i) {
      angular[i] = motions[d + i].angular.lanes;
      linear[i] = motions[d + i].linear.lanes;
    }
    transpose_four(angular);
    transpose_four(linear);
    for (int k = 0; k < 3; ++k) {
      store_lanes(&rows[k * width + d], angular[k]);
      store_lanes(&rows[(3 + k) * width + d], linear[k]);
    }
  }
}

}  // namespace

// With the covector K of velocities that row i is, sigma = K . V at the reference point,
//   dsigma_e = K . (S_e x V + psi'_e) + (response to S_e) = (V x* K + response) . S_e + K . psi'_e
void ContactColumns::add_grounded(const ContactRates::Touch& t, int side, const Motion& V, double h,
                                  RowMatrixRef sigma_by_q, PosedWrenches& posed) {
  const Structure& s = model_->structure();
  const int link = s.bodies[side == 0 ? t.body_a : t.body_b].link;
  const Vec3 r = side == 0 ? t.r_a : t.r_b;
  const double sign = side == 0 ? -1.0 : 1.0;
  Mat3 axes[2]{};  // of linear rows, across the lanes
  for (int i = 0; i < t.rows; ++i) {
    if (t.angular[i]) continue;
    const Vec3 axis = direction_of(t.frame, t.axis[i]);
    axes[i / 4].x.lanes[i % 4] = axis[0];
    axes[i / 4].y.lanes[i % 4] = axis[1];
    axes[i / 4].z.lanes[i % 4] = axis[2];
  }
  const Response response(t, side, axes, r);
  const Quad *begin = ways_.data() + way_begin_[link], *end = ways_.data() + way_begin_[link + 1];
  for (int i = 0; i < t.rows; ++i) {
    const Vec3 axis = direction_of(t.frame, t.axis[i]) * sign;
    const Force K = t.angular[i] ? Force{axis, {}} : Force{cross(r, axis), axis};
    const Force turned = cross(V, K);
    Lanes by_S[6], by_psi[6];
    for (int k = 0; k < 3; ++k) {
      by_S[k] = broadcast(turned.moment[k] + response.column[k].sigma[i / 4][i % 4]);
      by_S[3 + k] = broadcast(turned.linear[k] + response.column[3 + k].sigma[i / 4][i % 4]);
      by_psi[k] = broadcast(K.moment[k]);
      by_psi[3 + k] = broadcast(K.linear[k]);
    }
    double* row = &sigma_by_q(t.row + i, 0);
    for (const Quad* quad = begin; quad != end; ++quad) {
      const double *S = axes_.data() + quad->first, *psi = turning_.data() + quad->first;
      Lanes one{}, other{};
      for (int k = 0; k < 6; ++k) {
        one += load_lanes(S + k * width_) * by_S[k];
        other += load_lanes(psi + k * width_) * by_psi[k];
      }
      store_lanes(row + quad->first, load_lanes(row + quad->first) + masked_lanes(one + other, quad->mask));
    }
  }
  posed.turns |= t.rate->turns;
  const auto part = [&](int first, Vec3 Force::* of) {
    const auto column = [&](int k) { return response.column[first + k].wrench.*of * (sign / h); };
    return Mat3{column(0), column(1), column(2)};
  };
  PosedWrenches::Rate rate{part(0, &Force::moment), part(3, &Force::moment), {}, {}};
  if (t.rate->turns) {
    rate.force_by_turn = part(0, &Force::linear);
    rate.force_by_shift = part(3, &Force::linear);
  }
  posed.add(link, rate);
}

void ContactColumns::add_grounded(const Model& model, const Data& at, const Data& after,
                                  const ContactRates& rates, double h, RowMatrixRef sigma_by_q,
                                  PosedWrenches& posed) {
  model_ = &model;
  const Structure& s = model.structure();
  bool ready = false;
  for (const ContactRates::Touch& t : rates.touches()) {
    const bool a = has_dofs(s, t.body_a), b = has_dofs(s, t.body_b);
    if (a == b) continue;
    if (!ready) {
      ready = true;
      transpose_motions(at.S, width_, axes_);
      transpose_motions(after.psi_dot, width_, turning_);
    }
    add_grounded(t, b ? 1 : 0, velocity(model, after, b ? t.body_b : t.body_a), h, sigma_by_q, posed);
  }
}

void ContactColumns::add(const Model& model, const Data& at, const Data& after, const ImpulseWork& work,
                         const ContactRates& rates, double scale, RowMatrixRef sigma_by_q, double* residual,
                         int stride, bool grounded) {
  model_ = &model;
  const Structure& s = model.structure();
  const auto& touches = rates.touches();
  for (std::size_t i = 0; i < touches.size();) {
    const ContactRates::Touch& first = touches[i];
    if (!grounded && has_dofs(s, first.body_a) != has_dofs(s, first.body_b)) {
      ++i;
      continue;
    }
    begin_pair(at, after, first);
    for (; i < touches.size() && touches[i].body_a == first.body_a && touches[i].body_b == first.body_b; ++i)
      add_touch(touches[i], touches[i].p - first.p, sigma_by_q);
    end_pair(scale, residual, stride);
  }
  rates.add_other_columns(work, scale, sigma_by_q, residual, stride);
}

// d (n . u) = n . (dV_B - dV_A): the part of dp and dn is in the response already.
void ContactColumns::add_bounces(const Model& model, const Data& before, const ContactRates& rates,
                                 RowMatrixRef sigma_by_q, RowMatrixRef sigma_by_v) {
  const Structure& s = model.structure();
  for (const ContactRates::Touch& t : rates.touches()) {
    if (t.bounce == 0.0) continue;
    for (int side = 0; side < 2; ++side) {
      const int body = side == 0 ? t.body_a : t.body_b;
      const LinkIndex& link = s.links[s.bodies[body].link];
      if (link.dof_begin == link.dof_end) continue;
      const Vec3 r = side == 0 ? t.r_a : t.r_b;
      const double factor = side == 0 ? -t.bounce : t.bounce;
      const Motion V = velocity(model, before, body);
      for (int e = link.dof_end - 1; e >= 0; e = s.dofs[e].parent) {
        const Motion dV = cross(before.S[e], V) + before.psi_dot[e];
        sigma_by_q(t.row, e) += factor * dot(t.frame.n, point_velocity(dV, r));
        sigma_by_v(t.row, e) += factor * dot(t.frame.n, point_velocity(before.S[e], r));
      }
    }
  }
}

}  // namespace articula
