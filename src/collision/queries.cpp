#include "articula/collision/queries.hpp"

#include "pairs.hpp"

namespace articula::collision {

BodyDistance distance_between(const Colliders& colliders, const Model& model, const Data& data, int body_a,
                              int body_b) {
  BodyDistance best;
  best.nearest.distance = INFINITY;
  const auto body_of = [&](const Collider& c) {
    return model.structure().geometries[static_cast<std::size_t>(c.geometry)].body;
  };
  const int n = static_cast<int>(colliders.list().size());
  Placement at_a, at_b;
  int ca = -1, cb = -1;
  for (int a = 0; a < n; ++a) {
    const Collider& first = colliders.list()[static_cast<std::size_t>(a)];
    if (body_of(first) != body_a) continue;
    const Placement pa = collider_placement(colliders, data, a);
    for (int b = 0; b < n; ++b) {
      const Collider& second = colliders.list()[static_cast<std::size_t>(b)];
      if (b == a || body_of(second) != body_b) continue;
      const Placement pb = collider_placement(colliders, data, b);
      const Distance d = distance(first.shape, pa, second.shape, pb, best.nearest.distance);
      if (d.beyond || !(d.distance < best.nearest.distance)) continue;
      best.nearest = d;
      best.geometry_a = first.geometry;
      best.geometry_b = second.geometry;
      at_a = pa, at_b = pb, ca = a, cb = b;
    }
  }
  if (ca < 0) return best;
  const ContactPoint contact = contact_of(best.nearest);
  best.middle = contact.position;
  const ContactDerivatives d =
      differentiate(colliders.list()[static_cast<std::size_t>(ca)].shape, at_a,
                    colliders.list()[static_cast<std::size_t>(cb)].shape, at_b, contact);
  for (int i = 0; i < 12; ++i) best.gradient[i] = d.motion[i].distance;
  best.one_sided = d.one_sided;
  return best;
}

}  // namespace articula::collision
