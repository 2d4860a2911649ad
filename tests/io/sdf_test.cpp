// SDF files against their twins in MJCF, and against figures worked out by hand.

#include "articula/io/sdf.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "articula/error.hpp"
#include "articula/io/load.hpp"
#include "articula/io/mjcf.hpp"
#include "tests/support/dynamics_difference.hpp"

namespace articula::sdf_test {
namespace {

namespace fs = std::filesystem;

std::string inertial(double mass, const std::string& pose, const std::string& moments) {
  std::string numbers = moments;
  const std::size_t first = numbers.find(' '), second = numbers.find(' ', first + 1);
  return fmt::format(
      "<inertial><pose>{}</pose><mass>{}</mass><inertia><ixx>{}</ixx><iyy>{}</iyy><izz>{}</izz><ixy>0</"
      "ixy><ixz>0</ixz>"
      "<iyz>0</iyz></inertia></inertial>",
      pose, mass, numbers.substr(0, first), numbers.substr(first + 1, second - first - 1),
      numbers.substr(second + 1));
}

TEST(Sdf, an_initial_position_is_said_to_have_no_effect) {
  const Description d = parse_sdf(R"(<sdf version="1.9"><model name="m">
    <link name="a"/><link name="b"/>
    <joint name="j" type="revolute"><parent>a</parent><child>b</child>
      <axis><xyz>0 0 1</xyz><initial_position>0.5</initial_position></axis></joint></model></sdf>)");
  EXPECT_TRUE(std::any_of(d.warnings.begin(), d.warnings.end(), [](const std::string& w) {
    return w.find("<axis>") != w.npos && w.find("initial_position is 0.5") != w.npos;
  }));
}

// Links are placed in the model, in other links and in frames; joints in links and frames; axes in joints, in
// other frames and, as SDF 1.6 has it, in the model.
std::string every_joint(const std::string& version) {
  const bool old = version == "1.6";
  const std::string hinge_axis =
      old ? "<axis><xyz>0 0 1</xyz><use_parent_model_frame>true</use_parent_model_frame>"
          : "<axis><xyz expressed_in=\"__model__\">0 0 1</xyz>";
  const std::string c_pose = old ? "<pose>0.4 0.3 0.6 0 0 1.5707963267948966</pose>"
                                 : "<pose relative_to=\"b\">0.2 0.1 0.1 0 0 1.5707963267948966</pose>";
  return "<sdf version=\"" + version + R"("><model name="robot"><pose>1 2 3 0 0 0</pose>
    <link name="a"><pose>0 0 0.5 0 0 0</pose>)" +
         inertial(3, "0.1 0 0 0 0 0", "0.03 0.02 0.04") + R"(</link>
    <link name="b"><pose>0.2 0.2 0.5 0 0 0</pose>)" +
         inertial(1, "0 0.1 0 0 0 0", "0.01 0.02 0.015") + R"(</link>
    <link name="c">)" +
         c_pose + inertial(0.8, "0 0 0.1 0 0 0", "0.01 0.012 0.008") + R"(</link>
    <link name="d"><pose>0.5 0 0.7 1.5707963267948966 0 0</pose>)" +
         inertial(0.7, "0.05 0 0 0 0 0", "0.004 0.003 0.002") + R"(</link>
    <link name="e"><pose>0.7 0 0.9 0 0 0</pose>)" +
         inertial(0.6, "0 0 0.2 0 0 1.5707963267948966", "0.004 0.003 0.002") + R"(</link>
    <link name="f"><pose>0.9 0 0.9 0 0 0</pose>)" +
         inertial(0.5, "0 0.1 0 0 0 0", "0.004 0.003 0.002") + R"(</link>
    <link name="g"><pose>0 0.5 0.9 0 0 0</pose>)" +
         inertial(0.4, "0.1 0.1 0 0 0 0", "0.004 0.003 0.002") + R"(</link>
    <joint name="turn" type="revolute"><pose>0 0 0.1 0 0.3 0</pose><parent>a</parent><child>b</child>)" +
         hinge_axis + R"(<limit><lower>-1</lower><upper>2</upper><effort>20</effort></limit>
      <dynamics><damping>0.4</damping><friction>0.2</friction><spring_stiffness>3</spring_stiffness>
      <spring_reference>0.1</spring_reference></dynamics></axis></joint>
    <joint name="push" type="prismatic"><parent>b</parent><child>c</child><axis><xyz>1 1 0</xyz></axis></joint>
    <joint name="ball" type="ball"><pose>0 0.05 0 0 0 0</pose><parent>c</parent><child>d</child></joint>
    <joint name="cross" type="universal"><pose>0 0 0.05 0 0 0</pose><parent>d</parent><child>e</child>
      <axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2></joint>
    <joint name="wheel" type="revolute2"><parent>a</parent><child>g</child>
      <axis><xyz>0 0 1</xyz></axis><axis2><xyz>0 1 1</xyz></axis2></joint>
    <joint name="glue" type="fixed"><parent>e</parent><child>f</child></joint>
  </model></sdf>)";
}

