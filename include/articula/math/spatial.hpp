#pragma once
// Spatial vectors: motions (twists), forces (wrenches) and rigid-body inertias.
//
// All are written in world axes about one reference point per kinematic tree (docs/notation.md), so
// that quantities of different links add without being transformed.

#include "articula/math/vec3.hpp"

namespace articula {

// Angular part, and velocity of the (body-fixed) point that is at the reference point just now.
struct Motion {
  Vec3 angular, linear;

  Motion& operator+=(const Motion& b) {
    angular += b.angular;
    linear += b.linear;
    return *this;
  }
  Motion& operator-=(const Motion& b) {
    angular -= b.angular;
    linear -= b.linear;
    return *this;
  }
};

// Moment about the reference point, and force.
struct Force {
  Vec3 moment, linear;

  Force& operator+=(const Force& b) {
    moment += b.moment;
    linear += b.linear;
    return *this;
  }
  Force& operator-=(const Force& b) {
    moment -= b.moment;
    linear -= b.linear;
    return *this;
  }
};

inline Motion operator+(const Motion& a, const Motion& b) {
  return {a.angular + b.angular, a.linear + b.linear};
}
inline Motion operator-(const Motion& a, const Motion& b) {
  return {a.angular - b.angular, a.linear - b.linear};
}
inline Motion operator*(const Motion& a, double s) { return {a.angular * s, a.linear * s}; }
inline Force operator+(const Force& a, const Force& b) { return {a.moment + b.moment, a.linear + b.linear}; }
inline Force operator-(const Force& a, const Force& b) { return {a.moment - b.moment, a.linear - b.linear}; }
inline Force operator*(const Force& a, double s) { return {a.moment * s, a.linear * s}; }

// Power of a force along a motion.
inline double dot(const Motion& m, const Force& f) {
  return sum(Vec3(m.angular.lanes * f.moment.lanes + m.linear.lanes * f.linear.lanes));
}

// Rate of change of a motion m fixed in a body that moves with v:  v x m.
inline Motion cross(const Motion& v, const Motion& m) {
  return {cross(v.angular, m.angular), cross(v.angular, m.linear) + cross(v.linear, m.angular)};
}

// Rate of change of a force f fixed in a body that moves with v:  v x* f.
inline Force cross(const Motion& v, const Force& f) {
  return {cross(v.angular, f.moment) + cross(v.linear, f.linear), cross(v.angular, f.linear)};
}

// Velocity of the point at r (from the reference point) of a body that moves with v.
inline Vec3 point_velocity(const Motion& v, Vec3 r) { return v.linear + cross(v.angular, r); }

// Inertia of a rigid body about the reference point:
//   mass m,  first moment h = m c,  rotational inertia I = sum_i m_i (r_i^2 1 - r_i r_i^T).
struct Inertia {
  Mat3 rotational;
  Vec3 moment;
  double mass = 0.0;

  Inertia& operator+=(const Inertia& b) {
    rotational += b.rotational;
    moment += b.moment;
    mass += b.mass;
    return *this;
  }
};

// (I w + h x v,  m v - h x w)
inline Force operator*(const Inertia& inertia, const Motion& v) {
  return {inertia.rotational * v.angular + cross(inertia.moment, v.linear),
          v.linear * inertia.mass - cross(inertia.moment, v.angular)};
}

// A body's inertia about its origin, from the body's axes to world axes.
inline Inertia rotated(const Inertia& body, const Mat3& R) {
  return {R * transpose(R * body.rotational), R * body.moment, body.mass};
}

// The same inertia about a point from which the old one lies at r:
//   h' = h + m r,   I' = I + 2 (r . h) 1 - r h^T - h r^T + m (r^2 1 - r r^T)
inline Inertia shifted(const Inertia& body, Vec3 r) {
  const Vec3 moment = body.moment + r * body.mass;
  // r . (h + h') collects 2 r.h + m r^2; r h'^T + h r^T the outer products.
  Mat3 rotational = body.rotational - outer(r, moment) - outer(body.moment, r);
  rotational += Mat3::diagonal(dot(r, body.moment + moment));
  return {rotational, moment, body.mass};
}

// The inertia of a body placed at (R, r).
inline Inertia placed(const Inertia& body, const Mat3& R, Vec3 r) { return shifted(rotated(body, R), r); }

// A motion or force written about a point is written about another, from which the old one lies at r.
inline Motion shifted(const Motion& m, Vec3 r) { return {m.angular, m.linear + cross(r, m.angular)}; }
inline Force shifted(const Force& f, Vec3 r) { return {f.moment + cross(r, f.linear), f.linear}; }

}  // namespace articula
