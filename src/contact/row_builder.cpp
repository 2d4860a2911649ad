#include "row_builder.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "articula/math/lie.hpp"

namespace articula {

void RowAxes::add(Vec3 axis, bool angular_row) {
  Mat3& target = angular_row ? angular : linear;
  target.x.lanes[count] = axis[0];
  target.y.lanes[count] = axis[1];
  target.z.lanes[count] = axis[2];
  turns |= angular_row;
  ++count;
}

namespace {

std::uint64_t make_key(RowKind kind, std::uint64_t index, std::uint64_t part) {
  return (static_cast<std::uint64_t>(kind) << 60) ^ (index << 24) ^ part;
}

}  // namespace

std::uint64_t dry_friction_key(int dof) { return make_key(RowKind::dry_friction, dof, 0); }

std::uint64_t contact_key(const collision::Contact& contact) {
  const auto of = [](const collision::Feature& f) {
    return (static_cast<std::uint64_t>(f.kind) << 32) | static_cast<std::uint32_t>(f.index);
  };
  std::uint64_t key = 1469598103934665603ull;
  for (std::uint64_t part :
       {static_cast<std::uint64_t>(contact.pair.a), static_cast<std::uint64_t>(contact.pair.b),
        of(contact.point.feature_a), of(contact.point.feature_b)})
    key = (key ^ part) * 1099511628211ull + (key >> 29);
  return key >> 4 | static_cast<std::uint64_t>(RowKind::contact) << 60;
}

Quad& ContactRows::Builder::open_quad(int tree_a, int tree_b) {
  Quad& quad = rows.quads_.emplace_back();
  if (tree_a < 0 || tree_a == tree_b) std::swap(tree_a, tree_b);
  if (tree_a == tree_b) tree_b = -1;
  quad.tree[0] = tree_a;
  quad.tree[1] = tree_b;
  rows.support_.resize(rows.support_.size() + 2 * rows.support_words_, 0);
  for (int side = 0; side < 2; ++side) {
    if (quad.tree[side] < 0) continue;
    quad.at[side] = static_cast<int>(rows.J_.size());
    rows.J_.resize(rows.J_.size() + constraints.trees[quad.tree[side]].width(), Lanes{});
  }
  return quad;
}

Lanes& ContactRows::Builder::entry(Quad& quad, int dof) {
  const Tree& first = constraints.trees[quad.tree[0]];
  const int side = dof >= first.dof_begin && dof < first.dof_end ? 0 : 1;
  const int d = dof - constraints.trees[quad.tree[side]].dof_begin;
  quad.used[side] = std::max(quad.used[side], d + 1);
  rows.add_support(static_cast<int>(&quad - rows.quads_.data()), side, dof);
  return rows.J_[quad.at[side] + d];
}

// Every dof on the way to the root moves the point at r, from the reference point of the tree, with S_d.
void ContactRows::Builder::add_motion(Quad& quad, int link, Vec3 r, const RowAxes& axes, double sign) {
  const int tree = constraints.tree_of_link[link];
  if (tree < 0) return;
  const int side = quad.tree[0] == tree ? 0 : 1;
  const int begin = constraints.trees[tree].dof_begin;
  const Structure& s = model.structure();
  Lanes* J = rows.J_.data() + quad.at[side];
  const int last = s.links[link].dof_end - 1;
  quad.used[side] = std::max(quad.used[side], last + 1 - begin);
  rows.add_support(static_cast<int>(&quad - rows.quads_.data()), side, last);
  for (int d = last; d >= 0; d = s.dofs[d].parent) {
    const Motion& S = data.S[d];
    Vec3 rate = axes.linear * point_velocity(S, r);
    if (axes.turns) rate += axes.angular * S.angular;
    J[d - begin] += rate.lanes * broadcast(sign);
  }
}

Lanes ContactRows::Builder::velocity_now(int link_a, Vec3 r_a, int link_b, Vec3 r_b,
                                         const RowAxes& axes) const {
  const auto at = [&](int link, Vec3 r) {
    const Motion motion = link == 0 ? Motion{} : data.link_v[link];
    Vec3 rate = axes.linear * point_velocity(motion, r);
    if (axes.turns) rate += axes.angular * motion.angular;
    return rate;
  };
  return (at(link_b, r_b) - at(link_a, r_a)).lanes;
}

Lanes ContactRows::Builder::product(const Quad& quad, const VectorX& x) const {
  Lanes sum{};
  for (int side = 0; side < 2; ++side) {
    if (quad.tree[side] < 0) continue;
    const double* values = x.data() + constraints.trees[quad.tree[side]].dof_begin;
    for (int d = 0; d < quad.used[side]; ++d) sum += rows.J_[quad.at[side] + d] * broadcast(values[d]);
  }
  return sum;
}

Lanes ContactRows::Builder::carried(const Quad& quad, Lanes now) const {
  return model.structure().nkinematic == 0 ? Lanes{} : now - product(quad, v);
}

Item& ContactRows::Builder::add_item(RowKind kind, int index, std::uint64_t key, const Block& block,
                                     int quad_count) {
  Item& item = rows.items_.emplace_back();
  item.kind = kind;
  item.index = index;
  item.key = key;
  item.rows = block.dim;
  item.quads = quad_count;
  item.quad = static_cast<int>(rows.quads_.size()) - quad_count;
  rows.item_blocks_.push_back(block);
  return item;
}

Item& ContactRows::Builder::add_scalar(RowKind kind, int index, std::uint64_t key, const Block& block,
                                       int tree_a, int tree_b) {
  if (tree_a == tree_b) tree_b = -1;
  const bool scalar_before =
      !rows.items_.empty() && rows.items_.back().rows == 1 && rows.items_.back().kind != RowKind::contact;
  Quad* quad = scalar_before ? &rows.quads_.back() : nullptr;
  if (quad == nullptr || quad->rows == 4 || quad->tree[0] != tree_a || quad->tree[1] != tree_b)
    quad = &open_quad(tree_a, tree_b);
  Item& item = add_item(kind, index, key, block, 1);
  item.lane = quad->rows++;
  return item;
}

int ContactRows::Builder::tree_of_dof(int dof) const {
  return constraints.tree_of_link[model.structure().dofs[dof].link];
}

// Taken back at once, or no faster than recovery_speed.
Vec3 ContactRows::Builder::recovery(Vec3 phi, BiasMode kind) const {
  const double error = norm(phi), most = settings.recovery_speed;
  return phi * (kind == BiasMode::gap || error <= settings.dt * most ? 1.0 / settings.dt : most / error);
}

double ContactRows::Builder::room(double error, double drift) const {
  return settings.recovery_speed + drift - error / settings.dt;
}

// How fast the links between two joined ones move and turn, as seen from where their paths part; their
// product is about the largest |Jdot v|.
double ContactRows::Builder::drift(int link_a, int link_b) const {
  // Of bodies that turn this far in a step nothing can be told by their drift.
  constexpr double far = 0.5;  // rad
  const Structure& s = model.structure();
  int common_a = link_a, common_b = link_b;
  while (common_a != common_b)
    (common_a > common_b ? common_a : common_b) = s.links[std::max(common_a, common_b)].parent;
  const Motion base = common_a == 0 ? Motion{} : data.link_v[common_a];
  double turning = 0.0, speed = 0.0;
  for (int end : {link_a, link_b}) {
    for (int k = end; k > common_a; k = s.links[k].parent) {
      const Motion relative = data.link_v[k] - base;
      turning = std::max(turning, norm(relative.angular));
      speed = std::max(speed, norm(point_velocity(relative, data.link_r[k])));
    }
  }
  return settings.dt * turning > far ? 0.0 : settings.dt * turning * speed;
}

BiasMode ContactRows::Builder::prescribed(std::uint64_t key, BiasMode ruled) const {
  const FrozenModes::Entry* entry = settings.frozen != nullptr ? settings.frozen->find(key) : nullptr;
  return entry != nullptr ? entry->bias : ruled;
}

double ContactRows::Builder::gap_bias(double phi, double drift, Item& item) const {
  item.room = room(-phi, drift);
  item.bias = prescribed(item.key, item.room < 0.0 ? BiasMode::capped : BiasMode::gap);
  return item.bias == BiasMode::capped ? -settings.recovery_speed : phi / settings.dt;
}

// |Jdot v| of a contact: what slides along a body that turns, or turns while it slides, leaves the plane of
// the contact by h^2 |w| |u| in a step. An impact takes a part of these velocities, and the overlap that they
// have made stays: what is left of them makes less. Were such an overlap capped, it would grow by as much in
// every step for as long as the bodies turn against each other.
double ContactRows::Builder::contact_drift(int link_a, Vec3 r_a, int link_b, Vec3 r_b) const {
  constexpr double before_impact = 3.0;  // times as much as afterwards
  const Motion a = link_a == 0 ? Motion{} : data.link_v[link_a],
               b = link_b == 0 ? Motion{} : data.link_v[link_b];
  return before_impact * settings.dt * norm(b.angular - a.angular) *
         norm(point_velocity(b, r_b) - point_velocity(a, r_a));
}

// ------------------------------------------------------------------ equalities

void ContactRows::Builder::equalities() {
  for (size_t i = 0; i < constraints.equalities.size(); ++i) {
    const EqualityConstraint& equality = constraints.equalities[i];
    if (equality.type == EqualityType::connect || equality.type == EqualityType::weld)
      join_bodies(equality, static_cast<int>(i));
    else
      couple(equality, static_cast<int>(i));
  }
}

// Points of two bodies coincide, phi = p_2 - p_1; welded frames also turn alike, phi = log(R_2 R_1^T). The
// bodies' velocities are compared at one place, halfway between the points: then impulses keep the angular
// momentum, and a base that both bodies share moves no row, however far the loop is open. phi itself turns
// with the mean of the two bodies, by h |w| |phi| in a step.
// Places are differences from the reference points of their trees: what closes a loop of one robot does not
// depend on where it is, to the last digit.
void ContactRows::Builder::join_bodies(const EqualityConstraint& equality, int number) {
  const int a = equality.first.link, b = equality.second.link;
  const auto placed = [&](const Anchor& anchor) {
    return Placement{data.link_R[anchor.link], data.link_r[anchor.link]} * anchor.in_link;
  };
  const Placement first = placed(equality.first), second = placed(equality.second);
  const Vec3 between = data.link_reference[b] - data.link_reference[a];
  const Vec3 gap = (second.p - first.p) + between;
  const Vec3 from_a = first.p + gap * 0.5, from_b = from_a - between;
  const int tree_a = constraints.tree_of_link[a], tree_b = constraints.tree_of_link[b];
  if (tree_a < 0 && tree_b < 0) return;
  const bool weld = equality.type == EqualityType::weld;
  const int parts = weld ? 2 : 1;
  Vec3 errors[2];
  const double drifts = drift(a, b);
  double norm2 = 0.0, least_room = std::numeric_limits<double>::infinity();
  for (int part = 0; part < parts; ++part) {
    const double scale = part == 0 ? 1.0 : equality.torque_scale;
    const Vec3 phi =
        (part == 0 ? gap : log_rotation(rotation_quaternion(second.R * transpose(first.R)))) * scale;
    RowAxes axes;
    for (int i = 0; i < 3; ++i) axes.add(Mat3::diagonal(scale).column(i), part == 1);
    Quad& quad = open_quad(tree_a, tree_b);
    quad.rows = 3;
    add_motion(quad, a, from_a, axes, -1.0);
    add_motion(quad, b, from_b, axes, 1.0);
    const Lanes now = velocity_now(a, from_a, b, from_b, axes);
    quad.bias = carried(quad, now);
    errors[part] = phi;
    norm2 += squared_norm(phi);
    least_room = std::min(least_room, room(norm(phi), part == 0 ? drifts : drifts * equality.torque_scale));
  }
  Item& item = add_item(RowKind::equality, number, make_key(RowKind::equality, equality.index, 0),
                        {.kind = BlockKind::equality, .dim = 3 * parts}, parts);
  item.phi = std::sqrt(norm2);
  item.room = least_room;
  item.bias = prescribed(item.key, item.room < 0.0 ? BiasMode::capped : BiasMode::gap);
  for (int part = 0; part < parts; ++part) {
    const Vec3 speed = recovery(errors[part], item.bias);
    for (int i = 0; i < 3; ++i) rows.quads_[item.quad + part].bias[i] += speed[i];
  }
}

// phi = x_1 - ref_1 - sum c_i (x_2 - ref_2)^i for joints or tendons
void ContactRows::Builder::couple(const EqualityConstraint& equality, int number) {
  const Structure& s = model.structure();
  const bool joints = equality.type == EqualityType::joint;
  const auto value = [&](int element) { return joints ? q[s.joints[element].q] : tendon_length(element); };
  const auto trees = [&](int element) {
    return joints ? std::pair(tree_of_dof(s.joints[element].dof), -1) : trees_of_tendon(element);
  };
  double power = 1.0, sum = equality.polynomial[0], slope = 0.0, coupling_drift = 0.0;
  int tree_a = trees(equality.one).first, tree_b = trees(equality.one).second;
  if (equality.two >= 0) {
    const double x = value(equality.two) - equality.reference_two;
    for (int i = 1; i < 5; ++i) {
      slope += i * equality.polynomial[i] * power;
      power *= x;
      sum += equality.polynomial[i] * power;
    }
    if (trees(equality.two).first != tree_a) tree_b = trees(equality.two).first;
    const auto& c = equality.polynomial;
    const double curvature = 2.0 * c[2] + x * (6.0 * c[3] + x * 12.0 * c[4]);
    const double rate = joints ? v[s.joints[equality.two].dof] : tendon_rate(equality.two, v);
    coupling_drift = settings.dt * std::abs(curvature) * rate * rate;
  }
  const double phi = value(equality.one) - equality.reference_one - sum;
  Item& item = add_scalar(RowKind::equality, number, make_key(RowKind::equality, equality.index, 0),
                          {.kind = BlockKind::equality}, tree_a, tree_b);
  item.phi = phi;
  Quad& quad = rows.quads_.back();
  const auto add = [&](int element, double factor) {
    if (joints)
      entry(quad, s.joints[element].dof)[item.lane] += factor;
    else
      add_tendon(quad, item.lane, element, factor);
  };
  add(equality.one, 1.0);
  if (equality.two >= 0) add(equality.two, -slope);
  item.room = room(std::abs(phi), coupling_drift);
  item.bias = prescribed(item.key, item.room < 0.0 ? BiasMode::capped : BiasMode::gap);
  quad.bias[item.lane] = recovery(Vec3(phi, 0.0, 0.0), item.bias)[0];
}

// ------------------------------------------------------------------ dry friction

void ContactRows::Builder::dry_friction() {
  auto coasting = rows.coasting_.begin();  // in the order of dry_dofs
  for (int dof : constraints.dry_dofs) {
    if (coasting != rows.coasting_.end() && coasting->dof == dof) {
      ++coasting;
      continue;
    }
    const double bound = settings.dt * model.constants().dry_friction[dof];
    Item& item = add_scalar(RowKind::dry_friction, dof, dry_friction_key(dof),
                            {.kind = BlockKind::interval, .bound = bound}, tree_of_dof(dof), -1);
    item.bias = BiasMode::none;
    entry(rows.quads_.back(), dof)[item.lane] = 1.0;
  }
  for (int tendon : constraints.dry_tendons) {
    const double bound = settings.dt * model.theta()[model.structure().tendons[tendon].dry_friction];
    const auto [tree_a, tree_b] = trees_of_tendon(tendon);
    Item& item = add_scalar(RowKind::tendon_friction, tendon, make_key(RowKind::tendon_friction, tendon, 0),
                            {.kind = BlockKind::interval, .bound = bound}, tree_a, tree_b);
    item.bias = BiasMode::none;
    add_tendon(rows.quads_.back(), item.lane, tendon, 1.0);
  }
}

std::pair<int, int> ContactRows::Builder::trees_of_tendon(int tendon) const {
  const Structure& s = model.structure();
  std::pair<int, int> trees{-1, -1};
  for (int j : s.tendons[tendon].joints) {
    const int tree = tree_of_dof(s.joints[j].dof);
    if (trees.first < 0)
      trees.first = tree;
    else if (tree != trees.first)
      trees.second = tree;
  }
  return trees;
}

double ContactRows::Builder::tendon_length(int tendon) const {
  const Structure& s = model.structure();
  const double* c = model.theta().data() + s.tendons[tendon].coefficients;
  double length = 0.0;
  for (int j : s.tendons[tendon].joints) length += *c++ * q[s.joints[j].q];
  return length;
}

double ContactRows::Builder::tendon_rate(int tendon, const VectorX& x) const {
  const Structure& s = model.structure();
  const double* c = model.theta().data() + s.tendons[tendon].coefficients;
  double rate = 0.0;
  for (int j : s.tendons[tendon].joints) rate += *c++ * x[s.joints[j].dof];
  return rate;
}

void ContactRows::Builder::add_tendon(Quad& quad, int lane, int tendon, double sign) {
  const Structure& s = model.structure();
  const double* c = model.theta().data() + s.tendons[tendon].coefficients;
  for (int j : s.tendons[tendon].joints) entry(quad, s.joints[j].dof)[lane] += sign * *c++;
}

// ------------------------------------------------------------------ limits

// What parts needs no row, unless impulses turn it round: that is asked when they are known. Modes that are
// held keep theirs.
bool ContactRows::Builder::left_out(RowKind kind, int index, bool upper, std::uint64_t key, double phi,
                                    double rate) {
  const double velocity = phi / settings.dt + rate;
  if (!(velocity > settings.parting_speed)) return false;
  const auto& called = rows.called_;
  if (std::find(called.begin(), called.end(), key) != called.end()) return false;
  const FrozenModes::Entry* held = settings.frozen != nullptr ? settings.frozen->find(key) : nullptr;
  if (held != nullptr && held->mode[0] != RowMode::free) return false;
  rows.idle_.push_back({kind, index, upper, key, phi, velocity});
  return true;
}

// rate, free_rate: at which phi grows
void ContactRows::Builder::end_of_range(RowKind kind, int index, bool upper, double phi, double rate,
                                        double free_rate) {
  const std::uint64_t key = make_key(kind, index, upper);
  if (left_out(kind, index, upper, key, phi, std::min(rate, free_rate))) return;
  const Structure& s = model.structure();
  const bool joint = kind == RowKind::joint_limit;
  const auto [tree_a, tree_b] =
      joint ? std::pair(tree_of_dof(s.joints[index].dof), -1) : trees_of_tendon(index);
  Item& item = add_scalar(kind, index, key, {.kind = BlockKind::unilateral}, tree_a, tree_b);
  item.upper = upper;
  item.phi = phi;
  Quad& quad = rows.quads_.back();
  quad.bias[item.lane] = gap_bias(phi, 0.0, item);
  const double sign = upper ? -1.0 : 1.0;
  if (!joint) {
    add_tendon(quad, item.lane, index, sign);
  } else if (s.joints[index].type == JointType::ball) {
    const Vec3 turn = log_rotation(load_quaternion(q.data() + s.joints[index].q));
    const double angle = norm(turn);
    const Vec3 axis = angle > 1e-12 ? turn * (1.0 / angle) : Vec3(1, 0, 0);
    for (int i = 0; i < 3; ++i) entry(quad, s.joints[index].dof + i)[item.lane] = -axis[i];
  } else {
    entry(quad, s.joints[index].dof)[item.lane] = sign;
  }
}

void ContactRows::Builder::joint_limit(int index) {
  const Structure& s = model.structure();
  const JointIndex& joint = s.joints[index];
  const double* range = model.theta().data() + joint.range;
  const size_t nth = index - s.links[joint.link].joint_begin;
  const double margin = model.description().bodies[joint.body - 1].joints[nth].limit_margin;
  if (joint.type == JointType::ball) {
    const Vec3 turn = log_rotation(load_quaternion(q.data() + joint.q));
    end_of_range(RowKind::joint_limit, index, true, range[1] - norm(turn) - margin,
                 -norm(load3(v.data() + joint.dof)), -norm(load3(v_free.data() + joint.dof)));
    return;
  }
  const double rate = v[joint.dof], free_rate = v_free[joint.dof];
  end_of_range(RowKind::joint_limit, index, false, q[joint.q] - range[0] - margin, rate, free_rate);
  end_of_range(RowKind::joint_limit, index, true, range[1] - q[joint.q] - margin, -rate, -free_rate);
}

void ContactRows::Builder::tendon_limit(int index) {
  const TendonDescription& described = model.description().tendons[index];
  const double length = tendon_length(index), rate = tendon_rate(index, v),
               free_rate = tendon_rate(index, v_free);
  end_of_range(RowKind::tendon_limit, index, false, length - (*described.range)[0] - described.limit_margin,
               rate, free_rate);
  end_of_range(RowKind::tendon_limit, index, true, (*described.range)[1] - length - described.limit_margin,
               -rate, -free_rate);
}

void ContactRows::Builder::limits() {
  for (int joint : constraints.limited_joints) joint_limit(joint);
  for (int tendon : constraints.limited_tendons) tendon_limit(tendon);
}

// ------------------------------------------------------------------ contacts

void ContactRows::Builder::contacts(const collision::Colliders& colliders,
                                    const collision::Contacts& contacts) {
  std::vector<std::uint64_t> held;
  if (settings.frozen != nullptr) held = settings.frozen->keys_of(contacts);
  for (size_t i = 0; i < contacts.list.size(); ++i)
    contact(colliders, contacts.list[i], static_cast<int>(i),
            held.empty() ? contact_key(contacts.list[i]) : held[i]);
}

// Whether no joint can part the bodies: those of a hinge that overlap along its axis. Whatever impulse the
// overlap asked for would change nothing but friction, without end.
bool ContactRows::Builder::immovable(const Quad& quad) const {
  constexpr double least = 1e-6;  // (J_N / J_T)^2
  Lanes squares{};
  for (int side = 0; side < 2; ++side) {
    for (int d = 0; quad.tree[side] >= 0 && d < quad.used[side]; ++d) {
      const Lanes& J = rows.J_[quad.at[side] + d];
      squares += J * J;
    }
  }
  return squares[0] <= least * (squares[1] + squares[2]);
}

void ContactRows::Builder::contact(const collision::Colliders& colliders, const collision::Contact& contact,
                                   int index, std::uint64_t key) {
  const collision::ContactParameters p = colliders.parameters(model, contact.pair);
  const Vec3 n = contact.point.normal, at = contact.point.position;
  const bool isotropic = settings.law == FrictionLaw::cone && p.friction[0] == p.friction[1];
  const collision::ContactFrame frame = isotropic ? collision::cone_frame(n) : collision::pyramid_frame(n);
  rows.frames_.push_back(frame);
  rows.any_tangents_.push_back(isotropic);
  const int a = colliders.list()[contact.pair.a].link, b = colliders.list()[contact.pair.b].link;
  const int tree_a = constraints.tree_of_link[a], tree_b = constraints.tree_of_link[b];
  if (tree_a < 0 && tree_b < 0) return;
  const Vec3 r_a = at - data.link_reference[a], r_b = at - data.link_reference[b];

  // Rows without friction do not exist: a coefficient of zero leaves its row out.
  const Vec3 axis[6] = {n, frame.t1, frame.t2, n, frame.t1, frame.t2};
  Block block{.kind = BlockKind::contact};
  RowAxes axes[2];
  axes[0].add(n, false);
  for (int i = 1; i < p.condim; ++i) {
    if (!(p.friction[i - 1] > 0.0)) continue;
    block.mu[block.dim - 1] = p.friction[i - 1];
    axes[block.dim / 4].add(axis[i], i >= 3);
    ++block.dim;
  }
  if (block.dim == 1) block.kind = BlockKind::unilateral;
  const int quads = block.dim > 4 ? 2 : 1;
  const double phi = contact.point.distance - (p.margin - p.gap);
  double now = 0.0, freely = 0.0;  // the rate of phi with v and with v_free
  for (int k = 0; k < quads; ++k) {
    Quad& quad = open_quad(tree_a, tree_b);
    quad.rows = axes[k].count;
    add_motion(quad, a, r_a, axes[k], -1.0);
    add_motion(quad, b, r_b, axes[k], 1.0);
    const Lanes velocity = velocity_now(a, r_a, b, r_b, axes[k]);
    quad.bias = carried(quad, velocity);
    if (k > 0) continue;
    now = velocity[0];
    freely = product(quad, v_free)[0] + quad.bias[0];
    if (immovable(quad) || left_out(RowKind::contact, index, false, key, phi, std::min(now, freely))) {
      rows.J_.resize(quad.at[0]);
      rows.support_.resize(rows.support_.size() - 2 * rows.support_words_);
      rows.quads_.pop_back();
      return;
    }
  }
  Item& item = add_item(RowKind::contact, index, key, block, quads);
  item.phi = phi;
  Quad& first = rows.quads_[item.quad];
  const bool deep = -phi > settings.dt * settings.recovery_speed;
  double bias = gap_bias(phi, deep ? std::max(drift(a, b), contact_drift(a, r_a, b, r_b)) : 0.0, item);
  const bool impact = p.restitution > 0.0 && now < -settings.bounce_speed && phi + settings.dt * freely < 0.0;
  if (prescribed(item.key, impact ? BiasMode::bounce : item.bias) == BiasMode::bounce) {
    bias = p.restitution * now;
    item.bias = BiasMode::bounce;
  }
  first.bias[0] += bias;
}

}  // namespace articula
