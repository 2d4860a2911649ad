#pragma once
// The narrow phase by pair of types. Each function takes the types in the order of its name. Those of convex
// shapes, two boxes and height fields work in A's frame: at_a is the identity (frame_of_a.hpp).

#include "articula/collision/narrowphase.hpp"

namespace articula::collision {

// Of two shapes, at most: points that could carry.
inline constexpr int most_candidates = 256;

struct PairArguments {
  const Shape& a;
  const Placement& at_a;
  const Shape& b;
  const Placement& at_b;
  double margin;
  int most = usual_contact_points;  // where more could carry, those that carry most are kept
};

// Closed forms of a single nearest pair.
Distance sphere_sphere(const PairArguments& pair);
Distance sphere_capsule(const PairArguments& pair);
Distance sphere_box(const PairArguments& pair);
Distance sphere_cylinder(const PairArguments& pair);
Distance capsule_capsule(const PairArguments& pair);
Distance convex_convex(const PairArguments& pair);
Distance plane_convex(const PairArguments& pair);
Distance height_field_nearest(const PairArguments& pair);  // the field is b

// Contacts; those of the two cheapest pairs are in tiny_pairs.hpp.
int near_centres_contacts(const PairArguments& pair, ContactPoint* out);  // two spheres, nearly concentric
int sphere_capsule_contacts(const PairArguments& pair, ContactPoint* out);
int sphere_box_contacts(const PairArguments& pair, ContactPoint* out);
int sphere_cylinder_contacts(const PairArguments& pair, ContactPoint* out);
int plane_capsule_contacts(const PairArguments& pair, ContactPoint* out);
int plane_box_contacts(const PairArguments& pair, ContactPoint* out);
int plane_cylinder_contacts(const PairArguments& pair, ContactPoint* out);
int plane_ellipsoid_contacts(const PairArguments& pair, ContactPoint* out);
int plane_mesh_contacts(const PairArguments& pair, ContactPoint* out);
// not_clear where ties, parallel lines, flat faces or deep overlaps want the general way.
inline constexpr int not_clear = -1;
int crossing_capsules_contacts(const PairArguments& pair, ContactPoint* out);
int capsule_box_contacts(const PairArguments& pair, ContactPoint* out);
int capsule_capsule_contacts(const PairArguments& pair, ContactPoint* out);
int box_box_contacts(const PairArguments& pair, ContactPoint* out);
// A face (of A or B, across its axis) along whose normal n, from A to B, the boxes overlap least.
int box_face_contacts(const PairArguments& pair, int axis, bool of_a, Vec3 n, double deepest,
                      ContactPoint* out);
int convex_contacts(const PairArguments& pair, ContactPoint* out);
int height_field_contacts(const PairArguments& pair, ContactPoint* out);  // the field is b

// collide() and distance() of poses that are known to be numbers: the hot path. Points that could carry, of
// which collide() keeps those that carry most, are all written if `most` is most_candidates.
int collide_unchecked(const Shape& a, const Placement& at_a, const Shape& b, const Placement& at_b,
                      double margin, ContactPoint* out, int most = usual_contact_points);
Distance distance_unchecked(const Shape& a, const Placement& at_a, const Shape& b, const Placement& at_b,
                            double limit);

// Two shapes of one type are ordered by what they are and how they lie to each other, never by which came
// first: a tie is then resolved the same way whatever the order, and wherever the scene is.
bool twins_in_order(const Shape& a, const Placement& at_a, const Shape& b, const Placement& at_b);

// Points that share faces or parallel lines, for a pair whose nearest points are known.
int manifold(const PairArguments& pair, const Distance& nearest, ContactPoint* out);

// A margin this large, relative to the shape's size, means that it moves fast.
inline constexpr double fast_margin = 1e-2;
// Ends of capsules, corners of two boxes, within the margin and not near one of the contacts; returns
// how many contacts there are now.
int add_capsule_ends(const PairArguments& pair, ContactPoint* out, int count);
int add_box_corners(const PairArguments& pair, ContactPoint* out, int count);

// Room for things that are written before they are read; clearing it would cost more than filling it.
template <class T, int room>
struct Uncleared {
  alignas(T) unsigned char storage[room * sizeof(T)];
  T* data() { return reinterpret_cast<T*>(storage); }
  const T* data() const { return reinterpret_cast<const T*>(storage); }
};

// Moves contacts of a pair that were found halfway to where they act (position.cpp).
void take_sides(const Shape& a, const Placement& at_a, const Shape& b, const Placement& at_b,
                ContactPoint* points, int count);

inline ContactPoint contact_of(const Distance& d) {
  ContactPoint c;
  c.position = (d.point_a + d.point_b) * 0.5;
  c.normal = d.normal;
  c.distance = d.distance;
  c.feature_a = d.feature_a;
  c.feature_b = d.feature_b;
  c.degenerate = d.degenerate;
  return c;
}

// Points and their distances, coordinates apart, filled up to whole registers with the last.
struct Spread {
  static constexpr int room = most_candidates;
  alignas(32) double x[room], y[room], z[room], distance[room];
  int count = 0;

  void set(int i, Vec3 at, double d) { x[i] = at[0], y[i] = at[1], z[i] = at[2], distance[i] = d; }
  void fill_up();
};
// Picks the deepest point and those that span the widest area across n, at most usual_contact_points; returns
// how many.
int choose(const Spread& points, Vec3 n, int* kept);
// The same on contacts, at most most_candidates; what is kept comes to the front. No more than `most` are
// left alone.
int reduce(ContactPoint* points, int count, int most);

}  // namespace articula::collision
