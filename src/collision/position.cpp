// Where a contact acts. With x_a and x_b on the two surfaces, d apart along n,
//   position = (x_a + x_b)/2 + lean d n/2
//
// A body that stands on a face with several points stands still or rolls over without slipping: there must be
// a motion in which all of its points keep from sliding along the face. Points in one plane across the normal
// have one for every way in which the gaps close, w x (p_i - p_j) being along n for w and p_i - p_j across
// it. Points of a tilted foot are not in one plane across n: closing gaps that differ by delta within the
// step h they would slide by delta^2/(h l). So a contact acts in the face that gives it its normal, or
// halfway between two faces that do: the plane halfway is across the mean of their normals.
//
// A wide gap, though, is closed when the body arrives, and friction has the arm of the body's own point. With
// k from 0 in the face to 1 on the body,
//   k = exp(-(wide/d)^2) for d > 0, else 0,     lean = 2 k - 1 towards the body
// vanishes with all its derivatives where a body rests: points of gaps that differ stay in one plane.
//
// A wheel has two points, at both of its rims, or more. In the plane of the ground they would be at r + d
// from its axis, rolling at different speeds where their gaps differ, and all but one of them would have to
// slip: they act on the wheel. It lies on the face, rather than stands on one end, where the gaps of its ends
// differ by less than nearly a wide one,
//   2 half |axis . n| < lying.
// How many of its points are near enough to be found must not matter: that depends on how fast others move.

#include <algorithm>
#include <cmath>

#include "pairs.hpp"

namespace articula::collision {
namespace {

constexpr double wide = 2e-3;  // m; within 2 ms gravity closes 4e-5 m, and 1 m/s closes this
// m. Positions jump there, if only by a share of the gap: no round number, by which radii may differ.
constexpr double lying = 1.7321e-3;

enum class Side { halfway, a, b };

// Whose face the contact lies in.
Side face_of_contact(const ContactPoint& c) {
  if (c.rule == NormalRule::faces) return Side::halfway;
  if (c.rule == NormalRule::face_a) return Side::a;
  if (c.rule == NormalRule::face_b) return Side::b;
  const bool flat_a = c.feature_a.kind == FeatureKind::face, flat_b = c.feature_b.kind == FeatureKind::face;
  return flat_a == flat_b ? Side::halfway : flat_a ? Side::a : Side::b;
}

// Whether a shape lies on the face along a line through points like this one, and may roll.
bool is_on_roller(const Shape& shape, const Placement& at, Feature f, Vec3 n) {
  const bool round = shape.type == ShapeType::capsule ||
                     (shape.type == ShapeType::cylinder &&
                      (f.kind == FeatureKind::circle || (f.kind == FeatureKind::line && f.index == 0)));
  return round && 2.0 * shape.size[1] * std::abs(dot(at.R.z, n)) < lying;
}

}  // namespace

void take_sides(const Shape& a, const Placement& at_a, const Shape& b, const Placement& at_b,
                ContactPoint* points, int count) {
  for (int i = 0; i < count; ++i) {
    ContactPoint& c = points[i];
    c.lean = c.lean_rate = 0.0;
    const Side face = face_of_contact(c);
    if (face == Side::halfway) continue;
    const double towards_body = face == Side::a ? 1.0 : -1.0, d = c.distance;
    if (face == Side::a ? is_on_roller(b, at_b, c.feature_b, c.normal)
                        : is_on_roller(a, at_a, c.feature_a, c.normal)) {
      c.lean = towards_body;
    } else {
      const double ratio = wide / std::max(d, 1e-2 * wide), share = std::exp(-ratio * ratio);
      c.lean = towards_body * (2.0 * share - 1.0);
      c.lean_rate = towards_body * 4.0 * share * ratio * ratio * ratio / wide;
    }
    c.position += c.normal * (0.5 * c.lean * d);
  }
}

}  // namespace articula::collision
