// A place turns by dphi (world axes) and its origin moves by dp. With x a vector in the world,
//   d(R^T x) = R^T (dx - dphi x x)
// and from there each reading's derivative is that of its formula in read.cpp.

#include "articula/sensors/derivatives.hpp"

#include "articula/model/sizes.hpp"
#include "limits.hpp"
#include "places.hpp"

namespace articula {

namespace {

class Differentiator {
 public:
  Differentiator(const Model& model, const Data& data, const SensorInputs& inputs, SensorDerivatives& out)
      : model_(model),
        data_(data),
        in_(inputs),
        out_(out) {}

  void differentiate(const SensorIndex& sensor) {
    using enum SensorType;
    switch (sensor.type) {
      case joint_position: out_.by_q(sensor.offset, dof_of(sensor)) = 1.0; return;
      case joint_velocity: out_.by_v(sensor.offset, dof_of(sensor)) = 1.0; return;
      case tendon_position: return add_tendon(sensor, 1.0, out_.by_q);
      case tendon_velocity: return add_tendon(sensor, 1.0, out_.by_v);
      case ball_quaternion: return add_ball_quaternion(sensor);
      case ball_angular_velocity:
        for (int i = 0; i < 3; ++i) out_.by_v(sensor.offset + i, dof_of(sensor) + i) = 1.0;
        return;
      case joint_limit_position:
      case joint_limit_velocity: return add_joint_limit(sensor);
      case tendon_limit_position:
        return add_tendon(sensor, near_tendon_limit(model_, in_, sensor.object).sign, out_.by_q);
      case tendon_limit_velocity:
        return add_tendon(sensor, near_tendon_limit(model_, in_, sensor.object).sign, out_.by_v);
      case subtree_com:
      case subtree_linear_velocity:
      case subtree_angular_momentum: return add_subtree(sensor);
      case force:
      case torque: return add_interaction(sensor);
      default:
        if (has_derivative(sensor) && sensor.type != clock) add_place(sensor);
    }
  }

 private:
  int dof_of(const SensorIndex& sensor) const { return model_.structure().joints[sensor.object].dof; }

  void add_tendon(const SensorIndex& sensor, double factor, MatrixX& J) const {
    const TendonIndex& tendon = model_.structure().tendons[sensor.object];
    const double* c = model_.theta().data() + tendon.coefficients;
    for (const int j : tendon.joints) J(sensor.offset, model_.structure().joints[j].dof) += factor * *c++;
  }

  // dq = q (0, d) / 2
  void add_ball_quaternion(const SensorIndex& sensor) const {
    const Quat q = load_quaternion(in_.q + model_.structure().joints[sensor.object].q);
    for (int i = 0; i < 3; ++i) {
      const Quat change = q * Quat{0.0, Mat3::identity().column(i) * 0.5};
      store_quaternion_column(sensor.offset, dof_of(sensor) + i, change);
    }
  }

  void store_quaternion_column(int row, int column, const Quat& change) const {
    out_.by_q(row, column) = change.w;
    for (int i = 0; i < 3; ++i) out_.by_q(row + 1 + i, column) = change.v[i];
  }

  // Hinges and slides: sign q and sign v. A ball's angle grows along the axis n it is turned about, and n
  // turns with it: of  v . n  by q there remains  v . dn,  dn = Jr^-1 columns projected across n, over the
  // angle.
  void add_joint_limit(const SensorIndex& sensor) const {
    const JointIndex& joint = model_.structure().joints[sensor.object];
    const NearLimit limit = near_joint_limit(model_, in_, sensor.object);
    const bool velocity = sensor.type == SensorType::joint_limit_velocity;
    if (joint.type != JointType::ball) {
      (velocity ? out_.by_v : out_.by_q)(sensor.offset, joint.dof) = limit.sign;
      return;
    }
    const Vec3 turn = log_rotation(load_quaternion(in_.q + joint.q));
    const double angle = norm(turn);
    if (limit.sign == 0.0 || angle == 0.0) return;
    const Vec3 n = turn * (1.0 / angle);
    const Mat3 rate = inverse_right_jacobian(turn);
    for (int i = 0; i < 3; ++i) {
      (velocity ? out_.by_v : out_.by_q)(sensor.offset, joint.dof + i) = -n[i];
      if (!velocity) continue;
      const Vec3 dn = (rate.column(i) - n * dot(n, rate.column(i))) * (1.0 / angle);
      out_.by_q(sensor.offset, joint.dof + i) = -dot(load3(in_.v + joint.dof), dn);
    }
  }

