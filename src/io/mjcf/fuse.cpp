#include "io/mjcf/fuse.hpp"

#include <algorithm>

#include "io/mjcf/inertia.hpp"

namespace articula::mjcf {

namespace {

std::unordered_set<std::string> referred_bodies(const Reader& reader) {
  const Description& d = reader.description;
  std::unordered_set<std::string> result = reader.kept_bodies;
  for (const auto& e : d.contact_exclusions) result.insert({e.body1, e.body2});
  for (std::size_t i = 0; i < d.equalities.size(); ++i) {
    const EqualityDescription& e = d.equalities[i];
    const bool bodies = e.type == EqualityType::connect || e.type == EqualityType::weld;
    if (bodies && !reader.site_equalities.contains(i)) result.insert({e.first, e.second});
  }
  std::unordered_map<std::string, std::string> body_of_site;
  for (const auto& f : d.frames) body_of_site.emplace(f.name, f.body);
  for (const auto& s : d.sensors) {
    const auto is_body = [](ObjectType t) { return t == ObjectType::body || t == ObjectType::body_inertial; };
    if (is_body(s.object_type)) result.insert(s.object);
    if (is_body(s.reference_type)) result.insert(s.reference);
    if (s.type == SensorType::force || s.type == SensorType::torque) result.insert(body_of_site[s.object]);
  }
  return result;
}

Part part_of(const InertiaDescription& inertia, const Pose& body) {
  const Quaternion axes = inertia.principal_axes.value_or(Quaternion::Identity());
  const Matrix3 R = axes.toRotationMatrix();
  const Vector3 moments = (R.transpose() * inertia.inertia * R).diagonal();
  return {inertia.mass, moments, body * Pose{inertia.com, axes}};
}

// Where a fused body's elements are now.
struct Moved {
  std::string body;
  Pose pose;
};

template <class Element>
void move(std::vector<Element>& elements, const std::unordered_map<std::string, Moved>& moved) {
  for (Element& element : elements) {
    const auto found = moved.find(element.body);
    if (found == moved.end()) continue;
    element.pose = found->second.pose * element.pose;
    element.body = found->second.body;
  }
}

// Sites move with what is fused, and so do equalities between them.
void move_equality(EqualityDescription& e, const std::unordered_map<std::string, Moved>& moved) {
  const auto shift = [&](std::string& body) {
    const auto found = moved.find(body);
    if (found == moved.end()) return Pose{};
    body = found->second.body;
    return found->second.pose;
  };
  const Pose T1 = shift(e.first), T2 = shift(e.second);
  if (e.type == EqualityType::weld) {
    e.anchor = T2.position + T2.rotation * e.anchor;
    if (e.relative_pose) e.relative_pose = T1 * *e.relative_pose * inverse(T2);
  } else {
    e.anchor = T1.position + T1.rotation * e.anchor;
    if (e.anchor2) e.anchor2 = T2.position + T2.rotation * *e.anchor2;
  }
}

// By way of indices: the buffer of std::stable_sort does not heed the alignment of our types.
template <class Element>
void sort_by_body(std::vector<Element>& elements, const std::unordered_map<std::string, std::size_t>& order) {
  std::vector<std::pair<std::size_t, std::size_t>> ranks;
  for (std::size_t i = 0; i < elements.size(); ++i) ranks.emplace_back(order.at(elements[i].body), i);
  if (std::is_sorted(ranks.begin(), ranks.end())) return;
  std::sort(ranks.begin(), ranks.end());
  std::vector<Element> sorted;
  sorted.reserve(elements.size());
  for (const auto& [rank, index] : ranks) sorted.push_back(std::move(elements[index]));
  elements = std::move(sorted);
}

}  // namespace

void fuse_static(Reader& reader) {
  Description& d = reader.description;
  const std::unordered_set<std::string> referred = referred_bodies(reader);
  const bool fluid = d.medium.density != 0.0 || d.medium.viscosity != 0.0;
  std::unordered_map<std::string, Moved> moved;
  std::unordered_map<std::string, std::size_t> order;
  std::vector<BodyDescription> kept;
  for (BodyDescription& body : d.bodies) {
    const auto above = moved.find(body.parent);
    if (above != moved.end()) {
      body.parent = above->second.body;
      body.pose = above->second.pose * body.pose;
    }
    BodyDescription* parent = body.parent == "world" ? nullptr : &kept[order.at(body.parent)];
    const bool lost = parent != nullptr && body.inertia.mass > 0.0 &&
                      (fluid || body.gravity_compensation != parent->gravity_compensation);
    if (!body.joints.empty() || body.kinematic || lost || referred.contains(body.name)) {
      order.emplace(body.name, kept.size());
      kept.push_back(std::move(body));
      continue;
    }
    if (parent != nullptr && body.inertia.mass > 0.0) {
      const Part own = part_of(parent->inertia, {});
      const Part added = part_of(body.inertia, body.pose);
      parent->inertia = own.mass > 0.0 ? sum_of({own, added}) : sum_of({added});
    }
    moved.emplace(body.name, Moved{body.parent, body.pose});
  }
  d.bodies = std::move(kept);
  move(d.geometries, moved);
  move(d.frames, moved);
  for (const std::size_t i : reader.site_equalities) move_equality(d.equalities[i], moved);
  group_by_body(d);
}

void group_by_body(Description& d) {
  std::unordered_map<std::string, std::size_t> order{{"world", 0}};
  for (const BodyDescription& body : d.bodies) order.emplace(body.name, order.size());
  sort_by_body(d.geometries, order);
  sort_by_body(d.frames, order);
}

}  // namespace articula::mjcf
