#pragma once
// How a contact moves when the bodies or their shapes do.
//
// A body's motion is a twist in world axes about the contact's position: angular velocity w, and velocity v
// of the body's point that is there now. A point x of the body moves with v + w x (x - position). To refer
// the linear part to another point o of the body, use `about`. Derivatives are those of the contact at fixed
// features; where they do not exist (parallel edges, coincident centres, a contact on a seam between
// features) a one-sided choice is made: the features that were found stay, directions left open do not move.
// It is flagged, and never NaN.

#include "articula/collision/narrowphase.hpp"

namespace articula::collision {

// Change of a contact per unit of one motion or parameter.
struct ContactRate {
  Vec3 position, normal;
  double distance = 0.0;
};

struct ContactDerivatives {
  // Per unit of: A's angular velocity (x, y, z), A's linear velocity, B's angular, B's linear.
  ContactRate motion[12];
  bool one_sided = false;
  bool turns = true;  // false: no motion changes the normal
};

ContactDerivatives differentiate(const Shape& a, const Placement& at_a, const Shape& b, const Placement& at_b,
                                 const ContactPoint& contact);
// In place, and only of the sides that move: what `motion` says of the others is left alone.
void differentiate(const Shape& a, const Placement& at_a, const Shape& b, const Placement& at_b,
                   const ContactPoint& contact, bool moves_a, bool moves_b, ContactDerivatives& out);

// The same, with linear velocities of the points o_a of A and o_b of B (for instance the bodies' origins).
ContactDerivatives about(const ContactDerivatives& derivatives, Vec3 position, Vec3 o_a, Vec3 o_b);

// Per unit of each size (as in GeometryDescription), or for a mesh of each axis' scale about its origin,
// relative to what it is: [0, 3) A's, [3, 6) B's. Zero where a shape has no such number.
struct SizeDerivatives {
  ContactRate size[6];
  bool one_sided = false;
};
SizeDerivatives differentiate_sizes(const Shape& a, const Placement& at_a, const Shape& b,
                                    const Placement& at_b, const ContactPoint& contact);

// Per unit of each coordinate (in the mesh's frame) of the hull vertices the contact depends on. A vertex may
// occur twice, for its place and for the tilt of its face: its rates add.
struct VertexDerivatives {
  struct Entry {
    bool of_b = false;
    int vertex = 0;  // of the hull; Hull::mesh_vertex gives the mesh's
    ContactRate coordinate[3];
  };
  Entry entries[10];
  int count = 0;
  bool one_sided = false;
};
VertexDerivatives differentiate_vertices(const Shape& a, const Placement& at_a, const Shape& b,
                                         const Placement& at_b, const ContactPoint& contact);

// ---------------------------------------------------------------- contact frames

struct ContactFrame {
  Vec3 n, t1, t2;  // right-handed
};

// For cones, whose results do not depend on the tangents: any, and they turn without spin, dt = -(t . dn) n.
ContactFrame cone_frame(Vec3 n);
ContactFrame cone_frame_rate(const ContactFrame& frame, Vec3 dn);

// For pyramids, whose results do depend on them: x and y on a floor, along and across the slope of what is
// tilted about x or y, and smooth in n but for one direction and its opposite. There (n within `pole_angle`
// of it, flagged by near_pole) the frame turns fast.
ContactFrame pyramid_frame(Vec3 n);
ContactFrame pyramid_frame_rate(const ContactFrame& frame, Vec3 dn);
inline constexpr double pole_angle = 1e-3;
bool near_pole(Vec3 n);

}  // namespace articula::collision
