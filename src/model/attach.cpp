#include <fmt/format.h>

#include "articula/error.hpp"
#include "articula/model/description.hpp"

namespace articula {

namespace {

struct Prefixer {
  const std::string& prefix;
  const std::string& parent;

  void name(std::string& s) const {
    if (!s.empty()) s = prefix + s;
  }
  void body(std::string& s) const { s = s == "world" ? parent : prefix + s; }
};

// Copies elements, lets `rename` edit each copy.
template <class Element, class Rename>
void append(std::vector<Element>& whole, const std::vector<Element>& part, Rename rename) {
  for (Element copy : part) {
    rename(copy);
    whole.push_back(std::move(copy));
  }
}

template <class Asset>
void append_assets(std::vector<std::shared_ptr<const Asset>>& whole,
                   const std::vector<std::shared_ptr<const Asset>>& part, const Prefixer& to) {
  for (const auto& asset : part) {
    auto copy = std::make_shared<Asset>(*asset);
    to.name(copy->name);
    whole.push_back(std::move(copy));
  }
}

}  // namespace

void attach(Description& whole, const Description& part, const std::string& prefix, const std::string& parent,
            const Pose& pose) {
  const Prefixer to{prefix, parent};
  // What hung on the part's world now hangs on `parent`, moved by `pose`.
  const auto place = [&](std::string& body, Pose& at) {
    if (body == "world") at = pose * at;
    to.body(body);
  };

  append(whole.bodies, part.bodies, [&](BodyDescription& b) {
    place(b.parent, b.pose);
    to.name(b.name);
    for (JointDescription& joint : b.joints) {
      to.name(joint.name);
      if (joint.type == JointType::free && parent != "world" && b.parent == parent) {
        throw Error(
            fmt::format("body '{}' moves freely and can be attached to the world only, not "
                        "to '{}'",
                        b.name, parent));
      }
    }
  });
  append(whole.frames, part.frames, [&](FrameDescription& f) { place(f.body, f.pose), to.name(f.name); });
  append_assets(whole.meshes, part.meshes, to);
  append_assets(whole.height_fields, part.height_fields, to);
  append(whole.geometries, part.geometries, [&](GeometryDescription& g) {
    place(g.body, g.pose);
    to.name(g.name);
    to.name(g.asset);
  });
  append(whole.contact_pairs, part.contact_pairs,
         [&](ContactPairDescription& p) { to.name(p.name), to.name(p.geometry1), to.name(p.geometry2); });
  append(whole.contact_exclusions, part.contact_exclusions,
         [&](ContactExclusion& e) { to.body(e.body1), to.body(e.body2); });
  append(whole.tendons, part.tendons, [&](TendonDescription& t) {
    to.name(t.name);
    for (TendonDescription::Term& term : t.terms) to.name(term.joint);
  });
  append(whole.actuators, part.actuators,
         [&](ActuatorDescription& a) { to.name(a.name), to.name(a.target), to.name(a.reference_frame); });
  append(whole.equalities, part.equalities, [&](EqualityDescription& e) {
    to.name(e.name);
    const bool between_bodies = e.type == EqualityType::connect || e.type == EqualityType::weld;
    // A pose relative to the part's world becomes one relative to the new parent.
    if (e.type == EqualityType::weld && e.relative_pose && e.first == "world") {
      e.relative_pose = pose * *e.relative_pose;
    }
    if (e.type == EqualityType::weld && e.relative_pose && e.second == "world") {
      e.relative_pose = *e.relative_pose * inverse(pose);
      e.anchor = pose.position + pose.rotation * e.anchor;
    }
    if (e.type == EqualityType::connect && e.first == "world") {
      e.anchor = pose.position + pose.rotation * e.anchor;
    }
    if (e.type == EqualityType::connect && e.second == "world" && e.anchor2) {
      e.anchor2 = pose.position + pose.rotation * *e.anchor2;
    }
    for (std::string* side : {&e.first, &e.second}) {
      if (between_bodies)
        to.body(*side);
      else
        to.name(*side);
    }
  });
  append(whole.sensors, part.sensors, [&](SensorDescription& s) {
    to.name(s.name);
    const auto object = [&](ObjectType type, std::string& name) {
      const bool is_body = type == ObjectType::body || type == ObjectType::body_inertial;
      if (is_body && !name.empty())
        to.body(name);
      else
        to.name(name);
    };
    object(s.object_type, s.object);
    object(s.reference_type, s.reference);
  });
  for (const std::string& warning : part.warnings) whole.warnings.push_back(warning);
}

}  // namespace articula
