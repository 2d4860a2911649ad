#include "cli/gradient_states.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "articula/collision/detect.hpp"
#include "articula/contact/constraints.hpp"
#include "articula/dynamics/force_switches.hpp"
#include "articula/kinematics/forward.hpp"
#include "articula/kinematics/manifold.hpp"
#include "articula/kinematics/motion.hpp"
#include "cli/gradient_directions.hpp"
#include "cli/over_threads.hpp"

namespace articula::cli {

namespace {

// Things that may happen in a step, and the share of the states in which they should: what a block of
// parameters is about must happen often enough for the block to be seen.
enum Event { carries, slides, at_limit, bounces, events };
constexpr double wanted[events] = {0.7, 0.2, 0.15, 0.15};
using Events = std::array<bool, events>;

constexpr int together = 20;    // states that one generator makes
constexpr int patience = 60;    // candidates passed over, per state, until flight will do
constexpr int shyness = 2;      // candidates passed over, per state, until robots are made to touch something
constexpr int reluctance = 20;  // until they are put next to something
constexpr int idleness = 6;     // until those that only meet the ends of their ranges are
constexpr double bearable = 0.005;  // m: overlaps
constexpr double touch = 1e-9;      // m: faces built on each other overlap by rounding
constexpr int less_patience = 12;   // until what is rare need not be there

bool has(const Model& model, ParameterKind kind) {
  const auto slices = model.parameters().of_kind(kind);
  return std::any_of(slices.begin(), slices.end(), [&](const ParameterSlice& slice) {
    return !model.theta().segment(slice.offset, slice.size).isZero(0.0);
  });
}

// What can never happen is not waited for.
Events possible(const Model& model, const collision::Colliders& colliders, bool grazes) {
  const bool touches = !grazes && (colliders.swept() || !colliders.pairs().empty()),
             limits = has(model, ParameterKind::limits);
  return {touches || limits, touches && has(model, ParameterKind::friction), limits,
          touches && has(model, ParameterKind::restitution)};
}

class Trajectories {
 public:
  Trajectories(const Model& model, Contact contact, unsigned seed)
      : model_(model),
        simulation_(model, {.contact = contact}),
        data_(model),
        colliders_(model),
        contacts_(colliders_),
        in_loop_(find_loops(model, true)),
        closed_(find_loops(model, false)),
        random_(seed) {}

  void fill(CheckedState* list, int count) {
    std::array<int, events> missing{};
    grazes_ = only_grazes();
    const Events can = possible(model_, colliders_, grazes_);
    for (int e = 0; e < events; ++e)
      missing[e] = can[e] ? static_cast<int>(std::lround(wanted[e] * count)) : 0;
    begin();
    bool some_agree = false;
    for (int made = 0, passed_over = 0, contradicting = 0; made < count;) {
      CheckedState next = sample();
      Events seen;
      const bool agrees = events_after(next, seen);
      some_agree |= agrees;
      // Links that are built into each other contradict each other in every state; what is waited for in vain
      // is no reason to take such states.
      if (!agrees && contradicting++ < (some_agree ? patience : 1) * count) {
        ++passed_over;
        continue;
      }
      insists_ = missing[carries] > 0 && passed_over > shyness * count;
      reaches_ = (missing[carries] > 0 && passed_over > reluctance * count) ||
                 (missing[slides] > 0 && passed_over > idleness * count);
      stretches_ = missing[at_limit] > 0 && passed_over > shyness * count;
      touched_ = seen[carries];
      bool welcome = std::accumulate(missing.begin(), missing.end(), 0) < count - made;
      for (int e = 0; e < events; ++e) welcome |= seen[e] && missing[e] > 0;
      const int most = missing[carries] > 0 || missing[slides] > 0 ? patience : less_patience;
      if (!welcome && passed_over++ < most * count) continue;
      for (int e = 0; e < events; ++e) missing[e] -= seen[e] && missing[e] > 0;
      next.in_contact = seen[carries];
      list[made++] = std::move(next);
    }
  }

 private:
  double uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }
  double normal() { return normal_(random_); }
  bool chance(double probability) { return uniform(0.0, 1.0) < probability; }