constexpr const char* twin = R"(<mujoco><compiler angle="radian"/><worldbody>
  <body name="a" pos="1 2 3.5"><freejoint/><inertial pos="0.1 0 0" mass="3" diaginertia="0.03 0.02 0.04"/>
    <body name="b" pos="0.2 0.2 0">
      <joint name="turn" pos="0 0 0.1" axis="0 0 1" damping="0.4" frictionloss="0.2" stiffness="3" springref="0.1" range="-1 2"/>
      <inertial pos="0 0.1 0" mass="1" diaginertia="0.01 0.02 0.015"/>
      <body name="c" pos="0.2 0.1 0.1" euler="0 0 1.5707963267948966">
        <joint name="push" type="slide" axis="1 1 0"/>
        <inertial pos="0 0 0.1" mass="0.8" diaginertia="0.01 0.012 0.008"/>
        <body name="d" pos="-0.3 -0.1 0.1" quat="0.5 0.5 -0.5 -0.5">
          <joint name="ball" type="ball" pos="0 0.05 0"/>
          <inertial pos="0.05 0 0" mass="0.7" diaginertia="0.004 0.003 0.002"/>
          <body name="e" pos="0.2 0.2 0" euler="-1.5707963267948966 0 0">
            <joint name="cross" pos="0 0 0.05" axis="1 0 0"/><joint name="cross_2" pos="0 0 0.05" axis="0 1 0"/>
            <inertial pos="0 0 0.2" mass="0.6" diaginertia="0.003 0.004 0.002"/>
            <body name="f" pos="0.2 0 0"><inertial pos="0 0.1 0" mass="0.5" diaginertia="0.004 0.003 0.002"/></body>
          </body>
        </body>
      </body>
    </body>
    <body name="g" pos="0 0.5 0.4">
      <joint name="wheel" axis="0 0 1"/><joint name="wheel_2" axis="0 1 1"/>
      <inertial pos="0.1 0.1 0" mass="0.4" diaginertia="0.004 0.003 0.002"/>
    </body>
  </body>
</worldbody></mujoco>)";

const BodyDescription& body(const Description& d, const std::string& name) {
  for (const BodyDescription& b : d.bodies) {
    if (b.name == name) return b;
  }
  throw Error("no body " + name);
}

TEST(Sdf, every_type_of_joint_moves_as_its_twin_in_mjcf) {
  const Model mjcf = build(parse_mjcf(twin));
  for (const char* version : {"1.6", "1.7", "1.9", "1.11"}) {
    SCOPED_TRACE(version);
    const Description d = parse_sdf(every_joint(version));
    const JointDescription& turn = body(d, "b").joints[0];
    EXPECT_EQ(*turn.range, Vector2(-1, 2));
    EXPECT_EQ(*turn.actuator_force_range, Vector2(-20, 20));
    EXPECT_EQ(turn.damping, 0.4);
    EXPECT_EQ(turn.dry_friction, 0.2);
    EXPECT_EQ(turn.stiffness, 3.0);
    EXPECT_EQ(turn.spring_reference, 0.1);
    EXPECT_LT(testing::dynamics_difference(build(d), mjcf), 1e-12);
  }
}

