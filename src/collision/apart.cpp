#include "apart.hpp"

#include "frame_of_a.hpp"
#include "gjk.hpp"

namespace articula::collision {
namespace {

// By how much more than the margin, relative to the size: what rounding could hide.
constexpr double clearly = 1e-10;

bool any_above(Vec3 v, double level) { return v[0] > level || v[1] > level || v[2] > level; }

bool is_endless(const Shape& shape) {
  return shape.type == ShapeType::plane || shape.type == ShapeType::height_field;
}

double clear_of(const ConvexPair& pair, double margin) {
  return margin + core_radius(*pair.a) + core_radius(*pair.b) + clearly * pair.size;
}

}  // namespace

bool has_hull(const Shape& a, const Shape& b) {
  return (a.type == ShapeType::mesh || b.type == ShapeType::mesh) && !is_endless(a) && !is_endless(b);
}

bool boxes_are_apart(const Shape& a, const Placement& at_a, const Shape& b, const Placement& at_b,
                     double margin) {
  const Bound box_a = bound(a), box_b = bound(b);
  const Vec3 way = at_b * box_b.centre - at_a * box_a.centre;
  // B's axes seen from A, without their signs.
  const Mat3 turn{absolute(transpose_times(at_a.R, at_b.R.x)), absolute(transpose_times(at_a.R, at_b.R.y)),
                  absolute(transpose_times(at_a.R, at_b.R.z))};
  const double clear = margin + clearly * (box_a.radius + box_b.radius);
  return any_above(absolute(transpose_times(at_a.R, way)) - box_a.half - turn * box_b.half, clear) ||
         any_above(absolute(transpose_times(at_b.R, way)) - box_b.half - transpose_times(turn, box_a.half),
                   clear);
}

bool are_apart_along(const Shape& a, const Placement& at_a, const Shape& b, const Placement& at_b,
                     double margin, Vec3 axis) {
  const ConvexPair pair(a, b, relative(at_a, at_b));
  return -difference_extent(pair, axis) > clear_of(pair, margin);
}

Vec3 find_axis_apart(const Shape& a, const Placement& at_a, const Shape& b, const Placement& at_b,
                     double margin, Vec3 otherwise) {
  const ConvexPair pair(a, b, relative(at_a, at_b));
  GjkResult r;
  gjk(pair, clear_of(pair, margin), 1e-6 * pair.size, r);
  return r.status == GjkStatus::beyond ? r.v * (-1.0 / norm(r.v)) : otherwise;
}

}  // namespace articula::collision
