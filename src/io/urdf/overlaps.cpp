// Links that overlap as the robot stands: their shapes are drawn larger than the parts they stand for.

#include <algorithm>

#include "articula/collision/detect.hpp"
#include "articula/error.hpp"
#include "articula/kinematics/forward.hpp"
#include "articula/model/builder.hpp"
#include "io/urdf/reader.hpp"

namespace articula::urdf {

namespace {

using Pair = std::pair<std::string, std::string>;
using Bases = std::unordered_map<std::string, int>;

// All joints at zero, or where their ranges come nearest to it; those that mimic follow the one that leads.
VectorX standing_configuration(const Model& model) {
  constexpr int most_rounds = 8;  // a joint that mimics may lead another, whichever comes first
  VectorX q = model.neutral_configuration();
  std::unordered_map<std::string_view, double*> position;
  for (const JointIndex& joint : model.structure().joints) position[joint.name] = &q[joint.q];
  for (const BodyDescription& body : model.description().bodies) {
    for (const JointDescription& joint : body.joints) {
      if (!joint.range || joint.type == JointType::ball) continue;
      double& x = *position.at(joint.name);
      x = std::min(std::max(x, (*joint.range)[0]), (*joint.range)[1]);
    }
  }
  for (int round = 0; round < most_rounds; ++round) {
    for (const EqualityDescription& mimic : model.description().equalities)
      *position.at(mimic.first) = mimic.polynomial[0] + mimic.polynomial[1] * *position.at(mimic.second);
  }
  return q;
}

// By the name of its body: the link that stands or floats on its own, whose motion it follows.
Bases find_bases(const Reader& reader) {
  Bases bases;
  for (int link = 0; link < static_cast<int>(reader.links.size()); ++link) {
    int base = link;
    for (int joint = reader.links[base].parent_joint; joint >= 0; joint = reader.links[base].parent_joint) {
      if (reader.joints[joint].motion == Motion::floating) break;
      base = reader.joints[joint].parent;
    }
    bases[reader.links[link].body] = base;
  }
  return bases;
}

// What floats is parted by that, and what is part of the world itself is not told apart from all that stands
// there. True: all pairs were looked at; there may be more than a list of contacts holds.
bool find_overlaps(const Model& model, const Bases& bases, std::set<Pair>& found) {
  constexpr double touching = 1e-4;  // m: what overlaps by less parts within a step
  const VectorX q = standing_configuration(model);
  if (!q.allFinite()) return true;  // mimicking joints may ask for anything
  const collision::Colliders colliders(model);
  collision::Contacts contacts(colliders);
  Data data(model);
  forward_kinematics(model, data, q);
  const bool complete = detect(colliders, model, data, contacts) == collision::DetectStatus::ok;
  for (const collision::Contact& contact : contacts.list) {
    if (contact.point.distance > -touching) continue;
    const auto name = [&](int collider) {
      return model.structure().bodies[colliders.list()[collider].body].name;
    };
    const std::string first = name(contact.pair.a), second = name(contact.pair.b);
    if (first != "world" && second != "world" && bases.at(first) == bases.at(second))
      found.emplace(first, second);
  }
  return complete;
}

}  // namespace

void leave_out_overlaps(Reader& reader) {
  constexpr std::size_t most_told = 12;
  if (reader.options.keep_overlaps) return;
  const auto collide =
      std::count_if(reader.links.begin(), reader.links.end(), [](const Link& link) { return link.collides; });
  if (collide < 2) return;
  const std::string where = reader.tree.root().label();
  std::vector<ContactExclusion>& exclusions = reader.description.contact_exclusions;
  const std::size_t before = exclusions.size();
  const Bases bases = find_bases(reader);
  try {
    for (bool complete = false; !complete;) {
      std::set<Pair> found;
      complete = find_overlaps(build(reader.description), bases, found) || found.empty();
      for (const auto& [first, second] : found) exclusions.push_back({first, second, where});
    }
  } catch (const Error&) {
    return;  // what cannot be built is told where it is built
  }
  const std::size_t count = exclusions.size() - before;
  if (count == 0) return;
  reader.warn(reader.tree.root(), [&] {
    std::string pairs;
    for (std::size_t i = before; i < exclusions.size() && i < before + most_told; ++i)
      pairs += fmt::format("{}{} and {}", i == before ? "" : ", ", exclusions[i].body1, exclusions[i].body2);
    return fmt::format(
        "{} overlap with all joints at zero, and pass through each other (keep_overlaps: "
        "they collide): {}{}",
        count == 1 ? "two links" : fmt::format("{} pairs of links", count), pairs,
        count > most_told ? ", ..." : "");
  });
}

}  // namespace articula::urdf