TEST(Sdf, frames_and_placement_frames_carry_poses) {
  const Description d =
      parse_sdf(R"(<sdf version="1.8"><model name="m" placement_frame="hook"><pose>0 0 5 0 0 0</pose>
    <link name="base"><pose relative_to="mount">1 0 0 0 0 0</pose></link>
    <frame name="mount"><pose>0 1 0 0 0 1.5707963267948966</pose></frame>
    <frame name="hook" attached_to="base"><pose>0 0 1 0 0 0</pose></frame>
    <frame name="deg"><pose degrees="true">0 0 0 0 0 90</pose></frame>
    <frame name="quat"><pose rotation_format="quat_xyzw">0 0 0 0 0 1 1</pose></frame></model></sdf>)");
  // base is at (0, 2, 0) in the model, turned by 90 degrees; hook one metre above it comes to (0, 0, 5)
  // unturned.
  EXPECT_TRUE(body(d, "base").pose.position.isApprox(Vector3(0, 0, 4), 1e-12));
  EXPECT_TRUE(body(d, "base").pose.rotation.isApprox(Quaternion::Identity(), 1e-12));
  ASSERT_EQ(d.frames.size(), 4u);
  EXPECT_EQ(d.frames[1].name, "hook");
  EXPECT_TRUE(d.frames[1].pose.position.isApprox(Vector3(0, 0, 1), 1e-12));
  EXPECT_TRUE(d.frames[2].pose.rotation.isApprox(d.frames[3].pose.rotation, 1e-12));
}

TEST(Sdf, nested_models_have_names_in_their_models) {
  const Description d = parse_sdf(R"(<sdf version="1.8"><model name="outer"><link name="base"/>
    <model name="arm"><pose>0 0 1 0 0 0</pose><link name="hand"><pose>1 0 0 0 0 0</pose></link></model>
    <joint name="j" type="fixed"><parent>base</parent><child>arm::hand</child></joint></model></sdf>)");
  EXPECT_EQ(body(d, "arm::hand").parent, "base");
  EXPECT_TRUE(body(d, "arm::hand").pose.position.isApprox(Vector3(1, 0, 1)));
  EXPECT_EQ(build(d).nv(), 6);
}

TEST(Sdf, a_world_has_gravity_and_static_models_stay) {
  const Description d = parse_sdf(R"(<sdf version="1.7"><world name="w"><gravity>0 0 -3.7</gravity>
    <physics type="ode"><max_step_size>0.005</max_step_size></physics>
    <model name="ground"><static>true</static><link name="link"><collision name="c"><geometry><plane><normal>0 0 1</normal>
      </plane></geometry><surface><friction><ode><mu>0.7</mu></ode></friction><bounce>
      <restitution_coefficient>0.5</restitution_coefficient></bounce></surface></collision></link></model>
    <model name="box"><pose>0 0 1 0 0 0</pose><link name="link"><collision name="c"><geometry><box><size>2 4 6</size></box>
      </geometry></collision></link></model></world></sdf>)");
  EXPECT_EQ(d.gravity.z(), -3.7);
  EXPECT_EQ(d.timestep, 0.005);
  EXPECT_TRUE(body(d, "ground::link").joints.empty());
  EXPECT_EQ(body(d, "box::link").joints[0].type, JointType::free);
  EXPECT_EQ(d.geometries[0].friction[0], 0.7);
  EXPECT_EQ(d.geometries[0].restitution, 0.5);
  EXPECT_EQ(d.geometries[1].size, Vector3(1, 2, 3));
  EXPECT_NO_THROW(build(d));
}

