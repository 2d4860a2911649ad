// Which elements and attributes MJCF has, and which of them cannot be taken lightly.

#include <algorithm>

#include "articula/model/names.hpp"
#include "io/mjcf/reader.hpp"
#include "io/numbers.hpp"

namespace articula::mjcf {

namespace {

struct Rule {
  std::string_view kind;
  std::string_view attributes;
  std::string_view
      children;  // names; "a:b" where the element a follows the rule b; "*": anything, not looked at
};

constexpr std::string_view tree_children =
    "body inertial joint freejoint geom site camera light frame replicate attach plugin composite flexcomp";
// What all actuators on joints, tendons and sites have; general to orientation add their own.
#define ARTICULA_ACTUATOR                                                                                 \
  "name class group nsample interp delay ctrllimited ctrlrange forcelimited forcerange lengthrange gear " \
  "cranklength damping armature user joint jointinparent tendon site refsite cranksite slidersite "
constexpr std::string_view sensor =
    "name site joint actuator tendon body objtype objname reftype refname cutoff noise user delay interval "
    "interp "
    "nsample camera geom geom1 geom2 body1 body2 subtree1 subtree2 num reduce data datatype needstage dim "
    "plugin "
    "instance enclosed mesh";

constexpr std::array rules{
    Rule{"mujoco", "model",
         "compiler option size statistic visual default:defaults extension custom asset worldbody "
         "contact "
         "deformable equality tendon actuator:actuators sensor:sensors keyframe"},
    Rule{"worldbody", "childclass", tree_children},
    Rule{"compiler",
         "angle autolimits boundmass boundinertia settotalmass balanceinertia strippath coordinate fitaabb "
         "eulerseq "
         "meshdir texturedir assetdir discardvisual usethread fusestatic inertiafromgeom alignfree "
         "inertiagrouprange "
         "saveinertial savecompiled savecanonical conflict passthrough",
         "lengthrange:ignored"},
    Rule{"option",
         "timestep impratio gravity wind magnetic density viscosity o_margin o_solref o_solimp o_friction "
         "integrator "
         "cone jacobian solver iterations tolerance ls_iterations ls_tolerance noslip_iterations "
         "noslip_tolerance "
         "ccd_iterations ccd_tolerance mpr_iterations mpr_tolerance sleep_tolerance sdf_iterations "
         "sdf_initpoints "
         "actuatorgroupdisable apirate",
         "flag"},
    Rule{"flag",
         "constraint equality frictionloss limit contact spring damper passive gravity clampctrl warmstart "
         "filterparent "
         "actuation refsafe sensor midphase nativeccd island eulerdamp autoreset override energy fwdinv "
         "invdiscrete "
         "multiccd sleep diagexact ipc speculative sensornoise",
         ""},
    Rule{"size", "*", ""},
    Rule{"statistic", "*", ""},
    Rule{"visual", "*", "*"},
    Rule{"custom", "*", "*"},
    Rule{"ignored", "*", "*"},
    Rule{"extension", "", "plugin"},
    Rule{"asset", "", "mesh hfield skin:ignored texture:ignored material model"},
    Rule{"mesh",
         "name class content_type file scale inertia smoothnormal maxhullvert vertex normal texcoord face "
         "refpos refquat "
         "builtin params material",
         "plugin"},
    Rule{"hfield", "name content_type file nrow ncol elevation size", ""},
    Rule{"material", "*", "*"},
    Rule{"model", "name file content_type", ""},
    Rule{"frame", "name childclass pos quat axisangle euler xyaxes zaxis scale scaling massscale",
         tree_children},
    Rule{"replicate", "count sep offset euler", tree_children},
    Rule{"attach", "model body frame prefix", ""},
    Rule{"body",
         "name childclass mocap pos quat axisangle euler xyaxes zaxis gravcomp sleep simple fuse user",
         tree_children},
    Rule{"inertial", "pos quat axisangle euler xyaxes zaxis mass diaginertia fullinertia", ""},
    Rule{"joint",
         "name class type group pos axis springdamper solreflimit solimplimit solreffriction solimpfriction "
         "stiffness "
         "range limited actuatorfrcrange actuatorfrclimited actuatorgravcomp margin ref springref "
         "springyield armature "
         "damping frictionloss user",
         ""},
    Rule{"freejoint", "name group align", ""},
    Rule{"geom",
         "name class type contype conaffinity condim group priority size material rgba castshadow friction "
         "mass density "
         "shellinertia solmix solref solimp margin gap surfacevel adhesion fromto pos quat axisangle euler "
         "xyaxes zaxis "
         "hfield mesh fitscale fluidshape fluidcoef user",
         "plugin"},
    Rule{"site",
         "name class type group material mesh rgba size fromto pos quat axisangle euler xyaxes zaxis user",
         ""},
    Rule{"camera", "*", ""},
    Rule{"light", "*", ""},
    Rule{"contact", "", "pair exclude"},
    Rule{"pair", "name class geom1 geom2 condim friction solref solimp solreffriction margin gap adhesion",
         ""},
    Rule{"exclude", "name body1 body2", ""},
    Rule{"deformable", "", "flex skin:ignored"},
    Rule{"equality", "name class active solref solimp",
         "connect weld joint:equality_joint tendon:equality_tendon flex flexvert flexstrain"},
    Rule{"connect", "name class active solref solimp body1 body2 anchor site1 site2", ""},
    Rule{"weld", "name class active solref solimp body1 body2 relpose anchor site1 site2 torquescale", ""},
    Rule{"equality_joint", "name class active solref solimp joint1 joint2 polycoef", ""},
    Rule{"equality_tendon", "name class active solref solimp tendon1 tendon2 polycoef", ""},
    Rule{"tendon",
         "name class group limited range actuatorfrclimited actuatorfrcrange solreflimit solimplimit "
         "solreffriction "
         "solimpfriction margin frictionloss springlength stiffness springyield damping armature width "
         "material rgba user",
         "spatial fixed"},
    Rule{"spatial",
         "name class group limited range actuatorfrclimited actuatorfrcrange solreflimit solimplimit "
         "solreffriction "
         "solimpfriction margin frictionloss springlength stiffness springyield damping armature width "
         "material rgba user",
         "*"},
    Rule{"fixed",
         "name class group limited range actuatorfrclimited actuatorfrcrange solreflimit solimplimit "
         "solreffriction "
         "solimpfriction margin frictionloss springlength stiffness springyield damping armature user",
         "joint:tendon_joint"},
    Rule{"tendon_joint", "joint coef", ""},
    Rule{
        "actuators", "",
        "general motor position velocity intvelocity damper cylinder muscle adhesion dcmotor pid orientation "
        "plugin"},
    Rule{"general",
         ARTICULA_ACTUATOR
         "actlimited actrange body actdim actearly dyntype gaintype biastype dynprm gainprm "
         "biasprm velrange ffrange input inheritrange",
         ""},
    Rule{"motor", ARTICULA_ACTUATOR, ""},
    Rule{"position", ARTICULA_ACTUATOR "kp kv dampratio timeconst inheritrange", ""},
    Rule{"velocity", ARTICULA_ACTUATOR "kv", ""},
    Rule{"intvelocity", ARTICULA_ACTUATOR "actlimited actrange kp kv dampratio inheritrange", ""},
    Rule{"damper", ARTICULA_ACTUATOR "kv", ""},
    Rule{"cylinder", ARTICULA_ACTUATOR "timeconst area diameter bias", ""},
    Rule{"muscle", ARTICULA_ACTUATOR "timeconst tausmooth range force scale lmin lmax vmax fpmax fvmax", ""},
    Rule{"adhesion", ARTICULA_ACTUATOR "body gain", ""},
    Rule{"dcmotor",
         ARTICULA_ACTUATOR
         "input motorconst resistance nominal saturation inductance cogging controller thermal "
         "lugre",
         ""},
    Rule{"pid",
         ARTICULA_ACTUATOR "kp kv ki imax slewmax posrange velrange ffrange input dampratio inheritrange",
         ""},
    Rule{"orientation", ARTICULA_ACTUATOR "kp kv input dampratio", ""},
    Rule{"sensors", "", "*:sensor"},
    Rule{"sensor", sensor, "*"},
    Rule{"keyframe", "", "key"},
    Rule{"key", "name time qpos qvel act ctrl mpos mquat plastic", ""},
    Rule{"defaults", "class",
         "default:defaults mesh texture:ignored material joint geom site camera light pair equality tendon "
         "general motor position velocity intvelocity damper cylinder muscle adhesion dcmotor pid "
         "orientation"},
};
#undef ARTICULA_ACTUATOR

// What cannot be represented and would change the motion if it were passed over.
struct Refusal {
  std::string_view element, reason;
};
constexpr std::array refusals{
    Refusal{"plugin", "plugins are not supported; remove it and what depends on it"},
    Refusal{"composite", "composite bodies are not supported; write the bodies out, or use <replicate>"},
    Refusal{"flexcomp", "deformable bodies are not supported"},
    Refusal{"flex", "deformable bodies are not supported"},
    Refusal{"flexvert", "deformable bodies are not supported"},
    Refusal{"flexstrain", "deformable bodies are not supported"},
};

// They shape MuJoCo's soft constraints and have no counterpart in hard ones.
struct SoftAttribute {
  std::string_view name;
  std::size_t most_numbers;
};
constexpr std::array soft_attributes{SoftAttribute{"solref", 2},         SoftAttribute{"solimp", 5},
                                     SoftAttribute{"solmix", 1},         SoftAttribute{"solreflimit", 2},
                                     SoftAttribute{"solimplimit", 5},    SoftAttribute{"solreffriction", 2},
                                     SoftAttribute{"solimpfriction", 5}, SoftAttribute{"o_solref", 2},
                                     SoftAttribute{"o_solimp", 5},       SoftAttribute{"impratio", 1}};

const Rule* find_rule(std::string_view kind) {
  for (const Rule& rule : rules) {
    if (rule.kind == kind) return &rule;
  }
  return nullptr;
}

bool has_word(std::string_view list, std::string_view word) {
  for (std::string_view next = next_word(list); !next.empty(); next = next_word(list)) {
    if (next == word) return true;
  }
  return false;
}

// The rule of a child element; "" where it is unknown.
std::string_view child_kind(std::string_view children, std::string_view name) {
  for (std::string_view next = next_word(children); !next.empty(); next = next_word(children)) {
    const std::size_t colon = next.find(':');
    if (next.substr(0, colon) == name || next.starts_with("*:"))
      return colon == next.npos ? next : next.substr(colon + 1);
  }
  return "";
}

std::vector<std::string> words(std::string_view list) {
  std::vector<std::string> result;
  for (std::string_view next = next_word(list); !next.empty(); next = next_word(list)) {
    result.emplace_back(next.substr(0, next.find(':')));
  }
  return result;
}

class Checker {
 public:
  explicit Checker(Reader& reader) : reader_(reader) {}