  void find_rates(const LinkPoint& at, SensorStage stage, SensorDerivatives::Rates& rates) const {
    if (stage == SensorStage::position) jacobian_at(model_, data_, at, rates.position);
    if (stage == SensorStage::velocity)
      velocity_derivatives(model_, data_, at, rates.velocity_by_q, rates.position);
    if (stage == SensorStage::acceleration) {
      acceleration_derivatives(model_, data_, at, rates.acceleration_by_q, rates.acceleration_by_v,
                               rates.position);
    }
  }

  static Vec3 top(const MatrixX& J, int d) { return load3(J.data() + 6 * d); }
  static Vec3 bottom(const MatrixX& J, int d) { return load3(J.data() + 6 * d + 3); }
  void store(MatrixX& J, int row, int column, Vec3 change) const {
    for (int i = 0; i < 3; ++i) J(row + i, column) = change[i];
  }

  void add_place(const SensorIndex& sensor) {
    const Place place = find_place(model_, data_, sensor.object_type, sensor.object);
    find_rates(place.at, sensor.stage, out_.place);
    if (sensor.reference < 0) {
      for (int d = 0; d < model_.nv(); ++d) add_column(sensor, place, d);
      return;
    }
    const Place ref = find_place(model_, data_, sensor.reference_type, sensor.reference);
    find_rates(ref.at, sensor.stage, out_.reference);
    for (int d = 0; d < model_.nv(); ++d) add_relative_column(sensor, place, ref, d);
  }

  // Without reference.
  void add_column(const SensorIndex& sensor, const Place& place, int d) {
    using enum SensorType;
    const SensorDerivatives::Rates& r = out_.place;
    const int row = sensor.offset;
    const Vec3 dp = top(r.position, d), turn = bottom(r.position, d);
    const Motion& v = data_.link_v[place.at.link];
    const auto local = [&](Vec3 x, Vec3 dx) { return transpose_times(place.R, dx - cross(turn, x)); };
    switch (sensor.type) {
      case frame_position: return store(out_.by_q, row, d, dp);
      case frame_x_axis: return store(out_.by_q, row, d, cross(turn, place.R.x));
      case frame_y_axis: return store(out_.by_q, row, d, cross(turn, place.R.y));
      case frame_z_axis: return store(out_.by_q, row, d, cross(turn, place.R.z));
      case magnetometer:
        return store(out_.by_q, row, d, local(Vec3(model_.description().magnetic_flux), Vec3()));
      case frame_quaternion: {
        const Quat own = place_quaternion(model_, data_, in_.q, sensor.object_type, sensor.object);
        return store_quaternion_column(row, d, Quat{0.0, turn * 0.5} * own);
      }
      case frame_linear_velocity:
        store(out_.by_v, row, d, dp);
        return store(out_.by_q, row, d, top(r.velocity_by_q, d));
      case frame_angular_velocity:
        store(out_.by_v, row, d, turn);
        return store(out_.by_q, row, d, bottom(r.velocity_by_q, d));
      case gyro:
        store(out_.by_v, row, d, transpose_times(place.R, turn));
        return store(out_.by_q, row, d, local(v.angular, bottom(r.velocity_by_q, d)));
      case velocimeter:
        store(out_.by_v, row, d, transpose_times(place.R, dp));
        return store(out_.by_q, row, d, local(point_velocity(v, place.at.r), top(r.velocity_by_q, d)));
      case frame_linear_acceleration:
        store(out_.by_a, row, d, dp);
        store(out_.by_v, row, d, top(r.acceleration_by_v, d));
        return store(out_.by_q, row, d, top(r.acceleration_by_q, d));
      case frame_angular_acceleration:
        store(out_.by_a, row, d, turn);
        store(out_.by_v, row, d, bottom(r.acceleration_by_v, d));
        return store(out_.by_q, row, d, bottom(r.acceleration_by_q, d));
      default:  // accelerometer
        store(out_.by_a, row, d, transpose_times(place.R, dp));
        store(out_.by_v, row, d, transpose_times(place.R, top(r.acceleration_by_v, d)));
        store(out_.by_q, row, d,
              local(felt_acceleration_at(model_, data_, place.at), top(r.acceleration_by_q, d)));
    }
  }

