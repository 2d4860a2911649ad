#include "tests/support/convex_oracle.hpp"

#include <algorithm>

namespace articula::testing {
namespace {
using collision::Shape;

bool polyhedral(const Shape& s) { return s.type == ShapeType::box || s.type == ShapeType::mesh; }
}  // namespace

double OracleBody::extent(const Vector3& n) const {
  const Vector3 m = R.transpose() * n, s = shape->size.eigen();
  switch (shape->type) {
    case ShapeType::plane: return 0.0;  // along its normal
    case ShapeType::sphere: return s[0] * n.norm();
    case ShapeType::capsule: return s[0] * n.norm() + s[1] * std::abs(m[2]);
    case ShapeType::box: return s.dot(m.cwiseAbs());
    case ShapeType::cylinder: return s[0] * std::hypot(m[0], m[1]) + s[1] * std::abs(m[2]);
    case ShapeType::ellipsoid: return s.cwiseProduct(m).norm();
    default: {
      double best = -1e300;
      for (const Vec3& v : shape->hull->vertices) best = std::max(best, v.eigen().dot(m));
      return best;
    }
  }
}

double OracleBody::violation(const Vector3& world) const {
  const Vector3 x = R.transpose() * (world - p), s = shape->size.eigen();
  switch (shape->type) {
    case ShapeType::plane: return std::max(0.0, x[2]);
    case ShapeType::sphere: return std::max(0.0, x.norm() - s[0]);
    case ShapeType::capsule:
      return std::max(0.0, (x - Vector3(0, 0, std::clamp(x[2], -s[1], s[1]))).norm() - s[0]);
    case ShapeType::box: return (x.cwiseAbs() - s).cwiseMax(0.0).norm();
    case ShapeType::cylinder:
      return std::hypot(std::max(0.0, std::hypot(x[0], x[1]) - s[0]), std::max(0.0, std::abs(x[2]) - s[1]));
    case ShapeType::ellipsoid: {
      // First-order distance of the level set.
      const double level = x.cwiseQuotient(s).norm();
      const double slope = x.cwiseQuotient(s.cwiseProduct(s)).norm() / std::max(level, 1e-300);
      return std::max(0.0, (level - 1) / slope);
    }
    default: {
      double worst = 0;
      const auto& h = *shape->hull;
      for (int f = 0; f < h.face_count(); ++f)
        worst = std::max(worst, h.face_normal[f].eigen().dot(x) - h.face_offset[f]);
      return worst;
    }
  }
}

std::vector<Vector3> OracleBody::vertices() const {
  std::vector<Vector3> list;
  if (shape->type == ShapeType::box)
    for (int i = 0; i < 8; ++i)
      list.push_back(
          R * shape->size.eigen().cwiseProduct(Vector3(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1)));
  if (shape->type == ShapeType::mesh)
    for (const Vec3& v : shape->hull->vertices) list.push_back(R * v.eigen());
  return list;
}

std::vector<Vector3> OracleBody::face_normals() const {
  std::vector<Vector3> list;
  if (shape->type == ShapeType::box)
    for (int i = 0; i < 3; ++i) list.insert(list.end(), {R.col(i), -R.col(i)});
  if (shape->type == ShapeType::cylinder) list.insert(list.end(), {R.col(2), -R.col(2)});
  if (shape->type == ShapeType::mesh)
    for (int f = 0; f < shape->hull->face_count(); ++f) {
      const auto& h = *shape->hull;
      const Vector3 a = h.vertices[h.face_loop[h.face_begin[f]]].eigen();
      const Vector3 b = h.vertices[h.face_loop[h.face_begin[f] + 1]].eigen();
      const Vector3 c = h.vertices[h.face_loop[h.face_begin[f] + 2]].eigen();
      list.push_back(R * (b - a).cross(c - a).normalized());
    }
  return list;
}

std::vector<Vector3> OracleBody::edges() const {
  std::vector<Vector3> list;
  if (shape->type == ShapeType::box)
    for (int i = 0; i < 3; ++i) list.push_back(R.col(i));
  if (shape->type == ShapeType::cylinder || shape->type == ShapeType::capsule) list.push_back(R.col(2));
  if (shape->type == ShapeType::mesh) {
    const auto& h = *shape->hull;
    for (int v = 0; v < h.vertex_count(); ++v)
      for (int e = h.edge_begin[v]; e < h.edge_begin[v + 1]; ++e)
        if (h.edge_end[e] > v)
          list.push_back(R * (h.vertices[h.edge_end[e]] - h.vertices[v]).eigen().normalized());
  }
  return list;
}

double overlap_along(const OracleBody& a, const OracleBody& b, const Vector3& n) {
  return a.extent(n) + b.extent(-n) - n.dot(b.p - a.p);
}

namespace {

// Shrinking random steps: slow, but indifferent to kinks.
double descend(const OracleBody& a, const OracleBody& b, Vector3 n, double step, Random& random,
               int evaluations) {
  double best = overlap_along(a, b, n);
  int failures = 0;
  for (int i = 0; i < evaluations && step > 1e-10; ++i) {
    const Vector3 m = (n + step * Vector3(normal(random), normal(random), normal(random))).normalized();
    const double value = overlap_along(a, b, m);
    if (value < best) {
      best = value;
      n = m;
      failures = 0;
      step *= 1.3;
    } else if (++failures >= 4) {
      step *= 0.6;
      failures = 0;
    }
  }
  return best;
}

}  // namespace

double least_overlap(const OracleBody& a, const OracleBody& b, const Vector3& hint, Random& random,
                     int samples) {
  double best = 1e300;
  std::vector<std::pair<double, Vector3>> seeds;
  const auto consider = [&](const Vector3& n) {
    const double value = overlap_along(a, b, n);
    best = std::min(best, value);
    seeds.emplace_back(value, n);
  };
  for (const OracleBody* body : {&a, &b})
    for (const Vector3& n : body->face_normals()) consider(n), consider(-n);
  for (const Vector3& e : a.edges())
    for (const Vector3& f : b.edges())
      if (e.cross(f).norm() > 1e-9) consider(e.cross(f).normalized()), consider(-e.cross(f).normalized());
  if (polyhedral(*a.shape) && polyhedral(*b.shape)) return best;
  consider(hint);
  if ((b.p - a.p).norm() > 0) consider((b.p - a.p).normalized());
  for (int i = 0; i < samples; ++i) consider(random_direction(random));
  const std::size_t kept = std::min<std::size_t>(seeds.size(), 5);
  std::partial_sort(seeds.begin(), seeds.begin() + static_cast<long>(kept), seeds.end(),
                    [](const auto& x, const auto& y) { return x.first < y.first; });
  for (std::size_t i = 0; i < kept; ++i)
    best = std::min(best, descend(a, b, seeds[i].second, 0.05, random, 300));
  return std::min(best, descend(a, b, hint, 1e-3, random, 150));
}

double distance_error(const Shape& shape_a, const Placement& at_a, const Shape& shape_b,
                      const Placement& at_b, const collision::Distance& d, Random& random, int samples) {
  const OracleBody a(shape_a, at_a), b(shape_b, at_b);
  const Vector3 n = d.normal.eigen(), xa = d.point_a.eigen(), xb = d.point_b.eigen();
  if (!n.allFinite() || !xa.allFinite() || !xb.allFinite() || !std::isfinite(d.distance)) return INFINITY;
  // The gap along n is the distance if n is right. Of points that nearly touch it is known no better than to
  // the rounding of their difference, over its length.
  const double scale = xa.norm() + xb.norm() + (at_a.p - at_b.p).eigen().norm();
  const double tilt = d.distance > 0 ? std::min(4 * 2.2e-16 * scale / d.distance, 1e-6) : 0.0;
  const double along = -overlap_along(a, b, n);
  const double worst = std::max({(xb - xa - n * d.distance).norm(), std::abs(n.norm() - 1),
                                 std::abs(along - d.distance) - tilt * scale});
  // Corners that pass an edge by less than this may be told as being on it; the distance is the same.
  constexpr double beside = 1e-9;
  if (d.distance > 0)
    return std::max({worst, a.violation(xa) - beside * scale, b.violation(xb) - beside * scale});
  if (shape_a.type == ShapeType::plane) return worst;  // there is only one direction
  return std::max(worst, -d.distance - least_overlap(a, b, n, random, samples));
}

}  // namespace articula::testing
