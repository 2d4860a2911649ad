// What MuJoCo refuses to read is refused here, or warned of where it does no harm; each time file, line and
// element are named. MuJoCo itself tells that the table is right.

#include <fmt/format.h>

#include "articula/error.hpp"
#include "articula/io/mjcf.hpp"
#include "articula/model/builder.hpp"
#include "bench/peers/peer_load.hpp"
#include "gtest/gtest.h"

namespace articula::testing {
namespace {

struct Mistake {
  const char *options, *body, *rest;  // before the world, in its only body, after it
  const char *element, *part;         // of the message
};

constexpr std::array mistakes{
    Mistake{"", R"(<geom type="capsule" size="0.1" fromto="0 0 0 1 0 0" pos="1 0 0"/>)", "", "<geom>",
            "both pos and fromto"},
    Mistake{R"(<default><geom pos="1 0 0"/></default>)",
            R"(<geom type="capsule" size="0.1" fromto="0 0 0 1 0 0"/>)", "", "<geom>", "both pos and fromto"},
    Mistake{"", R"(<site type="capsule" size="0.1" fromto="0 0 0 1 0 0" pos="1 0 0"/>)", "", "<site>",
            "both pos and fromto"},
    Mistake{"", R"(<site type="cylinder" size="1 0"/>)", "", "<site>", "all positive"},
    Mistake{"", R"(<geom size="0.1" fluidshape="x"/>)", "", "<geom>", "'none', 'ellipsoid'"},
    Mistake{"", R"(<geom size="0.1" pos="1,2,3"/>)", "", "<geom>", "spaces between"},
    Mistake{"", R"(<geom size="0.1" material="gold"/>)", "", "<geom>", "no material 'gold'"},
    Mistake{"", R"(<geom size="0.1" solimp="0.9 0.95 0.01 0.5 2 7"/>)", "", "<geom>", "solimp has 6 numbers"},
    Mistake{"", R"(<geom size="0.1" solref="soft"/>)", "", "<geom>", "'soft' is not a finite number"},
    Mistake{"", R"(<geom type="plane" size="1 1"/>)", "", "<geom>", "third size"},
    Mistake{"", R"(<joint type="ball"/><joint type="ball"/>)", "", "<body name=\"b\">",
            "followed by another rotation"},
    Mistake{"", R"(<joint type="ball"/><joint type="slide"/><joint/>)", "", "<body name=\"b\">",
            "put a body between"},
    Mistake{"", "<joint/><joint/><joint/><joint/><joint/><joint/><joint/>", "", "<body name=\"b\">",
            "7 degrees of freedom"},
    Mistake{R"(<option integrator="euler"/>)", "", "", "<option>", "'Euler', 'RK4'"},
    Mistake{R"(<option cone="round"/>)", "", "", "<option>", "'pyramidal', 'elliptic'"},
    Mistake{R"(<option solver="newton"/>)", "", "", "<option>", "'PGS', 'CG', 'Newton'"},
    Mistake{R"(<option jacobian="full"/>)", "", "", "<option>", "'dense', 'sparse', 'auto'"},
    Mistake{R"(<option iterations="1.5"/>)", "", "", "<option>", "whole number"},
    Mistake{R"(<option tolerance="x"/>)", "", "", "<option>", "not a finite number"},
    Mistake{R"(<option actuatorgroupdisable="1.5"/>)", "", "", "<option>", "groups are 0 to 30"},
    Mistake{R"(<option><flag warmstart="on"/></option>)", "", "", "<flag>", "'enable', 'disable'"},
    Mistake{R"(<compiler coordinate="here"/>)", "", "", "<compiler>", "'local'"},
    Mistake{"", R"(<joint name="j"/>)", R"(<sensor><jointlimitpos joint="j"/></sensor>)", "<jointlimitpos>",
            "'j' has no limit"},
    Mistake{"", R"(<joint name="j" range="-1 1" limited="false"/>)",
            R"(<sensor><jointlimitfrc joint="j"/></sensor>)", "<jointlimitfrc>", "give it a range"},
    Mistake{
        "", R"(<joint name="j"/>)",
        R"(<tendon><fixed name="t"><joint joint="j" coef="1"/></fixed></tendon><sensor><tendonlimitvel tendon="t"/></sensor>)",
        "<tendonlimitvel>", "'t' has no limit"},
    Mistake{"", R"(<joint name="j" type="ball"/>)", R"(<sensor><jointpos joint="j"/></sensor>)", "<jointpos>",
            "no hinge or slide"},
    Mistake{"", R"(<joint name="j"/>)", R"(<sensor><ballquat joint="j"/></sensor>)", "<ballquat>",
            "no ball joint"},
    Mistake{"", R"(<site name="s"/>)",
            R"(<sensor><framequat objtype="site" objname="s" cutoff="1"/></sensor>)", "<framequat>",
            "cutoff"},
    Mistake{"", R"(<site name="s"/>)", R"(<sensor><gyro site="s" noise="-1"/></sensor>)", "<gyro>",
            "noise is -1"},
    Mistake{"", R"(<site name="s"/>)",
            R"(<sensor><framelinacc objtype="site" objname="s" reftype="site" refname="s"/></sensor>)",
            "<framelinacc>", "leave reftype and refname out"},
    Mistake{"", "", R"(<sensor><framepos objtype="camera" objname="c"/></sensor>)", "<framepos>",
            "no camera 'c'"},
    Mistake{"", R"(<joint name="j"/>)", R"(<actuator><general joint="j" actrange="-1 1"/></actuator>)",
            "<general>", "actrange"},
    Mistake{"", R"(<joint name="j"/>)", R"(<actuator><general joint="j" actdim="1"/></actuator>)",
            "<general>", "actdim is 1"},
    Mistake{"", R"(<joint name="j"/>)", R"(<actuator><damper joint="j" kv="1" ctrlrange="-1 1"/></actuator>)",
            "<damper>", "cannot be negative"},
    Mistake{"", R"(<joint name="j"/>)", R"(<actuator><motor joint="j" cranklength="1"/></actuator>)",
            "<motor>", "slider-crank"},
    Mistake{"", R"(<joint name="j"/>)",
            R"(<tendon><fixed><joint joint="j" coef="1"/><joint joint="j" coef="2"/></fixed></tendon>)",
            "<joint>", "in the tendon already"},
    Mistake{"", R"(<geom name="g" size="0.1"/>)",
            R"(<contact><pair geom1="g" geom2="g" condim="2"/></contact>)", "<pair>", "1, 3, 4 or 6"},
    Mistake{"", R"(<site name="s"/>)",
            R"(<equality><connect site1="s" site2="s" anchor="0 0 0"/></equality>)", "<connect>",
            "anchor belongs to two bodies"},
    Mistake{R"(<worldbody><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></worldbody>)", "", "",
            "<inertial>", "the world has no inertia"},
    Mistake{R"(<worldbody pos="0 0 1"/>)", "", "", "<worldbody>", "pos is unknown"},
};

// The refusal, or else all warnings.
std::string told(const std::string& text) {
  try {
    const Model model = build(parse_mjcf(text));
    std::string warnings;
    for (const std::string& warning : model.description().warnings) warnings += warning + "\n";
    return warnings;
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(MujocoRefusals, are_refused_or_warned_of) {
  std::string reason;
  const PeerApi* mujoco = peers::load_peer("mujoco", reason);
  for (const Mistake& m : mistakes) {
    const std::string text = fmt::format(
        "<mujoco>{}\n<worldbody><body name=\"b\">{}<geom size=\"0.1\"/></body></worldbody>\n{}</mujoco>",
        m.options, m.body, m.rest);
    const std::string message = told(text);
    const int line = *m.rest != '\0' ? 3 : *m.body != '\0' ? 2 : 1;
    EXPECT_NE(message.find(fmt::format("model.xml:{}: {}", line, m.element)), std::string::npos)
        << text << "\n"
        << message;
    EXPECT_NE(message.find(m.part), std::string::npos) << text << "\n" << message;
    if (mujoco != nullptr) EXPECT_ANY_THROW(peers::create_from_mjcf_text(*mujoco, text)) << text;
  }
}

}  // namespace
}  // namespace articula::testing
