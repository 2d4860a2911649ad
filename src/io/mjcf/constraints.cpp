#include "io/mjcf/geometry.hpp"
#include "io/mjcf/lookup.hpp"

namespace articula::mjcf {

namespace {

ContactPairDescription read_pair(const Reader& reader, const Element& element, const std::string& suffix) {
  const Attributes a = with_defaults(reader, element, "pair");
  ContactPairDescription pair;
  pair.name = instance_name(element, suffix);
  pair.where = element.label();
  pair.geometry1 = resolve(reader, Kind::geometry, a.required("geom1"), suffix);
  pair.geometry2 = resolve(reader, Kind::geometry, a.required("geom2"), suffix);
  if (a.read("condim", pair.condim) && pair.condim != 1 && pair.condim != 3 && pair.condim != 4 &&
      pair.condim != 6) {
    fail(element, "attribute condim is {}; it must be 1, 3, 4 or 6", pair.condim);
  }
  a.read("friction", pair.friction, 1);
  a.read("margin", pair.margin);
  a.read("gap", pair.gap);
  double adhesion = 0.0;
  a.read("adhesion", adhesion);
  if (adhesion != 0.0) fail(element, "attribute adhesion is not supported; leave it out or set it to 0");
  return pair;
}

const FrameDescription& site(const Reader& reader, const Element& element, const char* attribute,
                             const std::string& suffix) {
  const std::string name = resolve(reader, Kind::site, element.text(attribute), suffix);
  return find_site(reader, element, attribute, name);
}

// Two bodies and a point, or two sites. The sites' frames are T1 in the first and T2 in the second body;
// a weld makes them coincide, which puts the second body at T1 T2^-1 in the first.
void read_bodies(const Reader& reader, const Attributes& a, const std::string& suffix,
                 EqualityDescription& e) {
  const Element& element = a.element();
  const bool weld = e.type == EqualityType::weld;
  if (a.has("site1") || a.has("site2")) {
    if (a.has("body1") || a.has("body2")) fail(element, "give either two bodies or two sites");
    for (const char* name : {"anchor", "relpose"}) {
      if (a.has(name))
        fail(element, "attribute {} belongs to two bodies, not to two sites; leave it out", name);
    }
    const FrameDescription& first = site(reader, element, "site1", suffix);
    const FrameDescription& second = site(reader, element, "site2", suffix);
    e.first = first.body;
    e.second = second.body;
    if (weld) {
      e.anchor = second.pose.position;
      e.relative_pose = first.pose * inverse(second.pose);
    } else {
      e.anchor = first.pose.position;
      e.anchor2 = second.pose.position;
    }
    return;
  }
  e.first = resolve(reader, Kind::body, a.required("body1"), suffix);
  e.second = a.has("body2") ? resolve(reader, Kind::body, a.text("body2"), suffix) : "world";
  if (!a.read("anchor", e.anchor) && !weld)
    fail(element, "attribute anchor is missing; it is the point that connects");
  std::array<double, 7> relative{0.0, 1.0};
  if (!weld || !a.read("relpose", relative, 7)) return;
  const Quaternion turn(relative[3], relative[4], relative[5], relative[6]);
  if (turn.norm() < 1e-7) return;  // as in the model's reference pose
  // relpose places the anchor, which is given in the second body's frame, in the first body's.
  const Vector3 point(relative[0], relative[1], relative[2]);
  const Quaternion rotation = turn.normalized();
  e.relative_pose = Pose{point - rotation * e.anchor, rotation};
}

EqualityDescription read_equality(const Reader& reader, const Element& element, EqualityType type,
                                  const std::string& suffix) {
  const Attributes a = with_defaults(reader, element, "equality");
  EqualityDescription e;
  e.type = type;
  e.name = instance_name(element, suffix);
  e.where = element.label();
  a.read("active", e.active);
  a.read("torquescale", e.torque_scale);
  a.read("polycoef", e.polynomial, 1);
  if (type == EqualityType::joint) {
    e.first = resolve(reader, Kind::joint, a.required("joint1"), suffix);
    e.second = resolve(reader, Kind::joint, a.text("joint2"), suffix);
  } else if (type == EqualityType::tendon) {
    e.first = resolve(reader, Kind::tendon, a.required("tendon1"), suffix);
    e.second = resolve(reader, Kind::tendon, a.text("tendon2"), suffix);
  } else {
    read_bodies(reader, a, suffix, e);
  }
  return e;
}

void read_tendon_ranges(const Reader& reader, const Attributes& a, TendonDescription& tendon) {
  Vector2 range = Vector2::Zero(), forces = Vector2::Zero();
  Switch limited = Switch::automatic, force_limited = Switch::automatic;
  a.read_range("range", range);
  a.read_range("actuatorfrcrange", forces);
  read_switch(a, "limited", limited);
  read_switch(a, "actuatorfrclimited", force_limited);
  tendon.range = range_in_force(reader, a, "range", range, "limited", limited);
  tendon.actuator_force_range =
      range_in_force(reader, a, "actuatorfrcrange", forces, "actuatorfrclimited", force_limited);
}

double read_coefficient(const Attributes& a, const char* name) {
  std::array<double, 3> coefficients{};
  a.read(name, coefficients, 1);
  if (coefficients[1] != 0.0 || coefficients[2] != 0.0) {
    fail(a.element(), "attribute {} has a quadratic or cubic part, which is not supported; give one number",
         name);
  }
  return coefficients[0];
}

TendonDescription read_tendon(const Reader& reader, const Attributes& a, const std::string& suffix) {
  TendonDescription tendon;
  tendon.name = instance_name(a.element(), suffix);
  tendon.where = a.element().label();
  tendon.stiffness = read_coefficient(a, "stiffness");
  tendon.damping = read_coefficient(a, "damping");
  a.read("armature", tendon.armature);
  a.read("frictionloss", tendon.dry_friction);
  a.read("margin", tendon.limit_margin);
  double yield = 0.0;
  a.read("springyield", yield);
  if (yield != 0.0)
    fail(a.element(), "attribute springyield (plastic springs) is not supported; leave it out");
  read_tendon_ranges(reader, a, tendon);
  return tendon;
}

// The spring rests between two lengths; one number is both, and -1 is the length that the joints' own
// spring references give.
void read_spring_length(const Reader& reader, const Attributes& a, TendonDescription& tendon) {
  Vector2 given = Vector2::Constant(-1.0);
  if (a.read("springlength", std::span(given.data(), 2), 1)) {
    const Element& layer = *a.layer_with("springlength");
    if (numbers(layer, "springlength", layer.attribute("springlength")).size() == 1) given[1] = given[0];
  }
  if (given[0] == -1.0 && given[1] == -1.0) {
    double length = 0.0;
    for (const auto& term : tendon.terms) {
      const JointDescription* joint = find_joint(reader, term.joint);
      if (joint != nullptr) length += term.coefficient * joint->spring_reference;
    }
    given.setConstant(length);
  }
  if (given[0] > given[1])
    fail(a.element(), "attribute springlength is {} to {}; the first cannot be larger", given[0], given[1]);
  tendon.spring_length = given;
}

void read_fixed(Reader& reader, const Element& element, const std::string& suffix) {
  const Attributes a = with_defaults(reader, element, "tendon");
  TendonDescription tendon = read_tendon(reader, a, suffix);
  std::unordered_set<std::string> joints;
  for (const Element& child : reader.tree.children(element, "joint")) {
    const Attributes term(child);
    TendonDescription::Term& added = tendon.terms.emplace_back();
    added.joint = resolve(reader, Kind::joint, term.required("joint"), suffix);
    if (!term.read("coef", added.coefficient)) fail(child, "attribute coef is missing; add it");
    if (!joints.insert(added.joint).second)
      fail(child, "joint '{}' is in the tendon already; add up their coefficients", added.joint);
  }
  if (tendon.terms.empty()) fail(element, "a fixed tendon needs at least one <joint>");
  read_spring_length(reader, a, tendon);
  reader.tendon_index.emplace(tendon.name, reader.description.tendons.size());
  reader.description.tendons.push_back(std::move(tendon));
}

// A spatial tendon that exerts no force is only drawn.
void read_spatial(Reader& reader, const Element& element, const std::string& suffix) {
  const Attributes a = with_defaults(reader, element, "tendon");
  const TendonDescription tendon = read_tendon(reader, a, suffix);
  if (tendon.stiffness != 0.0 || tendon.damping != 0.0 || tendon.dry_friction != 0.0 ||
      tendon.armature != 0.0 || tendon.range) {
    fail(element,
         "a spatial tendon with a spring, damper, friction, armature or limit is not supported, and leaving "
         "it out would change the motion; use a fixed tendon");
  }
  if (!tendon.name.empty()) reader.drawn_tendons.insert(tendon.name);
  reader.warn(element, "spatial tendons are not modelled; this one exerts no force and is left out");
}

}  // namespace

void read_contacts(Reader& reader) {
  Description& d = reader.description;
  for_each_instance(
      reader, reader.section("contact"), [&](const Element& element, const std::string& suffix) {
        if (element.name() == "pair") d.contact_pairs.push_back(read_pair(reader, element, suffix));
        if (element.name() == "exclude") {
          const Attributes a(element);
          d.contact_exclusions.push_back({resolve(reader, Kind::body, a.required("body1"), suffix),
                                          resolve(reader, Kind::body, a.required("body2"), suffix),
                                          element.label()});
        }
      });
}

void read_equalities(Reader& reader) {
  static const std::map<std::string_view, EqualityType> types{{"connect", EqualityType::connect},
                                                              {"weld", EqualityType::weld},
                                                              {"joint", EqualityType::joint},
                                                              {"tendon", EqualityType::tendon}};
  for_each_instance(
      reader, without_straddling(reader, reader.section("equality")),
      [&](const Element& element, const std::string& suffix) {
        const auto type = types.find(element.name());
        if (type == types.end()) return;
        reader.description.equalities.push_back(read_equality(reader, element, type->second, suffix));
        if (element.attribute("site1") != nullptr)
          reader.site_equalities.insert(reader.description.equalities.size() - 1);
        const EqualityDescription& e = reader.description.equalities.back();
        if (e.type == EqualityType::tendon) refuse_drawn_tendon(reader, element, {e.first, e.second});
      });
}

// Its rows are zero whatever happens; MuJoCo keeps them.
void drop_idle_equalities(Reader& reader) {
  std::erase_if(reader.description.equalities, [&](const EqualityDescription& e) {
    const bool bodies = e.type == EqualityType::connect || e.type == EqualityType::weld;
    if (!bodies || e.first != e.second) return false;
    reader.warnings.add(
        fmt::format("{}: both sides are on '{}': it cannot act and is left out", e.where, e.first));
    return true;
  });
}

void read_tendons(Reader& reader) {
  for_each_instance(reader, reader.section("tendon"), [&](const Element& element, const std::string& suffix) {
    if (!suffix.empty() && element.attribute("name"))
      reader.replicas.add(Kind::tendon, element.text("name"), reader.current_replica);
    if (element.name() == "fixed") read_fixed(reader, element, suffix);
    if (element.name() == "spatial") read_spatial(reader, element, suffix);
  });
}

}  // namespace articula::mjcf
