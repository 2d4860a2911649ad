// Newton's method on the conditions of a nearest pair:
//   T^T (x_b - x_a) = 0,   n_a + n_b = 0
// With the tangent maps of patch.hpp, u = T^T (x_b - x_a), a = T^T n_a, b = -T^T n_b and d = n . (x_b - x_a):
//   [ -(C_a + d D_a)  C_b ] [s_a]   [ d a - u ]
//   [      D_a        D_b ] [s_b] = [  b - a  ]
// The derivatives of contacts solve the same system (derivatives.cpp).

#include "polish.hpp"

#include <algorithm>
#include <utility>

#include "closed_match.hpp"

namespace articula::collision {

template <int Columns>
int solve4(double (&M)[4][4], double (&r)[4][Columns]) {
  int column[4] = {0, 1, 2, 3};
  double largest = 0;
  int rank = 4;
  for (int k = 0; k < 4; ++k) {
    int pr = k, pc = k;
    for (int i = k; i < 4; ++i)
      for (int j = k; j < 4; ++j)
        if (std::abs(M[i][j]) > std::abs(M[pr][pc])) pr = i, pc = j;
    if (k == 0) largest = std::abs(M[pr][pc]);
    if (!(std::abs(M[pr][pc]) > 1e-14 * largest)) {
      rank = k;
      break;
    }
    std::swap(M[k], M[pr]);
    std::swap(r[k], r[pr]);
    for (int i = 0; i < 4; ++i) std::swap(M[i][k], M[i][pc]);
    std::swap(column[k], column[pc]);
    for (int i = k + 1; i < 4; ++i) {
      const double f = M[i][k] / M[k][k];
      for (int j = k + 1; j < 4; ++j) M[i][j] -= f * M[k][j];
      for (int c = 0; c < Columns; ++c) r[i][c] -= f * r[k][c];
    }
  }
  double x[4][Columns] = {};
  for (int k = rank - 1; k >= 0; --k)
    for (int c = 0; c < Columns; ++c) {
      double value = r[k][c];
      for (int j = k + 1; j < rank; ++j) value -= M[k][j] * x[column[j]][c];
      x[column[k]][c] = value / M[k][k];
    }
  for (int i = 0; i < 4; ++i)
    for (int c = 0; c < Columns; ++c) r[i][c] = x[i][c];
  return 4 - rank;
}
template int solve4<1>(double (&)[4][4], double (&)[4][1]);
template int solve4<4>(double (&)[4][4], double (&)[4][4]);

namespace {

SurfacePoint moved(const Patch& patch, const SurfacePoint& at, const Basis& T, const Mat2& C, const Mat2& D,
                   Vec2 s) {
  const Vec2 turn = D * s;
  const double angle = std::sqrt(turn.x * turn.x + turn.y * turn.y);
  const double limit = angle > 0.5 ? 0.5 / angle : 1.0;  // a longer step would leave the linear range
  return settle(patch, at.x + T.span(C * s) * limit, at.n + T.span(turn) * limit);
}

// x of A x = r; false where A is close to singular.
bool solve2(const Mat2& A, Vec2 r, double least, Vec2& x) {
  const double determinant = A.xx * A.yy - A.xy * A.yx;
  if (!(std::abs(determinant) > least)) return false;
  x = Vec2{A.yy * r.x - A.xy * r.y, A.xx * r.y - A.yx * r.x} * (1.0 / determinant);
  return true;
}

bool invert(const Mat2& A, double least, Mat2& out) {
  const double determinant = A.xx * A.yy - A.xy * A.yx;
  if (!(std::abs(determinant) > least)) return false;
  out = Mat2{A.yy, -A.xy, -A.yx, A.xx} * (1.0 / determinant);
  return true;
}

// The Newton step. Where one side's normal turns both ways its D is eliminated, and a 2x2 system is left:
//   (E_a D_a^-1 D_b + C_b) s_b = r_1 + E_a D_a^-1 r_2,   E_a = C_a + d D_a
// Two lines, which turn one way each, take the whole system, lengths in units of the shapes' size.
void newton_step(const Mat2& Ca, const Mat2& Da, const Mat2& Cb, const Mat2& Db, double d, Vec2 u, Vec2 a,
                 Vec2 b, double inverse, Vec2& sa, Vec2& sb) {
  const Mat2 E = Ca + Da * d;
  const Vec2 r1 = a * d - u, r2 = b - a;
  const double least = 1e-3 * std::min(inverse, 1.0);
  Mat2 inverse_D;
  if (invert(Da, least, inverse_D)) {
    const Mat2 K = E * inverse_D;
    const Mat2 A = K * Db + Cb;
    const double size = std::abs(A.xx) + std::abs(A.xy) + std::abs(A.yx) + std::abs(A.yy);
    if (solve2(A, r1 + K * r2, 1e-12 * size * size, sb)) {
      sa = inverse_D * (r2 - Db * sb);
      return;
    }
  }
  if (invert(Db, least, inverse_D)) {
    const Mat2 K = Cb * inverse_D;
    const Mat2 A = E + K * Da;
    const double size = std::abs(A.xx) + std::abs(A.xy) + std::abs(A.yx) + std::abs(A.yy);
    if (solve2(A, K * r2 - r1, 1e-12 * size * size, sa)) {
      sb = inverse_D * (r2 - Da * sa);
      return;
    }
  }
  double M[4][4] = {{-E.xx * inverse, -E.xy * inverse, Cb.xx * inverse, Cb.xy * inverse},
                    {-E.yx * inverse, -E.yy * inverse, Cb.yx * inverse, Cb.yy * inverse},
                    {Da.xx, Da.xy, Db.xx, Db.xy},
                    {Da.yx, Da.yy, Db.yx, Db.yy}};
  double r[4][1] = {{r1.x * inverse}, {r1.y * inverse}, {r2.x}, {r2.y}};
  solve4<1>(M, r);
  sa = {r[0][0], r[1][0]};
  sb = {r[2][0], r[3][0]};
}

}  // namespace

Match polish(const Patch& first, const Patch& second, Vec3 a, Vec3 b, Vec3 n, double size) {
  Match match;
  if (closed_match(first, second, a, b, n, size, match)) return match;
  SurfacePoint pa = settle(first, a, n), pb = settle(second, b, -n);
  // Radii of curvature set the scale of C against D.
  const double inverse = 1.0 / size;
  double previous = INFINITY;
  for (int iteration = 0; iteration < 16; ++iteration) {
    const Vec3 sum = pa.n - pb.n;
    if (!(squared_norm(sum) > 1e-6)) return match;
    n = unit(sum);
    const Basis T(n);
    const Vec3 apart = pb.x - pa.x;
    const double d = dot(n, apart);
    const Vec2 u = T.of(apart), na = T.of(pa.n), nb = T.of(-pb.n);
    const double residual =
        (std::abs(u.x) + std::abs(u.y)) * inverse + std::abs(na.x - nb.x) + std::abs(na.y - nb.y);
    if (!(residual < 1e300)) return match;
    if (residual < 3e-14 || (residual < 1e-12 && residual > 0.5 * previous)) {
      match = {pa.x, pb.x, n, d, true};
      return match;
    }
    // From a good start the residual falls fast; what does not is no contact of these features.
    if (iteration >= 4 && residual > 0.7 * previous && residual > 1e-9) return match;
    previous = residual;
    Mat2 Ca, Da, Cb, Db;
    tangent_map(first, pa, T, Ca, Da);
    tangent_map(second, pb, T, Cb, Db);
    Vec2 sa, sb;
    newton_step(Ca, Da, Cb, Db, d, u, na, nb, inverse, sa, sb);
    pa = moved(first, pa, T, Ca, Da, sa);
    pb = moved(second, pb, T, Cb, Db, sb);
  }
  return match;
}

}  // namespace articula::collision