  // Relative to `ref`:  y = R2^T x,  dy = R2^T (dx - turn2 x x)
  void add_relative_column(const SensorIndex& sensor, const Place& place, const Place& ref, int d) {
    using enum SensorType;
    const SensorDerivatives::Rates &r = out_.place, &r2 = out_.reference;
    const int row = sensor.offset;
    const Vec3 dp = top(r.position, d), dp2 = top(r2.position, d);
    const Vec3 turn = bottom(r.position, d), turn2 = bottom(r2.position, d);
    const Vec3 apart = place.position() - ref.position();
    const Motion &v = data_.link_v[place.at.link], &v2 = data_.link_v[ref.at.link];
    const auto local = [&](Vec3 x, Vec3 dx) { return transpose_times(ref.R, dx - cross(turn2, x)); };
    const auto axis = [&](Vec3 x) { store(out_.by_q, row, d, local(x, cross(turn, x))); };
    switch (sensor.type) {
      case frame_position: return store(out_.by_q, row, d, local(apart, dp - dp2));
      case frame_x_axis: return axis(place.R.x);
      case frame_y_axis: return axis(place.R.y);
      case frame_z_axis: return axis(place.R.z);
      case frame_quaternion: {
        const Quat own = place_quaternion(model_, data_, in_.q, sensor.object_type, sensor.object);
        const Quat other = place_quaternion(model_, data_, in_.q, sensor.reference_type, sensor.reference);
        const Vec3 relative = transpose_times(ref.R, turn - turn2);
        return store_quaternion_column(row, d, Quat{0.0, relative * 0.5} * (conjugate(other) * own));
      }
      case frame_linear_velocity: {
        const Vec3 x =
            point_velocity(v, place.at.r) - point_velocity(v2, ref.at.r) - cross(v2.angular, apart);
        const Vec3 dx = top(r.velocity_by_q, d) - top(r2.velocity_by_q, d) -
                        cross(bottom(r2.velocity_by_q, d), apart) - cross(v2.angular, dp - dp2);
        store(out_.by_v, row, d, transpose_times(ref.R, dp - dp2 - cross(turn2, apart)));
        return store(out_.by_q, row, d, local(x, dx));
      }
      default: {  // frame_angular_velocity
        const Vec3 dx = bottom(r.velocity_by_q, d) - bottom(r2.velocity_by_q, d);
        store(out_.by_v, row, d, transpose_times(ref.R, turn - turn2));
        return store(out_.by_q, row, d, local(v.angular - v2.angular, dx));
      }
    }
  }

  // Sums over the bodies b of the subtree, at their centres of mass c, moving with u, with momentum m u and
  // spin I w:
  //   C = sum m c / M,   V = sum m u / M,   L = sum I w + m (c - C) x u
  //   dL = sum dphi x (I w) + I (dw - dphi x w) + m (dc - dC) x u + m (c - C) x du
  // The terms with dC add up to -dC x sum m u, which is why C's own derivative comes first.
  void add_subtree(const SensorIndex& sensor) {
    const Structure& s = model_.structure();
    const int row = sensor.offset, end = body_subtree_end(s, sensor.object);
    double mass = 0.0;
    Vec3 centre, momentum;
    for (int b = sensor.object; b < end; ++b) {
      const Place com = find_place(model_, data_, ObjectType::body_inertial, b);
      const double m = mass_of(b);
      mass += m;
      centre += com.position() * m;
      momentum += point_velocity(data_.link_v[com.at.link], com.at.r) * m;
    }
    if (mass <= 0.0) return;
    centre *= 1.0 / mass;
    const bool angular = sensor.type == SensorType::subtree_angular_momentum;
    for (int b = sensor.object; b < end; ++b) {
      if (mass_of(b) == 0.0 && !angular) continue;  // files may give inertia without mass
      const Place com = find_place(model_, data_, ObjectType::body_inertial, b);
      find_rates(com.at, sensor.stage, out_.place);
      for (int d = 0; d < model_.nv(); ++d) {
        if (angular)
          add_spin(row, b, com, centre, momentum, mass, d);
        else
          add_centre(sensor, mass_of(b) / mass, d);
      }
    }
  }

