// `articula info MODEL`: what a robot file says, as it was understood.

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>

#include "articula/io/load.hpp"
#include "articula/sensors/sensors.hpp"
#include "cli/command.hpp"
#include "cli/load_arguments.hpp"
#include "cli/table.hpp"

namespace articula::cli {
namespace {

using Json = nlohmann::ordered_json;

const char* name_of(JointType type) {
  switch (type) {
    case JointType::fixed: return "fixed";
    case JointType::hinge: return "hinge";
    case JointType::slide: return "slide";
    case JointType::ball: return "ball";
    case JointType::free: return "free";
  }
  return "";
}

const char* name_of(ShapeType type) {
  switch (type) {
    case ShapeType::plane: return "plane";
    case ShapeType::sphere: return "sphere";
    case ShapeType::capsule: return "capsule";
    case ShapeType::box: return "box";
    case ShapeType::cylinder: return "cylinder";
    case ShapeType::ellipsoid: return "ellipsoid";
    case ShapeType::mesh: return "mesh";
    case ShapeType::height_field: return "height field";
  }
  return "";
}

const char* name_of(TransmissionType type) {
  switch (type) {
    case TransmissionType::joint:
    case TransmissionType::joint_in_parent: return "joint";
    case TransmissionType::frame: return "frame";
    case TransmissionType::tendon: return "tendon";
  }
  return "";
}

const char* name_of(EqualityType type) {
  switch (type) {
    case EqualityType::connect: return "connect";
    case EqualityType::weld: return "weld";
    case EqualityType::joint: return "joint";
    case EqualityType::tendon: return "tendon";
  }
  return "";
}

std::string range_text(const std::optional<Vector2>& range) {
  return range ? fmt::format("{:.4g} .. {:.4g}", (*range)[0], (*range)[1]) : "";
}
std::string number_text(double value) { return value == 0.0 ? "" : fmt::format("{:.4g}", value); }
Json range_json(const std::optional<Vector2>& range) {
  return range ? Json{(*range)[0], (*range)[1]} : Json(nullptr);
}

// The shapes of one body: how many of each, and how many of them collide.
struct Shapes {
  std::map<std::string, int> count;
  int total = 0, colliding = 0;
};

std::map<std::string, Shapes> shapes_by_body(const Description& d) {
  std::map<std::string, Shapes> result;
  for (const GeometryDescription& g : d.geometries) {
    Shapes& shapes = result[g.body];
    ++shapes.count[name_of(g.type)];
    ++shapes.total;
    shapes.colliding += g.contype != 0 || g.conaffinity != 0;
  }
  return result;
}

std::string shapes_text(const Shapes& shapes) {
  std::string text;
  for (const auto& [type, count] : shapes.count)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, type);
  if (shapes.colliding < shapes.total) text += fmt::format(" ({} collide)", shapes.colliding);
  return text;
}

std::string law_text(const ActuatorDescription& a) {
  const auto affine = [](const std::array<double, 3>& c) {
    std::string text = fmt::format("{:.4g}", c[0]);
    if (c[1] != 0.0) text += fmt::format(" {:+.4g} l", c[1]);
    if (c[2] != 0.0) text += fmt::format(" {:+.4g} l'", c[2]);
    return text;
  };
  const bool biased = a.bias != std::array<double, 3>{};
  const char* input = a.activation == ActivationType::none ? "u" : "w";
  return fmt::format("({}) {}{}", affine(a.gain), input, biased ? " + " + affine(a.bias) : "");
}

// ---- as tables

// Of bodies that nothing moves; Model::total_mass is that of all others.
double fixed_mass(const Model& model) {
  double mass = -model.total_mass();
  const Structure& s = model.structure();
  for (std::size_t b = 1; b < s.bodies.size(); ++b) mass += model.theta()[s.bodies[b].inertia];
  return std::abs(mass) < 1e-9 * (1.0 + model.total_mass()) ? 0.0 : mass;
}

std::string summary_text(const std::string& source, const Model& model) {
  const Description& d = model.description();
  const double fixed = fixed_mass(model);
  return fmt::format(
      "{} ({})\n"
      "nq {}, nv {}, controls {}, activations {}; {} bodies in {} moving links, {} geometries, {} frames\n"
      "mass {:.6g} kg{}, gravity ({:g}, {:g}, {:g}) m/s^2, timestep {:g} s{}\n",
      d.name, source, model.nq(), model.nv(), model.nu(), model.na(), model.nbody() - 1, model.nlink() - 1,
      d.geometries.size(), d.frames.size(), model.total_mass(),
      fixed != 0.0 ? fmt::format(" that moves and {:.6g} kg that is fixed", fixed) : "", d.gravity.x(),
      d.gravity.y(), d.gravity.z(), d.timestep,
      d.medium.density != 0.0 || d.medium.viscosity != 0.0
          ? fmt::format(", medium of {:g} kg/m^3 and {:g} Pa s", d.medium.density, d.medium.viscosity)
          : "");
}

int depth_of(const Structure& s, int body) {
  int depth = 0;
  for (int b = body; b > 0; b = s.bodies[static_cast<std::size_t>(b)].parent) ++depth;
  return depth;
}

std::string bodies_text(const Model& model) {
  const Structure& s = model.structure();
  const Description& d = model.description();
  auto shapes = shapes_by_body(d);
  Table table({{"body"}, {"joints"}, {"mass, kg", Align::right}, {"geometry"}});
  table.add({"world", "", "", shapes_text(shapes["world"])});
  for (int b = 1; b < model.nbody(); ++b) {
    const BodyDescription& body = d.bodies[static_cast<std::size_t>(b) - 1];
    std::string joints = body.kinematic ? "moved by the user" : "";
    for (const JointDescription& joint : body.joints)
      joints += fmt::format("{}{}", joints.empty() ? "" : ", ", name_of(joint.type));
    const std::string& name = s.bodies[static_cast<std::size_t>(b)].name;
    table.add({fmt::format("{:{}}{}", "", 2 * std::min(depth_of(s, b), 20), name), joints,
               fmt::format("{:.5g}", body.inertia.mass), shapes_text(shapes[body.name])});
  }
  return table.to_text();
}

std::string joints_text(const Model& model) {
  const Structure& s = model.structure();
  Table table({{"joint"},
               {"type"},
               {"q", Align::right},
               {"dof", Align::right},
               {"range", Align::right},
               {"stiffness", Align::right},
               {"damping", Align::right},
               {"armature", Align::right},
               {"dry friction", Align::right},
               {"actuators' range", Align::right}});
  std::size_t j = 0;
  for (const BodyDescription& body : model.description().bodies) {
    for (const JointDescription& joint : body.joints) {
      const JointIndex& index = s.joints[j++];
      table.add({index.name, name_of(joint.type), fmt::to_string(index.q), fmt::to_string(index.dof),
                 range_text(joint.range), number_text(joint.stiffness), number_text(joint.damping),
                 number_text(joint.armature), number_text(joint.dry_friction),
                 range_text(joint.actuator_force_range)});
    }
  }
  return table.to_text();
}

std::string actuators_text(const Model& model) {
  Table table(
      {{"actuator"}, {"on"}, {"gear"}, {"force"}, {"controls", Align::right}, {"forces", Align::right}});
  for (const ActuatorDescription& a : model.description().actuators) {
    const bool scalar = std::all_of(a.gear.begin() + 1, a.gear.end(), [](double g) { return g == 0.0; });
    table.add({a.name, fmt::format("{} {}", name_of(a.transmission), a.target),
               scalar ? fmt::format("{:g}", a.gear[0]) : fmt::format("{:g}", fmt::join(a.gear, " ")),
               law_text(a), range_text(a.control_range), range_text(a.force_range)});
  }
  return table.to_text();
}

std::string others_text(const Model& model) {
  const Description& d = model.description();
  std::string text;
  const auto list = [&](const char* title, const auto& elements, const auto& describe) {
    if (elements.empty()) return;
    text += fmt::format("\n{}:", title);
    for (const auto& element : elements) text += fmt::format("\n  {}", describe(element));
    text += "\n";
  };
  list("tendons", d.tendons, [](const TendonDescription& t) {
    std::string sum;
    for (const auto& term : t.terms) sum += fmt::format(" {:+g} {}", term.coefficient, term.joint);
    return fmt::format("{}:{}{}", t.name, sum, t.range ? ", range " + range_text(t.range) : "");
  });
  list("equalities", d.equalities, [](const EqualityDescription& e) {
    return fmt::format("{} {} and {}{}", name_of(e.type), e.first, e.second.empty() ? "a constant" : e.second,
                       e.active ? "" : " (inactive)");
  });
  list("keyframes", d.keyframes,
       [](const KeyframeDescription& k) { return k.name.empty() ? "(unnamed)" : k.name; });
  const Sensors sensors(model);
  list("sensors", sensors.list(), [](const SensorIndex& s) {
    return fmt::format("{}: numbers {} to {}", s.name.empty() ? "(unnamed)" : s.name, s.offset,
                       s.offset + s.size - 1);
  });
  list("warnings", d.warnings, [](const std::string& warning) { return warning; });
  return text;
}

void print_tables(const std::string& source, const Model& model) {
  fmt::print("{}\n{}\n{}", summary_text(source, model), bodies_text(model), joints_text(model));
  if (model.nu() > 0) fmt::print("\n{}", actuators_text(model));
  fmt::print("{}", others_text(model));
}

// ---- as JSON

Json bodies_json(const Model& model) {
  const Structure& s = model.structure();
  auto shapes = shapes_by_body(model.description());
  Json bodies = Json::array();
  std::size_t joint_index = 0;
  for (std::size_t b = 1; b < s.bodies.size(); ++b) {
    const BodyDescription& body = model.description().bodies[b - 1];
    Json joints = Json::array();
    for (const JointDescription& joint : body.joints) {
      const JointIndex& index = s.joints[joint_index++];
      joints.push_back({{"name", index.name},
                        {"type", name_of(joint.type)},
                        {"q", index.q},
                        {"dof", index.dof},
                        {"range", range_json(joint.range)},
                        {"stiffness", joint.stiffness},
                        {"damping", joint.damping},
                        {"armature", joint.armature},
                        {"dry_friction", joint.dry_friction},
                        {"actuator_force_range", range_json(joint.actuator_force_range)}});
    }
    Json geometries = Json::object();
    for (const auto& [type, count] : shapes[body.name].count) geometries[type] = count;
    bodies.push_back({{"name", s.bodies[b].name},
                      {"parent", s.bodies[static_cast<std::size_t>(s.bodies[b].parent)].name},
                      {"mass", body.inertia.mass},
                      {"kinematic", body.kinematic},
                      {"joints", joints},
                      {"geometries", geometries},
                      {"colliding", shapes[body.name].colliding}});
  }
  return bodies;
}

Json actuators_json(const Description& d) {
  Json actuators = Json::array();
  for (const ActuatorDescription& a : d.actuators) {
    actuators.push_back({{"name", a.name},
                         {"on", name_of(a.transmission)},
                         {"target", a.target},
                         {"gear", a.gear},
                         {"gain", a.gain},
                         {"bias", a.bias},
                         {"has_activation", a.activation != ActivationType::none},
                         {"control_range", range_json(a.control_range)},
                         {"force_range", range_json(a.force_range)}});
  }
  return actuators;
}

Json to_json(const std::string& source, const Model& model) {
  const Description& d = model.description();
  Json sensors = Json::array(), equalities = Json::array(), tendons = Json::array(),
       keyframes = Json::array();
  const Sensors all(model);
  for (const SensorIndex& s : all.list())
    sensors.push_back({{"name", s.name}, {"offset", s.offset}, {"size", s.size}});
  for (const EqualityDescription& e : d.equalities) {
    equalities.push_back(
        {{"type", name_of(e.type)}, {"first", e.first}, {"second", e.second}, {"active", e.active}});
  }
  for (const TendonDescription& t : d.tendons) {
    Json terms = Json::array();
    for (const auto& term : t.terms)
      terms.push_back({{"joint", term.joint}, {"coefficient", term.coefficient}});
    tendons.push_back({{"name", t.name}, {"terms", terms}, {"range", range_json(t.range)}});
  }
  for (const KeyframeDescription& k : d.keyframes) keyframes.push_back(k.name);
  return {{"model", d.name},
          {"source", source},
          {"nq", model.nq()},
          {"nv", model.nv()},
          {"nu", model.nu()},
          {"na", model.na()},
          {"links", model.nlink() - 1},
          {"mass", model.total_mass()},
          {"fixed_mass", fixed_mass(model)},
          {"gravity", {d.gravity.x(), d.gravity.y(), d.gravity.z()}},
          {"timestep", d.timestep},
          {"geometries", d.geometries.size()},
          {"frames", d.frames.size()},
          {"bodies", bodies_json(model)},
          {"actuators", actuators_json(d)},
          {"tendons", tendons},
          {"equalities", equalities},
          {"sensors", sensors},
          {"keyframes", keyframes},
          {"warnings", d.warnings}};
}

struct InfoOptions {
  std::string model;
  LoadArguments load;
  bool json = false;
};

}  // namespace

void add_info(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "info", "What a robot is made of: tree, joints, masses, actuators, limits, warnings");
  const auto options = std::make_shared<InfoOptions>();
  command->add_option("MODEL", options->model, "A file, or a built-in model's name")->required();
  add_load_arguments(*command, options->load);
  command->add_flag("--json", options->json, "For machines: one JSON object");
  command->callback([options] {
    const Model model = load(options->model, options->load.options());
    if (options->json) {
      fmt::print("{}\n", to_json(options->model, model).dump(2, ' ', false, Json::error_handler_t::replace));
    } else {
      print_tables(options->model, model);
    }
  });
}

}  // namespace articula::cli
