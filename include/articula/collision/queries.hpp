#pragma once
// Questions users ask about geometry: what a ray hits, how far two bodies are from each other. They throw
// Error where a pose, a ray or a state has numbers that are not finite.

#include "articula/collision/detect.hpp"

namespace articula::collision {

struct RayHit {
  double distance = 0.0;  // in units of the direction's length; negative: nothing was hit
  Vec3 normal;            // outward, unit, in the world
  int geometry = -1;
  bool hit() const { return distance >= 0; }
};

// First point of the surface along the ray from `origin`. From inside a shape: where it leaves. Meshes by
// their hulls. Throws Error if a number is not finite.
RayHit cast_ray(const Shape& shape, const Placement& at, Vec3 origin, Vec3 direction);

// The same of numbers that are known to be finite, which are not looked at: for the hot path.
RayHit cast_ray_unchecked(const Shape& shape, const Placement& at, Vec3 origin, Vec3 direction);

// The nearest hit among all colliders, not counting those of one body (-1: counting all). After
// forward_kinematics.
RayHit cast_ray(const Colliders& colliders, const Model& model, const Data& data, Vec3 origin, Vec3 direction,
                int except_body = -1);

struct BodyDistance {
  Distance nearest;
  int geometry_a = -1, geometry_b = -1;  // -1: a body has no geometry that collides
  // d distance / d motion of A's and B's links: (angular, linear) velocity, world axes, about `middle`.
  Vec3 middle;
  double gradient[12] = {};
  bool one_sided = false;
};

// Signed distance of the nearest (deepest) pair of geometries of two bodies, and its gradient.
BodyDistance distance_between(const Colliders& colliders, const Model& model, const Data& data, int body_a,
                              int body_b);

}  // namespace articula::collision
