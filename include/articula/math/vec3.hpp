#pragma once
// Vectors and matrices of three, carried in four lanes of a vector register.
//
// Every recursion over a robot's links is made of products of 3x3 matrices with 3-vectors. With the
// fourth lane held at zero each of them is a few fused multiply-adds on whole registers, with no
// loops and no remainders. Columns are stored: `A * x = A.x x_0 + A.y x_1 + A.z x_2`.

#include <cmath>

#include "articula/math/types.hpp"

namespace articula {

using Lanes = double __attribute__((vector_size(32)));

inline Lanes broadcast(double value) { return Lanes{value, value, value, value}; }

struct Vec3 {
  Lanes lanes{0.0, 0.0, 0.0, 0.0};

  Vec3() = default;
  explicit Vec3(Lanes values) : lanes(values) {}
  Vec3(double x, double y, double z) : lanes{x, y, z, 0.0} {}
  explicit Vec3(const Vector3& v) : lanes{v[0], v[1], v[2], 0.0} {}

  double operator[](int i) const { return lanes[i]; }
  double x() const { return lanes[0]; }
  double y() const { return lanes[1]; }
  double z() const { return lanes[2]; }

  Vector3 eigen() const { return {lanes[0], lanes[1], lanes[2]}; }

  Vec3& operator+=(Vec3 b) {
    lanes += b.lanes;
    return *this;
  }
  Vec3& operator-=(Vec3 b) {
    lanes -= b.lanes;
    return *this;
  }
  Vec3& operator*=(double s) {
    lanes *= broadcast(s);
    return *this;
  }
};

inline Vec3 operator+(Vec3 a, Vec3 b) { return Vec3(a.lanes + b.lanes); }
inline Vec3 operator-(Vec3 a, Vec3 b) { return Vec3(a.lanes - b.lanes); }
inline Vec3 operator-(Vec3 a) { return Vec3(-a.lanes); }
inline Vec3 operator*(Vec3 a, double s) { return Vec3(a.lanes * broadcast(s)); }
inline Vec3 operator*(double s, Vec3 a) { return a * s; }
inline Vec3 elementwise(Vec3 a, Vec3 b) { return Vec3(a.lanes * b.lanes); }

inline Vec3 splat_x(Vec3 a) { return Vec3(__builtin_shufflevector(a.lanes, a.lanes, 0, 0, 0, 0)); }
inline Vec3 splat_y(Vec3 a) { return Vec3(__builtin_shufflevector(a.lanes, a.lanes, 1, 1, 1, 1)); }
inline Vec3 splat_z(Vec3 a) { return Vec3(__builtin_shufflevector(a.lanes, a.lanes, 2, 2, 2, 2)); }

// (x, y, z) -> (y, z, x)
inline Vec3 rotate_lanes(Vec3 a) { return Vec3(__builtin_shufflevector(a.lanes, a.lanes, 1, 2, 0, 3)); }

inline Vec3 cross(Vec3 a, Vec3 b) {
  return rotate_lanes(Vec3(a.lanes * rotate_lanes(b).lanes - rotate_lanes(a).lanes * b.lanes));
}

inline double sum(Vec3 a) { return (a.lanes[0] + a.lanes[1]) + a.lanes[2]; }
inline double dot(Vec3 a, Vec3 b) { return sum(elementwise(a, b)); }
inline double squared_norm(Vec3 a) { return dot(a, a); }
inline double norm(Vec3 a) { return std::sqrt(dot(a, a)); }

// Three numbers in memory that the engine does not own (a user's vector).
inline Vec3 load3(const double* p) { return {p[0], p[1], p[2]}; }
inline void store3(double* p, Vec3 a) {
  p[0] = a.lanes[0];
  p[1] = a.lanes[1];
  p[2] = a.lanes[2];
}

// A 3x3 matrix by columns.
struct Mat3 {
  Vec3 x, y, z;

  static Mat3 identity() { return {Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, 0, 1)}; }
  static Mat3 diagonal(double d) { return {Vec3(d, 0, 0), Vec3(0, d, 0), Vec3(0, 0, d)}; }
  static Mat3 from(const Matrix3& m) {
    return {Vec3(Vector3(m.col(0))), Vec3(Vector3(m.col(1))), Vec3(Vector3(m.col(2)))};
  }

  Matrix3 eigen() const {
    Matrix3 m;
    m << x.eigen(), y.eigen(), z.eigen();
    return m;
  }
  const Vec3& column(int i) const { return (&x)[i]; }

  Mat3& operator+=(const Mat3& b) {
    x += b.x;
    y += b.y;
    z += b.z;
    return *this;
  }
  Mat3& operator-=(const Mat3& b) {
    x -= b.x;
    y -= b.y;
    z -= b.z;
    return *this;
  }
};

inline Mat3 operator+(const Mat3& a, const Mat3& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline Mat3 operator-(const Mat3& a, const Mat3& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline Mat3 operator*(const Mat3& a, double s) { return {a.x * s, a.y * s, a.z * s}; }

inline Vec3 operator*(const Mat3& a, Vec3 b) {
  return Vec3(a.x.lanes * splat_x(b).lanes + a.y.lanes * splat_y(b).lanes + a.z.lanes * splat_z(b).lanes);
}
inline Mat3 operator*(const Mat3& a, const Mat3& b) { return {a * b.x, a * b.y, a * b.z}; }

inline Mat3 transpose(const Mat3& a) {
  const Lanes zero{};
  const Lanes xy_low = __builtin_shufflevector(a.x.lanes, a.y.lanes, 0, 4, 2, 6);   // x0 y0 x2 y2
  const Lanes xy_high = __builtin_shufflevector(a.x.lanes, a.y.lanes, 1, 5, 3, 7);  // x1 y1 0 0
  const Lanes z_low = __builtin_shufflevector(a.z.lanes, zero, 0, 4, 2, 6);         // z0 0 z2 0
  const Lanes z_high = __builtin_shufflevector(a.z.lanes, zero, 1, 5, 3, 7);        // z1 0 0 0
  return {Vec3(__builtin_shufflevector(xy_low, z_low, 0, 1, 4, 5)),
          Vec3(__builtin_shufflevector(xy_high, z_high, 0, 1, 4, 5)),
          Vec3(__builtin_shufflevector(xy_low, z_low, 2, 3, 6, 7))};
}

// A^T b without storing A^T.
inline Vec3 transpose_times(const Mat3& a, Vec3 b) {
  const Mat3 products = transpose({elementwise(a.x, b), elementwise(a.y, b), elementwise(a.z, b)});
  return products.x + products.y + products.z;
}

inline double trace(const Mat3& a) { return (a.x[0] + a.y[1]) + a.z[2]; }

// [a]x, so that skew(a) * b = a x b.
inline Mat3 skew(Vec3 a) { return {Vec3(0, a[2], -a[1]), Vec3(-a[2], 0, a[0]), Vec3(a[1], -a[0], 0)}; }

// a b^T
inline Mat3 outer(Vec3 a, Vec3 b) {
  return {Vec3(a.lanes * splat_x(b).lanes), Vec3(a.lanes * splat_y(b).lanes),
          Vec3(a.lanes * splat_z(b).lanes)};
}

// A x b, column by column from the left: [a]x B.
inline Mat3 cross(Vec3 a, const Mat3& b) { return {cross(a, b.x), cross(a, b.y), cross(a, b.z)}; }

}  // namespace articula
