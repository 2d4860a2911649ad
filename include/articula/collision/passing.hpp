#pragma once
// Features that pass into each other within a step. Contacts are those of the pose at its start; an edge that
// swings onto a face comes to cross an edge of the other body far from where they were near. Once the motion
// is known, fast pairs of boxes, meshes and capsules are looked at where it takes them; two features that
// overlap there and have no contact become one, with the distance that they have now: of two lines
//   phi = n . (x_b - x_a),    n = +- e_a x e_b / |e_a x e_b|,
// of a corner and a face the corner's height over its plane, of a point of a capsule's axis that from the
// other line. All are smooth and continue beyond the ends of edges and the outlines of faces.

#include "articula/collision/detect.hpp"

namespace articula::collision {

// Whether there are fast pairs to look at; cheap, and without velocities.
bool may_pass(const Colliders& colliders, const Contacts& contacts);

// Adds to contacts.passing what overlaps after moving by `dt` with the links' velocities in `data`, and tells
// whether there is any. After detect. Capsules that overlap now are expected to part with `recovery_speed`.
bool find_passing(const Colliders& colliders, const Data& data, Contacts& contacts, double dt,
                  double recovery_speed);

// The contacts of contacts.passing, behind those in the list.
void add_passing(const Colliders& colliders, const Data& data, Contacts& contacts);

}  // namespace articula::collision