  // Where the robot stands, or as it was built; bent a little, some joints at an end of their range. Robots
  // bent into themselves are no states that a trajectory leads to, and take long to come apart.
  void begin() {
    constexpr int draws = 5;
    step_ = Step{.input = step_.input};
    step_.next = neutral_state(model_);
    VectorX best;
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < draws && least > bearable; ++i) {
      choose_pose();
      const VectorX unbent = step_.next.q, bend = random_bend();
      // A little is better than nothing: things built on each other exactly have features that tie.
      for (const double part : {1.0, 0.3, 0.1, 0.03, 0.01, 0.003}) {
        integrate(model_, unbent, bend, part, step_.next.q);
        stay_in_ranges(part > 0.01);
        const double depth = deepest(step_.next.q);
        if (depth < least) least = depth, best = step_.next.q;
        if (least <= bearable) break;
      }
    }
    step_.next.q = best;
    const double speed = chance(0.5) ? 1.5 : 0.2;
    for (double& x : step_.next.v) x = speed * normal();
    left_ = 20 + static_cast<int>(uniform(0.0, 3.0) / simulation_.dt());
    left_ = std::min(left_, 1500);
    choose_controls();
    close_loops();
  }

  // Loops are often described a little open, and while they close, rows across a plane of hinges carry what
  // they hardly can: no difference tells how much.
  void close_loops() {
    constexpr int most_steps = 100;
    constexpr double open = 1e-5;  // m
    if (!closed_.any()) return;
    const auto largest = [&] {
      const Simulation::Lease workspace(simulation_, step_.serial);
      double error = 0.0;
      for (const Item& item : workspace->contact->rows.items()) {
        if (item.kind == RowKind::equality) error = std::max(error, item.phi);
      }
      return error;
    };
    for (int i = 0; i < most_steps; ++i) {
      simulation_.step(step_.next, step_.input, step_);
      if (!step_.ok() || largest() < open) return;
    }
  }

  void choose_pose() {
    step_.next.q = built_pose();
    const auto& keys = model_.description().keyframes;
    if (keys.empty() || !chance(0.7)) return;
    const auto& key = keys[static_cast<size_t>(uniform(0.0, static_cast<double>(keys.size()) - 1e-9))];
    if (!key.q.empty()) step_.next.q = Eigen::Map<const VectorX>(key.q.data(), model_.nq());
  }

  // As the robot was built; where joints of its loops are beyond their ranges then, as its first keyframe has
  // them: they cannot be put back one by one, and while they recover, for seconds, they and the loops
  // contradict each other.
  VectorX built_pose() const {
    const VectorX built = neutral_state(model_).q;
    const auto& joints = model_.structure().joints;
    const bool beyond = std::any_of(joints.begin(), joints.end(), [&](const JointIndex& joint) {
      if (joint.range < 0 || joint.type == JointType::ball || !closed_[joint.dof]) return false;
      const double* range = model_.theta().data() + joint.range;
      return built[joint.q] < range[0] || built[joint.q] > range[1];
    });
    if (!beyond) return built;
    for (const KeyframeDescription& key : model_.description().keyframes) {
      if (!key.q.empty()) return Eigen::Map<const VectorX>(key.q.data(), model_.nq());
    }
    return built;
  }

  VectorX random_bend() {
    VectorX bend(model_.nv());
    const double wild = chance(0.3) ? 0.5 : 0.05;
    for (double& x : bend) x = wild * normal();
    for (const JointIndex& joint : model_.structure().joints) {
      if (joint.type == JointType::free) bend.segment(joint.dof, 3) *= 0.2;
    }
    return in_loop_.select(0.0, bend);
  }

  using Flags = Eigen::Array<bool, Eigen::Dynamic, 1>;  // per dof