TEST(Sdf, links_of_a_model_collide_only_if_it_says_so) {
  const auto model = [](const std::string& extra) {
    return R"(<sdf version="1.7"><model name="m">)" + extra + R"(
      <link name="a"><collision name="c"><geometry><sphere><radius>1</radius></sphere></geometry></collision></link>
      <link name="b"><collision name="c"><geometry><sphere><radius>1</radius></sphere></geometry></collision></link>
      </model></sdf>)";
  };
  EXPECT_EQ(parse_sdf(model("")).contact_exclusions.size(), 1u);
  EXPECT_EQ(parse_sdf(model("<self_collide>true</self_collide>")).contact_exclusions.size(), 0u);
}

// Where nothing is said all 16 bits are set, and shapes that share one collide.
TEST(Sdf, masks_of_bits_tell_what_collides) {
  const auto world = [](const std::string& mask) {
    return parse_sdf(R"(<sdf version="1.7"><world name="w">
      <model name="ground"><static>true</static><link name="l"><collision name="c"><geometry><plane/></geometry>
        </collision></link></model>
      <model name="ball"><pose>0 0 1 0 0 0</pose><link name="l"><collision name="c"><geometry><sphere><radius>0.1</radius>
        </sphere></geometry><surface><contact><collide_bitmask>)" +
                     mask +
                     R"(</collide_bitmask></contact></surface></collision></link></model></world></sdf>)");
  };
  for (const char* mask : {"2", "0x02", "0xffff"}) {
    const Description d = world(mask);
    EXPECT_NE(d.geometries[0].contype & d.geometries[1].conaffinity, 0) << mask;
  }
  EXPECT_EQ(world("2").geometries[1].contype, 2);
  EXPECT_EQ(world("0").geometries[1].contype, 0);
  for (const char* mask : {"0x10000", "-1", "two", "1.5", ""}) EXPECT_THROW(world(mask), Error) << mask;
}

TEST(Sdf, what_surfaces_say_without_effect_is_told) {
  const Description d = parse_sdf(R"(<sdf version="1.7"><model name="m"><link name="l"><collision name="c">
    <geometry><sphere><radius>0.1</radius></sphere></geometry>
    <surface>
      <bounce><restitution_coefficient>0.5</restitution_coefficient><threshold>2</threshold></bounce>
      <friction>
        <ode><mu>0.3</mu><mu2>0.9</mu2><fdir1>1 0 0</fdir1></ode>
        <torsional><coefficient>0.2</coefficient></torsional>
      </friction>
      <contact><ode><kp>1e6</kp></ode></contact>
    </surface></collision></link></model></sdf>)");
  std::string all;
  for (const std::string& warning : d.warnings) all += warning + "\n";
  for (const char* name : {"<threshold>", "<mu2>", "<fdir1>", "<coefficient>", "<kp>"})
    EXPECT_NE(all.find(name), std::string::npos) << name << " in:\n" << all;
  EXPECT_EQ(d.warnings.size(), 5u) << all;
}

TEST(Sdf, a_joint_that_closes_a_loop_is_an_equality) {
  const auto loop = [](const std::string& type) {
    return parse_sdf(
        R"(<sdf version="1.7"><model name="m"><link name="a"/><link name="b"/><link name="c"/>
      <joint name="base" type="fixed"><parent>world</parent><child>a</child></joint>
      <joint name="ab" type="revolute"><parent>a</parent><child>b</child><axis><xyz>0 0 1</xyz></axis></joint>
      <joint name="ac" type="revolute"><parent>a</parent><child>c</child><axis><xyz>0 0 1</xyz></axis></joint>
      <joint name="bc" type=")" +
        type + R"("><parent>b</parent><child>c</child><axis><xyz>0 0 1</xyz></axis></joint></model></sdf>)");
  };
  EXPECT_EQ(loop("ball").equalities.size(), 1u);
  EXPECT_EQ(loop("ball").equalities[0].type, EqualityType::connect);
  EXPECT_EQ(loop("fixed").equalities[0].type, EqualityType::weld);
  EXPECT_EQ(loop("revolute").equalities.size(), 2u);
  EXPECT_THROW(loop("prismatic"), Error);
  EXPECT_EQ(build(loop("ball")).nv(), 2);
}

