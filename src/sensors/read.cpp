// Readings, sensor by sensor. Formulas: R, p axes and origin of the place, u, w its linear and angular
// velocity, all in the world; with a reference place (R2, p2, u2, w2) what is measured is relative to it, in
// its axes.

#include <algorithm>
#include <cmath>

#include "articula/dynamics/energy.hpp"
#include "articula/dynamics/springs.hpp"
#include "articula/model/sizes.hpp"
#include "articula/sensors/sensors.hpp"
#include "limits.hpp"
#include "places.hpp"

namespace articula {

namespace {

struct Reader {
  const Model& model;
  const Data& data;
  const Sensors& sensors;
  const SensorInputs& in;
  const Structure& s = model.structure();

  Place place(const SensorIndex& sensor) const {
    return find_place(model, data, sensor.object_type, sensor.object);
  }
  Place reference(const SensorIndex& sensor) const {
    return find_place(model, data, sensor.reference_type, sensor.reference);
  }
  bool relative(const SensorIndex& sensor) const { return sensor.reference >= 0; }
  Vec3 velocity(const LinkPoint& at) const { return point_velocity(data.link_v[at.link], at.r); }
  Vec3 turning(const LinkPoint& at) const { return data.link_v[at.link].angular; }
};

// ---- joints, tendons, actuators

double held(const VectorX* forces, int index) { return forces == nullptr ? 0.0 : (*forces)[index]; }

// The forces of its actuators, before their gears.
double tendon_drive(const Reader& r, int tendon) {
  double sum = 0.0;
  for (int i = 0; i < r.model.nu(); ++i) {
    if (r.model.description().actuators[i].transmission == TransmissionType::tendon &&
        r.s.actuators[i].target == tendon)
      sum += r.in.forces->force[i];
  }
  return sum;
}

double scalar(const Reader& r, const SensorIndex& sensor) {
  using enum SensorType;
  const int i = sensor.object;
  const ForceWork* f = r.in.forces;
  switch (sensor.type) {
    case joint_position: return r.in.q[r.s.joints[i].q];
    case joint_velocity: return r.in.v[r.s.joints[i].dof];
    case joint_actuator_force: return f->actuator[r.s.joints[i].dof];
    case actuator_position: return f->length[i];
    case actuator_velocity: return f->velocity[i];
    case actuator_force: return f->force[i];
    case tendon_position: return f->tendon_length[i];
    case tendon_velocity: return f->tendon_velocity[i];
    case tendon_actuator_force: return tendon_drive(r, i);
    case joint_limit_position: return near_joint_limit(r.model, r.in, i).distance;
    case joint_limit_velocity: return articula::joint_limit_velocity(r.model, r.in, i);
    case joint_limit_force: return held(r.in.joint_limit_force, i);
    case tendon_limit_position: return near_tendon_limit(r.model, r.in, i).distance;
    case tendon_limit_velocity: return near_tendon_limit(r.model, r.in, i).sign * f->tendon_velocity[i];
    case tendon_limit_force: return held(r.in.tendon_limit_force, i);
    case clock: return r.in.time;
    default: return 0.0;
  }
}

// ---- places

// p,  or R2^T (p - p2)
Vec3 position(const Reader& r, const SensorIndex& sensor) {
  const Vec3 p = r.place(sensor).position();
  if (!r.relative(sensor)) return p;
  const Place ref = r.reference(sensor);
  return transpose_times(ref.R, p - ref.position());
}

Vec3 axis(const Reader& r, const SensorIndex& sensor, int i) {
  const Vec3 direction = r.place(sensor).R.column(i);
  return r.relative(sensor) ? transpose_times(r.reference(sensor).R, direction) : direction;
}

Quat quaternion(const Reader& r, const SensorIndex& sensor) {
  const Quat own = place_quaternion(r.model, r.data, r.in.q, sensor.object_type, sensor.object);
  if (!r.relative(sensor)) return own;
  return conjugate(place_quaternion(r.model, r.data, r.in.q, sensor.reference_type, sensor.reference)) * own;
}

// u,  or R2^T (u - u2 - w2 x (p - p2))
Vec3 linear_velocity(const Reader& r, const SensorIndex& sensor) {
  const Place place = r.place(sensor);
  const Vec3 u = r.velocity(place.at);
  if (!r.relative(sensor)) return u;
  const Place ref = r.reference(sensor);
  const Vec3 apart = place.position() - ref.position();
  return transpose_times(ref.R, u - r.velocity(ref.at) - cross(r.turning(ref.at), apart));
}

// w,  or R2^T (w - w2)
Vec3 angular_velocity(const Reader& r, const SensorIndex& sensor) {
  const Vec3 w = r.turning(r.place(sensor).at);
  if (!r.relative(sensor)) return w;
  const Place ref = r.reference(sensor);
  return transpose_times(ref.R, w - r.turning(ref.at));
}

Vec3 place_reading(const Reader& r, const SensorIndex& sensor) {
  using enum SensorType;
  const Place place = r.place(sensor);
  switch (sensor.type) {
    case gyro: return transpose_times(place.R, r.turning(place.at));
    case velocimeter: return transpose_times(place.R, r.velocity(place.at));
    case accelerometer: return transpose_times(place.R, felt_acceleration_at(r.model, r.data, place.at));
    case magnetometer: return transpose_times(place.R, Vec3(r.model.description().magnetic_flux));
    case frame_linear_acceleration: return felt_acceleration_at(r.model, r.data, place.at);
    default: return felt_acceleration(r.model, r.data, place.at.link).angular;
  }
}

// ---- subtrees

struct Subtree {
  double mass = 0.0;
  Vec3 moment, momentum;  // m c, m u: in the world
  Vec3 angular;           // about the world's origin
};

Subtree sum_subtree(const Reader& r, int body) {
  Subtree sum;
  for (int b = body; b < body_subtree_end(r.s, body); ++b) {
    const int k = r.s.bodies[b].link;
    const Inertia inertia = body_inertia(r.model, r.data, b);
    const Force p = inertia * r.data.link_v[k];
    sum.mass += inertia.mass;
    sum.moment += inertia.moment + r.data.link_reference[k] * inertia.mass;
    sum.momentum += p.linear;
    sum.angular += p.moment + cross(r.data.link_reference[k], p.linear);
  }
  return sum;
}

Vec3 subtree_reading(const Reader& r, const SensorIndex& sensor) {
  constexpr double least_mass = 1e-15;
  const Subtree sum = sum_subtree(r, sensor.object);
  const double inverse = 1.0 / std::max(sum.mass, least_mass);
  if (sensor.type == SensorType::subtree_linear_velocity) return sum.momentum * inverse;
  const Vec3 centre = sum.mass > least_mass
                          ? sum.moment * inverse
                          : find_place(r.model, r.data, ObjectType::body_inertial, sensor.object).position();
  if (sensor.type == SensorType::subtree_com) return centre;
  return sum.angular - cross(centre, sum.momentum);
}

// ---- forces

// What holds the body to its parent: sum over the subtree of  I a + v x* I v - external,  about the place.
// Joint springs, dampers, drag and actuators are inside the robot or, like MuJoCo's, not counted.
Vec3 interaction(const Reader& r, const SensorIndex& sensor) {
  const Place place = r.place(sensor);
  const int body = body_of_place(r.model, sensor.object_type, sensor.object);
  Force sum{};
  for (int b = body; b < body_subtree_end(r.s, body); ++b) {
    const int k = r.s.bodies[b].link;
    const Motion& v = r.data.link_v[k];
    const Inertia inertia = body_inertia(r.model, r.data, b);
    Force f = inertia * felt_acceleration(r.model, r.data, k) + cross(v, inertia * v);
    if (r.in.wrenches != nullptr) {
      const double* w = r.in.wrenches->data() + 6 * b;
      const Vec3 at = r.data.link_r[k] + r.data.link_R[k] * r.model.constants().body_com[b];
      f -= Force{load3(w + 3) + cross(at, load3(w)), load3(w)};
    }
    sum += shifted(f, r.data.link_reference[k] - place.position());
  }
  return transpose_times(place.R, sensor.type == SensorType::force ? sum.linear : sum.moment);
}

// Normal forces of contacts on the body that push towards the zone, or from within it.
double touch(const Reader& r, const SensorIndex& sensor) {
  const Place place = r.place(sensor);
  const int body = r.s.frames[sensor.object].body;
  const collision::Shape& zone = r.sensors.zones()[sensor.zone];
  double sum = 0.0;
  for (const TouchContact& contact : r.in.contacts) {
    if (contact.force <= 0.0 || (contact.body_a != body && contact.body_b != body)) continue;
    const Vec3 ray = contact.body_b == body ? -contact.normal : contact.normal;
    if (cast_ray_unchecked(zone, {place.R, place.position()}, contact.point, ray).hit()) sum += contact.force;
  }
  return sum;
}

// A plane is seen from its front only, and ends where its sizes say (0: nowhere).
bool shows(const GeometryDescription& plane, const Placement& at, Vec3 eye, Vec3 point) {
  if (dot(at.R.z, eye - at.p) < 0.0) return false;
  const Vec3 local = transpose_times(at.R, point - at.p);
  const auto within = [&](int i) { return plane.size[i] <= 0.0 || std::abs(local[i]) <= plane.size[i]; };
  return within(0) && within(1);
}

// Along z, to the nearest of what collides and can be seen, on other bodies; -1: nothing.
double range(const Reader& r, const SensorIndex& sensor) {
  const Place place = r.place(sensor);
  const int body = r.s.frames[sensor.object].body;
  double nearest = -1.0;
  for (const collision::Collider& c : r.sensors.visible()->list()) {
    const GeometryDescription& seen = r.model.description().geometries[c.geometry];
    if (seen.rgba[3] == 0.0f || r.s.geometries[c.geometry].body == body) continue;
    const Placement link{r.data.link_R[c.link], r.data.link_reference[c.link] + r.data.link_r[c.link]};
    const Placement at = link * c.in_link;
    const collision::RayHit hit = cast_ray_unchecked(c.shape, at, place.position(), place.R.z);
    const Vec3 point = place.position() + place.R.z * hit.distance;
    if (seen.type == ShapeType::plane && !shows(seen, at, place.position(), point)) continue;
    if (hit.hit() && (nearest < 0.0 || hit.distance < nearest)) nearest = hit.distance;
  }
  return nearest;
}

double energy_reading(const Reader& r, const SensorIndex& sensor) {
  double sum = 0.0;
  for (int b = 1; b < r.model.nbody(); ++b) {
    const int k = r.s.bodies[b].link;
    const Inertia inertia = body_inertia(r.model, r.data, b);
    const Motion& v = r.data.link_v[k];
    sum += sensor.type == SensorType::kinetic_energy
               ? 0.5 * dot(v, inertia * v)
               : -dot(r.model.gravity(), inertia.moment + r.data.link_reference[k] * inertia.mass);
  }
  if (sensor.type == SensorType::potential_energy) {
    const Eigen::Map<const VectorX> q(r.in.q, r.model.nq());
    return sum + spring_energy(r.model, q) + tendon_spring_energy(r.model, q);
  }
  for (int d = 0; d < r.model.nv(); ++d) sum += 0.5 * r.model.constants().armature[d] * r.in.v[d] * r.in.v[d];
  return sum;
}

// What cannot be negative is cut from above only.
void cut(const SensorIndex& sensor, double* out) {
  using enum SensorType;
  if (!(sensor.cutoff > 0.0) || !is_cut(sensor.type)) return;
  const bool positive = sensor.type == touch || sensor.type == range_finder;
  for (int i = 0; i < sensor.size; ++i) {
    out[i] = std::min(out[i], sensor.cutoff);
    if (!positive) out[i] = std::max(out[i], -sensor.cutoff);
  }
}

void read(const Reader& r, const SensorIndex& sensor, double* out) {
  using enum SensorType;
  switch (sensor.type) {
    case frame_position: return store3(out, position(r, sensor));
    case frame_x_axis: return store3(out, axis(r, sensor, 0));
    case frame_y_axis: return store3(out, axis(r, sensor, 1));
    case frame_z_axis: return store3(out, axis(r, sensor, 2));
    case frame_quaternion: return store_quaternion(out, quaternion(r, sensor));
    case ball_quaternion: return store_quaternion(out, load_quaternion(r.in.q + r.s.joints[sensor.object].q));
    case ball_angular_velocity: return store3(out, load3(r.in.v + r.s.joints[sensor.object].dof));
    case frame_linear_velocity: return store3(out, linear_velocity(r, sensor));
    case frame_angular_velocity: return store3(out, angular_velocity(r, sensor));
    case gyro:
    case velocimeter:
    case accelerometer:
    case magnetometer:
    case frame_linear_acceleration:
    case frame_angular_acceleration: return store3(out, place_reading(r, sensor));
    case subtree_com:
    case subtree_linear_velocity:
    case subtree_angular_momentum: return store3(out, subtree_reading(r, sensor));
    case force:
    case torque: return store3(out, interaction(r, sensor));
    case touch: *out = articula::touch(r, sensor); return;
    case range_finder: *out = range(r, sensor); return;
    case potential_energy:
    case kinetic_energy: *out = energy_reading(r, sensor); return;
    case user: std::fill_n(out, sensor.size, 0.0); return;
    default: *out = scalar(r, sensor); return;
  }
}

// Actuator and tendon sensors read what applied_forces has left.
bool needs_forces(const SensorIndex& sensor) {
  return sensor.object_type == ObjectType::actuator || sensor.object_type == ObjectType::tendon ||
         sensor.type == SensorType::joint_actuator_force;
}

}  // namespace

void read_sensors(const Model& model, const Data& data, const Sensors& sensors, const SensorInputs& inputs,
                  VectorRef readings) {
  require_size("readings", readings.size(), sensors.size());
  const Reader reader{model, data, sensors, inputs};
  for (const SensorIndex& sensor : sensors.list()) {
    if (needs_forces(sensor) && inputs.forces == nullptr)
      throw Error("sensor '{}' reads forces: call applied_forces and give its work", sensor.name);
    double* out = readings.data() + sensor.offset;
    read(reader, sensor, out);
    cut(sensor, out);
  }
}

}  // namespace articula
