#include "inertia_box.hpp"

#include "articula/math/lie.hpp"

namespace articula {

namespace {

// MuJoCo's smallest number: an edge of a flat body is no shorter than that of a box with this inertia.
constexpr double smallest = 1e-15;
// Below this part of the largest number two moments count as equal and an element as zero: rounding in
// I_origin = I_com + m (c^2 1 - c c^T) and in files must not turn the axes of a symmetric body.
constexpr double tolerance = 1e-11;

// An element off the diagonal that leaves the axes alone: nothing beside the gap of its moments, or where
// they are equal but for rounding, rounding itself.
bool vanishes(double element, double gap, double scale) {
  constexpr double epsilon = 1e-17, equal = 1e-8;
  if (std::abs(element) <= epsilon * scale) return true;
  return std::abs(gap) <= equal * scale && std::abs(element) <= tolerance * scale;
}

// Jacobi's rotations by at most an eighth of a turn: from nearly diagonal, the axes hardly move.
Matrix3 diagonalise(Matrix3& D, Matrix3 axes, double scale) {
  constexpr int most_sweeps = 12;
  for (int sweep = 0; sweep < most_sweeps; ++sweep) {
    bool rotated = false;
    for (int k = 0; k < 3; ++k) {
      const int i = (k + 1) % 3, j = (k + 2) % 3;
      if (vanishes(D(i, j), D(j, j) - D(i, i), scale)) continue;
      const double tau = (D(j, j) - D(i, i)) / (2.0 * D(i, j));
      const double t = (tau >= 0.0 ? 1.0 : -1.0) / (std::abs(tau) + std::sqrt(1.0 + tau * tau));
      const double c = 1.0 / std::sqrt(1.0 + t * t), s = t * c;
      Matrix3 turn = Matrix3::Identity();
      turn(i, i) = turn(j, j) = c;
      turn(i, j) = s, turn(j, i) = -s;
      D = turn.transpose() * D * turn;
      axes = axes * turn;
      rotated = true;
    }
    if (!rotated) break;
  }
  return axes;
}

// I_j + I_k - I_i, which is m b_i^2 / 6 for a box
Vec3 spread_of(Vec3 moments) {
  const double sum_of_all = sum(moments);
  return Vec3(sum_of_all - 2.0 * moments[0], sum_of_all - 2.0 * moments[1], sum_of_all - 2.0 * moments[2]);
}

double inverse_gap(double a, double b, double scale) {
  return std::abs(a - b) <= tolerance * scale ? 0.0 : 1.0 / (a - b);
}

}  // namespace

// b_i = sqrt(6 (I_j + I_k - I_i) / m)
InertiaBox inertia_box(const Inertia& body, const std::optional<Quaternion>& described) {
  InertiaBox box;
  if (!(body.mass > smallest)) {  // files may give inertia without mass; it has no box
    const Matrix3 start = described ? described->normalized().toRotationMatrix() : Matrix3::Identity();
    Matrix3 D = start.transpose() * body.rotational.eigen() * start;
    box.axes = Mat3::from(diagonalise(D, start, D.cwiseAbs().maxCoeff()));
    box.moments = Vec3(Vector3(D.diagonal()));
    return box;
  }
  const Vec3 com = body.moment * (1.0 / body.mass);
  const Matrix3 about_com =
      (body.rotational - Mat3::diagonal(dot(com, body.moment)) + outer(com, body.moment)).eigen();
  const Matrix3 start = described ? described->normalized().toRotationMatrix() : Matrix3::Identity();
  Matrix3 D = start.transpose() * about_com * start;
  box.axes = Mat3::from(diagonalise(D, start, body.rotational.eigen().cwiseAbs().maxCoeff()));
  box.moments = Vec3(Vector3(D.diagonal()));
  const Vec3 spread = spread_of(box.moments);
  box.size = Vec3(std::sqrt(std::max(smallest, spread[0]) / body.mass * 6.0),
                  std::sqrt(std::max(smallest, spread[1]) / body.mass * 6.0),
                  std::sqrt(std::max(smallest, spread[2]) / body.mass * 6.0));
  return box;
}

// db_i = 3 (dI_j + dI_k - dI_i) / (m b_i) - b_i dm / (2 m)
Vec3 box_size_change(const InertiaBox& box, double mass, Vec3 dmoments, double dmass) {
  const Vec3 spread = spread_of(box.moments), dspread = spread_of(dmoments);
  Vec3 change = box.size * (-0.5 * dmass / mass);
  for (int i = 0; i < 3; ++i) {
    if (spread[i] > smallest) change.lanes[i] += 3.0 * dspread[i] / (mass * box.size[i]);
  }
  return change;
}

BoxGradient box_size_gradient(const InertiaBox& box, double mass, Vec3 size_bar) {
  const Vec3 spread = spread_of(box.moments);
  Vec3 spread_bar;
  for (int i = 0; i < 3; ++i) {
    if (spread[i] > smallest) spread_bar.lanes[i] = 3.0 * size_bar[i] / (mass * box.size[i]);
  }
  return {spread_of(spread_bar), -0.5 * dot(size_bar, box.size) / mass};
}

// dI = [phi]x L - L [phi]x off the diagonal:  phi_z = dI_xy / (L_x - L_y), and so on in turn
Vec3 principal_turn(const InertiaBox& box, const Mat3& d) {
  const Vec3 L = box.moments;
  const double scale = std::max({L[0], L[1], L[2]});
  return Vec3(d.z[1] * inverse_gap(L[1], L[2], scale), d.x[2] * inverse_gap(L[2], L[0], scale),
              d.y[0] * inverse_gap(L[0], L[1], scale));
}

Mat3 principal_turn_gradient(const InertiaBox& box, Vec3 turn_bar) {
  const Vec3 L = box.moments;
  const double scale = std::max({L[0], L[1], L[2]});
  return {Vec3(0, 0, turn_bar[1] * inverse_gap(L[2], L[0], scale)),
          Vec3(turn_bar[2] * inverse_gap(L[0], L[1], scale), 0, 0),
          Vec3(0, turn_bar[0] * inverse_gap(L[1], L[2], scale), 0)};
}

}  // namespace articula
