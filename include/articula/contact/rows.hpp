#pragma once
// All constraint rows of a robot at a state, and the contact problems (one for each island) they make.
//
//   sigma = J v+ + s,     G = J Mhat^-1 J^T = W W^T,   W = D^-1/2 L^-T J^T  (Mhat = L^T D L, along the tree)
// Rows are built in fours (a contact's normal and two tangents, up to four limits of one tree), one row in
// each lane of a register, so that projections and products handle them together. Order is canonical:
// equalities, dry friction, limits, contacts by geometry and feature.
//
// Biases (docs/contact.md), h the step:
//   gap       s = phi / h, or -recovery_speed (capped) if that is less than -recovery_speed - 3 h |Jdot v|:
//             fast bodies overlap by h^2 Jdot v / 2 after a step, and are taken back all of it
//   bounce    s = e (J v)_N, if phi + h (J v_free)_N < 0 and (J v)_N < -bounce_speed
//   equality  s = phi / h, or of length recovery_speed (capped) if it is longer than that and h |Jdot v|: a
//             fast mechanism leaves its constraints by h^2 Jdot v / 2 in a step, and is taken back all of it

#include <bit>

#include "articula/collision/detect.hpp"
#include "articula/contact/constraints.hpp"
#include "articula/contact/solution.hpp"
#include "articula/dynamics/forces.hpp"

namespace articula {

enum class RowKind : std::uint8_t {
  equality,
  dry_friction,
  tendon_friction,
  joint_limit,
  tendon_limit,
  contact
};

enum class BiasMode : std::uint8_t { gap, capped, bounce, none };

// The modes of a step, to be kept by steps nearby whatever the laws say: the function whose exact derivative
// the step's derivative is. For checking derivatives.
struct FrozenModes {
  struct Entry {
    std::uint64_t key = 0;
    int rows = 0;
    BiasMode bias = BiasMode::gap;
    std::array<RowMode, 6> mode{};
    std::array<double, 6> lam{};
    SlideState slide;
    // Of an island whose loads, or slack, are not what soft laws lead to: what no equation tells stays as it
    // was, and rows that hold are missed by as much as they were.
    bool keeps_loads = false;
    std::array<double, 6> slack{};  // m/s
    collision::ContactFrame frame;  // in which lam, slack and slide are
    bool any_tangents = true;
    int collider_a = -1, collider_b = -1;
    Vec3 position;         // where the contact was
    bool passing = false;  // of these features, which detect does not find by itself
    collision::Feature feature_a, feature_b;
  };
  std::vector<Entry> entries;
  Saturation saturation;  // of servos; empty: decided by the step
  // How far detection looked: of a face that many points touch it keeps four, and which depends on it. Empty:
  // decided by the step.
  std::vector<double> reach;
  const Entry* find(std::uint64_t key) const;  // null: not there
  // The keys of contacts, one by one. Where features tie (equal faces on each other) the slightest motion
  // gives a contact other ones: it keeps the key that the contact of its pair had that was there.
  std::vector<std::uint64_t> keys_of(const collision::Contacts& contacts) const;
  // Contacts that detect is told of: those of features that pass (collision/passing.hpp), and those that
  // carry, which are wanted for what they are.
  void call_contacts(const collision::Colliders& colliders, collision::Contacts& contacts) const;
  // The entry with lam and slide in another frame. Any tangents may jump, and what they measure stays where
  // it is in space; those of laws that have directions of their own take it with them.
  static Entry in_frame(const Entry& entry, const collision::ContactFrame& frame);
};

struct RowSettings {
  double dt = 0.002;
  FrictionLaw law = FrictionLaw::cone;
  double recovery_speed = 0.2;          // m/s (rad/s): overlaps and loop errors vanish no faster
  double bounce_speed = 0.04;           // m/s: slower impacts do not bounce
  const FrozenModes* frozen = nullptr;  // biases of these kinds, whatever the rules say
  // m/s (rad/s): contacts and ends of ranges that part faster than this, with v and with v_free, have no row
  double parting_speed = 0.05;
  // rad/s (m/s): dry friction of dofs that move faster than this, with v and with v_free, has no row
  double coasting_speed = 0.1;
};

// A contact or an end of a range that was left out because it parts: phi / h + J v > parting_speed.
struct IdleRow {
  RowKind kind = RowKind::contact;
  int index = 0;  // as in Item
  bool upper = false;
  std::uint64_t key = 0;
  double phi = 0.0;
  double velocity = 0.0;  // phi / h + J x, the less of v and v_free; later for the v+ that was found
};

// Dry friction of a dof that slides: a known impulse, no row, as long as v+ does not turn round.
struct CoastingDof {
  int dof = 0;
  double side = 1.0;  // of its velocity
  std::uint64_t key = 0;
  double impulse = 0.0;   // -side h f
  double velocity = 0.0;  // side v_free, and later side v+

