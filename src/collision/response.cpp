// Contacts of nearest features. With u = T^T (x_b - x_a)', a = T^T n_a', b = -T^T n_b' as the surfaces follow
// their bodies, and slides s along them (patch.hpp), the conditions of a nearest pair differentiate to
//   u + C_b s_b - C_a s_a = d nu,    nu = a + D_a s_a = b - D_b s_b
// Then  n' = T nu,   d' = n . (x_b' - x_a'),   position' = (x_a' + x_b' + T (C_a s_a + C_b s_b))/2
// halfway, and where it leans to one of the sides (position.cpp)  + (lean d n)'/2.
//
// Contacts with the normal of faces: x_b - x_a = d n with n' given, x_a and x_b on their features. With g
// normal to the plane in which the points can slide against each other,
//   d' = g . (x_b' - x_a' - d n')/(g . n)

#include "response.hpp"

#include <algorithm>

#include "features.hpp"
#include "polish.hpp"

namespace articula::collision {
namespace {

bool is_flat(const Patch& p) { return p.kind == FeatureKind::face; }
// Points, spheres, ellipsoids: the normal may turn both ways, D = 1.
bool turns_freely(const Patch& p) { return p.kind == FeatureKind::point || p.kind == FeatureKind::surface; }

constexpr Mat2 one{1, 0, 0, 1};

bool invert(const Mat2& m, Mat2& out, double scale) {
  const double determinant = m.xx * m.yy - m.xy * m.yx;
  if (!(std::abs(determinant) > 1e-14 * scale * scale)) return false;
  const double s = 1.0 / determinant;
  out = {m.yy * s, -m.xy * s, -m.yx * s, m.xx * s};
  return true;
}

// A face against anything that is not flat: the normal is the face's, the other side rolls on it.
bool face_response(const Mat2& C, const Mat2& D, double d, bool a_is_flat, Response& r) {
  Mat2 inverse;
  if (!invert(D, inverse, 1.0)) return false;
  const Mat2 K = C * inverse;
  if (a_is_flat) {
    r.Na = one;
    r.Bb = K;
    r.Ba = K * -1.0;
    r.Au = one;
    r.Ab = K;
    r.Aa = (K + one * d) * -1.0;
  } else {
    r.Nb = one;
    r.Ab = K;
    r.Aa = K * -1.0;
    r.Bu = one * -1.0;
    r.Bb = K + one * d;
    r.Ba = K * -1.0;
  }
  return true;
}

// (H_a + H_b + d) nu = u + H_b b + H_a a
bool free_response(const Mat2& Ha, const Mat2& Hb, double d, Response& r) {
  const Mat2 sum = Ha + Hb + one * d;
  const double scale = std::abs(Ha.xx) + std::abs(Ha.yy) + std::abs(Hb.xx) + std::abs(Hb.yy) + std::abs(d);
  Mat2 S;
  if (!invert(sum, S, scale)) return false;
  r.Nu = S;
  r.Na = S * Ha;
  r.Nb = S * Hb;
  r.Au = Ha * r.Nu;
  r.Aa = Ha * (r.Na + one * -1.0);
  r.Ab = Ha * r.Nb;
  r.Bu = Hb * r.Nu * -1.0;
  r.Ba = Hb * r.Na * -1.0;
  r.Bb = Hb * (one + r.Nb * -1.0);
  return true;
}

// The system of polish.cpp, solved for unit right-hand sides.
void general_response(const Mat2& Ca, const Mat2& Da, const Mat2& Cb, const Mat2& Db, double d, double size,
                      Response& r) {
  const Mat2 E = Ca + Da * d;
  const double k = 1.0 / size;
  double M[4][4] = {{-E.xx * k, -E.xy * k, Cb.xx * k, Cb.xy * k},
                    {-E.yx * k, -E.yy * k, Cb.yx * k, Cb.yy * k},
                    {Da.xx, Da.xy, Db.xx, Db.xy},
                    {Da.yx, Da.yy, Db.yx, Db.yy}};
  double X[4][4] = {{k, 0, 0, 0}, {0, k, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
  r.one_sided |= solve4<4>(M, X) > 0;
  // right-hand side (d a - u; b - a)
  const Mat2 P{X[0][0], X[0][1], X[1][0], X[1][1]}, Q{X[0][2], X[0][3], X[1][2], X[1][3]};
  const Mat2 R{X[2][0], X[2][1], X[3][0], X[3][1]}, S{X[2][2], X[2][3], X[3][2], X[3][3]};
  const Mat2 su = P * -1.0, sa = P * d + Q * -1.0, tu = R * -1.0, ta = R * d + S * -1.0;
  r.Nu = Da * su;
  r.Na = one + Da * sa;
  r.Nb = Da * Q;
  r.Au = Ca * su;
  r.Aa = Ca * sa;
  r.Ab = Ca * Q;
  r.Bu = Cb * tu;
  r.Ba = Cb * ta;
  r.Bb = Cb * S;
}

void features_response(const Shape& a, const Placement& at_a, const Shape& b, const Placement& at_b,
                       Response& r) {
  const Patch pa = make_patch(a, at_a, r.fa), pb = make_patch(b, at_b, r.fb);
  Mat2 Ca, Da, Cb, Db;
  tangent_map(pa, {r.xa, r.n}, r.T, Ca, Da);
  tangent_map(pb, {r.xb, -r.n}, r.T, Cb, Db);
  if (is_flat(pa) && is_flat(pb)) {
    // Flat on flat, no manifold made: the normal follows both, the point stays between.
    r.one_sided = true;
    r.Na = r.Nb = one * 0.5;
    return;
  }
  if (is_flat(pa) && face_response(Cb, Db, r.d, true, r)) return;
  if (is_flat(pb) && face_response(Ca, Da, r.d, false, r)) return;
  if (turns_freely(pa) && turns_freely(pb)) {
    if (free_response(Ca, Cb, r.d, r)) return;
    // Two points in one place: the normal does not move.
    r.one_sided = true;
    return;
  }
  const double size = std::max(size_of(a), size_of(b));
  general_response(Ca, Da, Cb, Db, r.d, size, r);
}

// x = core + radius n (capsule), or core + radius u with u the part of n across the axis (cylinder).
void offset_response(const Shape& shape, const Placement& at, Feature f, Vec3 outward, Mat3& offset,
                     bool& rounded) {
  const double radius = feature_radius(shape, f);
  rounded = radius > 0;
  if (!rounded) return;
  if (shape.type != ShapeType::cylinder) {
    offset = Mat3::diagonal(radius);
    return;
  }
  const Vec3 axis = at.R.z, across = outward - axis * dot(axis, outward);
  const double length = norm(across);
  const Vec3 t = cross(axis, across * (1.0 / length));
  offset = outer(t, t) * (radius / length);
}

void faces_response(const Shape& a, const Placement& at_a, const Shape& b, const Placement& at_b,
                    const ContactPoint& c, Response& r) {
  if (c.face_a >= 0) r.na = at_a.R * face_of(a, c.face_a).normal;
  if (c.face_b >= 0) r.nb = at_b.R * face_of(b, c.face_b).normal;
  if (r.rule == NormalRule::faces) r.inverse_mean = 1.0 / norm(r.na - r.nb);
  offset_response(a, at_a, r.fa, r.n, r.offset_a, r.rounded_a);
  offset_response(b, at_b, r.fb, -r.n, r.offset_b, r.rounded_b);
  if (r.fa.kind == FeatureKind::face)
    r.g = r.na;
  else if (r.fb.kind == FeatureKind::face)
    r.g = r.nb;
  else {
    r.ea = at_a.R * unit(line_of(a, r.fa.index).along);
    r.eb = at_b.R * unit(line_of(b, r.fb.index).along);
    r.g = cross(r.ea, r.eb);
    const double squared = squared_norm(r.g);
    // Crossings of parallel edges do not exist; nearly parallel ones run away.
    r.one_sided |= squared < 1e-16;
    r.inverse_gg = squared > 1e-24 ? 1.0 / squared : 0.0;
    if (!(squared > 1e-24)) r.g = r.n;
  }
  r.inverse_gn = 1.0 / dot(r.g, r.n);
}

}  // namespace

Response make_response(const Shape& a, const Placement& at_a, const Shape& b, const Placement& at_b,
                       const ContactPoint& c) {
  Response r(c.normal);
  r.rule = c.rule;
  r.d = c.distance;
  r.lean = c.lean;
  r.lean_rate = c.lean_rate;
  r.xa = c.normal * (-0.5 * (1.0 + c.lean) * c.distance);
  r.xb = c.normal * (0.5 * (1.0 - c.lean) * c.distance);
  r.fa = c.feature_a;
  r.fb = c.feature_b;
  r.one_sided = c.degenerate;
  if (c.rule == NormalRule::features)
    features_response(a, at_a, b, at_b, r);
  else
    faces_response(a, at_a, b, at_b, c, r);
  return r;
}

// From halfway to where the contact acts: (lean d n)'/2.
ContactRate Response::taken_aside(ContactRate halfway) const {
  halfway.position +=
      n * (0.5 * (lean + lean_rate * d) * halfway.distance) + halfway.normal * (0.5 * lean * d);
  return halfway;
}

ContactRate Response::by_features(const SurfaceRate& a, const SurfaceRate& b) const {
  const Vec3 apart = b.x - a.x;
  const Vec2 u = T.of(apart), ra = T.of(a.n), rb = T.of(-b.n);
  const Vec2 turn = Nu * u + Na * ra + Nb * rb;
  const Vec2 slide = Au * u + Aa * ra + Ab * rb + Bu * u + Ba * ra + Bb * rb;
  return {(a.x + b.x + T.span(slide)) * 0.5, T.span(turn), dot(n, apart)};
}

namespace {

// T M T^T
Mat3 lift(const Basis& T, const Mat2& M) {
  return outer(T.t1 * M.xx + T.t2 * M.yx, T.t1) + outer(T.t1 * M.xy + T.t2 * M.yy, T.t2);
}

// Columns e_i x r of a cross product with r from the right.
Mat3 cross_columns(Vec3 r) { return skew(r) * -1.0; }

bool is_zero(const Mat2& m) { return m.xx == 0.0 && m.xy == 0.0 && m.yx == 0.0 && m.yy == 0.0; }

}  // namespace

// The map above as matrices, on x_a' = e_i x x_a, n_a' = e_i x n and so on:
//   halfway' = P_a x_a' + P_b x_b' + K_a n_a' - K_b n_b',    P_a = (1 - T S_u T^T)/2,  P_b = (1 + T S_u
//   T^T)/2 n'       = N_u (x_b' - x_a') + N_a n_a' - N_b n_b'
// On a face that stays where it is the normal stays, too: N_u = N_b = 0.
bool Response::by_motions(bool moves_a, bool moves_b, ContactRate* out) const {
  const bool turns = !is_zero(Nu) || (moves_a && !is_zero(Na)) || (moves_b && !is_zero(Nb));
  const Mat3 half = Mat3::diagonal(0.5), X = cross_columns(n);
  const Mat3 Su = lift(T, (Au + Bu) * 0.5), U = turns ? lift(T, Nu) : Mat3();
  const auto write = [&](const Mat3& position, const Mat3& normal, Vec3 distance, ContactRate* to) {
    for (int i = 0; i < 3; ++i) to[i] = taken_aside({position.column(i), normal.column(i), distance[i]});
  };
  if (moves_a) {
    const Mat3 Pa = half - Su, Xa = cross_columns(xa), Ka = lift(T, (Aa + Ba) * 0.5);
    write(Pa * Xa + Ka * X, turns ? lift(T, Na) * X - U * Xa : Mat3(), cross(n, xa), out);
    write(Pa, U * -1.0, -n, out + 3);
  }
  if (moves_b) {
    const Mat3 Pb = half + Su, Xb = cross_columns(xb), Kb = lift(T, (Ab + Bb) * 0.5);
    write(Pb * Xb + Kb * X, turns ? lift(T, Nb) * X + U * Xb : Mat3(), cross(xb, n), out + 6);
    write(Pb, U, n, out + 9);
  }
  return turns;
}

ContactRate Response::by_faces(const SurfaceRate& a, const SurfaceRate& b) const {
  Vec3 dn = rule == NormalRule::face_a ? a.n : rule == NormalRule::face_b ? -b.n : (a.n - b.n) * inverse_mean;
  if (rule == NormalRule::faces) dn = dn - n * dot(n, dn);
  const Vec3 va = rounded_a ? a.x + offset_a * (dn - a.n) : a.x;
  const Vec3 vb = rounded_b ? b.x + offset_b * (-dn - b.n) : b.x;
  const Vec3 gap = vb - va - dn * d;
  const double rate = dot(g, gap) * inverse_gn;
  const Vec3 moved = n * rate + dn * d;  // of x_b against x_a
  Vec3 x = va;                           // of x_a
  if (fa.kind == FeatureKind::face)
    x = vb - moved;
  else if (fb.kind != FeatureKind::face)
    x += ea * (dot(cross(gap - n * rate, eb), g) * inverse_gg);
  return {x + moved * 0.5, dn, rate};
}

ContactRate Response::operator()(const SurfaceRate& a, const SurfaceRate& b) const {
  return taken_aside(rule == NormalRule::features ? by_features(a, b) : by_faces(a, b));
}

}  // namespace articula::collision
