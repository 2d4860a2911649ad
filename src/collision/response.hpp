#pragma once
// The linear map from how surfaces move, locally, to how a contact moves.

#include "articula/collision/derivatives.hpp"
#include "patch.hpp"

namespace articula::collision {

// How one side's surface changes near the contact: the velocity of the surface point, and the rate of its
// outward normal (of the face that gives the contact its normal, where one does), both following the body.
struct SurfaceRate {
  Vec3 x, n;
};

struct Response {
  NormalRule rule = NormalRule::features;
  Vec3 n, xa, xb;  // normal, surface points
  double d = 0.0, lean = 0.0, lean_rate = 0.0;
  bool one_sided = false;

  // rule features: nu = Nu u + Na a + Nb b and the slides of the two points likewise (response.cpp)
  Basis T;
  Mat2 Nu, Na, Nb, Au, Aa, Ab, Bu, Ba, Bb;

  // other rules
  Vec3 na, nb;                // outward normals of the faces that give the normal
  double inverse_mean = 1.0;  // 1/|n_a - n_b|
  Feature fa, fb;
  Vec3 g, ea, eb;  // normal of the plane in which the points slide, and along which lines
  double inverse_gn = 0.0, inverse_gg = 0.0;
  Mat3 offset_a, offset_b;  // how a rounded side's point follows the normal
  bool rounded_a = false, rounded_b = false;

  explicit Response(Vec3 normal) : n(normal), T(normal) {}

  ContactRate operator()(const SurfaceRate& a, const SurfaceRate& b) const;
  // All rigid motions of the sides that move at once, where the rule is `features`. False if none of them
  // turns the normal.
  bool by_motions(bool moves_a, bool moves_b, ContactRate* out) const;

 private:
  ContactRate by_features(const SurfaceRate& a, const SurfaceRate& b) const;
  ContactRate by_faces(const SurfaceRate& a, const SurfaceRate& b) const;
  ContactRate taken_aside(ContactRate halfway) const;
};

// Where A does not move and has a face there, and B a point: without its placement. False anywhere else.
bool differentiate_on_fixed_face(const Shape& b, const ContactPoint& contact, bool moves_a,
                                 ContactDerivatives& out);

// Placements relative to the contact's position.
Response make_response(const Shape& a, const Placement& at_a, const Shape& b, const Placement& at_b,
                       const ContactPoint& contact);

}  // namespace articula::collision
