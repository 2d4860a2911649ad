#include <algorithm>
#include <cmath>

#include "io/mjcf/reader.hpp"

namespace articula::mjcf {

namespace {

// An attribute that has no effect here is still a mistake where it makes no sense.
void require_keyword(const Attributes& a, const char* name, std::initializer_list<std::string_view> known) {
  if (!a.has(name)) return;
  const std::string word = a.text(name);
  if (std::find(known.begin(), known.end(), word) != known.end()) return;
  std::string list;
  for (const std::string_view keyword : known)
    list += fmt::format("{}'{}'", list.empty() ? "" : ", ", keyword);
  fail(a.element(), "attribute {} is '{:.60}'; it must be one of {}", name, word, list);
}

void read_compiler_element(Compiler& compiler, const Element& element) {
  const Attributes a(element);
  require_keyword(a, "coordinate", {"local", "global"});
  require_keyword(a, "usethread", {"true", "false"});
  a.read_keyword<bool>("angle", {{"degree", true}, {"radian", false}}, compiler.degrees);
  a.read("autolimits", compiler.automatic_limits);
  a.read("boundmass", compiler.least_mass);
  a.read("boundinertia", compiler.least_inertia);
  a.read("settotalmass", compiler.total_mass);
  a.read("balanceinertia", compiler.balance_inertia);
  a.read("strippath", compiler.strip_path);
  a.read("fitaabb", compiler.fit_bounding_box);
  a.read("fusestatic", compiler.fuse_static);
  a.read("discardvisual", compiler.discard_visual);
  a.read("alignfree", compiler.align_free);
  a.read("inertiagrouprange", compiler.inertia_groups, 2);
  read_switch(a, "inertiafromgeom", compiler.inertia_from_geometry);
  if (a.has("meshdir")) compiler.mesh_directory = a.text("meshdir");
  if (a.has("assetdir")) compiler.asset_directory = a.text("assetdir");
  if (a.text("coordinate") == "global") {
    fail(element,
         "coordinate=\"global\" was dropped from MJCF; convert the file with MuJoCo 2.3 or write poses "
         "relative to the parent");
  }
  if (a.has("eulerseq")) {
    compiler.euler_sequence = a.text("eulerseq");
    if (compiler.euler_sequence.size() != 3 ||
        compiler.euler_sequence.find_first_not_of("xyzXYZ") != std::string::npos) {
      fail(element, "attribute eulerseq is '{}'; it must be three of x, y, z, X, Y, Z",
           compiler.euler_sequence);
    }
  }
}

void read_flag_element(Flags& flags, Description& description, const Element& element) {
  const Attributes a(element);
  const auto read = [&](const char* name, bool& value) {
    a.read_keyword<bool>(name, {{"enable", true}, {"disable", false}}, value);
  };
  bool unused = false;
  for (const char* name :
       {"warmstart", "refsafe", "sensor", "midphase", "nativeccd", "island", "eulerdamp", "autoreset",
        "energy", "fwdinv", "invdiscrete", "multiccd", "sleep", "diagexact", "ipc", "speculative"}) {
    read(name, unused);
  }
  read("constraint", flags.constraint);
  read("equality", flags.equality);
  read("frictionloss", flags.dry_friction);
  read("limit", flags.limit);
  read("contact", flags.contact);
  read("spring", flags.spring);
  read("damper", flags.damper);
  bool passive = true;  // an older spelling of the two
  read("passive", passive);
  if (!passive) flags.spring = flags.damper = false;
  read("gravity", flags.gravity);
  read("clampctrl", flags.clamp_control);
  read("actuation", flags.actuation);
  bool filter_parent = !description.parent_child_contacts;
  read("filterparent", filter_parent);
  description.parent_child_contacts = !filter_parent;
  bool overridden = false;
  read("override", overridden);
  if (overridden)
    fail(element, "override=\"enable\" replaces all contact parameters; write them at the geoms");
}

// How MuJoCo solves; ours is another way.
void check_solver_options(const Attributes& a) {
  require_keyword(a, "integrator", {"Euler", "RK4", "implicit", "implicitfast", "discrete"});
  require_keyword(a, "cone", {"pyramidal", "elliptic"});
  require_keyword(a, "solver", {"PGS", "CG", "Newton"});
  require_keyword(a, "jacobian", {"dense", "sparse", "auto"});
  int count = 0;
  for (const char* name : {"iterations", "ls_iterations", "noslip_iterations", "ccd_iterations",
                           "mpr_iterations", "sdf_iterations", "sdf_initpoints"}) {
    a.read(name, count);
  }
  double number = 0.0;
  for (const char* name : {"tolerance", "ls_tolerance", "noslip_tolerance", "ccd_tolerance", "mpr_tolerance",
                           "sleep_tolerance", "o_margin", "apirate"}) {
    a.read(name, number);
  }
}

void read_option_element(Reader& reader, const Element& element) {
  Description& d = reader.description;
  const Attributes a(element);
  check_solver_options(a);
  a.read("timestep", d.timestep);
  if (d.timestep <= 0.0) fail(element, "attribute timestep is {}; it must be positive", d.timestep);
  a.read("gravity", d.gravity);
  a.read("wind", d.medium.wind);
  a.read("magnetic", d.magnetic_flux);
  a.read("density", d.medium.density);
  a.read("viscosity", d.medium.viscosity);
  if (d.medium.density < 0.0)
    fail(element, "attribute density is {}; it cannot be negative", d.medium.density);
  if (d.medium.viscosity < 0.0)
    fail(element, "attribute viscosity is {}; it cannot be negative", d.medium.viscosity);
  for (double group : a.list("actuatorgroupdisable")) {
    if (group < 0 || group > 30 || group != std::floor(group))
      fail(element, "attribute actuatorgroupdisable: groups are 0 to 30, not {}", group);
    reader.flags.disabled_groups.set(static_cast<std::size_t>(group));
  }
  for (const Element& child : reader.tree.children(element, "flag")) {
    read_flag_element(reader.flags, d, child);
  }
}

}  // namespace

void read_compiler(Reader& reader) {
  for (const Element& element : reader.tree.children(reader.tree.root(), "compiler")) {
    read_compiler_element(reader.compiler, element);
  }
}

void read_options(Reader& reader) {
  for (const Element& element : reader.tree.children(reader.tree.root(), "option")) {
    read_option_element(reader, element);
  }
}

namespace {

// MuJoCo drops what actuators should carry when they are turned off; that is no property of a joint.
void require_carriers(const Description& d) {
  const auto compensated = [](const BodyDescription& body) { return body.gravity_compensation != 0.0; };
  if (std::none_of(d.bodies.begin(), d.bodies.end(), compensated)) return;
  for (const BodyDescription& body : d.bodies) {
    for (const JointDescription& joint : body.joints) {
      if (joint.actuator_carries_gravity)
        throw Error(
            "{}: actuatorgravcomp has no meaning while actuation is disabled; leave it out, or gravcomp",
            joint.where);
    }
  }
}

}  // namespace

// What is turned off is taken out of the description.
void apply_flags(Reader& reader) {
  Description& d = reader.description;
  const Flags& flags = reader.flags;
  const bool constraint = flags.constraint;
  if (!flags.gravity) d.gravity.setZero();
  if (!(constraint && flags.contact)) {
    for (auto& g : d.geometries) g.contype = g.conaffinity = 0;
    d.contact_pairs.clear();
  }
  if (!(constraint && flags.equality)) {
    for (auto& e : d.equalities) e.active = false;
  }
  for (auto& body : d.bodies) {
    for (auto& joint : body.joints) {
      if (!flags.spring) joint.stiffness = 0.0;
      if (!flags.damper) joint.damping = 0.0;
      if (!(constraint && flags.dry_friction)) joint.dry_friction = 0.0;
      if (!(constraint && flags.limit)) joint.range.reset();
    }
    if (!flags.spring && !flags.damper) body.gravity_compensation = 0.0;
  }
  for (auto& tendon : d.tendons) {
    if (!flags.spring) tendon.stiffness = 0.0;
    if (!flags.damper) tendon.damping = 0.0;
    if (!(constraint && flags.dry_friction)) tendon.dry_friction = 0.0;
    if (!(constraint && flags.limit)) tendon.range.reset();
  }
  // Without springs and dampers MuJoCo drops all other passive forces, too.
  if (!flags.spring && !flags.damper) d.medium = Medium{};
  if (!flags.actuation && !d.actuators.empty()) require_carriers(d);
  for (auto& actuator : d.actuators) {
    if (!flags.clamp_control) actuator.control_range.reset();
    if (!flags.damper) actuator.damping = 0.0;
    if (!flags.actuation) actuator.gain = actuator.bias = {0.0, 0.0, 0.0};
  }
}

}  // namespace articula::mjcf
