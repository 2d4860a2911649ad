#include "tests/support/dense_oracle.hpp"

#include <algorithm>
#include <set>

namespace articula::testing {
namespace {

// The corners on the plane through three of them, in order; empty if the plane cuts the body.
std::vector<int> face_through(const std::vector<Vector3>& p, int i, int j, int k, double thickness,
                              Vector3& n) {
  n = (p[j] - p[i]).cross(p[k] - p[i]);
  if (!(n.norm() > 1e-10 * thickness)) return {};
  n.normalize();
  double highest = -INFINITY, lowest = INFINITY;
  for (const Vector3& q : p) {
    highest = std::max(highest, n.dot(q - p[i]));
    lowest = std::min(lowest, n.dot(q - p[i]));
  }
  const double flat = 1e-13 * thickness;
  if (highest > flat && lowest < -flat) return {};
  if (highest > flat) n = -n;
  std::vector<int> on;
  Vector3 middle = Vector3::Zero();
  for (int q = 0; q < static_cast<int>(p.size()); ++q)
    if (std::abs(n.dot(p[q] - p[i])) <= flat) on.push_back(q), middle += p[q];
  middle /= static_cast<double>(on.size());
  const Vector3 x = (p[i] - middle).normalized(), y = n.cross(x);
  std::ranges::sort(on, {}, [&](int q) { return std::atan2(y.dot(p[q] - middle), x.dot(p[q] - middle)); });
  return on;
}

// Directions in which the least overlap of curved bodies may lie by their symmetry, and around which the
// overlap of slender ones has narrow valleys.
std::vector<Vector3> special_directions(const DensePair& pair, const Vector3& hint) {
  std::vector<Vector3> list{hint};
  if (pair.apart.norm() > 0) list.push_back(pair.apart.normalized());
  std::vector<Vector3> lines;
  for (const bool second : {false, true}) {
    const DenseBody& body = second ? *pair.b : *pair.a;
    const Matrix3& R = second ? pair.B : pair.A;
    for (int i = 0; i < 3; ++i) list.push_back(R.col(i));
    for (const Vector3& n : body.face_normals) list.push_back(R * n);
    if (lines.empty())
      for (const Vector3& e : body.edges) lines.push_back(R * e);
    else
      for (const Vector3& e : body.edges)
        for (std::size_t i = 0, count = lines.size(); i < count && i < 400; ++i) {
          const Vector3 n = lines[i].cross(R * e);
          if (n.norm() > 1e-9) list.push_back(n.normalized());
        }
    if (body.type == ShapeType::capsule || body.type == ShapeType::cylinder) {
      // Across the axis: everywhere, and towards the other body.
      const Vector3 axis = R.col(2), across = pair.apart - axis * axis.dot(pair.apart);
      if (across.norm() > 0) list.push_back(across.normalized());
      for (int k = 0; k < 48; ++k)
        list.push_back(R.col(0) * std::cos(M_PI * k / 48) + R.col(1) * std::sin(M_PI * k / 48));
    }
  }
  for (std::size_t i = 0, count = list.size(); i < count; ++i) list.push_back(-list[i]);
  return list;
}

// Shrinking random steps: slow, but indifferent to kinks.
double descend(const DensePair& pair, Vector3 n, double step, Random& random, int evaluations) {
  double best = overlap_along(pair, n);
  int failures = 0;
  for (int i = 0; i < evaluations && step > 1e-11; ++i) {
    const Vector3 m = (n + step * Vector3(normal(random), normal(random), normal(random))).normalized();
    const double value = overlap_along(pair, m);
    if (value < best) {
      best = value, n = m;
      failures = 0;
      step *= 1.5;
    } else if (++failures >= 5) {
      step *= 0.5;
      failures = 0;
    }
  }
  return best;
}

}  // namespace

double reach(const DenseBody& body, const Vector3& m) {
  const Vector3& s = body.size;
  switch (body.type) {
    case ShapeType::sphere: return s[0] * m.norm();
    case ShapeType::capsule: return s[0] * m.norm() + s[1] * std::abs(m[2]);
    case ShapeType::cylinder: return s[0] * std::hypot(m[0], m[1]) + s[1] * std::abs(m[2]);
    case ShapeType::ellipsoid: return s.cwiseProduct(m).norm();
    default: {
      double best = -INFINITY;
      for (const Vector3& c : body.corners) best = std::max(best, m.dot(c));
      return best;
    }
  }
}

double DenseBody::extent() const {
  switch (type) {
    case ShapeType::sphere: return size[0];
    case ShapeType::capsule: return size[0] + size[1];
    case ShapeType::cylinder: return std::max(size[0], size[1]);
    case ShapeType::mesh: {
      Vector3 low = corners[0], high = corners[0];
      for (const Vector3& c : corners) low = low.cwiseMin(c), high = high.cwiseMax(c);
      return 0.5 * (high - low).maxCoeff();
    }
    default: return size.maxCoeff();
  }
}

DenseBody dense_body(ShapeType type, const Vector3& size) {
  DenseBody body{type, size, {}, {}, {}, {}, {}};
  if (type == ShapeType::cylinder || type == ShapeType::capsule) body.edges = {Vector3::UnitZ()};
  if (type == ShapeType::cylinder) {
    body.face_normals = {Vector3::UnitZ(), -Vector3::UnitZ()};
    body.face_offsets = {size[1], size[1]};
  }
  if (type != ShapeType::box) return body;
  for (int i = 0; i < 8; ++i)
    body.corners.push_back(size.cwiseProduct(Vector3(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1)));
  for (int i = 0; i < 3; ++i) {
    body.edges.push_back(Vector3::Unit(i));
    body.face_normals.insert(body.face_normals.end(), {Vector3::Unit(i), -Vector3::Unit(i)});
    body.face_offsets.insert(body.face_offsets.end(), {size[i], size[i]});
  }
  return body;
}

DenseBody dense_hull(const std::vector<Vector3>& points) {
  DenseBody body;
  body.type = ShapeType::mesh;
  double thickness = 0;
  for (const Vector3& p : points) thickness = std::max(thickness, p.norm());
  const int n = static_cast<int>(points.size());
  std::set<std::vector<int>> seen;
  std::vector<std::vector<int>> loops;
  std::set<int> used;
  for (int i = 0; i < n; ++i)
    for (int j = i + 1; j < n; ++j)
      for (int k = j + 1; k < n; ++k) {
        Vector3 normal;
        const std::vector<int> loop = face_through(points, i, j, k, thickness, normal);
        std::vector<int> sorted = loop;
        std::ranges::sort(sorted);
        if (loop.empty() || !seen.insert(sorted).second) continue;
        loops.push_back(loop);
        body.face_normals.push_back(normal);
        body.face_offsets.push_back(normal.dot(points[loop[0]]));
        used.insert(loop.begin(), loop.end());
      }
  std::vector<int> number(points.size(), -1);
  for (const int i : used) {
    number[i] = static_cast<int>(body.corners.size());
    body.corners.push_back(points[i]);
  }
  std::set<std::pair<int, int>> edges;
  for (std::vector<int>& loop : loops) {
    for (int& i : loop) i = number[i];
    for (std::size_t i = 0; i < loop.size(); ++i)
      edges.insert(std::minmax(loop[i], loop[(i + 1) % loop.size()]));
  }
  for (const auto& [i, j] : edges) body.edges.push_back((body.corners[j] - body.corners[i]).normalized());
  body.face_corners = std::move(loops);
  return body;
}

collision::Shape library_shape(const DenseBody& body) {
  if (body.type != ShapeType::mesh) return {body.type, Vec3(body.size), nullptr, nullptr};
  std::vector<std::array<int, 3>> triangles;
  for (const std::vector<int>& loop : body.face_corners)
    for (std::size_t i = 2; i < loop.size(); ++i) triangles.push_back({loop[0], loop[i - 1], loop[i]});
  return collision::Shape::mesh(
      std::make_shared<const collision::Hull>(collision::make_hull(body.corners, triangles)));
}

double overlap_along(const DensePair& pair, const Vector3& n) {
  return reach(*pair.a, pair.A.transpose() * n) + reach(*pair.b, -(pair.B.transpose() * n)) -
         n.dot(pair.apart);
}

double outside(const DenseBody& body, const Vector3& x) {
  const Vector3& s = body.size;
  switch (body.type) {
    case ShapeType::sphere: return std::max(0.0, x.norm() - s[0]);
    case ShapeType::capsule:
      return std::max(0.0, (x - Vector3(0, 0, std::clamp(x[2], -s[1], s[1]))).norm() - s[0]);
    case ShapeType::cylinder:
      return std::hypot(std::max(0.0, std::hypot(x[0], x[1]) - s[0]), std::max(0.0, std::abs(x[2]) - s[1]));
    case ShapeType::ellipsoid: {
      // (level^2 - 1) over the slope of level^2, level 1 on the surface
      const double squared = x.cwiseQuotient(s).squaredNorm();
      const double slope = 2 * x.cwiseQuotient(s.cwiseProduct(s)).norm();
      return squared > 1 ? (squared - 1) / slope : 0.0;
    }
    default: {
      double most = 0;
      for (std::size_t f = 0; f < body.face_normals.size(); ++f)
        most = std::max(most, body.face_normals[f].dot(x) - body.face_offsets[f]);
      return most;
    }
  }
}

double widest_gap(const DensePair& pair, const Vector3& hint, Random& random) {
  return -descend(pair, hint, 1e-4, random, 300);
}

double least_overlap(const DensePair& pair, const Vector3& hint, Random& random) {
  std::vector<std::pair<double, Vector3>> seeds;
  const auto consider = [&](const Vector3& n) { seeds.emplace_back(overlap_along(pair, n), n); };
  if (pair.a->polyhedral() && pair.b->polyhedral()) {
    for (const Vector3& n : pair.a->face_normals) consider(pair.A * n);
    for (const Vector3& n : pair.b->face_normals) consider(-(pair.B * n));
    for (const Vector3& e : pair.a->edges)
      for (const Vector3& f : pair.b->edges) {
        const Vector3 n = (pair.A * e).cross(pair.B * f);
        if (n.norm() > 1e-9) consider(n.normalized()), consider(-n.normalized());
      }
    return std::ranges::min_element(seeds, {}, [](const auto& s) { return s.first; })->first;
  }
  for (const Vector3& n : special_directions(pair, hint)) {
    consider(n);
    const double scale = log_uniform(random, 1e-5, 1);
    for (int k = 0; k < 2; ++k) consider((n + scale * random_direction(random)).normalized());
  }
  constexpr int dense = 800;
  const double golden = M_PI * (3 - std::sqrt(5.0)), begin = uniform(random, 0, 6);
  for (int i = 0; i < dense; ++i) {
    const double z = 1 - (2 * i + 1.0) / dense, r = std::sqrt(1 - z * z);
    consider(Vector3(r * std::cos(begin + golden * i), r * std::sin(begin + golden * i), z));
  }
  std::ranges::sort(seeds, {}, [](const auto& s) { return s.first; });
  double best = std::min(seeds[0].first, descend(pair, hint, 1e-3, random, 250));
  // The best seeds that are not of one valley.
  std::vector<Vector3> begun;
  for (const auto& [value, n] : seeds) {
    if (begun.size() == 8) break;
    if (std::ranges::any_of(begun, [&](const Vector3& m) { return (m - n).norm() < 0.1; })) continue;
    begun.push_back(n);
    best = std::min(best, descend(pair, n, begun.size() == 1 ? 1e-2 : 0.1, random, 350));
  }
  return best;
}

}  // namespace articula::testing
