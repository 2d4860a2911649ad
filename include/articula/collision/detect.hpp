#pragma once
// All contacts of a model at a configuration.

#include "articula/collision/colliders.hpp"
#include "articula/collision/derivatives.hpp"

namespace articula::collision {

struct Contact {
  ContactPoint point;  // A is the geometry that comes first in the model
  ColliderPair pair;
};

enum class DetectStatus { ok, overflow };

// Two features that meet within a step although neither is near the other when it begins (passing.hpp).
struct PassingFeatures {
  ColliderPair pair;
  Feature feature_a, feature_b;
  Vec3 normal;  // about that of their contact
};

// A contact that is to be kept for what it is: two features of two colliders.
struct WantedContact {
  int a = -1, b = -1;
  Feature feature_a, feature_b;
  double reach = 0.0;  // how far was looked when it was found, beyond the pair's margin
};

// Where two shapes may be told apart: what decides how fast that is found, never whether.
struct GapGuess {
  Vec3 axis{1, 0, 0};                // from the first to the second, in the first one's frame
  int vertex_a = -1, vertex_b = -1;  // of large hulls, the farthest along it
};

// Workspace of one thread. Nothing is allocated after construction.
struct Contacts {
  explicit Contacts(const Colliders& colliders,
                    int capacity = 0);  // 0: as many as the model can need, at most 4096
  // After the colliders' numbers have changed.
  void set_numbers(const Colliders& colliders);

  // ---- results of detect, in the order of (pair, feature); then those of `passing`
  std::vector<Contact> list;
  int passing_begin = 0;  // in list
  DetectStatus status = DetectStatus::ok;

  // ---- set by the user: how much farther than its margin each collider looks (what it may move within a
  // step)
  std::vector<double> reach;  // per collider, zero at first
  // Contacts besides those that detect finds by itself.
  std::vector<PassingFeatures> passing;
  // Of a pair that could have more contacts than it is given, which ones carry most may change with the
  // slightest tilt. Where all that are wanted of a pair are among those it could have, these are its
  // contacts.
  std::vector<WantedContact> wanted;

  // ---- where the colliders are; placements are made when first needed
  std::vector<Placement> placement;  // per collider, valid where `placed`
  std::vector<unsigned char> placed;
  std::vector<Vec3> centre;                     // per collider: bounding sphere
  std::vector<double> pair_margin, pair_reach;  // per listed pair; reach: sum of radii and margin
  std::vector<GapGuess> pair_gap;  // per listed pair: where to look first for a gap between its meshes
  // The same spheres apart, filled up to whole registers; extents contain the largest margin of any pair.
  std::vector<double> x, y, z, extent;
  std::vector<double> widest_margin;  // per collider

  // ---- sweep, for worlds with very many pairs
  std::vector<int> order;
  std::vector<std::pair<int, int>> candidates;
  int capacity = 0;
};

// After forward_kinematics. Contacts closer than their pair's margin and the reach of both colliders.
DetectStatus detect(const Colliders& colliders, const Model& model, const Data& data, Contacts& contacts);

// Where a collider is.
Placement collider_placement(const Colliders& colliders, const Data& data, int collider);

// Derivatives of the i-th contact with respect to the motion of its two links (about the contact's position).
ContactDerivatives differentiate(const Colliders& colliders, const Data& data, const Contacts& contacts,
                                 int i);
void differentiate(const Colliders& colliders, const Data& data, const Contacts& contacts, int i,
                   bool moves_a, bool moves_b, ContactDerivatives& out);

}  // namespace articula::collision