  // Dofs that equalities tie to others: bent one by one they would tear loops apart. They move as forces move
  // them.
  static Flags find_loops(const Model& model, bool couplings) {
    Flags tied = Flags::Constant(model.nv(), false);
    const Structure& s = model.structure();
    for (const EqualityConstraint& equality : Constraints(model).equalities) {
      if (equality.type == EqualityType::joint && couplings) {
        for (const int joint : {equality.one, equality.two}) {
          if (joint >= 0) tied[s.joints[joint].dof] = true;
        }
      }
      if (equality.type != EqualityType::connect && equality.type != EqualityType::weld) continue;
      Flags one_side = Flags::Constant(model.nv(), false);  // what only one of the two hangs on
      for (const int from : {equality.first.link, equality.second.link}) {
        for (int k = from; k > 0; k = s.links[k].root ? 0 : s.links[k].parent) {
          for (int d = s.links[k].dof_begin; d < s.links[k].dof_end; ++d) one_side[d] = !one_side[d];
        }
      }
      tied = tied || one_side;
    }
    return tied;
  }

  // Some joints at an end of their range, if that is wanted.
  void stay_in_ranges(bool ends) {
    for (const JointIndex& joint : model_.structure().joints) {
      if (joint.range < 0 || joint.type == JointType::ball || in_loop_[joint.dof]) continue;
      const double *range = model_.theta().data() + joint.range, slack = 1e-3 * (range[1] - range[0]);
      double& q = step_.next.q[joint.q];
      if (ends && chance(0.15)) q = chance(0.5) ? range[0] : range[1];
      q = std::clamp(q, range[0] + slack, range[1] - slack);
    }
  }

  double deepest(const VectorX& q) {
    forward_kinematics(model_, data_, q);
    detect(colliders_, model_, data_, contacts_);
    double depth = 0.0;
    for (const collision::Contact& contact : contacts_.list) depth = std::max(depth, -contact.point.distance);
    return depth;
  }

  // Anywhere in their ranges, or a little about the middle; never at an end.
  void choose_controls() {
    step_.input.controls.resize(model_.nu());
    const double amplitude = insists_ || chance(0.3) ? 0.9 : 0.2;
    for (int i = 0; i < model_.nu(); ++i) {
      const auto& range = model_.description().actuators[static_cast<size_t>(i)].control_range;
      const double low = range ? (*range)[0] : -1.0, high = range ? (*range)[1] : 1.0;
      step_.input.controls[i] = 0.5 * (low + high) + 0.5 * amplitude * (high - low) * uniform(-1.0, 1.0);
    }
  }

  // Robots that hang freely hardly ever meet themselves: from a pose in which nothing touches on the way to
  // one in which something does, just before it.
  bool reach() {
    constexpr int draws = 30, halvings = 40;
    VectorX apart, touching;
    for (int i = 0; i < draws && (apart.size() == 0 || touching.size() == 0); ++i) {
      const VectorX q = any_pose();
      (deepest(q) > touch ? touching : apart) = q;
    }
    if (apart.size() == 0 || touching.size() == 0) return false;
    VectorX way(model_.nv()), q = apart;
    difference(model_, apart, touching, way);
    double before = 0.0, after = 1.0;
    for (int i = 0; i < halvings; ++i) {
      const double middle = 0.5 * (before + after);
      integrate(model_, apart, way, middle, q);
      (deepest(q) > touch ? after : before) = middle;
    }
    step_ = Step{.input = step_.input};
    step_.next = neutral_state(model_);
    integrate(model_, apart, way, before, step_.next.q);
    step_.next.v = uniform(0.5, 2.0) / way.cwiseAbs().maxCoeff() * way;
    for (double& x : step_.next.v) x += 0.2 * normal();
    left_ = 20;
    return true;
  }

  // Links that slide along each other, face on face, overlap in no pose: what rounding makes of a corner over
  // an edge has no derivative. Free bodies may fall on anything.
  bool only_grazes() {
    constexpr int draws = 500;
    for (const JointIndex& joint : model_.structure().joints) {
      if (joint.type == JointType::free || joint.type == JointType::ball) return false;
    }
    for (int i = 0; i < draws; ++i) {
      if (deepest(any_pose()) > touch) return false;
    }
    return true;
  }