  double mass_of(int body) const {
    return body == 0 ? 0.0 : model_.theta()[model_.structure().bodies[body].inertia];
  }

  void increase(MatrixX& J, int row, int column, Vec3 change) const {
    for (int i = 0; i < 3; ++i) J(row + i, column) += change[i];
  }

  void add_centre(const SensorIndex& sensor, double part, int d) {
    const SensorDerivatives::Rates& r = out_.place;
    if (sensor.type == SensorType::subtree_com)
      return increase(out_.by_q, sensor.offset, d, top(r.position, d) * part);
    increase(out_.by_q, sensor.offset, d, top(r.velocity_by_q, d) * part);
    increase(out_.by_v, sensor.offset, d, top(r.position, d) * part);
  }

  void add_spin(int row, int b, const Place& com, Vec3 centre, Vec3 momentum, double mass, int d) {
    const SensorDerivatives::Rates& r = out_.place;
    const double m = mass_of(b);
    const Motion& v = data_.link_v[com.at.link];
    const Vec3 u = point_velocity(v, com.at.r), arm = (com.position() - centre) * m;
    const Mat3 I = shifted(body_inertia(model_, data_, b), -com.at.r).rotational;
    const Vec3 dp = top(r.position, d), turn = bottom(r.position, d);
    const Vec3 du = top(r.velocity_by_q, d), dw = bottom(r.velocity_by_q, d);
    const Vec3 by_q = cross(turn, I * v.angular) + I * (dw - cross(turn, v.angular)) + cross(dp, u) * m +
                      cross(arm, du) - cross(dp, momentum) * (m / mass);
    increase(out_.by_q, row, d, by_q);
    increase(out_.by_v, row, d, I * turn + cross(arm, dp));
  }

  // R^T F and R^T T, with c the centres of mass, b and alpha what they feel, f and n the wrenches from
  // outside:
  //   F = sum m b - f,   T = sum N + (c - p) x (m b - f) - n,   N = I alpha + w x I w
  // along one direction, by q (turn, dc, dp) and through the motion (dw, db, dalpha):
  //   dN = I-turned(alpha) + I dalpha + dw x I w + w x (I-turned(w) + I dw),
  //   I-turned(x) = turn x I x - I (turn x x)
  void add_interaction(const SensorIndex& sensor) {
    const Structure& s = model_.structure();
    const Place place = find_place(model_, data_, sensor.object_type, sensor.object);
    const int body = body_of_place(model_, sensor.object_type, sensor.object);
    jacobian_at(model_, data_, place.at, out_.reference.position);
    Vec3 total;  // F or T, in the world
    for (int b = body; b < body_subtree_end(s, body); ++b) {
      const Place com = find_place(model_, data_, ObjectType::body_inertial, b);
      find_rates(com.at, SensorStage::velocity, out_.place);
      find_rates(com.at, SensorStage::acceleration, out_.place);
      total += add_body_wrench(sensor, b, com, place);
    }
    for (int d = 0; d < model_.nv(); ++d) {
      const Vec3 turn = bottom(out_.reference.position, d);
      for (MatrixX* J : {&out_.by_q, &out_.by_v, &out_.by_a}) {
        Vec3 change = load3(J->col(d).data() + sensor.offset);
        if (J == &out_.by_q) change -= cross(turn, total);
        store(*J, sensor.offset, d, transpose_times(place.R, change));
      }
    }
  }

