#include "io/mjcf/inertia.hpp"

#include <cmath>
#include <numbers>

namespace articula::mjcf {

namespace {

constexpr double pi = std::numbers::pi;

double squared(double x) { return x * x; }

// Cylinder of height h between two half balls, masses in proportion to their volumes (areas). The
// halves' centres of mass lie 3r/8 (r/2) beyond the ends of the cylinder.
ShapeMass capsule(double r, double half_height, bool shell) {
  const double h = 2.0 * half_height;
  const double ball = shell ? 4.0 * r : 4.0 / 3.0 * r, tube = shell ? 2.0 * h : h;  // over pi r^(1 or 2)
  const double ball_part = ball / (ball + tube), tube_part = tube / (ball + tube);
  const double ball_moment = (shell ? 2.0 / 3.0 : 2.0 / 5.0) * r * r;
  const double offset = shell ? r / 2.0 : 3.0 * r / 8.0;
  const double across = ball_part * (ball_moment + squared(half_height + offset) - squared(offset)) +
                        tube_part * ((shell ? 6.0 : 3.0) * r * r + h * h) / 12.0;
  const double along = ball_part * ball_moment + tube_part * (shell ? r * r : r * r / 2.0);
  return {(ball + tube) * pi * (shell ? r : r * r), {across, across, along}};
}

ShapeMass cylinder(double r, double half_height, bool shell) {
  const double h = 2.0 * half_height;
  if (!shell) {
    const double across = (3.0 * r * r + h * h) / 12.0;
    return {pi * r * r * h, {across, across, r * r / 2.0}};
  }
  const double area = 2.0 * pi * r * (r + h);
  const double disc = r / (2.0 * (r + h)), tube = h / (r + h);  // parts of the mass; two discs
  const double across =
      tube * (6.0 * r * r + h * h) / 12.0 + 2.0 * disc * (r * r / 4.0 + squared(half_height));
  return {area, {across, across, tube * r * r + 2.0 * disc * r * r / 2.0}};
}

ShapeMass ellipsoid(const Vector3& s, bool shell) {
  const Vector3 q = s.cwiseAbs2();
  const Vector3 solid(q[1] + q[2], q[0] + q[2], q[0] + q[1]);
  const double volume = 4.0 / 3.0 * pi * s.prod();
  if (!shell) return {volume, solid / 5.0};
  // MuJoCo's approximations, kept so that masses agree: the area by Thomsen's formula, the moments by
  // the difference of two ellipsoids a micrometre apart.
  constexpr double p = 1.6075, skin = 1e-6;
  const double mean = (std::pow(s[0] * s[1], p) + std::pow(s[1] * s[2], p) + std::pow(s[2] * s[0], p)) / 3.0;
  const Vector3 outer = (s.array() + skin).matrix().cwiseAbs2();
  const Vector3 outer_solid(outer[1] + outer[2], outer[0] + outer[2], outer[0] + outer[1]);
  const double outer_volume = 4.0 / 3.0 * pi * (s.array() + skin).prod();
  const double density = 1.0 / (outer_volume - volume);
  return {4.0 * pi * std::pow(mean, 1.0 / p), density / 5.0 * (outer_volume * outer_solid - volume * solid)};
}

ShapeMass box(const Vector3& s, bool shell) {
  const Vector3 q = s.cwiseAbs2();
  if (!shell) return {8.0 * s.prod(), Vector3(q[1] + q[2], q[0] + q[2], q[0] + q[1]) / 3.0};
  // Three pairs of plates; the plate across axis i has area 4 s_j s_k and lies s_i from the centre.
  const Vector3 areas(8.0 * s[1] * s[2], 8.0 * s[0] * s[2], 8.0 * s[0] * s[1]);
  ShapeMass result{areas.sum(), Vector3::Zero()};
  for (int i = 0; i < 3; ++i) {
    const double part = areas[i] / result.volume;
    Vector3 second = q / 3.0;  // int x^2 over the plate, per area; across it the distance itself
    second[i] = q[i];
    result.moments += part * (Vector3::Constant(second.sum()) - second);
  }
  return result;
}

}  // namespace

ShapeMass shape_mass(ShapeType type, const Vector3& size, bool shell) {
  const double r = size[0];
  switch (type) {
    case ShapeType::sphere:
      if (shell) return {4.0 * pi * r * r, Vector3::Constant(2.0 / 3.0 * r * r)};
      return {4.0 / 3.0 * pi * r * r * r, Vector3::Constant(0.4 * r * r)};
    case ShapeType::capsule: return capsule(r, size[1], shell);
    case ShapeType::cylinder: return cylinder(r, size[1], shell);
    case ShapeType::ellipsoid: return ellipsoid(size, shell);
    case ShapeType::box: return box(size, shell);
    case ShapeType::plane:
    case ShapeType::mesh:
    case ShapeType::height_field: break;
  }
  return {};
}

Matrix3 turned(const Vector3& moments, const Quaternion& axes) {
  const Matrix3 R = axes.toRotationMatrix();
  return R * moments.asDiagonal() * R.transpose();
}

// Jacobi: the largest element off the diagonal is rotated away, by at most an eighth of a turn, until
// nothing is left. Starting from the body's own axes this leaves alone what is diagonal already, which
// decides the axes where moments are equal.
PrincipalInertia principal(const Matrix3& inertia, double tolerance) {
  const double negligible = tolerance * inertia.cwiseAbs().maxCoeff();
  PrincipalInertia result{inertia.diagonal(), Quaternion::Identity()};
  constexpr int most_rotations = 100;
  for (int i = 0; i < most_rotations; ++i) {
    const Matrix3 R = result.axes.toRotationMatrix();
    const Matrix3 D = R.transpose() * inertia * R;
    result.moments = D.diagonal();
    int row = 1, column = 2;
    if (std::abs(D(0, 1)) > std::abs(D(0, 2)) && std::abs(D(0, 1)) > std::abs(D(1, 2))) {
      row = 0, column = 1;
    } else if (std::abs(D(0, 2)) > std::abs(D(1, 2))) {
      row = 0, column = 2;
    }
    const double off = D(row, column);
    if (std::abs(off) <= negligible) break;
    // tan(2 angle) = 2 off / (D_rr - D_cc), the smaller of the two angles
    const double tau = (D(column, column) - D(row, row)) / (2.0 * off);
    const double tangent = (tau >= 0.0 ? 1.0 : -1.0) / (std::abs(tau) + std::sqrt(1.0 + tau * tau));
    Vector3 axis = Vector3::Unit(3 - row - column);
    if (row == 0 && column == 2) axis = -axis;
    result.axes = (result.axes * Quaternion(Eigen::AngleAxisd(-std::atan(tangent), axis))).normalized();
  }
  for (int i : {0, 1, 0}) {  // largest first, by quarter turns
    if (result.moments[i] + negligible >= result.moments[i + 1]) continue;
    std::swap(result.moments[i], result.moments[i + 1]);
    const Quaternion quarter(Eigen::AngleAxisd(pi / 2.0, Vector3::Unit((i + 2) % 3)));
    result.axes = (result.axes * quarter).normalized();
  }
  return result;
}

// m = sum m_i,  c = sum m_i c_i / m,  I = sum R_i I_i R_i^T + m_i (d_i^2 1 - d_i d_i^T),  d_i = c_i - c
InertiaDescription sum_of(const std::vector<Part>& parts) {
  InertiaDescription result;
  Vector3 moment = Vector3::Zero();
  for (const Part& part : parts) {
    result.mass += part.mass;
    moment += part.mass * part.pose.position;
  }
  if (result.mass <= 0.0) return result;
  result.com = moment / result.mass;
  for (const Part& part : parts) {
    const Vector3 d = part.pose.position - result.com;
    result.inertia += turned(part.moments, part.pose.rotation) +
                      part.mass * (d.squaredNorm() * Matrix3::Identity() - d * d.transpose());
  }
  result.principal_axes = parts.size() == 1 ? parts.front().pose.rotation : principal(result.inertia).axes;
  return result;
}

}  // namespace articula::mjcf