  RowMode mode() const { return side > 0.0 ? RowMode::lower : RowMode::upper; }
};

// What a block of rows stands for.
struct Item {
  RowKind kind = RowKind::contact;
  int index = 0;       // equality in Constraints, dof, tendon, joint, or contact in Contacts::list
  bool upper = false;  // limits
  BiasMode bias = BiasMode::gap;
  double phi = 0.0;        // gap; equalities: the norm
  double room = 0.0;       // m/s: how far phi / h is from being capped
  std::uint64_t key = 0;   // the same from step to step
  int quad = 0, lane = 0;  // where its first row is
  int quads = 1;
  int rows = 1;
  int island = 0, block = 0;  // block within the island
};

// Up to four rows, and the trees they act on.
struct Quad {
  int rows = 0;
  int tree[2] = {-1, -1};
  int at[2] = {0, 0};    // first entry in J and W: one for each dof of the tree
  int used[2] = {0, 0};  // entries that may differ from zero: [0, used)
  int first = 0;         // row within the island
  Lanes bias{};
};

struct Island {
  int item_begin = 0, item_count = 0;  // in ContactRows::order
  int row_begin = 0, rows = 0;         // in lam, sigma, mode, b
  int block_begin = 0;
  std::size_t G = 0;  // offset
  int stride = 0;
  int roots = -1;               // number of its RowRoots; none: negative
  double coasting_speed = 0.0;  // the largest of its coasting dofs, v_free: what b of their rows would be
};

class ContactRows;
// The modes of rows that were solved.
FrozenModes freeze(const ContactRows& rows, const collision::Contacts& contacts);
// Which pair, which features.
std::uint64_t contact_key(const collision::Contact& contact);

// Calls take(begin, end) for every run of ones, the lowest bit having the number `first`.
template <class Take>
void for_each_run_of_bits(std::uint64_t bits, int first, const Take& take) {
  while (bits != 0) {
    const int begin = std::countr_zero(bits), end = begin + std::countr_one(bits >> begin);
    take(first + begin, first + end);
    bits &= end < 64 ? ~std::uint64_t{0} << end : 0;
  }
}

using LaneVector = std::vector<Lanes, Eigen::aligned_allocator<Lanes>>;

// Workspace of one thread: rows of the last `build`.
class ContactRows {
 public:
  ContactRows(const Model& model, const Constraints& constraints, int most_contacts);

  // Which dofs coast, after free_velocity; v_coast = v_free + Mhat^-1 (their friction).
  void coast(const Model& model, const Data& data, const Constraints& constraints,
             const RowSettings& settings, const VectorX& v, const VectorX& v_free, VectorX& v_coast);
  // After `coast` and detect. Rules of biases ask v_free; b = J v_coast + s.
  void build(const Model& model, const Data& data, const Constraints& constraints,
             const collision::Colliders& colliders, const collision::Contacts& contacts,
             const RowSettings& settings, const VectorX& q, const VectorX& v, const VectorX& v_free,
             const VectorX& v_coast);

  // phi / h + J x of what was left out, data.link_v being the motion of x; of coasting dofs their speed.
  void move_idle(const Model& model, const Data& data, const collision::Colliders& colliders,
                 const collision::Contacts& contacts, double h, const VectorX& q, const VectorX& x);
  // The least velocity of what was left out, infinite if nothing was: rows are missing if it is negative.
  double least_idle_velocity() const;
  // What parts or coasts more slowly than the settings ask has a row in all builds until `begin`.
  void call_idle(const RowSettings& settings);
  void call(std::uint64_t key) { called_.push_back(key); }  // the same for this one
  void begin() { called_.clear(); }

