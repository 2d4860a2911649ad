#include "io/mjcf/geometry.hpp"
#include "io/mjcf/lookup.hpp"

namespace articula::mjcf {

namespace {

void read_transmission(const Reader& reader, const Element& element, const std::string& suffix,
                       ActuatorDescription& actuator) {
  struct Way {
    const char* attribute;
    TransmissionType type;
    Kind kind;
  };
  static constexpr std::array ways{Way{"joint", TransmissionType::joint, Kind::joint},
                                   Way{"jointinparent", TransmissionType::joint_in_parent, Kind::joint},
                                   Way{"site", TransmissionType::frame, Kind::site},
                                   Way{"tendon", TransmissionType::tendon, Kind::tendon}};
  for (const char* refused : {"cranksite", "slidersite", "body"}) {
    if (element.attribute(refused) != nullptr) {
      fail(element,
           "attribute {}: {} is not supported, and leaving it out would change the motion; act on a joint, "
           "site "
           "or fixed tendon",
           refused, refused == std::string_view("body") ? "adhesion to contacts" : "a slider-crank");
    }
  }
  const char* used = nullptr;
  for (const Way& way : ways) {
    if (element.attribute(way.attribute) == nullptr) continue;
    if (used != nullptr)
      fail(element, "both {} and {} are given; an actuator acts on one thing", used, way.attribute);
    used = way.attribute;
    actuator.transmission = way.type;
    actuator.target = resolve(reader, way.kind, element.text(way.attribute), suffix);
  }
  if (used == nullptr) fail(element, "it acts on nothing; give joint, jointinparent, site or tendon");
  if (actuator.transmission == TransmissionType::tendon)
    refuse_drawn_tendon(reader, element, {actuator.target});
  if (element.attribute("cranklength") != nullptr)
    fail(element, "attribute cranklength belongs to a slider-crank, which is not supported; leave it out");
  if (element.attribute("refsite") == nullptr) return;
  if (actuator.transmission != TransmissionType::frame)
    fail(element, "attribute refsite needs attribute site");
  actuator.reference_frame = resolve(reader, Kind::site, element.text("refsite"), suffix);
}

ActivationType activation_of(DynamicsType type) {
  switch (type) {
    case DynamicsType::none: return ActivationType::none;
    case DynamicsType::integrator: return ActivationType::integrator;
    case DynamicsType::filter: return ActivationType::filter;
    case DynamicsType::filter_exact: return ActivationType::filter_exact;
  }
  return ActivationType::none;
}

void set_law(const ActuatorLaw& law, const Element& element, ActuatorDescription& actuator) {
  const std::size_t gains = law.gain_type == GainType::affine ? 3 : 1;
  actuator.gain = {0.0, 0.0, 0.0};
  std::copy_n(law.gain.begin(), gains, actuator.gain.begin());
  if (law.bias_type == BiasType::affine) std::copy_n(law.bias.begin(), 3, actuator.bias.begin());
  actuator.activation = activation_of(law.dynamics_type);
  actuator.time_constant = law.dynamics[0];
  const int dimension = actuator.activation == ActivationType::none ? 0 : 1;
  if (element.name() == "general" && law.dimension >= 0 && law.dimension != dimension) {
    fail(element, "attribute actdim is {}, but with this dyntype it is {}; leave it out", law.dimension,
         dimension);
  }
  const bool filter =
      actuator.activation == ActivationType::filter || actuator.activation == ActivationType::filter_exact;
  if (filter && actuator.time_constant <= 0.0) {
    fail(element, "the time constant of its filter is {}; it must be positive", actuator.time_constant);
  }
}

// The range of the joint or tendon, widened or narrowed about its middle.
Vector2 inherited_range(const Reader& reader, const Element& element, const ActuatorDescription& actuator,
                        double part) {
  std::optional<Vector2> range;
  if (actuator.transmission == TransmissionType::tendon) {
    if (const TendonDescription* tendon = find_tendon(reader, actuator.target)) range = tendon->range;
  } else if (const JointDescription* joint = find_joint(reader, actuator.target)) {
    const auto idle = reader.idle_ranges.find(joint->name);
    range = idle != reader.idle_ranges.end() ? idle->second : joint->range;
  }
  if (!range) fail(element, "inheritrange takes over the range of '{}', which has none", actuator.target);
  const double middle = range->mean(), half = part * ((*range)[1] - (*range)[0]) / 2.0;
  return {middle - half, middle + half};
}

// Whether it pulls what it acts on to a position.
bool is_servo(const ActuatorLaw& law) {
  return law.gain_type == GainType::fixed && law.bias_type == BiasType::affine && law.gain[0] == -law.bias[1];
}

void set_ranges(const Reader& reader, const Element& element, const ActuatorSettings& s,
                ActuatorDescription& actuator) {
  const Attributes a(element);
  const bool inherits = s.inherited_range > 0.0 && is_servo(s.law);
  const bool integrates = actuator.activation == ActivationType::integrator;
  if (inherits) {
    const Vector2 range = inherited_range(reader, element, actuator, s.inherited_range);
    if ((integrates ? s.activation_limited : s.control_limited) != Switch::no)
      (integrates ? actuator.activation_range : actuator.control_range) = range;
  }
  if (!inherits || integrates) {
    actuator.control_range =
        range_in_force(reader, a, "ctrlrange", s.control_range, "ctrllimited", s.control_limited);
  }
  actuator.force_range =
      range_in_force(reader, a, "forcerange", s.force_range, "forcelimited", s.force_limited);
  if (!inherits || !integrates) {
    actuator.activation_range =
        range_in_force(reader, a, "actrange", s.activation_range, "actlimited", s.activation_limited);
  }
  if (actuator.activation_range && actuator.activation == ActivationType::none) {
    fail(element,
         "actrange limits an activation, which the actuator has none of; leave it out, or give dyntype");
  }
  if (element.name() == "damper" && s.control_range[0] < 0.0)
    fail(element, "ctrlrange begins at {}; that of a damper cannot be negative", s.control_range[0]);
}

ActuatorDescription read_actuator(Reader& reader, const Element& element, const std::string& suffix) {
  const ActuatorSettings s = read_actuator_settings(class_of(reader, element, nullptr).actuator, element);
  ActuatorDescription actuator;
  actuator.name = instance_name(element, suffix);
  actuator.where = element.label();
  read_transmission(reader, element, suffix, actuator);
  actuator.gear = s.gear;
  set_law(s.law, element, actuator);
  set_ranges(reader, element, s, actuator);
  if (is_servo(s.law) && s.law.bias[2] > 0.0) {
    reader.damping_ratios[reader.description.actuators.size()] = s.law.bias[2];
  }
  actuator.activation_early = s.early;
  actuator.armature = s.armature;
  actuator.damping = s.damping[0];
  if (s.damping[1] != 0.0 || s.damping[2] != 0.0) {
    fail(element, "attribute damping has a quadratic or cubic part, which is not supported; give one number");
  }
  if (s.delay != 0.0)
    fail(element, "attribute delay is not supported, and leaving it out would change the motion");
  if (s.group >= 0 && s.group <= 30 && reader.flags.disabled_groups.test(static_cast<std::size_t>(s.group))) {
    actuator.gain = actuator.bias = {0.0, 0.0, 0.0};
  }
  return actuator;
}

}  // namespace

void read_actuators(Reader& reader) {
  for_each_instance(reader, without_straddling(reader, reader.section("actuator")),
                    [&](const Element& element, const std::string& suffix) {
                      if (!suffix.empty() && element.attribute("name"))
                        reader.replicas.add(Kind::actuator, element.text("name"), reader.current_replica);
                      ActuatorDescription actuator = read_actuator(reader, element, suffix);
                      reader.description.actuators.push_back(std::move(actuator));
                    });
}

}  // namespace articula::mjcf
