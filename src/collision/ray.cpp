// Rays against shapes, each in the shape's own frame: x = o + t d.

#include <algorithm>

#include "articula/collision/queries.hpp"
#include "finite.hpp"
#include "vector.hpp"

namespace articula::collision {
namespace {

constexpr double ray_rounding = 64 * 2.2e-16;  // of the lengths a point on a ray is computed from

struct LocalHit {
  double t = -1.0;
  Vec3 n;
};

// The first root of a t^2 + 2 b t + c = 0 that is not behind; from inside (c < 0) that is the later one.
double first_root(double a, double b, double c) {
  const double discriminant = b * b - a * c;
  if (!(a > 0) || discriminant < 0) return -1;
  const double root = std::sqrt(discriminant);
  const double early = (-b - root) / a, late = (-b + root) / a;
  return early >= 0 ? early : late;
}

// The last one; negative if it is behind, or there is none.
double last_root(double a, double b, double c) {
  const double discriminant = b * b - a * c;
  return a > 0 && discriminant >= 0 ? (std::sqrt(discriminant) - b) / a : -1;
}

LocalHit ray_ball(Vec3 centre, double radius, Vec3 o, Vec3 d) {
  const Vec3 r = o - centre;
  const double t = first_root(squared_norm(d), dot(r, d), squared_norm(r) - radius * radius);
  return {t, t >= 0 ? unit(r + d * t) : Vec3()};
}

LocalHit ray_ellipsoid(Vec3 radii, Vec3 o, Vec3 d) {
  const Vec3 inverse(1 / radii[0], 1 / radii[1], 1 / radii[2]);
  const LocalHit h = ray_ball(Vec3(), 1.0, elementwise(o, inverse), elementwise(d, inverse));
  return {h.t, h.t >= 0 ? unit(elementwise(h.n, inverse)) : Vec3()};
}

// A convex set as an intersection of slabs: enters at the latest, leaves at the earliest.
struct Slabs {
  double enter = -INFINITY, leave = INFINITY;
  Vec3 n_enter, n_leave;