  int size() const { return rows_; }
  int most_rows() const { return most_rows_; }
  int most_blocks() const { return most_blocks_; }
  const std::vector<Item>& items() const { return items_; }
  const std::vector<IdleRow>& idle() const { return idle_; }  // limits, then contacts
  const std::vector<CoastingDof>& coasting() const { return coasting_; }
  const std::vector<Quad>& quads() const { return quads_; }
  const std::vector<Island>& islands() const { return islands_; }
  const std::vector<int>& order() const { return order_; }  // items, island after island
  const LaneVector& J() const { return J_; }
  const LaneVector& W() const { return W_; }
  const std::vector<double>& root_inverse() const { return scale_; }  // D^-1/2, per dof
  // Calls take(begin, end) for every run of dofs of its tree that a side of a quad touches.
  template <class Take>
  void for_each_run(int quad, int side, const Take& take) const {
    const std::uint64_t* words = support(quad, side);
    for (int word = 0; word < support_words_; ++word) for_each_run_of_bits(words[word], 64 * word, take);
  }
  const Block& block(const Item& item) const {
    return blocks_[islands_[item.island].block_begin + item.block];
  }
  int first_dof(int tree) const { return constraints_->trees[tree].dof_begin; }
  int row_of(const Item& item) const { return islands_[item.island].row_begin + block(item).first; }
  const collision::ContactFrame& frame(const Item& contact) const { return frame(contact.index); }
  const collision::ContactFrame& frame(int contact) const { return frames_[contact]; }
  // Whether the contact's law is alike in all directions across the normal: its tangents are any two. Those
  // of other laws follow the normal (collision::pyramid_frame).
  bool any_tangents(int contact) const { return any_tangents_[contact]; }

  ContactProblem problem(const Island& island, double gravity_step) const;
  // force (nv) += J^T lam
  void add_impulses(const double* lam, VectorX& force) const;
  // The same for the one row of a limit, coupling or dry friction.
  double scalar_velocity(const Item& item, const double* x) const;
  void add_scalar_impulse(const Item& item, double lam, double* force) const;
  // J x along every row
  void velocities(const VectorX& x, double* out) const;
  // With W in place of J, for z = D^-1/2 L^-T x; and the transposes of both at once.
  void projected_velocities(const VectorX& z, double* out) const;
  void add_impulses(const double* lam, VectorX& force, VectorX& projected) const;

  std::vector<double> lam, sigma;  // per row, island after island
  std::vector<RowMode> mode;
  // What to guess for the solver, and after a solve what the next step should guess: modes per row,
  // directions per block.
  std::vector<RowMode> guess;
  std::vector<SlideState> guessed_slides;

 private:
  struct Builder;
  friend struct Builder;
  void find_paths(const Structure& structure);
  void join_islands(const Structure& structure);
  void number_rows();
  void project(const Model& model, const Data& data);
  void reserve_roots(int most_quads, int widest);
  void find_roots();
  int count_trees(const Island& island);
  bool outnumber(const Island& island) const;
  void number_groups(const Island& island);
  void copy_roots(const Item& item, std::array<RowRoots::Side, 2>& sides);
  void fill_problem(const Island& island);
  void multiply(const LaneVector& matrix, const double* x, double* out) const;
  std::size_t support_at(int quad, int side) const {
    return (2 * static_cast<std::size_t>(quad) + side) * support_words_;
  }
  const std::uint64_t* support(int quad, int side) const { return support_.data() + support_at(quad, side); }
  // W is zero but for a dof that a row acts on, and those between it and the root.
  void add_support(int quad, int side, int dof);

  const Constraints* constraints_;
  FrictionLaw law_ = FrictionLaw::cone;
  int most_rows_ = 0, most_blocks_ = 0, rows_ = 0;
  std::vector<Item> items_;
  std::vector<IdleRow> idle_;
  std::vector<CoastingDof> coasting_;
  std::vector<std::uint64_t> called_;  // keys
  std::vector<Quad> quads_;
  std::vector<Island> islands_;
  std::vector<int> order_, tree_island_, island_of_, island_quads_;
  int support_words_ = 1;
  std::vector<std::uint64_t> paths_;    // per dof, a bit for each dof of its tree on the way to the root
  std::vector<std::uint64_t> support_;  // per quad and side, likewise: all that its rows act on
  std::vector<Block> item_blocks_, blocks_;
  std::vector<collision::ContactFrame> frames_;  // per contact
  std::vector<char> any_tangents_;
  LaneVector J_, W_;
  std::vector<double> b_, bias_, scale_;
  AlignedVector G_;
  // W once more for islands of many rows (row_roots.cpp): as RowRoots has it.
  std::vector<RowRoots> roots_;
  std::vector<std::array<RowRoots::Side, 2>> root_sides_;  // per block
  std::vector<double> root_numbers_, root_room_;
  std::vector<int> root_begins_, group_of_tree_;
};

}  // namespace articula
