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

namespace {

// The farthest point along d. `vertex`: where a large hull had it the last time, and has it now.
Vec3 support_from(const Shape& shape, Vec3 d, int& vertex) {
  if (shape.type != ShapeType::mesh || shape.hull->vertex_count() <= scanned_vertices)
    return support(shape, d).x;
  const bool known = vertex >= 0 && vertex < shape.hull->vertex_count();
  vertex = support_climb(*shape.hull, d, known ? vertex : start_vertex(*shape.hull, d));
  return shape.hull->vertices[vertex];
}

}  // namespace

bool are_apart_along(const Shape& a, const Placement& at_a, const Shape& b, const Placement& at_b,
                     double margin, GapGuess& guess) {
  const ConvexPair pair(a, b, relative(at_a, at_b));
  const Vec3 n = guess.axis, in_b = transpose_times(pair.b_in_a.R, n);
  const Vec3 end_a = support_from(a, n, guess.vertex_a), end_b = support_from(b, -in_b, guess.vertex_b);
  return dot(in_b, end_b) + dot(n, pair.b_in_a.p) - dot(n, end_a) > clear_of(pair, margin);
}

void find_gap(const Shape& a, const Placement& at_a, const Shape& b, const Placement& at_b, double margin,
              GapGuess& guess) {
  const ConvexPair pair(a, b, relative(at_a, at_b));
  GjkResult r;
  gjk(pair, clear_of(pair, margin), 1e-6 * pair.size, r);
  if (r.status == GjkStatus::beyond) guess.axis = r.v * (-1.0 / norm(r.v));
}

}  // namespace articula::collision
