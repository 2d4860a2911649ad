#include "tests/support/aimed_scenes.hpp"

#include <algorithm>

namespace articula::testing {

using collision::FeatureKind;
using collision::Hull;
using collision::Shape;

namespace {

// A point of the surface with an outward normal, in the shape's frame; `along` the line it is on.
struct Place {
  Vector3 x, n, along = Vector3::Zero();
};

double weight(Random& random) { return uniform(random, 0.2, 1.0); }
double sign(Random& random) { return uniform(random, -1, 1) < 0 ? -1.0 : 1.0; }

Vector3 radial(Random& random) {
  const double angle = uniform(random, 0, 2 * M_PI);
  return {std::cos(angle), std::sin(angle), 0};
}

Place on_capsule(Random& random, const Vector3& size, FeatureKind kind) {
  if (kind == FeatureKind::line) {
    const Vector3 n = radial(random);
    return {n * size[0] + Vector3(0, 0, 0.9 * size[1] * uniform(random, -1, 1)), n, Vector3::UnitZ()};
  }
  const double side = sign(random);
  const Vector3 n = (radial(random) * weight(random) + Vector3(0, 0, side * weight(random))).normalized();
  return {n * size[0] + Vector3(0, 0, side * size[1]), n};
}

Place on_cylinder(Random& random, const Vector3& size, FeatureKind kind) {
  const double side = sign(random);
  const Vector3 out = radial(random), end(0, 0, side * size[1]);
  switch (kind) {
    case FeatureKind::line: return {out * size[0] + end * uniform(random, 0, 0.9), out, Vector3::UnitZ()};
    case FeatureKind::face: return {out * (size[0] * uniform(random, 0, 0.9)) + end, Vector3(0, 0, side)};
    default:
      return {out * size[0] + end,
              (out * weight(random) + Vector3(0, 0, side * weight(random))).normalized()};
  }
}

Place on_box(Random& random, const Vector3& size, FeatureKind kind) {
  Vector3 x = 0.9 * size, n = Vector3::Zero(), along = Vector3::Zero();
  const int axis = static_cast<int>(uniform(random, 0, 2.999));
  for (int i = 0; i < 3; ++i) {
    const bool free = kind == FeatureKind::line ? i == axis : kind == FeatureKind::face ? i != axis : false;
    const double side = sign(random);
    x[i] = side * size[i] * (free ? uniform(random, 0, 0.9) : 1.0);
    if (!free) n[i] = side * weight(random);
  }
  if (kind == FeatureKind::line) along = Vector3::Unit(axis);
  return {x, n.normalized(), along};
}

Place on_mesh(Random& random, const Hull& hull, FeatureKind kind) {
  const int v = static_cast<int>(uniform(random, 0, hull.vertex_count() - 1e-6));
  Place p{hull.vertices[v].eigen(), Vector3::Zero()};
  if (kind == FeatureKind::point) {
    for (int i = hull.around_begin[v]; i < hull.around_begin[v + 1]; ++i)
      p.n += weight(random) * hull.face_normal[hull.around[i]].eigen();
  } else if (kind == FeatureKind::line) {
    const int to = hull.edge_end[static_cast<std::size_t>(
        uniform(random, hull.edge_begin[v], hull.edge_begin[v + 1] - 1e-6))];
    const Vector3 along = hull.vertices[to].eigen() - p.x;
    p.x += along * uniform(random, 0.1, 0.9);
    p.along = along.normalized();
    for (int i = hull.around_begin[v]; i < hull.around_begin[v + 1]; ++i)
      for (int j = hull.around_begin[to]; j < hull.around_begin[to + 1]; ++j)
        if (hull.around[i] == hull.around[j])
          p.n += weight(random) * hull.face_normal[hull.around[i]].eigen();
  } else {
    const int face = hull.around[hull.around_begin[v]];
    p.n = hull.face_normal[face].eigen();
    Vector3 sum = Vector3::Zero();
    double total = 0;
    for (int i = hull.face_begin[face]; i < hull.face_begin[face + 1]; ++i) {
      const double w = weight(random);
      sum += w * hull.vertices[hull.face_loop[i]].eigen();
      total += w;
    }
    p.x = sum / total;
  }
  p.n.normalize();
  return p;
}

Place place_on(Random& random, const Shape& shape, FeatureKind kind) {
  const Vector3 size = shape.size.eigen();
  switch (shape.type) {
    case ShapeType::plane: return {Vector3::Zero(), Vector3::UnitZ()};
    case ShapeType::capsule: return on_capsule(random, size, kind);
    case ShapeType::cylinder: return on_cylinder(random, size, kind);
    case ShapeType::box: return on_box(random, size, kind);
    case ShapeType::mesh: return on_mesh(random, *shape.hull, kind);
    case ShapeType::ellipsoid: {
      const Vector3 n = random_direction(random);
      return {size.cwiseProduct(size.cwiseProduct(n)) / size.cwiseProduct(n).norm(), n};
    }
    default: {
      const Vector3 n = random_direction(random);
      return {n * size[0], n};
    }
  }
}

Matrix3 turn(double angle, const Vector3& axis) { return Eigen::AngleAxisd(angle, axis).toRotationMatrix(); }

// The turn about n that brings one direction across it to another.
double angle_about(const Vector3& n, const Vector3& from, const Vector3& to) {
  return std::atan2(n.dot(from.cross(to)), from.dot(to));
}

}  // namespace

std::vector<FeatureKind> feature_kinds(ShapeType type) {
  switch (type) {
    case ShapeType::plane: return {FeatureKind::face};
    case ShapeType::capsule: return {FeatureKind::point, FeatureKind::line};
    case ShapeType::cylinder: return {FeatureKind::line, FeatureKind::face, FeatureKind::circle};
    case ShapeType::ellipsoid: return {FeatureKind::surface};
    case ShapeType::box:
    case ShapeType::mesh: return {FeatureKind::point, FeatureKind::line, FeatureKind::face};
    default: return {FeatureKind::point};
  }
}

AimedScene aimed_scene(Random& random, ShapeType type_a, FeatureKind kind_a, ShapeType type_b,
                       FeatureKind kind_b, double size) {
  AimedScene s{random_shape(random, type_a, size), random_shape(random, type_b, size), {}, {}};
  const Place a = place_on(random, s.a, kind_a), b = place_on(random, s.b, kind_b);
  const Matrix3 A = random_rotation(random).toRotationMatrix();
  const Vector3 at_a = random_direction(random), n = A * a.n, x = at_a + A * a.x;
  Matrix3 B = Quaternion::FromTwoVectors(b.n, -n).toRotationMatrix();
  const bool lines = kind_a == FeatureKind::line && kind_b == FeatureKind::line;
  const bool parallel = lines && uniform(random, 0, 3) < 1;
  B = turn(parallel ? angle_about(n, B * b.along, A * a.along) + uniform(random, -5e-4, 5e-4)
                    : uniform(random, 0, 2 * M_PI),
           n) *
      B;
  const bool flat = kind_a == FeatureKind::face || kind_b == FeatureKind::face;
  if (flat) B = turn(uniform(random, 5e-4, 1e-2), random_direction(random)) * B;
  // Two corners, or a corner and an edge, are never the deepest points.
  const bool sharp = !flat && !lines && (kind_a == FeatureKind::point || kind_b == FeatureKind::point);
  const double gap = size * (sharp ? uniform(random, 3e-3, 0.03) : uniform(random, -0.02, 0.03));
  s.at_a = {Mat3::from(A), Vec3(at_a)};
  s.at_b = {Mat3::from(B), Vec3(Vector3(x + n * gap - B * b.x))};
  return s;
}

}  // namespace articula::testing