  // Anywhere in the ranges of joints.
  VectorX any_pose() {
    constexpr double pi = 3.14159265358979323846;
    VectorX q = built_pose();
    for (const JointIndex& joint : model_.structure().joints) {
      if ((joint.type != JointType::hinge && joint.type != JointType::slide) || in_loop_[joint.dof]) continue;
      const double *range = joint.range < 0 ? nullptr : model_.theta().data() + joint.range,
                   wide = joint.type == JointType::hinge ? pi : 0.3;
      q[joint.q] = range != nullptr ? uniform(range[0], range[1]) : uniform(-wide, wide);
    }
    return q;
  }

  CheckedState sample() {
    const bool close = reaches_ && reach();
    const int steps = close ? static_cast<int>(uniform(0.0, 3.0)) : 3 + static_cast<int>(uniform(0.0, 40.0));
    // Some are held for long: robots get somewhere.
    if (chance(!insists_ ? 0.2 : touched_ ? 0.0 : 0.02)) choose_controls();
    for (int i = 0; i < steps; ++i, --left_) {
      if (left_ <= 0) begin();
      simulation_.step(step_.next, step_.input, step_);
      const bool lost = !step_.ok() || step_.report.contact == SolveStatus::inexact ||
                        step_.next.v.cwiseAbs().maxCoeff() > 50.0;
      if (lost) begin();
    }
    CheckedState found{step_.next, step_.input, false};
    disturb(found);
    return found;
  }

  // Trajectories lead to states that have no derivative, and next to them are states that do.
  void disturb(CheckedState& found) {
    if (stretches_) stretch(found.state);
    const Flags bases = leave_ends(found.state);
    shift(found, bases);
    stir(found.state);
  }

  // Servos and springs keep joints from the ends of their ranges: one of them is taken there, on its way out,
  // as fast as springs may take.
  void stretch(State& state) {
    constexpr double before_end = 2e-5;
    const auto& joints = model_.structure().joints;
    const auto& joint = joints[static_cast<size_t>(uniform(0.0, static_cast<double>(joints.size()) - 1e-9))];
    if (joint.range < 0 || joint.type == JointType::ball || in_loop_[joint.dof]) return;
    const State there = state;
    const double* range = model_.theta().data() + joint.range;
    const bool low = chance(0.5);
    state.q[joint.q] = low ? range[0] + before_end : range[1] - before_end;
    state.v[joint.dof] = (low ? -0.5 : 0.5) * std::pow(10.0, uniform(0.0, 2.0));
    if (deepest(state.q) > bearable) state = there;
  }

  // Steps take joints to the very end of their range and leave them there, where there is no derivative if
  // dry friction alone could hold them, or if contacts leave the joint no way out. A step from a little
  // before it ends there all the same, and a robot with all its joints there stands on feet that are in one
  // plane to the last digit, or is jammed: some joints are taken farther from it. Returns the dofs of the
  // free bodies that such robots hang on.
  Flags leave_ends(State& state) {
    constexpr double at_end = 1e-9, near = 2e-5, far = 5e-3;  // far: of the range
    Flags bases = Flags::Constant(model_.nv(), false);
    for (const JointIndex& joint : model_.structure().joints) {
      if (joint.range < 0 || joint.type == JointType::ball || closed_[joint.dof]) continue;
      const double* range = model_.theta().data() + joint.range;
      double& q = state.q[joint.q];
      const bool low = std::abs(q - range[0]) < at_end, high = std::abs(q - range[1]) < at_end;
      if (!low && !high) continue;
      const double off = (chance(0.5) ? near : far * (range[1] - range[0])) * std::abs(normal());
      q += low ? off : -off;
      mark_base(joint.dof, bases);
    }
    return bases;
  }

  void mark_base(int dof, Flags& bases) const {
    const auto& links = model_.structure().links;
    const auto holds = [&](const LinkIndex& link) { return link.dof_begin <= dof && dof < link.dof_end; };
    auto k = static_cast<int>(std::find_if(links.begin(), links.end(), holds) - links.begin());
    while (!links[k].root) k = links[k].parent;
    for (const JointIndex& joint : model_.structure().joints) {
      if (joint.type == JointType::free && joint.dof == links[k].dof_begin)
        bases.segment(joint.dof, 6) = true;
    }
  }