  // n . x <= offset
  void cut(Vec3 n, double offset, Vec3 o, Vec3 d) {
    const double speed = dot(n, d), room = offset - dot(n, o);
    if (speed == 0) {
      if (room < 0) leave = -INFINITY;
      return;
    }
    const double t = room / speed;
    if (speed < 0 && t > enter) enter = t, n_enter = n;
    if (speed > 0 && t < leave) leave = t, n_leave = n;
  }
  LocalHit hit() const {
    if (enter > leave || leave < 0) return {};
    return enter >= 0 ? LocalHit{enter, n_enter} : LocalHit{leave, n_leave};
  }
};

LocalHit ray_box(Vec3 half, Vec3 o, Vec3 d) {
  Slabs s;
  for (int i = 0; i < 3; ++i)
    for (const double sign : {-1.0, 1.0}) s.cut(with_lane(Vec3(), i, sign), half[i], o, d);
  return s.hit();
}

LocalHit ray_mesh(const Hull& hull, Vec3 o, Vec3 d) {
  Slabs s;
  for (int f = 0; f < hull.face_count(); ++f) s.cut(hull.face_normal[f], hull.face_offset[f], o, d);
  return s.hit();
}

// The endless cylinder's two crossings as one more slab.
LocalHit ray_cylinder(double radius, double half, Vec3 o, Vec3 d) {
  Slabs s;
  s.cut(Vec3(0, 0, 1), half, o, d);
  s.cut(Vec3(0, 0, -1), half, o, d);
  const double a = d[0] * d[0] + d[1] * d[1], b = o[0] * d[0] + o[1] * d[1],
               c = o[0] * o[0] + o[1] * o[1] - radius * radius;
  if (a == 0) return c > 0 ? LocalHit{} : s.hit();
  const double discriminant = b * b - a * c;
  if (discriminant < 0) return {};
  const double root = std::sqrt(discriminant);
  const auto normal = [&](double t) {
    return Vec3((o[0] + d[0] * t) / radius, (o[1] + d[1] * t) / radius, 0);
  };
  const double early = (-b - root) / a, late = (-b + root) / a;
  if (early > s.enter) s.enter = early, s.n_enter = normal(early);
  if (late < s.leave) s.leave = late, s.n_leave = normal(late);
  return s.hit();
}

// First entry into, or from inside last exit out of, side and two balls.
LocalHit ray_capsule(double radius, double half, Vec3 o, Vec3 d) {
  const bool inside = squared_norm(o - Vec3(0, 0, clamp(o[2], -half, half))) < radius * radius;
  LocalHit best;
  const auto consider = [&](double t, Vec3 centre) {
    if (t < 0 || (best.t >= 0 && (inside ? t <= best.t : t >= best.t))) return;
    best = {t, unit(o + d * t - centre)};
  };
  const auto root = [&](double a, double b, double c) {
    return inside ? last_root(a, b, c) : first_root(a, b, c);
  };
  for (const double side : {half, -half}) {
    const Vec3 end(0, 0, side), r = o - end;
    consider(root(squared_norm(d), dot(r, d), squared_norm(r) - radius * radius), end);
  }
  const double a = d[0] * d[0] + d[1] * d[1], b = o[0] * d[0] + o[1] * d[1],
               c = o[0] * o[0] + o[1] * o[1] - radius * radius;
  const double t = root(a, b, c), height = o[2] + d[2] * t;
  if (t >= 0 && std::abs(height) <= half) consider(t, Vec3(0, 0, height));
  return best;
}

// Sides belong to the triangle by what rounding may do to the point, so that nothing slips through a seam.
LocalHit ray_triangle(Vec3 a, Vec3 b, Vec3 c, Vec3 o, Vec3 d) {
  const Vec3 n = cross(b - a, c - a);
  const double speed = dot(n, d);
  if (speed == 0) return {};
  const double t = dot(n, a - o) / speed;
  if (t < 0) return {};
  const Vec3 x = o + d * t;
  const double rounding = ray_rounding * (norm(o) + t * norm(d) + norm(a)) * norm(n);
  const auto inside = [&](Vec3 from, Vec3 to) {
    return dot(cross(to - from, x - from), n) >= -rounding * norm(to - from);
  };
  return inside(a, b) && inside(b, c) && inside(c, a) ? LocalHit{t, unit(n)} : LocalHit{};
}

// The wall that goes straight down from the rim of a field, on the far or near side along an axis.
LocalHit ray_wall(const HeightField& f, int axis, double sign, Vec3 o, Vec3 d) {
  const double rim = sign * f.size[static_cast<std::size_t>(axis)];
  if (!(std::abs(d[axis]) > 1e-12 * norm(d))) return {};  // along the wall, but for rounding
  const double t = (rim - o[axis]) / d[axis];
  if (!(t >= 0)) return {};
  const Vec3 x = o + d * t;
  const int along = 1 - axis, count = along == 0 ? f.columns : f.rows;
  const double half = f.size[static_cast<std::size_t>(along)],
               rounding = ray_rounding * (norm(o) + norm(x) + half);
  if (std::abs(x[along]) > half + rounding) return {};
  const double place = clamp((x[along] + half) / (2 * half) * (count - 1), 0, count - 1);
  const int cell = std::min(static_cast<int>(place), count - 2);
  const int fixed = sign < 0 ? 0 : (axis == 0 ? f.columns : f.rows) - 1;
  const auto height = [&](int k) {
    const int row = axis == 0 ? k : fixed, column = axis == 0 ? fixed : k;
    return f.size[2] * f.elevation[static_cast<std::size_t>(row * f.columns + column)];
  };
  const double top = height(cell) + (place - cell) * (height(cell + 1) - height(cell));
  return x[2] <= top + rounding ? LocalHit{t, with_lane(Vec3(), axis, sign)} : LocalHit{};
}

LocalHit ray_field(const HeightField& f, Vec3 o, Vec3 d) {
  const double dx = 2 * f.size[0] / (f.columns - 1), dy = 2 * f.size[1] / (f.rows - 1);
  const auto corner = [&](int r, int c) {
    return Vec3(-f.size[0] + c * dx, -f.size[1] + r * dy,
                f.size[2] * f.elevation[static_cast<std::size_t>(r * f.columns + c)]);
  };
  LocalHit best;
  const auto consider = [&](const LocalHit& h) {
    if (h.t >= 0 && (best.t < 0 || h.t < best.t)) best = h;
  };
  for (int r = 0; r + 1 < f.rows; ++r)
    for (int c = 0; c + 1 < f.columns; ++c) {
      consider(ray_triangle(corner(r, c), corner(r, c + 1), corner(r + 1, c), o, d));
      consider(ray_triangle(corner(r + 1, c + 1), corner(r + 1, c), corner(r, c + 1), o, d));
    }
  for (const int axis : {0, 1})
    for (const double sign : {-1.0, 1.0}) consider(ray_wall(f, axis, sign, o, d));
  return best;
}

LocalHit ray_local(const Shape& shape, Vec3 o, Vec3 d) {
  const Vec3 s = shape.size;
  switch (shape.type) {
    case ShapeType::plane: {
      const double t = d[2] != 0 ? -o[2] / d[2] : -1.0;
      return {t, Vec3(0, 0, 1)};
    }
    case ShapeType::sphere: return ray_ball(Vec3(), s[0], o, d);
    case ShapeType::capsule: return ray_capsule(s[0], s[1], o, d);
    case ShapeType::box: return ray_box(s, o, d);
    case ShapeType::cylinder: return ray_cylinder(s[0], s[1], o, d);
    case ShapeType::ellipsoid: return ray_ellipsoid(s, o, d);
    case ShapeType::mesh: return ray_mesh(*shape.hull, o, d);
    case ShapeType::height_field: return ray_field(*shape.field, o, d);
  }
  return {};
}

}  // namespace

RayHit cast_ray_unchecked(const Shape& shape, const Placement& at, Vec3 origin, Vec3 direction) {
  const LocalHit h = ray_local(shape, transpose_times(at.R, origin - at.p), transpose_times(at.R, direction));
  RayHit hit;
  hit.distance = h.t >= 0 ? h.t : -1.0;
  if (h.t >= 0) hit.normal = at.R * h.n;
  return hit;
}

namespace {

void refuse_unless_ray(Vec3 origin, Vec3 direction) {
  if (!is_finite(origin)) throw Error("cast_ray: the origin has entries that are not finite numbers");
  if (!is_finite(direction)) throw Error("cast_ray: the direction has entries that are not finite numbers");
  if (squared_norm(direction) == 0) throw Error("cast_ray: the direction is zero, or too short to square");
}

}  // namespace

RayHit cast_ray(const Shape& shape, const Placement& at, Vec3 origin, Vec3 direction) {
  refuse_unless_ray(origin, direction);
  if (!is_finite(at)) throw Error("cast_ray: the shape's placement has entries that are not finite numbers");
  return cast_ray_unchecked(shape, at, origin, direction);
}

RayHit cast_ray(const Colliders& colliders, const Model& model, const Data& data, Vec3 origin, Vec3 direction,
                int except_body) {
  refuse_unless_ray(origin, direction);
  RayHit best;
  best.distance = -1.0;
  for (int c = 0; c < static_cast<int>(colliders.list().size()); ++c) {
    const Collider& collider = colliders.list()[static_cast<std::size_t>(c)];
    if (model.structure().geometries[static_cast<std::size_t>(collider.geometry)].body == except_body)
      continue;
    RayHit h = cast_ray(collider.shape, collider_placement(colliders, data, c), origin, direction);
    if (!h.hit() || (best.hit() && h.distance >= best.distance)) continue;
    h.geometry = collider.geometry;
    best = h;
  }
  return best;
}

}  // namespace articula::collision
