#include "articula/math/lie.hpp"

#include <algorithm>

namespace articula {

namespace {

// Below this angle the closed forms lose digits and the series are exact to rounding.
constexpr double small_angle = 1e-2;

}  // namespace

Quat load_quaternion(const double* wxyz) {
  const double n2 = wxyz[0] * wxyz[0] + wxyz[1] * wxyz[1] + wxyz[2] * wxyz[2] + wxyz[3] * wxyz[3];
  if (n2 < 1e-60) return {};
  const double scale = 1.0 / std::sqrt(n2);
  return {wxyz[0] * scale, load3(wxyz + 1) * scale};
}

void store_quaternion(double* wxyz, const Quat& q) {
  wxyz[0] = q.w;
  store3(wxyz + 1, q.v);
}

Quat operator*(const Quat& a, const Quat& b) {
  return {a.w * b.w - dot(a.v, b.v), b.v * a.w + a.v * b.w + cross(a.v, b.v)};
}

// R = 1 + 2 w [v]x + 2 [v]x^2
Mat3 rotation_matrix(const Quat& q) {
  const Vec3 two_v = q.v * 2.0, two_wv = two_v * q.w;
  const double xx = q.v[0] * two_v[0], yy = q.v[1] * two_v[1], zz = q.v[2] * two_v[2];
  const double xy = q.v[0] * two_v[1], xz = q.v[0] * two_v[2], yz = q.v[1] * two_v[2];
  return {Vec3(1.0 - yy - zz, xy + two_wv[2], xz - two_wv[1]),
          Vec3(xy - two_wv[2], 1.0 - xx - zz, yz + two_wv[0]),
          Vec3(xz + two_wv[1], yz - two_wv[0], 1.0 - xx - yy)};
}

// From the largest of 4 w^2, 4 x^2, 4 y^2, 4 z^2, which is at least 1 (Shepperd).
Quat rotation_quaternion(const Mat3& R) {
  const double xx = R.x[0], yy = R.y[1], zz = R.z[2];
  const Vec3 odd(R.y[2] - R.z[1], R.z[0] - R.x[2], R.x[1] - R.y[0]);  // 4 w v
  const double xy = R.x[1] + R.y[0], yz = R.y[2] + R.z[1], zx = R.z[0] + R.x[2];
  const double w2 = 1.0 + xx + yy + zz, x2 = 1.0 + xx - yy - zz, y2 = 1.0 - xx + yy - zz,
               z2 = 1.0 - xx - yy + zz;
  const double largest = std::max(std::max(w2, x2), std::max(y2, z2)), scale = 0.5 / std::sqrt(largest);
  if (largest == w2) return {w2 * scale, odd * scale};
  if (largest == x2) return {odd[0] * scale, Vec3(x2, xy, zx) * scale};
  if (largest == y2) return {odd[1] * scale, Vec3(xy, y2, yz) * scale};
  return {odd[2] * scale, Vec3(zx, yz, z2) * scale};
}

// exp d = (cos |d|/2, d sin(|d|/2)/|d|)
Quat exp_rotation(Vec3 d) {
  const double angle2 = squared_norm(d);
  if (angle2 < small_angle * small_angle) {
    const double a = angle2 / 4.0;  // series in (|d|/2)^2
    return {1.0 - a * (1.0 / 2 - a * (1.0 / 24 - a / 720)),
            d * (0.5 * (1.0 - a * (1.0 / 6 - a * (1.0 / 120 - a / 5040))))};
  }
  const double angle = std::sqrt(angle2);
  return {std::cos(0.5 * angle), d * (std::sin(0.5 * angle) / angle)};
}

Vec3 log_rotation(const Quat& q) {
  const double sine = norm(q.v);
  // The sign that gives the shorter way round.
  const double w = q.w < 0.0 ? -q.w : q.w, sign = q.w < 0.0 ? -1.0 : 1.0;
  if (sine < 1e-8) return q.v * (sign * 2.0 / w);
  return q.v * (sign * 2.0 * std::atan2(sine, w) / sine);
}

// Jr(d) = 1 - (1 - cos a)/a^2 [d]x + (a - sin a)/a^3 [d]x^2
Mat3 right_jacobian(Vec3 d) {
  const double a2 = squared_norm(d);
  double first, second;
  if (a2 < small_angle * small_angle) {
    first = 0.5 - a2 * (1.0 / 24 - a2 * (1.0 / 720 - a2 / 40320));
    second = 1.0 / 6 - a2 * (1.0 / 120 - a2 * (1.0 / 5040 - a2 / 362880));
  } else {
    const double a = std::sqrt(a2), half_sine = std::sin(0.5 * a);
    first = 2.0 * half_sine * half_sine / a2;
    second = (a - std::sin(a)) / (a2 * a);
  }
  const Mat3 x = skew(d);
  return Mat3::identity() - x * first + x * x * second;
}

// Jr^-1(d) = 1 + [d]x/2 + (1/a^2 - (1 + cos a)/(2 a sin a)) [d]x^2
Mat3 inverse_right_jacobian(Vec3 d) {
  const double a2 = squared_norm(d);
  double second;
  if (a2 < small_angle * small_angle) {
    second = 1.0 / 12 + a2 * (1.0 / 720 + a2 * (1.0 / 30240 + a2 / 1209600));
  } else {
    const double a = std::sqrt(a2);
    // (1 + cos a)/sin a = cot(a/2), which is finite up to and at a = pi.
    second = 1.0 / a2 - 0.5 / (a * std::tan(0.5 * a));
  }
  const Mat3 x = skew(d);
  return Mat3::identity() + x * 0.5 + x * x * second;
}

namespace {

double turn_scale(const double* wxyz) {
  return 2.0 / std::sqrt(wxyz[0] * wxyz[0] + squared_norm(load3(wxyz + 1)));
}

}  // namespace

Vec3 quaternion_turn(const double* wxyz, const double* d) {
  return (conjugate(load_quaternion(wxyz)) * Quat{d[0], load3(d + 1)}).v * turn_scale(wxyz);
}

void add_quaternion_covector(const double* wxyz, Vec3 turn_bar, double* d_bar) {
  const Quat unit = load_quaternion(wxyz);
  const Vec3 scaled = turn_bar * turn_scale(wxyz);
  const Vec3 v_bar = scaled * unit.w + cross(unit.v, scaled);
  d_bar[0] -= dot(scaled, unit.v);
  for (int i = 0; i < 3; ++i) d_bar[1 + i] += v_bar[i];
}

Mat3 rotation_about(Vec3 k, double sine, double cosine) {
  const Vec3 sk = k * sine, ck = k * (1.0 - cosine);
  Mat3 R = outer(ck, k);
  R += skew(sk);
  R += Mat3::diagonal(cosine);
  return R;
}

}  // namespace articula