  // Alike, bodies that came to rest on each other have gaps that vanish to the last digit: there is no
  // derivative if dry friction, or the ends of their ranges, hold the joints between them. So do joints that
  // are coupled: a coupling that is closed to the last digit, with friction that holds both, opens either
  // way. And a robot that stood on joints at the ends of their ranges is level to the last digit: rows that
  // depend on each other there, and nowhere else, give its motion a pole in its tilt.
  void shift(CheckedState& found, const Flags& bases) {
    constexpr double a_little = 2e-5;
    const bool everything =
        has(model_, ParameterKind::dry_friction) || touches_itself(found) || lies_flat(found);
    const Flags moved = Flags::Constant(model_.nv(), everything) || places_of_bodies() || bases;
    if (!moved.any()) return;
    VectorX step(model_.nv());
    for (double& x : step) x = a_little * normal();
    const VectorX q = found.state.q;
    integrate(model_, q, (moved && !closed_).select(step, 0.0), 1.0, found.state.q);
  }

  // Equal bodies that stand on one plane, side by side, have corners at the very edge of each other. They are
  // moved, and not turned: faces that meet at an angle contradict each other where they stick.
  Flags places_of_bodies() const {
    Flags places = Flags::Constant(model_.nv(), false);
    int bodies = 0;
    for (const JointIndex& joint : model_.structure().joints) {
      if (joint.type != JointType::free) continue;
      places.segment(joint.dof, 3) = true;
      ++bodies;
    }
    return bodies > 1 ? places : Flags::Constant(model_.nv(), false);
  }

  // Between parts of one robot, or where fewer joints than the contact has rows lead to it; also what touches
  // to the last digit and carries nothing yet.
  bool touches_itself(const CheckedState& start) {
    constexpr double touching = 1e-9;  // m
    const Step probe = simulation_.step(start.state, start.input);
    if (!probe.ok()) return false;
    const Simulation::Lease workspace(simulation_, probe.serial);
    const ImpulseWork& work = *workspace->contact;
    const ContactRows& rows = work.rows;
    return std::any_of(rows.items().begin(), rows.items().end(), [&](const Item& item) {
      const Quad& quad = rows.quads()[item.quad];
      const bool idle = rows.mode[rows.row_of(item)] == RowMode::free && std::abs(item.phi) > touching;
      if (item.kind != RowKind::contact || idle || quad.tree[1] >= 0) return false;
      const auto& pair = work.contacts.list[static_cast<size_t>(item.index)].pair;
      const auto link = [&](int collider) { return work.colliders.list()[collider].link; };
      int joints = 0;
      rows.for_each_run(item.quad, 0, [&](int begin, int end) { joints += end - begin; });
      return (link(pair.a) != 0 && link(pair.b) != 0) || joints < item.rows;
    });
  }

  // A robot on a fixed base whose contacts have more rows than it has joints: it came to rest level to the
  // last digit, as above.
  bool lies_flat(const CheckedState& start) {
    const Step probe = simulation_.step(start.state, start.input);
    if (!probe.ok()) return false;
    const Simulation::Lease workspace(simulation_, probe.serial);
    const ImpulseWork& work = *workspace->contact;
    const ContactRows& rows = work.rows;
    std::vector<int> more(work.constraints.trees.size());  // rows than dofs
    for (size_t k = 0; k < more.size(); ++k) more[k] = -work.constraints.trees[k].width();
    for (const Item& item : rows.items()) {
      const Quad& quad = rows.quads()[item.quad];
      if (item.kind == RowKind::contact && quad.tree[1] < 0 && rows.mode[rows.row_of(item)] != RowMode::free)
        more[static_cast<size_t>(quad.tree[0])] += item.rows;
    }
    for (const JointIndex& joint : model_.structure().joints) {
      if (joint.type != JointType::free) continue;
      for (size_t k = 0; k < more.size(); ++k) {
        if (work.constraints.trees[k].dof_begin == joint.dof) more[k] = 0;
      }
    }
    return std::any_of(more.begin(), more.end(), [](int rows_beyond) { return rows_beyond > 0; });
  }