  // Adds one body's share, in world axes; returns the share itself.
  Vec3 add_body_wrench(const SensorIndex& sensor, int b, const Place& com, const Place& place) {
    const SensorDerivatives::Rates& r = out_.place;
    const bool moment = sensor.type == SensorType::torque;
    const double m = mass_of(b);
    const int k = com.at.link, row = sensor.offset;
    const Mat3 I = shifted(body_inertia(model_, data_, b), -com.at.r).rotational;
    const Vec3 w = data_.link_v[k].angular, alpha = felt_acceleration(model_, data_, k).angular;
    const double* outside = in_.wrenches == nullptr ? nullptr : in_.wrenches->data() + 6 * b;
    const Vec3 f = felt_acceleration_at(model_, data_, com.at) * m - (outside ? load3(outside) : Vec3());
    const Vec3 arm = com.position() - place.position();
    const auto turned = [&](Vec3 turn, Vec3 x) { return cross(turn, I * x) - I * cross(turn, x); };
    for (int d = 0; d < model_.nv(); ++d) {
      const Vec3 dc = top(r.position, d), turn = bottom(r.position, d);
      const Vec3 dp = top(out_.reference.position, d);
      const Vec3 by_q = top(r.acceleration_by_q, d) * m, by_v = top(r.acceleration_by_v, d) * m,
                 by_a = dc * m;
      if (!moment) {
        increase(out_.by_q, row, d, by_q);
        increase(out_.by_v, row, d, by_v);
        increase(out_.by_a, row, d, by_a);
        continue;
      }
      const Vec3 dw = bottom(r.velocity_by_q, d);
      const Vec3 spin_by_q = turned(turn, alpha) + I * bottom(r.acceleration_by_q, d) + cross(dw, I * w) +
                             cross(w, turned(turn, w) + I * dw);
      const Vec3 spin_by_v = I * bottom(r.acceleration_by_v, d) + cross(turn, I * w) + cross(w, I * turn);
      increase(out_.by_q, row, d, spin_by_q + cross(dc - dp, f) + cross(arm, by_q));
      increase(out_.by_v, row, d, spin_by_v + cross(arm, by_v));
      increase(out_.by_a, row, d, I * turn + cross(arm, by_a));
    }
    if (!moment) return f;
    return I * alpha + cross(w, I * w) + cross(arm, f) - (outside ? load3(outside + 3) : Vec3());
  }

  const Model& model_;
  const Data& data_;
  const SensorInputs& in_;
  SensorDerivatives& out_;
};

// What is cut off does not change.
void clear_cut_rows(const SensorIndex& sensor, const VectorX& readings, SensorDerivatives& out) {
  if (!(sensor.cutoff > 0.0) || !is_cut(sensor.type)) return;
  for (int i = sensor.offset; i < sensor.offset + sensor.size; ++i) {
    if (std::abs(readings[i]) < sensor.cutoff) continue;
    out.by_q.row(i).setZero();
    out.by_v.row(i).setZero();
    out.by_a.row(i).setZero();
  }
}

}  // namespace

bool has_derivative(const SensorIndex& sensor) {
  using enum SensorType;
  switch (sensor.type) {
    case actuator_position:
    case actuator_velocity:
    case actuator_force:
    case joint_actuator_force:
    case tendon_actuator_force:
    case joint_limit_force:
    case tendon_limit_force:
    case touch:
    case range_finder:
    case potential_energy:
    case kinetic_energy:
    case user: return false;
    default: return true;
  }
}

SensorDerivatives::SensorDerivatives(const Model& model, const Sensors& sensors)
    : by_q(sensors.size(), model.nv()),
      by_v(by_q),
      by_a(by_q),
      readings(sensors.size()) {
  for (Rates* rates : {&place, &reference}) {
    for (MatrixX* J :
         {&rates->position, &rates->velocity_by_q, &rates->acceleration_by_q, &rates->acceleration_by_v})
      J->resize(6, model.nv());
  }
}

void differentiate_sensors(const Model& model, const Data& data, const Sensors& sensors,
                           const SensorInputs& inputs, SensorDerivatives& derivatives) {
  require_size("derivatives", derivatives.by_q.rows(), sensors.size());
  derivatives.by_q.setZero();
  derivatives.by_v.setZero();
  derivatives.by_a.setZero();
  read_sensors(model, data, sensors, inputs, derivatives.readings);
  Differentiator differentiator(model, data, inputs, derivatives);
  for (const SensorIndex& sensor : sensors.list()) {
    differentiator.differentiate(sensor);
    clear_cut_rows(sensor, derivatives.readings, derivatives);
  }
}

}  // namespace articula