// A folder of models that is there while a test runs.
class SdfModels : public ::testing::Test {
 protected:
  SdfModels() { options.search_path = {directory}; }
  ~SdfModels() override { fs::remove_all(directory); }

  void add(const std::string& name, const std::string& model) const {
    fs::create_directories(directory / name);
    std::ofstream(directory / name / "model.config")
        << "<model><sdf version=\"1.6\">" << name << ".sdf</sdf></model>";
    std::ofstream(directory / name / (name + ".sdf")) << "<sdf version=\"1.9\">" << model << "</sdf>";
  }

  const fs::path directory =
      fs::path(::testing::TempDir()) / ("articula_sdf_models_" + std::to_string(::getpid()));
  LoadOptions options;
};

TEST_F(SdfModels, are_found_in_the_search_path) {
  add("crate", R"(<model name="crate"><link name="link"/></model>)");
  const Description d = parse_sdf(R"(<sdf version="1.7"><world name="w">
    <include><uri>model://crate</uri><pose>1 0 0 0 0 0</pose></include>
    <include><uri>model://crate</uri><name>other</name><static>1</static></include></world></sdf>)",
                                  {}, options);
  EXPECT_EQ(body(d, "crate::link").pose.position.x(), 1.0);
  EXPECT_TRUE(body(d, "other::link").joints.empty());
}

// Its names stand beside those of the model around it, and its poses in its own frame.
TEST_F(SdfModels, that_are_merged_become_part_of_the_model_around_them) {
  add("arm", R"(<model name="arm"><frame name="mount"/>
    <link name="upper"><pose>0 0 1 0 0 0</pose></link>
    <link name="lower"><pose relative_to="upper">0 0 0.5 0 0 0</pose></link>
    <joint name="elbow" type="revolute"><parent>upper</parent><child>lower</child>
      <axis><xyz expressed_in="__model__">1 0 0</xyz></axis></joint>
    <model name="hand"><link name="palm"/></model></model>)");
  const Description d = parse_sdf(R"(<sdf version="1.9"><model name="robot"><link name="base"/>
    <include merge="true"><uri>model://arm</uri><pose>2 0 0 0 0 1.5707963267948966</pose></include>
    <joint name="shoulder" type="fixed"><parent>base</parent><child>upper</child></joint>
    <joint name="wrist" type="fixed"><parent>lower</parent><child>hand::palm</child></joint></model></sdf>)",
                                  {}, options);
  EXPECT_EQ(body(d, "upper").parent, "base");
  EXPECT_TRUE(body(d, "upper").pose.position.isApprox(Vector3(2, 0, 1), 1e-12));
  EXPECT_TRUE((body(d, "upper").pose.rotation * Vector3::UnitX()).isApprox(Vector3::UnitY(), 1e-12));
  EXPECT_TRUE(body(d, "lower").pose.position.isApprox(Vector3(0, 0, 0.5), 1e-12));
  EXPECT_TRUE(body(d, "lower").joints.at(0).axis.isApprox(Vector3::UnitX(), 1e-12));
  EXPECT_EQ(body(d, "hand::palm").parent, "lower");
  EXPECT_EQ(build(d).nv(), 7);  // one tree on a free base, and the elbow
}

TEST_F(SdfModels, can_only_be_merged_into_a_model) {
  add("crate", R"(<model name="crate"><link name="link"/></model>)");
  EXPECT_THROW(parse_sdf(R"(<sdf version="1.9"><world name="w"><include merge="true"><uri>model://crate</uri>
    </include></world></sdf>)",
                         {}, options),
               Error);
}

}  // namespace
}  // namespace articula::sdf_test
