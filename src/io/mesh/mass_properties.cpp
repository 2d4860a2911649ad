#include <cmath>

#include "articula/io/mesh.hpp"

namespace articula {

namespace {

struct Triangle {
  Vector3 a, b, c;

  Vector3 centre() const { return (a + b + c) / 3.0; }
  Vector3 doubled_area() const { return (b - a).cross(c - a); }
};

// Centroid of the surface, weighted by area: the apex of the pyramids whose volumes are summed.
Vector3 surface_centroid(std::span<const Vector3> vertices, std::span<const std::array<int, 3>> faces) {
  Vector3 moment = Vector3::Zero();
  double area = 0.0;
  for (const auto& [i, j, k] : faces) {
    const Triangle t{vertices[i], vertices[j], vertices[k]};
    const double doubled = t.doubled_area().norm();
    moment += doubled * t.centre();
    area += doubled;
  }
  return area > 0.0 ? Vector3(moment / area) : moment;
}

// Volume of the pyramid from `apex` over a triangle (its area, for a shell).
double measure(const Triangle& t, const Vector3& apex, MeshInertia kind) {
  if (kind == MeshInertia::shell) return 0.5 * t.doubled_area().norm();
  const double volume = t.doubled_area().dot(t.centre() - apex) / 6.0;
  return kind == MeshInertia::legacy ? std::abs(volume) : volume;
}

}  // namespace

// Second moments of a pyramid with apex 0 over the triangle a, b, c, volume V:
//   int x x^T = V/20 (2 (a a^T + b b^T + c c^T) + a b^T + b a^T + a c^T + c a^T + b c^T + c b^T)
// and V/12 of the same for the triangle itself with area V. With s = a + b + c the bracket is
// a a^T + b b^T + c c^T + s s^T.
MassProperties mass_properties(std::span<const Vector3> vertices, std::span<const std::array<int, 3>> faces,
                               MeshInertia kind) {
  MassProperties result;
  const Vector3 apex = surface_centroid(vertices, faces);
  Vector3 moment = Vector3::Zero();
  double total = 0.0;
  for (const auto& [i, j, k] : faces) {
    const Triangle t{vertices[i], vertices[j], vertices[k]};
    const double weight = measure(t, apex, kind);
    total += weight;
    // The centre of mass of the pyramid. MuJoCo uses it for shells, too, where summing it over the
    // whole surface gives the surface's centroid, which is the apex, all the same.
    moment += weight * (0.75 * t.centre() + 0.25 * apex);
  }
  if (total == 0.0) return result;
  result.com = moment / total;

  const double divisor = kind == MeshInertia::shell ? 12.0 : 20.0;
  Matrix3 second = Matrix3::Zero();
  for (const auto& [i, j, k] : faces) {
    const Triangle t{vertices[i] - result.com, vertices[j] - result.com, vertices[k] - result.com};
    const double weight = measure(t, Vector3::Zero(), kind);
    const Vector3 s = t.a + t.b + t.c;
    result.volume += weight;
    second += weight / divisor *
              (t.a * t.a.transpose() + t.b * t.b.transpose() + t.c * t.c.transpose() + s * s.transpose());
  }
  result.inertia = second.trace() * Matrix3::Identity() - second;
  return result;
}

}  // namespace articula
