#include "articula/simulation/step_signature.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "articula/contact/overruled.hpp"
#include "articula/kinematics/motion.hpp"

namespace articula {

namespace {

constexpr double turned = 0.98;  // cosine: what slides in another direction than this is another choice
constexpr int either_side = 2;
constexpr double no_slack = 1e-6;  // m/s: less is what solvers leave

bool stands(RowMode mode) {
  return mode == RowMode::yield || mode == RowMode::yield_upper || mode == RowMode::yield_lower;
}

// Tangents are a choice that may jump: directions are compared in the world.
std::array<double, 7> world_slip(const ContactRows& from, const Item& item, bool& creeps) {
  const collision::ContactFrame& frame = from.frame(item);
  const Vec3 axes[5] = {frame.t1, frame.t2, {}, frame.t1, frame.t2};
  std::array<double, 7> slip{};
  double squared = 0.0;
  for (int i = 0; i + 1 < item.rows; ++i) {
    const double speed = from.block(item).mu[i] * from.sigma[from.row_of(item) + 1 + i];
    squared += speed * speed;
    if (i == 2) slip[3] = speed;
    for (int k = 0; k < 3 && i != 2; ++k) slip[(i < 2 ? 0 : 4) + k] += speed * axes[i][k];
  }
  for (double& x : slip) x /= std::sqrt(std::max(squared, 1e-300));
  creeps = std::sqrt(squared) < creeping_speed;
  return slip;
}

unsigned capped_lanes(const ContactRows& from, const Item& item, double recovery_speed) {
  unsigned bits = 0;
  for (int k = 0; k < item.quads; ++k) {
    for (int lane = 0; lane < 4; ++lane) {
      if (std::abs(from.quads()[item.quad + k].bias[lane]) >= recovery_speed) bits |= 1u << (4 * k + lane);
    }
  }
  return bits;
}

}  // namespace

bool StepSignature::Row::same(const Row& there) const {
  if (key != there.key || mode != there.mode || bias != there.bias || capped != there.capped) return false;
  if (slack != there.slack && !held && !there.held) return false;
  if (creeps && there.held) return true;
  const double cosine = std::inner_product(slides.begin(), slides.end(), there.slides.begin(), 0.0);
  return mode[1] != RowMode::slide || cosine > turned;
}

void StepSignature::read_rows(const Structure& structure, const ContactRows& from,
                              const std::vector<std::uint64_t>& keys, double recovery_speed, bool held) {
  rows_.clear();
  modes_ = from.mode;
  if (!held) overrule_friction(from, modes_);
  for (const Item& item : from.items()) {
    const int at = from.row_of(item);
    if (overruled(from, item, modes_)) continue;
    const bool contact = item.kind == RowKind::contact;
    Row row{contact ? keys[static_cast<size_t>(item.index)] : item.key, {}, item.bias, 0};
    bool carries = false;
    for (int i = 0; i < item.rows; ++i) {
      row.mode[i] = stands(modes_[at + i]) ? RowMode::hold : modes_[at + i];
      carries |= row.mode[i] != RowMode::free;
      if (row.mode[i] == RowMode::hold && std::abs(from.sigma[at + i]) > no_slack) row.slack |= 1u << i;
    }
    row.held = held;
    // Of one row the bias tells, and other rows share its lanes.
    if (item.kind == RowKind::equality && item.rows > 1)
      row.capped = capped_lanes(from, item, recovery_speed);
    if (contact && item.rows > 1 && row.mode[1] == RowMode::slide) {
      row.slides = world_slip(from, item, row.creeps);
    }
    if (carries) rows_.push_back(row);
  }
  for (const CoastingDof& each : from.coasting()) {
    // As of a row, which it is where modes are held: friction that an end of a range overrules is no mode.
    const bool at_end = std::any_of(from.items().begin(), from.items().end(), [&](const Item& item) {
      return item.kind == RowKind::joint_limit && modes_[from.row_of(item)] == RowMode::hold &&
             structure.joints[item.index].dof == each.dof;
    });
    if (at_end) continue;
    rows_.push_back({each.key, {}, BiasMode::none, 0});
    rows_.back().mode[0] = each.mode();
  }
  // Corners of a face are listed from wherever its outline is begun. What has one key and does the same is
  // one.
  std::sort(rows_.begin(), rows_.end(),
            [](const Row& a, const Row& b) { return std::tie(a.key, a.mode) < std::tie(b.key, b.mode); });
  rows_.erase(std::unique(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) { return a.same(b); }),
              rows_.end());
}

std::vector<std::uint64_t> contact_keys(const collision::Contacts& contacts) {
  std::vector<std::uint64_t> keys;
  for (const collision::Contact& contact : contacts.list) keys.push_back(contact_key(contact));
  return keys;
}

std::vector<std::uint64_t> contact_keys(const collision::Contacts& contacts,
                                        const collision::Contacts& before) {
  constexpr double there = 1e-3, one_place = 1e-6;  // m
  std::vector<std::uint64_t> keys;
  for (const collision::Contact& contact : contacts.list) {
    std::uint64_t key = contact_key(contact);
    double least = there;
    for (const collision::Contact& other : before.list) {
      if (other.pair.a != contact.pair.a || other.pair.b != contact.pair.b) continue;
      const double distance = norm(contact.point.position - other.point.position);
      if (distance < least - one_place) least = distance, key = contact_key(other);
    }
    keys.push_back(key);
  }
  return keys;
}

bool StepSignature::same_rows(const StepSignature& there) const {
  return std::equal(rows_.begin(), rows_.end(), there.rows_.begin(), there.rows_.end(),
                    [](const Row& a, const Row& b) { return a.same(b); });
}

// What rests in a medium may move either way: the second derivative of its drag jumps, not the first.
void StepSignature::read_sides(const Model& model, Data& data, const FreeMotionWork& free, double dt) {
  propagate_motion(model, data, free.v.data(), nullptr);  // a step may leave those of its end
  force_switches(model, data, free.forces,
                 {free.q.data(), free.v.data(), free.activation.data(), free.control.data(), dt}, switches_);
  sides_.clear();
  for (const ForceSwitch& each : switches_) {
    const bool still = each.kind == ForceSwitch::Kind::drag_direction && each.margin < 1e-9;
    sides_.push_back(still ? either_side : each.side);
  }
}

bool StepSignature::same_sides(const StepSignature& there) const {
  for (size_t i = 0; i < sides_.size(); ++i) {
    if (sides_[i] != there.sides_[i] && sides_[i] != either_side) return false;
  }
  return true;
}

bool passes_through(const ContactRows& held) {
  constexpr double clearly = 1e-5;  // m/s
  if (held.least_idle_velocity() < -clearly) return true;
  for (const Item& item : held.items()) {
    const bool one_sided = item.kind == RowKind::contact || item.kind == RowKind::joint_limit ||
                           item.kind == RowKind::tendon_limit;
    const int at = held.row_of(item);
    if (one_sided && held.mode[at] == RowMode::free && held.sigma[at] < -clearly) return true;
  }
  return false;
}

}  // namespace articula
