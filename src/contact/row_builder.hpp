#pragma once
// Writes the rows of each constraint: Jacobian, bias, law.

#include "articula/contact/rows.hpp"

namespace articula {

// Up to four rows on the motion of a point: row r is axis_r . (velocity) or axis_r . (angular velocity), the
// axes lying across the lanes: rates = linear * velocity + angular * angular velocity.
struct RowAxes {
  Mat3 linear{}, angular{};
  bool turns = false;
  int count = 0;

  void add(Vec3 axis, bool angular_row);
};

std::uint64_t dry_friction_key(int dof);

struct ContactRows::Builder {
  ContactRows& rows;
  const Model& model;
  const Data& data;
  const Constraints& constraints;
  const RowSettings& settings;
  const VectorX &q, &v, &v_free;

  void equalities();
  void dry_friction();
  void limits();
  void contacts(const collision::Colliders& colliders, const collision::Contacts& contacts);
  // The rate at which phi of a row that was left out grows with x, data.link_v being its motion.
  double idle_rate(const IdleRow& row, const collision::Colliders& colliders,
                   const collision::Contacts& contacts, const VectorX& x) const;

 private:
  Quad& open_quad(int tree_a, int tree_b);
  bool immovable(const Quad& quad) const;
  Lanes& entry(Quad& quad, int dof);
  void add_motion(Quad& quad, int link, Vec3 r, const RowAxes& axes, double sign);
  // Velocities of the rows now, with those of kinematic bodies.
  Lanes velocity_now(int link_a, Vec3 r_a, int link_b, Vec3 r_b, const RowAxes& axes) const;
  // What kinematic bodies add to J v.
  Lanes carried(const Quad& quad, Lanes now) const;
  Lanes product(const Quad& quad, const VectorX& x) const;

  Item& add_item(RowKind kind, int index, std::uint64_t key, const Block& block, int quads);
  // A row of its own: in the last quad if that has room and acts on the same trees, else in a new one.
  Item& add_scalar(RowKind kind, int index, std::uint64_t key, const Block& block, int tree_a, int tree_b);
  void add_tendon(Quad& quad, int lane, int tendon, double sign);
  std::pair<int, int> trees_of_tendon(int tendon) const;
  double tendon_length(int tendon) const;
  double tendon_rate(int tendon, const VectorX& x) const;
  int tree_of_dof(int dof) const;

  void join_bodies(const EqualityConstraint& equality, int number);
  void couple(const EqualityConstraint& equality, int number);
  void joint_limit(int joint);
  void tendon_limit(int tendon);
  bool left_out(RowKind kind, int index, bool upper, std::uint64_t key, double phi, double rate);
  void end_of_range(RowKind kind, int index, bool upper, double phi, double rate, double free_rate);
  void contact(const collision::Colliders& colliders, const collision::Contact& contact, int index,
               std::uint64_t key);
  // The kind of bias that holds, given what the rules say.
  BiasMode prescribed(std::uint64_t key, BiasMode ruled) const;
  // Of what is unilateral; `drift` as below.
  double gap_bias(double phi, double drift, Item& item) const;
  // Of equalities: the speed asked for.
  Vec3 recovery(Vec3 phi, BiasMode kind) const;
  // How far an error is from being capped; how fast a mechanism leaves its constraints, h |Jdot v|, and two
  // bodies the plane of their contact.
  double room(double error, double drift) const;
  double drift(int link_a, int link_b) const;
  double contact_drift(int link_a, Vec3 r_a, int link_b, Vec3 r_b) const;
};

}  // namespace articula
