#include "io/mjcf/attach.hpp"

#include <algorithm>

#include "articula/model/names.hpp"
#include "io/mjcf/fuse.hpp"

namespace articula::mjcf {

namespace {

// The names that belong to a subtree.
struct Members {
  std::unordered_set<std::string> bodies, joints, frames, geometries, tendons, actuators;
};

// By what they act on: they need not have names.
bool has_tendon(const Members& m, const TendonDescription& tendon) {
  return std::all_of(tendon.terms.begin(), tendon.terms.end(),
                     [&](const auto& term) { return m.joints.contains(term.joint); });
}

bool has_actuator(const Members& m, const ActuatorDescription& actuator) {
  switch (actuator.transmission) {
    case TransmissionType::tendon: return m.tendons.contains(actuator.target);
    case TransmissionType::frame:
      return m.frames.contains(actuator.target) &&
             (actuator.reference_frame.empty() || m.frames.contains(actuator.reference_frame));
    case TransmissionType::joint:
    case TransmissionType::joint_in_parent: break;
  }
  return m.joints.contains(actuator.target);
}

Members members_below(const Description& d, const std::string& root) {
  Members m;
  m.bodies.insert(root);
  for (const BodyDescription& body : d.bodies) {  // parents come before their children
    if (m.bodies.contains(body.parent)) m.bodies.insert(body.name);
    if (!m.bodies.contains(body.name)) continue;
    for (const JointDescription& joint : body.joints) m.joints.insert(joint.name);
  }
  for (const auto& f : d.frames) {
    if (m.bodies.contains(f.body)) m.frames.insert(f.name);
  }
  for (const auto& g : d.geometries) {
    if (m.bodies.contains(g.body)) m.geometries.insert(g.name);
  }
  for (const auto& t : d.tendons) {
    if (has_tendon(m, t)) m.tendons.insert(t.name);
  }
  for (const auto& a : d.actuators) {
    if (has_actuator(m, a)) m.actuators.insert(a.name);
  }
  return m;
}

bool has_object(const Members& m, ObjectType type, const std::string& name) {
  switch (type) {
    case ObjectType::none: return true;
    case ObjectType::body:
    case ObjectType::body_inertial: return m.bodies.contains(name);
    case ObjectType::frame: return m.frames.contains(name);
    case ObjectType::geometry: return m.geometries.contains(name);
    case ObjectType::joint: return m.joints.contains(name);
    case ObjectType::actuator: return m.actuators.contains(name);
    case ObjectType::tendon: return m.tendons.contains(name);
  }
  return false;
}

bool has_equality(const Members& m, const EqualityDescription& e) {
  const auto& names = e.type == EqualityType::joint    ? m.joints
                      : e.type == EqualityType::tendon ? m.tendons
                                                       : m.bodies;
  return names.contains(e.first) && (e.second.empty() || e.second == "world" || names.contains(e.second));
}

// The body with all that hangs on it and what refers to nothing outside; it becomes a child of the world.
Attachable subtree(Attachable whole, const std::string& root) {
  Description& d = whole.description;
  const Members m = members_below(d, root);
  std::erase_if(d.bodies, [&](const auto& b) { return !m.bodies.contains(b.name); });
  d.bodies.front().parent = "world";
  std::erase_if(d.frames, [&](const auto& f) { return !m.bodies.contains(f.body); });
  std::erase_if(d.geometries, [&](const auto& g) { return !m.bodies.contains(g.body); });
  std::erase_if(d.tendons, [&](const auto& t) { return !has_tendon(m, t); });
  std::vector<double> ratios;
  for (std::size_t i = 0; i < d.actuators.size(); ++i) {
    if (has_actuator(m, d.actuators[i])) ratios.push_back(whole.damping_ratios[i]);
  }
  whole.damping_ratios = std::move(ratios);
  std::erase_if(d.actuators, [&](const auto& a) { return !has_actuator(m, a); });
  std::erase_if(d.equalities, [&](const auto& e) { return !has_equality(m, e); });
  std::erase_if(d.contact_pairs, [&](const auto& p) {
    return !m.geometries.contains(p.geometry1) || !m.geometries.contains(p.geometry2);
  });
  std::erase_if(d.contact_exclusions,
                [&](const auto& e) { return !m.bodies.contains(e.body1) || !m.bodies.contains(e.body2); });
  std::erase_if(d.sensors, [&](const auto& s) {
    return !has_object(m, s.object_type, s.object) || !has_object(m, s.reference_type, s.reference);
  });
  return whole;
}

// What waits for the whole model's inertia: of joints by their number, of actuators in their order.
void take_over(Reader& reader, const Attachable& part) {
  for (const BodyDescription& body : part.description.bodies) {
    for (std::size_t j = 0; j < body.joints.size(); ++j) {
      const auto found = part.spring_dampers.find({body.name, j});
      if (found != part.spring_dampers.end()) reader.spring_dampers[reader.joint_count] = found->second;
      ++reader.joint_count;
    }
  }
  reader.attached_damping_ratios.insert(reader.attached_damping_ratios.end(), part.damping_ratios.begin(),
                                        part.damping_ratios.end());
}

std::filesystem::path model_file(const Reader& reader, const Element& element, const std::string& name) {
  std::vector<std::string> known;
  for (const Element& asset : reader.section("asset")) {
    if (asset.name() != "model") continue;
    const std::string file = asset.text("file");
    known.push_back(asset.attribute("name") ? asset.text("name")
                                            : std::filesystem::path(file).stem().string());
    if (known.back() == name) return reader.tree.directory() / file;
  }
  fail(element, "attribute model: there is no <model> '{}' in <asset>{}", name, suggestion(name, known));
}

// The whole model, read when it is first attached: copies of copies cost no more than what they make.
const Attachable& attached_model(Reader& reader, const std::filesystem::path& file) {
  const auto known = reader.models.find(file.string());
  if (known != reader.models.end()) return known->second;
  LoadOptions options = reader.options;
  options.attachment_depth += 1;
  options.most_field_cells -= reader.field_cells;
  options.mesh_limits.vertices -= reader.mesh_vertices;
  Attachable model = read_attachable(file, options);
  reader.field_cells += model.field_cells;
  reader.mesh_vertices += model.mesh_vertices;
  for (std::string& warning : std::exchange(model.description.warnings, {}))
    reader.warnings.add(std::move(warning));
  return reader.models.emplace(file.string(), std::move(model)).first->second;
}

std::size_t elements_of(const Description& d) {
  std::size_t joints = 0;
  for (const BodyDescription& body : d.bodies) joints += body.joints.size();
  return d.bodies.size() + joints + d.geometries.size() + d.frames.size() + d.contact_pairs.size() +
         d.contact_exclusions.size() + d.tendons.size() + d.actuators.size() + d.equalities.size() +
         d.sensors.size();
}

}  // namespace

void attach_model(Reader& reader, const Element& element, const std::string& parent, const Pose& pose) {
  const Attributes a(element);
  if (a.has("frame"))
    fail(element, "attribute frame is not supported; name a body, or attach the whole model");
  if (!a.has("model"))
    fail(element, "attribute model is missing; attaching a part of the model itself is not supported");
  constexpr int deepest = 8;
  if (reader.options.attachment_depth >= deepest) {
    fail(element, "models are attached to each other more than {} deep; a cycle never ends", deepest);
  }
  if (!reader.options.other_files)
    fail(element, "other models are not read here; write its bodies into this text");
  const std::filesystem::path file = model_file(reader, element, a.text("model"));
  Attachable part = attached_model(reader, file);
  const std::string body = a.text("body");
  if (!body.empty() && body != "world") {
    std::vector<std::string> known;
    for (const BodyDescription& b : part.description.bodies) known.push_back(b.name);
    if (std::find(known.begin(), known.end(), body) == known.end()) {
      fail(element, "attribute body: {} has no body '{}'{}", file.string(), body, suggestion(body, known));
    }
    part = subtree(std::move(part), body);
  }
  if (!part.description.keyframes.empty()) reader.warn(element, "keyframes of attached models are left out");
  reader.count(element, elements_of(part.description));
  take_over(reader, part);
  try {
    articula::attach(reader.description, part.description, a.text("prefix"), parent, pose);
  } catch (const Error& error) {
    fail(element, "{}", error.what());
  }
}

Description set_aside_attached(Reader& reader) {
  Description& d = reader.description;
  group_by_body(d);
  Description attached;
  attached.contact_pairs = std::exchange(d.contact_pairs, {});
  attached.contact_exclusions = std::exchange(d.contact_exclusions, {});
  attached.tendons = std::exchange(d.tendons, {});
  attached.actuators = std::exchange(d.actuators, {});
  attached.equalities = std::exchange(d.equalities, {});
  attached.sensors = std::exchange(d.sensors, {});
  return attached;
}

void append_attached(Reader& reader, Description attached) {
  const auto append = [](auto& whole, auto& part) {
    whole.insert(whole.end(), std::make_move_iterator(part.begin()), std::make_move_iterator(part.end()));
  };
  Description& d = reader.description;
  append(d.contact_pairs, attached.contact_pairs);
  append(d.contact_exclusions, attached.contact_exclusions);
  append(d.tendons, attached.tendons);
  for (std::size_t i = 0; i < reader.attached_damping_ratios.size(); ++i) {
    const double ratio = reader.attached_damping_ratios[i];
    if (ratio > 0.0) reader.damping_ratios[d.actuators.size() + i] = ratio;
  }
  append(d.actuators, attached.actuators);
  append(d.equalities, attached.equalities);
  append(d.sensors, attached.sensors);
}

}  // namespace articula::mjcf
