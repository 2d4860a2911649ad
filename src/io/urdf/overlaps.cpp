// Links that are built into each other. Collision shapes are often hulls, of parts that reach into each
// other: a robot that overlaps in the pose it is described in would be pushed apart in every step and never
// come apart. As where MoveIt prepares an SRDF file, links that overlap there are taken not to collide.

#include "articula/collision/detect.hpp"
#include "articula/error.hpp"
#include "articula/kinematics/forward.hpp"
#include "articula/model/builder.hpp"
#include "io/urdf/reader.hpp"

namespace articula::urdf {

namespace {

constexpr double overlaps = 1e-3;  // m: less is a touch, as of fingers that are closed

// Deepest overlap of bodies, by their indices in the model, with all joints at zero.
std::map<std::pair<int, int>, double> find_overlaps(const Model& model) {
  Data data(model);
  const collision::Colliders colliders(model);
  collision::Contacts contacts(colliders);
  forward_kinematics(model, data, model.neutral_configuration());
  detect(colliders, model, data, contacts);
  std::map<std::pair<int, int>, double> deepest;
  for (const collision::Contact& contact : contacts.list) {
    const auto body = [&](int collider) { return colliders.list()[static_cast<size_t>(collider)].body; };
    double& depth = deepest[std::minmax(body(contact.pair.a), body(contact.pair.b))];
    depth = std::max(depth, -contact.point.distance);
  }
  std::erase_if(deepest, [](const auto& pair) { return pair.second <= overlaps; });
  return deepest;
}

// The floating body that each body hangs on, itself perhaps; 0: none. By index in the model, 0 is the world.
std::vector<int> find_floating(const Description& d) {
  std::unordered_map<std::string, int> index{{"world", 0}};
  std::vector<int> floating{0};
  for (const BodyDescription& body : d.bodies) {
    const int number = static_cast<int>(floating.size());
    const bool floats = !body.joints.empty() && body.joints[0].type == JointType::free;
    floating.push_back(floats ? number : floating[static_cast<size_t>(index.at(body.parent))]);
    index.emplace(body.name, number);
  }
  return floating;
}

}  // namespace

// Of bodies in the order of a tree. Who says which pairs do not collide means that the others do.
void exclude_overlaps(Reader& reader) {
  if (!reader.disabled_pairs.empty() || !reader.options.srdf.empty()) return;
  Description& d = reader.description;
  std::map<std::pair<int, int>, double> found;
  try {
    found = find_overlaps(build(d));
  } catch (const Error&) {
    return;  // what cannot be built says so where it is built
  }
  const std::vector<int> floating = find_floating(d);
  const Element root = reader.tree.root();
  for (const auto& [pair, depth] : found) {
    const auto [a, b] = pair;
    if (floating[static_cast<size_t>(a)] != floating[static_cast<size_t>(b)]) continue;  // it can leave
    const auto name = [&](int body) {
      return body == 0 ? "world" : d.bodies[static_cast<size_t>(body - 1)].name;
    };
    d.contact_exclusions.push_back({name(a), name(b), root.label()});
    reader.warn(root, [&] {
      return fmt::format(
          "'{:.100}' and '{:.100}' overlap by {:.1f} mm in the pose the robot is described in, and "
          "are taken not to collide; an SRDF file says otherwise",
          name(a), name(b), 1e3 * depth);
    });
  }
}

}  // namespace articula::urdf
