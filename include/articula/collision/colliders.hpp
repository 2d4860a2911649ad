#pragma once
// The geometry of a model, compiled for collision: shapes on links, and the pairs that may touch.
//
// Pairs follow MuJoCo's rules. A pair is considered if (contype_1 & conaffinity_2) or (contype_2 &
// conaffinity_1), its links differ and are not parent and child (children of the world collide with the
// world), at least one moves by joints, and its bodies are not excluded. Pairs written out in the model are
// always considered, with their own numbers. Otherwise the geometry of higher priority decides friction and
// condim; of equal priority the larger of each holds. Margin and gap: the larger.

#include "articula/collision/narrowphase.hpp"
#include "articula/model/data.hpp"

namespace articula::collision {

struct Collider {
  Shape shape;
  Placement in_link;
  Vec3 centre;  // of the bounding sphere, in the link's frame
  double radius = 0.0;
  int geometry = 0, body = 0, link = 0;
  int contype = 0, conaffinity = 0;
  double margin = 0.0;
};

// Which geometry a mixed number comes from: of the pair itself, of A, of B.
enum class Source : std::uint8_t { pair, a, b };

struct ColliderPair {
  int a = 0, b = 0;  // colliders, a < b
  int written = -1;  // index of the pair in the description, where it is written out
};

// Pairs of one collider with neighbours in a row: (a, first), (a, first + 1) ... from pairs()[pair] on.
struct ColliderRun {
  int a = 0, first = 0, count = 0, pair = 0;
};

struct ContactParameters {
  int condim = 3;
  double friction[5] = {1, 1, 0.005, 0.0001, 0.0001};  // tangents 1 and 2, spin, roll 1 and 2
  Source friction_source[5] = {};
  double restitution = 0.0;
  Source restitution_source = Source::a;
  double margin = 0.0, gap = 0.0;
};

class Colliders {
 public:
  // Throws Error if a mesh has no hull.
  explicit Colliders(const Model& model);
  // The same geometry with the numbers of a variant of the model (model.with(theta)); hulls are shared.
  Colliders with(const Model& variant) const;
  // The same in place; allocates nothing.
  void set_numbers(const Model& variant);

  const std::vector<Collider>& list() const { return colliders_; }
  // All pairs that may touch, in order; empty if there are too many to write down (`swept`).
  const std::vector<ColliderPair>& pairs() const { return pairs_; }
  const std::vector<ColliderRun>& runs() const { return runs_; }
  bool swept() const { return swept_; }
  bool has_height_fields() const { return has_height_fields_; }
  bool may_touch(int a, int b) const;
  int written_pair(int a, int b) const;

  ContactParameters parameters(const Model& model, const ColliderPair& pair) const;
  double margin(const ColliderPair& pair) const;
  // Not less than the margin of any pair it is in, shared among the two.
  double widest_margin(int collider) const;
  int collider_of(int geometry) const { return of_geometry_[static_cast<std::size_t>(geometry)]; }

  // More possible pairs than this are swept for each time instead of listed once.
  static constexpr std::size_t listed_pairs = 8192;

 private:
  void list_pairs();

  std::vector<Collider> colliders_;
  std::vector<int> of_geometry_;  // collider of each geometry, -1
  std::vector<int> link_parent_;
  std::vector<bool> link_moves_;
  bool parent_child_contacts_ = false;
  std::vector<std::pair<int, int>> excluded_bodies_;  // sorted
  struct Written {
    int a, b, index;
    double margin;
  };
  std::vector<Written> written_;  // sorted
  std::vector<ColliderPair> pairs_;
  std::vector<ColliderRun> runs_;
  bool swept_ = false, has_height_fields_ = false;
};

}  // namespace articula::collision
