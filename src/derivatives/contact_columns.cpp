#include "contact_columns.hpp"

#include <algorithm>

#include "articula/math/strips.hpp"

namespace articula {

namespace {

Vec3 direction_of(const collision::ContactFrame& frame, int axis) {
  return axis == 0 ? frame.n : axis == 1 ? frame.t1 : frame.t2;
}

Motion velocity(const Model& model, const Data& data, int body) {
  return body == 0 ? Motion{} : data.link_v[model.structure().bodies[body].link];
}

}  // namespace

// Changes of sigma (rows across the lanes) and of the wrench about p, per unit of one of the twelve motions.
struct ContactColumns::Response {
  struct Column {
    Lanes sigma[2]{};
    Vec3 force, moment;
  };
  Column column[12];
  Mat3 linear[2]{}, angular[2]{};  // axes of the rows across the lanes

  // Only of the sides that move.
  Response(const ContactRates::Touch& t, bool moves_a, bool moves_b) {
    for (int i = 0; i < t.rows; ++i) {
      Mat3& axes = (t.angular[i] ? angular : linear)[i / 4];
      const Vec3 axis = direction_of(t.frame, t.axis[i]);
      axes.x.lanes[i % 4] = axis[0];
      axes.y.lanes[i % 4] = axis[1];
      axes.z.lanes[i % 4] = axis[2];
    }
    for (int k = moves_a ? 0 : 6; k < (moves_b ? 12 : 6); ++k) {
      const collision::ContactRate& rate = t.rate->motion[k];
      Column& c = column[k];
      const Vec3 du = cross(t.w, rate.position);
      c.moment = cross(rate.position, t.f);
      if (t.rate->turns) {
        const Vec3 change[3] = {rate.normal, t.t_rate[0] * rate.normal, t.t_rate[1] * rate.normal};
        for (int i = 0; i < t.rows; ++i) {
          const Vec3 da = change[t.axis[i]];
          (t.angular[i] ? c.moment : c.force) += da * t.lam[i];
          c.sigma[i / 4][i % 4] = dot(da, t.angular[i] ? t.w : t.u);
        }
      }
      for (int q = 0; q < (t.rows > 4 ? 2 : 1); ++q) c.sigma[q] += (linear[q] * du).lanes;
      c.sigma[0][0] +=
          t.gap_slope * rate.distance +
          t.bounce * (dot(t.frame.n, cross(t.w_before, rate.position)) + dot(rate.normal, t.u_before));
    }
  }
};

ContactColumns::ContactColumns(const Model& model)
    : model_(&model),
      width_((model.nv() + 3) / 4 * 4),
      wrench_(static_cast<std::size_t>(6) * ((model.nv() + 3) / 4 * 4), 0.0),
      place_(model.nv(), -1),
      arm_(model.nv()) {
  columns_.reserve(model.nv());
}

void ContactColumns::add_touch(const Data& at, const Data& after, const ContactRates::Touch& t, double scale,
                               RowMatrixRef sigma_by_q, double* residual, int stride) {
  const Structure& s = model_->structure();
  const auto moves = [&](int body) {
    const LinkIndex& link = s.links[s.bodies[body].link];
    return link.dof_begin != link.dof_end;
  };
  const Response response(t, moves(t.body_a), moves(t.body_b));
  columns_.clear();
  for (int side = 0; side < 2; ++side) {
    const int body = side == 0 ? t.body_a : t.body_b;
    const LinkIndex& link = s.links[s.bodies[body].link];
    if (link.dof_begin == link.dof_end) continue;
    const Vec3 r = side == 0 ? t.r_a : t.r_b;
    const double sign = side == 0 ? -1.0 : 1.0;
    const Motion V = velocity(*model_, after, body);
    const Response::Column* column = response.column + 6 * side;
    for (int e = link.dof_end - 1; e >= 0; e = s.dofs[e].parent) {
      if (place_[e] < 0) {
        place_[e] = static_cast<int>(columns_.size());
        columns_.push_back(e);
        for (int k = 0; k < 6; ++k) wrench_[k * width_ + place_[e]] = 0.0;
        arm_[e] = {};
      }
      const Motion& S = at.S[e];
      const Vec3 x = point_velocity(S, r);
      arm_[e] += Motion{S.angular, x} * sign;
      Vec3 force, moment;
      Lanes sigma[2]{};
      for (int k = 0; k < 3; ++k) {
        const Response::Column &turn = column[k], &shift = column[3 + k];
        force += turn.force * S.angular[k] + shift.force * x[k];
        moment += turn.moment * S.angular[k] + shift.moment * x[k];
        sigma[0] += turn.sigma[0] * broadcast(S.angular[k]) + shift.sigma[0] * broadcast(x[k]);
        if (t.rows > 4)
          sigma[1] += turn.sigma[1] * broadcast(S.angular[k]) + shift.sigma[1] * broadcast(x[k]);
      }
      // dV = S x V + psi'
      const Motion dV = cross(S, V) + after.psi_dot[e];
      const Vec3 du = point_velocity(dV, r) * sign, dw = dV.angular * sign;
      for (int q = 0; q < (t.rows > 4 ? 2 : 1); ++q) {
        sigma[q] += (response.linear[q] * du).lanes;
        if (t.rows > 3) sigma[q] += (response.angular[q] * dw).lanes;
      }
      for (int i = 0; i < t.rows; ++i) sigma_by_q(t.row + i, e) += sigma[i / 4][i % 4];
      for (int k = 0; k < 3; ++k) {
        wrench_[k * width_ + place_[e]] += moment[k];
        wrench_[(3 + k) * width_ + place_[e]] += force[k];
      }
    }
  }
  const int count = static_cast<int>(columns_.size());
  for (int d : columns_) {
    const Motion arm = arm_[d] * scale;
    double* row = residual + static_cast<std::size_t>(d) * stride;
    for (int c = 0; c < count; c += 4) {
      Lanes sum{};
      for (int k = 0; k < 3; ++k)
        sum += load_lanes(&wrench_[k * width_ + c]) * broadcast(arm.angular[k]) +
               load_lanes(&wrench_[(3 + k) * width_ + c]) * broadcast(arm.linear[k]);
      for (int i = 0; i < std::min(4, count - c); ++i) row[columns_[c + i]] += sum[i];
    }
  }
  for (int e : columns_) place_[e] = -1;
}

void ContactColumns::add(const Model& model, const Data& at, const Data& after, const ImpulseWork& work,
                         const ContactRates& rates, double scale, RowMatrixRef sigma_by_q, double* residual,
                         int stride) {
  model_ = &model;
  for (const ContactRates::Touch& t : rates.touches())
    add_touch(at, after, t, scale, sigma_by_q, residual, stride);
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
