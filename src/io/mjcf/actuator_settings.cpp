#include "io/mjcf/actuator_settings.hpp"

#include <cmath>
#include <numbers>

namespace articula::mjcf {

namespace {

std::optional<Shortcut> shortcut_of(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, Shortcut>, 7> known{
      {{"general", Shortcut::general},
       {"motor", Shortcut::motor},
       {"position", Shortcut::position},
       {"velocity", Shortcut::velocity},
       {"intvelocity", Shortcut::intvelocity},
       {"damper", Shortcut::damper},
       {"cylinder", Shortcut::cylinder}}};
  for (const auto& [keyword, shortcut] : known) {
    if (name == keyword) return shortcut;
  }
  return std::nullopt;
}

bool is_actuator(std::string_view name) {
  return shortcut_of(name) || name == "muscle" || name == "adhesion" || name == "plugin" ||
         name == "dcmotor" || name == "pid" || name == "orientation";
}

[[noreturn]] void refuse_law(const Element& element, const std::string& what) {
  fail(element,
       "{} is not supported, and leaving it out would change the motion; use general, motor, position, "
       "velocity, intvelocity, damper or cylinder with fixed or affine gain",
       what);
}

void read_mechanics(ActuatorSettings& s, const Attributes& a) {
  a.read("gear", s.gear, 1);
  a.read_range("ctrlrange", s.control_range);
  a.read_range("forcerange", s.force_range);
  a.read_range("actrange", s.activation_range);
  read_switch(a, "ctrllimited", s.control_limited);
  read_switch(a, "forcelimited", s.force_limited);
  read_switch(a, "actlimited", s.activation_limited);
  a.read("damping", s.damping, 1);
  a.read("armature", s.armature);
  a.read("delay", s.delay);
  a.read("group", s.group);
  if (a.element().name() != "general") s.early = false;
  a.read("actearly", s.early);
  // Of a servo a range written out and one taken over from the joint exclude each other: the inner one holds.
  const bool servo = a.element().name() == "position" || a.element().name() == "intvelocity";
  if (servo && (a.has("ctrlrange") || a.has("actrange"))) s.inherited_range = 0.0;
  if (a.read("inheritrange", s.inherited_range) && s.inherited_range > 0.0) {
    if (a.has("ctrlrange")) fail(a.element(), "both ctrlrange and inheritrange are given; keep one of them");
    (a.element().name() == "intvelocity" ? s.activation_range : s.control_range).setZero();
  }
}

void read_general(ActuatorLaw& law, const Attributes& a) {
  const auto refuse = [&](const char* attribute, std::initializer_list<const char*> words) {
    for (const char* word : words) {
      if (a.text(attribute) == word) refuse_law(a.element(), fmt::format("{}=\"{}\"", attribute, word));
    }
  };
  refuse("dyntype", {"muscle", "user", "pid", "dcmotor"});
  refuse("gaintype", {"muscle", "user", "pid", "dcmotor", "so3"});
  refuse("biastype", {"muscle", "user", "dcmotor", "so3"});
  a.read_keyword<DynamicsType>("dyntype",
                               {{"none", DynamicsType::none},
                                {"integrator", DynamicsType::integrator},
                                {"filter", DynamicsType::filter},
                                {"filterexact", DynamicsType::filter_exact}},
                               law.dynamics_type);
  a.read_keyword<GainType>("gaintype", {{"fixed", GainType::fixed}, {"affine", GainType::affine}},
                           law.gain_type);
  a.read_keyword<BiasType>("biastype", {{"none", BiasType::none}, {"affine", BiasType::affine}},
                           law.bias_type);
  a.read("dynprm", law.dynamics, 1);
  a.read("gainprm", law.gain, 1);
  a.read("biasprm", law.bias, 1);
  a.read("actdim", law.dimension);
  if (law.dimension > 1) refuse_law(a.element(), "actdim above 1");
}

// gain kp, bias (0, -kp, -kv): a servo to a position, or to the integral of a velocity.
void read_servo(ActuatorLaw& law, const Attributes& a, bool integrated) {
  double kp = law.gain[0], kv = 0.0, ratio = 0.0, time_constant = 0.0;
  a.read("kp", kp);
  law.gain = {kp};
  law.bias_type = BiasType::affine;
  law.bias[0] = 0.0;
  law.bias[1] = -kp;
  if (a.has("kv") && a.has("dampratio"))
    fail(a.element(), "both kv and dampratio are given; keep one of them");
  if (a.read("kv", kv)) {
    if (kv < 0.0) fail(a.element(), "attribute kv is {}; it cannot be negative", kv);
    law.bias[2] = -kv;
  }
  if (a.read("dampratio", ratio)) {
    if (ratio < 0.0) fail(a.element(), "attribute dampratio is {}; it cannot be negative", ratio);
    law.bias[2] = ratio;
  }
  if (integrated) law.dynamics_type = DynamicsType::integrator;
  if (!integrated && a.read("timeconst", time_constant)) {
    if (time_constant < 0.0)
      fail(a.element(), "attribute timeconst is {}; it cannot be negative", time_constant);
    law.dynamics_type = time_constant > 0.0 ? DynamicsType::filter_exact : DynamicsType::none;
    law.dynamics = {time_constant};
  }
}

void read_shortcut(ActuatorSettings& s, Shortcut shortcut, const Attributes& a) {
  ActuatorLaw& law = s.law;
  double kv = shortcut == Shortcut::damper ? -law.gain[2] : law.gain[0];
  switch (shortcut) {
    case Shortcut::none:
    case Shortcut::motor: break;
    case Shortcut::general: read_general(law, a); break;
    case Shortcut::position: read_servo(law, a, false); break;
    case Shortcut::intvelocity: read_servo(law, a, true); break;
    case Shortcut::velocity:
      a.read("kv", kv);
      law.gain = {kv};
      law.bias_type = BiasType::affine;
      law.bias = {0.0, 0.0, -kv};
      break;
    case Shortcut::damper:
      a.read("kv", kv);
      if (kv < 0.0) fail(a.element(), "attribute kv is {}; it cannot be negative", kv);
      law.gain_type = GainType::affine;
      law.gain = {0.0, 0.0, -kv};
      law.bias_type = BiasType::none;
      law.bias = {};
      s.control_limited = Switch::yes;
      break;
    case Shortcut::cylinder: {
      double diameter = 0.0;
      law.gain = {law.gain[0]};
      a.read("timeconst", law.dynamics[0]);
      a.read("area", law.gain[0]);
      if (a.read("diameter", diameter)) law.gain[0] = std::numbers::pi / 4.0 * diameter * diameter;
      a.read("bias", std::span(law.bias).first(3), 3);
      law.dynamics_type = DynamicsType::filter;
      law.bias_type = BiasType::affine;
      break;
    }
  }
}

bool can_inherit(Shortcut shortcut, const ActuatorSettings& from) {
  if (shortcut == Shortcut::general) return true;
  if (from.written_as == shortcut) return true;
  const GainType needed = shortcut == Shortcut::damper ? GainType::affine : GainType::fixed;
  return from.written_as == Shortcut::general && shortcut != Shortcut::motor && from.law.gain_type == needed;
}

ActuatorLaw inherited_law(Shortcut shortcut, const ActuatorDefaults& defaults) {
  for (const ActuatorDefaults* d = &defaults; d != nullptr; d = d->enclosing.get()) {
    if (d->settings.written_as == Shortcut::none || !can_inherit(shortcut, d->settings)) continue;
    ActuatorLaw law = d->settings.law;
    // A shortcut brings its own dynamics; of those of a `general` it takes what it can have itself.
    if (shortcut != Shortcut::general && d->settings.written_as == Shortcut::general) {
      const bool exact = law.dynamics_type == DynamicsType::filter_exact;
      const bool servo = shortcut == Shortcut::position || shortcut == Shortcut::intvelocity;
      if (!exact || shortcut != Shortcut::position) law.dynamics_type = DynamicsType::none;
      if (shortcut != Shortcut::cylinder && !(exact && servo)) law.dynamics = {1.0};
    }
    return law;
  }
  ActuatorLaw law;
  if (shortcut == Shortcut::damper) law.gain = {};  // MuJoCo's default kv is 0, whatever its manual says
  return law;
}

}  // namespace

void add_actuator_default(ActuatorDefaults& defaults, const Element& element) {
  if (!is_actuator(element.name())) return;
  const std::optional<Shortcut> shortcut = shortcut_of(element.name());
  ActuatorSettings& s = defaults.settings;
  if (!shortcut) {  // refused where an actuator of that kind, or one that shares its law, is made
    s.unsupported = element.name();
    return;
  }
  if (*shortcut != Shortcut::general) s.law = inherited_law(*shortcut, defaults);
  s.written_as = *shortcut;
  const Attributes own(element);
  read_mechanics(s, own);
  read_shortcut(s, *shortcut, own);
}

ActuatorSettings read_actuator_settings(const ActuatorDefaults& defaults, const Element& element) {
  const std::optional<Shortcut> shortcut = shortcut_of(element.name());
  if (!shortcut) refuse_law(element, fmt::format("actuator <{}>", element.name()));
  ActuatorSettings s = defaults.settings;
  if (*shortcut == Shortcut::general && !s.unsupported.empty())
    refuse_law(element, fmt::format("the law of <{}>, of which its class has defaults,", s.unsupported));
  s.law = inherited_law(*shortcut, defaults);
  const Attributes own(element);
  read_mechanics(s, own);
  read_shortcut(s, *shortcut, own);
  return s;
}

}  // namespace articula::mjcf