  void check() {
    pending_.push_back({reader_.tree.root(), find_rule("mujoco")});
    while (!pending_.empty()) {
      const auto [element, rule] = pending_.back();
      pending_.pop_back();
      check_attributes(element, *rule);
      if (rule->children != "*") check_children(element, *rule);
    }
    if (!soft_.empty()) {
      std::string names;
      for (const std::string& name : soft_) names += (names.empty() ? "" : ", ") + name;
      reader_.warnings.add(
          fmt::format("{}: {} shape soft constraints; ours are hard, so they have no effect (said once)",
                      first_soft_, names));
    }
  }

 private:
  void check_attributes(const Element& element, const Rule& rule) {
    for (const pugi::xml_attribute attribute : element.node.attributes()) {
      const std::string_view name = attribute.name();
      const auto soft = std::find_if(soft_attributes.begin(), soft_attributes.end(),
                                     [&](const SoftAttribute& s) { return s.name == name; });
      if (soft != soft_attributes.end()) {
        std::array<double, 5> values{};
        Attributes(element).read(attribute.name(), std::span(values).first(soft->most_numbers), 0);
        if (soft_.empty()) first_soft_ = element.where();
        if (std::find(soft_.begin(), soft_.end(), name) == soft_.end()) soft_.emplace_back(name);
      }
      if (rule.attributes == "*" || has_word(rule.attributes, name) || name.starts_with("xmlns") ||
          name.starts_with("xsi:")) {
        continue;
      }
      reader_.warn(element, [&] {
        return fmt::format("attribute {:.60} is unknown and has no effect{}", name,
                           suggestion(name, words(rule.attributes)));
      });
    }
  }

  void check_children(const Element& element, const Rule& rule) {
    const std::vector<Element> children = reader_.tree.children(element);
    for (auto child = children.rbegin(); child != children.rend(); ++child) {
      const std::string_view kind = child_kind(rule.children, child->name());
      for (const Refusal& refusal : refusals) {
        if (child->name() == refusal.element) fail(*child, "{}", refusal.reason);
      }
      if (kind.empty()) {
        reader_.warn(*child, [&] {
          return fmt::format("the element is unknown inside <{}> and has no effect{}", element.name(),
                             suggestion(child->name(), words(rule.children)));
        });
        continue;
      }
      pending_.emplace_back(*child, find_rule(kind));
    }
  }

  Reader& reader_;
  std::vector<std::pair<Element, const Rule*>> pending_;
  std::vector<std::string> soft_;
  std::string first_soft_;
};

}  // namespace

void check_schema(Reader& reader) { Checker(reader).check(); }

}  // namespace articula::mjcf
