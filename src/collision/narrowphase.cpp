// One table of all pairs. Rows and columns are ShapeType, the row being the smaller; where the arguments come
// the other way round they are swapped, and so is the result.

#include "articula/collision/narrowphase.hpp"

#include <utility>

#include "finite.hpp"
#include "frame_of_a.hpp"
#include "pairs.hpp"
#include "support.hpp"
#include "tiny_pairs.hpp"

namespace articula::collision {
namespace {

using Contacts = int (*)(const PairArguments&, ContactPoint*);
using Nearest = Distance (*)(const PairArguments&);

template <Nearest nearest>
int single(const PairArguments& pair, ContactPoint* out) {
  const Distance d = nearest(pair);
  if (d.beyond) return 0;
  *out = contact_of(d);
  return 1;
}

// In A's frame, which these functions expect.
template <Contacts contacts>
int seen_by_a(const PairArguments& pair, ContactPoint* out) {
  const FrameOfA frame(pair.at_a, pair.at_b);
  const int count = contacts({pair.a, {}, pair.b, frame.b, pair.margin, pair.most}, out);
  for (int i = 0; i < count; ++i) frame.bring_home(out[i]);
  return count;
}

template <Nearest nearest>
Distance seen_by_a(const PairArguments& pair) {
  const FrameOfA frame(pair.at_a, pair.at_b);
  Distance d = nearest({pair.a, {}, pair.b, frame.b, pair.margin});
  if (!d.beyond) frame.bring_home(d);
  return d;
}

NormalRule swapped(NormalRule rule) {
  return rule == NormalRule::face_a   ? NormalRule::face_b
         : rule == NormalRule::face_b ? NormalRule::face_a
                                      : rule;
}

int swapped(ContactPoint* points, int count) {
  for (int i = 0; i < count; ++i) {
    points[i].normal = -points[i].normal;
    std::swap(points[i].feature_a, points[i].feature_b);
    std::swap(points[i].face_a, points[i].face_b);
    points[i].rule = swapped(points[i].rule);
  }
  return count;
}

// Two shapes of one type, in their own order.
template <Contacts contacts>
int ordered(const PairArguments& pair, ContactPoint* out) {
  if (twins_in_order(pair.a, pair.at_a, pair.b, pair.at_b)) return contacts(pair, out);
  return swapped(out, contacts({pair.b, pair.at_b, pair.a, pair.at_a, pair.margin, pair.most}, out));
}

constexpr Contacts rounded_convex = seen_by_a<single<convex_convex>>;
constexpr Contacts convex = seen_by_a<convex_contacts>;
// A closed form where it is clear, else the general way.
template <Contacts closed_form, Contacts general>
int where_clear(const PairArguments& pair, ContactPoint* out) {
  const int count = closed_form(pair, out);
  return count == not_clear ? general(pair, out) : count;
}
constexpr Contacts capsules = where_clear<crossing_capsules_contacts, ordered<capsule_capsule_contacts>>;
constexpr Contacts capsule_box = where_clear<capsule_box_contacts, convex>;
constexpr Contacts boxes = ordered<seen_by_a<box_box_contacts>>;
constexpr Contacts twins = ordered<convex>, rounded_twins = ordered<rounded_convex>;
constexpr Contacts terrain = seen_by_a<height_field_contacts>;

int none(const PairArguments&, ContactPoint*) { return 0; }

// Arguments in registers.
using Entry = int (*)(const Shape&, const Placement&, const Shape&, const Placement&, double, ContactPoint*,
                      int);
template <Contacts contacts>
int entry(const Shape& a, const Placement& at_a, const Shape& b, const Placement& at_b, double margin,
          ContactPoint* out, int most) {
  return contacts({a, at_a, b, at_b, margin, most}, out);
}

constexpr int types = 8;
constexpr Entry table[types][types] = {
    // plane
    {entry<none>, entry<plane_sphere_contacts>, entry<plane_capsule_contacts>, entry<plane_box_contacts>,
     entry<plane_cylinder_contacts>, entry<plane_ellipsoid_contacts>, entry<plane_mesh_contacts>,
     entry<none>},
    // sphere
    {nullptr, entry<sphere_sphere_contacts>, entry<sphere_capsule_contacts>, entry<sphere_box_contacts>,
     entry<sphere_cylinder_contacts>, entry<rounded_convex>, entry<rounded_convex>, entry<terrain>},
    // capsule
    {nullptr, nullptr, entry<capsules>, entry<capsule_box>, entry<convex>, entry<convex>, entry<convex>,
     entry<terrain>},
    // box
    {nullptr, nullptr, nullptr, entry<boxes>, entry<convex>, entry<convex>, entry<convex>, entry<terrain>},
    // cylinder
    {nullptr, nullptr, nullptr, nullptr, entry<twins>, entry<convex>, entry<convex>, entry<terrain>},
    // ellipsoid
    {nullptr, nullptr, nullptr, nullptr, nullptr, entry<rounded_twins>, entry<rounded_convex>,
     entry<terrain>},
    // mesh
    {nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, entry<twins>, entry<terrain>},
    // height field
    {nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, entry<none>}};

Distance nothing(const PairArguments&) {
  Distance d;
  d.distance = 1e300;
  d.beyond = true;
  return d;
}

Nearest nearest_of(ShapeType a, ShapeType b) {
  if (b == ShapeType::plane) return nothing;
  if (b == ShapeType::height_field)
    return a == ShapeType::plane || a == ShapeType::height_field ? nothing : seen_by_a<height_field_nearest>;
  if (a == ShapeType::plane) return plane_convex;
  if (a == ShapeType::sphere) {
    if (b == ShapeType::sphere) return sphere_sphere;
    if (b == ShapeType::capsule) return sphere_capsule;
    if (b == ShapeType::box) return sphere_box;
    if (b == ShapeType::cylinder) return sphere_cylinder;
  }
  if (a == ShapeType::capsule && b == ShapeType::capsule) return capsule_capsule;
  return seen_by_a<convex_convex>;
}

}  // namespace

bool twins_in_order(const Shape& a, const Placement& at_a, const Shape& b, const Placement& at_b) {
  for (int i = 0; i < 3; ++i)
    if (a.size[i] != b.size[i]) return a.size[i] < b.size[i];
  if (a.hull != b.hull && a.hull->radius != b.hull->radius) return a.hull->radius < b.hull->radius;
  const Vec3 r = at_b.p - at_a.p;
  const double noise = 1e-18 * squared_norm(r) + 1e-28 * (squared_norm(at_a.p) + squared_norm(at_b.p));
  for (int i = 0; i < 3; ++i) {
    // Its component in A's frame, and that of the way back in B's.
    const double difference = dot(at_a.R.column(i) + at_b.R.column(i), r);
    if (difference * difference > noise) return difference < 0;
  }
  // The axis of the turn from A to B has the same components in both frames, and changes sign with the order.
  const Vec3 x = transpose_times(at_a.R, at_b.R.x), y = transpose_times(at_a.R, at_b.R.y),
             z = transpose_times(at_a.R, at_b.R.z);
  const Vec3 turn(y[2] - z[1], z[0] - x[2], x[1] - y[0]);
  for (int i = 0; i < 3; ++i)
    if (std::abs(turn[i]) > 1e-12) return turn[i] < 0;
  return true;
}

namespace {

int collide_in_table(const Shape& a, const Placement& at_a, const Shape& b, const Placement& at_b,
                     double margin, ContactPoint* out, int most) {
  return table[static_cast<int>(a.type)][static_cast<int>(b.type)](a, at_a, b, at_b, margin, out, most);
}

[[gnu::noinline]] int collide_swapped(const Shape& a, const Placement& at_a, const Shape& b,
                                      const Placement& at_b, double margin, ContactPoint* out, int most) {
  return swapped(out, collide_in_table(b, at_b, a, at_a, margin, out, most));
}

// Apart, so that what does not throw needs no frame.
[[noreturn, gnu::noinline, gnu::cold]] void refuse(const Placement& a, const Placement& b) {
  if (is_finite(a) && is_finite(b)) throw Error("the margin or limit of a distance is not a number");
  throw Error("the placement of shape {} has entries that are not finite numbers", is_finite(a) ? "b" : "a");
}

[[gnu::noinline, gnu::cold]] void refuse_size(const Shape& shape, const char* name) {
  if (!is_finite(shape.size)) throw Error("a size of shape {} is not a finite number", name);
}

}  // namespace

int collide_unchecked(const Shape& a, const Placement& at_a, const Shape& b, const Placement& at_b,
                      double margin, ContactPoint* out, int most) {
  const int count = a.type <= b.type ? collide_in_table(a, at_a, b, at_b, margin, out, most)
                                     : collide_swapped(a, at_a, b, at_b, margin, out, most);
  take_sides(a, at_a, b, at_b, out, count);
  return count;
}

int collide(const Shape& a, const Placement& at_a, const Shape& b, const Placement& at_b, double margin,
            ContactPoint* out) {
  if (!are_finite(at_a, at_b) || std::isnan(margin)) [[unlikely]]
    refuse(at_a, at_b);
  if (!is_finite(a.size + b.size)) [[unlikely]]
    refuse_size(is_finite(a.size) ? b : a, is_finite(a.size) ? "b" : "a");
  return collide_unchecked(a, at_a, b, at_b, margin, out);
}

Distance distance_unchecked(const Shape& a, const Placement& at_a, const Shape& b, const Placement& at_b,
                            double limit) {
  const bool in_order = a.type != b.type ? a.type < b.type : twins_in_order(a, at_a, b, at_b);
  if (in_order) return nearest_of(a.type, b.type)({a, at_a, b, at_b, limit});
  Distance d = nearest_of(b.type, a.type)({b, at_b, a, at_a, limit});
  d.normal = -d.normal;
  std::swap(d.point_a, d.point_b);
  std::swap(d.feature_a, d.feature_b);
  return d;
}

Distance distance(const Shape& a, const Placement& at_a, const Shape& b, const Placement& at_b,
                  double limit) {
  if (!are_finite(at_a, at_b) || std::isnan(limit)) [[unlikely]]
    refuse(at_a, at_b);
  if (!is_finite(a.size + b.size)) [[unlikely]]
    refuse_size(is_finite(a.size) ? b : a, is_finite(a.size) ? "b" : "a");
  return distance_unchecked(a, at_a, b, at_b, limit);
}

}  // namespace articula::collision