  // Bodies that came to rest touch each other without a load, or creep at the least speed a solver can tell.
  void stir(State& state) {
    const double speed = chance(0.6) ? 0.1 : 1e-3;
    const VectorX v = state.v;
    for (int i = 0; i < 20 && (i == 0 || hardly_moves_in_medium(state)); ++i) {
      for (Eigen::Index d = 0; d < v.size(); ++d) state.v[d] = v[d] + speed * normal();
    }
  }

  // Drag has a kink in its slope where a body turns about in the medium: so near to it that no difference can
  // tell the sides apart, but not at it.
  bool hardly_moves_in_medium(const State& state) {
    constexpr double least = 1e-9, clear = 1e-5;
    if (!in_medium(model_)) return false;
    Simulation::Lease workspace(simulation_, simulation_.step(state).serial);
    FreeMotionWork& free = workspace->contact->free;
    propagate_motion(model_, workspace->data, state.v.data(), nullptr);
    force_switches(
        model_, workspace->data, free.forces,
        {state.q.data(), state.v.data(), state.activation.data(), free.control.data(), simulation_.dt()},
        switches_);
    return std::any_of(switches_.begin(), switches_.end(), [](const ForceSwitch& each) {
      return each.kind == ForceSwitch::Kind::drag_direction && each.margin > least && each.margin < clear;
    });
  }

  // False where biases contradict each other: a step gives way to some of them, and has no derivative; nor
  // has one in which what never overlaps touches.
  bool events_after(const CheckedState& start, Events& seen) {
    seen = {};
    const Step probe = simulation_.step(start.state, start.input);
    if (!probe.ok() || probe.report.contact >= SolveStatus::infeasible_bias) return false;
    const Simulation::Lease workspace(simulation_, probe.serial);
    const ContactRows& rows = workspace->contact->rows;
    for (const Item& item : rows.items()) {
      const RowMode* mode = rows.mode.data() + rows.row_of(item);
      const bool limit = item.kind == RowKind::joint_limit || item.kind == RowKind::tendon_limit;
      if (mode[0] == RowMode::free || (item.kind != RowKind::contact && !limit)) continue;
      if (grazes_ && !limit) return false;
      seen[carries] = true;
      seen[at_limit] |= limit;
      seen[bounces] |= item.kind == RowKind::contact && item.bias == BiasMode::bounce;
      for (int i = 1; i < item.rows && !limit; ++i)
        seen[slides] |= mode[i] == RowMode::slide || mode[i] == RowMode::upper || mode[i] == RowMode::lower;
    }
    return true;
  }

  const Model& model_;
  Simulation simulation_;
  Data data_;
  collision::Colliders colliders_;
  collision::Contacts contacts_;
  Flags in_loop_, closed_;  // tied by equalities; by those that close loops of bodies
  std::vector<ForceSwitch> switches_;
  std::mt19937 random_;
  std::normal_distribution<double> normal_;
  Step step_;
  int left_ = 0;
  bool insists_ = false, touched_ = false;  // on contact; that was there last
  bool reaches_ = false;                    // for contact
  bool stretches_ = false;                  // joints to the ends of their ranges
  bool grazes_ = false;                     // nothing ever overlaps
};

}  // namespace

std::vector<CheckedState> trajectory_states(const Model& model, Contact contact, int count, unsigned seed,
                                            int threads, const std::vector<int>& only) {
  std::vector<CheckedState> list(static_cast<size_t>(count));
  std::vector<int> chunks((list.size() + together - 1) / together);
  std::iota(chunks.begin(), chunks.end(), 0);
  if (!only.empty()) {
    std::erase_if(chunks, [&](int chunk) {
      return std::none_of(only.begin(), only.end(), [&](int i) { return i / together == chunk; });
    });
  }
  over_threads(threads, static_cast<int>(chunks.size()), [&](int k) {
    const int chunk = chunks[static_cast<size_t>(k)], begin = chunk * together;
    Trajectories(model, contact, seed + 104729u * static_cast<unsigned>(chunk))
        .fill(list.data() + begin, std::min(together, count - begin));
  });
  return list;
}

}  // namespace articula::cli
