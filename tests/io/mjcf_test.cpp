// What an MJCF file means, against figures worked out by hand.

#include "articula/io/mjcf.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <numbers>

#include "articula/error.hpp"
#include "articula/model/builder.hpp"

namespace articula::mjcf_test {
namespace {

constexpr double pi = std::numbers::pi;

Description parse(const std::string& inner) { return parse_mjcf("<mujoco>" + inner + "</mujoco>"); }

const BodyDescription& body(const Description& d, const std::string& name) {
  for (const BodyDescription& b : d.bodies) {
    if (b.name == name) return b;
  }
  throw Error("no body " + name);
}

TEST(Mjcf, bodies_are_listed_depth_first_in_the_order_of_the_file) {
  const Description d = parse(R"(
    <worldbody>
      <body name="a"><body name="b"><body name="c"/></body><body name="d"/></body>
      <frame><body name="e"/></frame>
      <body name="f"/>
    </worldbody>)");
  std::string order;
  for (const BodyDescription& b : d.bodies) order += b.name;
  EXPECT_EQ(order, "abcdef");
  EXPECT_EQ(body(d, "c").parent, "b");
  EXPECT_EQ(body(d, "e").parent, "world");
}

TEST(Mjcf, a_sphere_weighs_four_thirds_pi_r_cubed_times_its_density) {
  const Description d = parse(R"(
    <worldbody><body name="ball" pos="1 2 3"><freejoint/><geom size="0.1" density="500" pos="0 0 0.2"/></body>
    </worldbody>)");
  const InertiaDescription& inertia = body(d, "ball").inertia;
  const double mass = 500.0 * 4.0 / 3.0 * pi * 1e-3;
  EXPECT_NEAR(inertia.mass, mass, 1e-12);
  EXPECT_NEAR(inertia.com.z(), 0.2, 1e-15);
  EXPECT_NEAR(inertia.inertia(0, 0), 0.4 * mass * 0.01, 1e-12);
}

TEST(Mjcf, two_balls_on_a_rod_have_the_inertia_steiner_gives_them) {
  const Description d = parse(R"(
    <worldbody><body name="dumbbell"><freejoint/>
      <geom size="0.1" mass="2" pos="0.5 0 0"/><geom size="0.1" mass="2" pos="-0.5 0 0"/></body></worldbody>)");
  const InertiaDescription& inertia = body(d, "dumbbell").inertia;
  const double own = 0.4 * 2.0 * 0.01;
  EXPECT_NEAR(inertia.mass, 4.0, 1e-15);
  EXPECT_NEAR(inertia.inertia(0, 0), 2.0 * own, 1e-15);
  EXPECT_NEAR(inertia.inertia(1, 1), 2.0 * (own + 2.0 * 0.25), 1e-15);
  EXPECT_TRUE(inertia.inertia.isApprox(inertia.inertia.transpose()));
}

TEST(Mjcf, angles_are_degrees_unless_the_compiler_says_radians) {
  const std::string model = R"(<worldbody><body name="b" euler="90 0 0"><joint range="-90 180" ref="45"/>
      <geom size="0.1"/></body></worldbody>)";
  const JointDescription in_degrees = parse(model).bodies[0].joints[0];
  EXPECT_NEAR((*in_degrees.range)[1], pi, 1e-15);
  EXPECT_NEAR(in_degrees.reference, pi / 4.0, 1e-15);
  const JointDescription in_radians = parse("<compiler angle=\"radian\"/>" + model).bodies[0].joints[0];
  EXPECT_NEAR((*in_radians.range)[1], 180.0, 1e-15);
}

TEST(Mjcf, upper_case_euler_letters_turn_about_fixed_axes) {
  const auto turned = [](const std::string& sequence) {
    return parse("<compiler eulerseq=\"" + sequence +
                 "\"/><worldbody><body name=\"b\" euler=\"90 90 0\"/></worldbody>")
        .bodies[0]
        .pose.rotation;
  };
  // Intrinsic: about x, then about the new y (which is z): x goes to y, where the first turn leaves it.
  EXPECT_TRUE((turned("xyz") * Vector3::UnitX()).isApprox(Vector3(0, 1, 0), 1e-12));
  // Extrinsic: x stays under the first turn, the second about the fixed y takes it to -z.
  EXPECT_TRUE((turned("XYZ") * Vector3::UnitX()).isApprox(Vector3(0, 0, -1), 1e-12));
}

TEST(Mjcf, an_inner_default_class_overrides_an_outer_one_and_the_element_both) {
  const Description d = parse(R"(
    <default><geom friction="0.1 0.2 0.3" size="0.5"/>
      <default class="rough"><geom friction="0.9"/></default></default>
    <worldbody>
      <geom name="plain"/>
      <body childclass="rough"><geom name="rough"/><geom name="own" friction="0.7"/><geom name="main" class="main"/></body>
    </worldbody>)");
  EXPECT_EQ(d.geometries[0].friction, Vector3(0.1, 0.2, 0.3));
  EXPECT_EQ(d.geometries[1].friction, Vector3(0.9, 0.2, 0.3));
  EXPECT_EQ(d.geometries[2].friction, Vector3(0.7, 0.2, 0.3));
  EXPECT_EQ(d.geometries[3].friction, Vector3(0.1, 0.2, 0.3));
  EXPECT_EQ(d.geometries[3].size[0], 0.5);
}

TEST(Mjcf, a_capsule_given_by_two_points_lies_between_them) {
  const Description d =
      parse("<worldbody><geom type=\"capsule\" size=\"0.1\" fromto=\"0 0 0 0 2 0\"/></worldbody>");
  const GeometryDescription& g = d.geometries[0];
  EXPECT_TRUE(g.pose.position.isApprox(Vector3(0, 1, 0)));
  EXPECT_NEAR(g.size[1], 1.0, 1e-15);
  EXPECT_NEAR(std::abs((g.pose.rotation * Vector3::UnitZ()).y()), 1.0, 1e-15);
}

TEST(Mjcf, a_position_servo_pulls_with_kp_times_the_error_and_damps_with_kv) {
  const Description d = parse(R"(
    <worldbody><body><joint name="j"/><geom size="0.1"/></body></worldbody>
    <actuator><position joint="j" kp="20" kv="3" ctrlrange="-1 1" forcerange="-5 5"/></actuator>)");
  const ActuatorDescription& a = d.actuators[0];
  EXPECT_EQ(a.gain, (std::array{20.0, 0.0, 0.0}));
  EXPECT_EQ(a.bias, (std::array{0.0, -20.0, -3.0}));
  EXPECT_EQ(*a.control_range, Vector2(-1, 1));
  EXPECT_EQ(*a.force_range, Vector2(-5, 5));
}

TEST(Mjcf, a_motor_in_a_class_whose_default_is_a_servo_is_still_a_motor) {
  const Description d = parse(R"(
    <default><position kp="50" ctrlrange="-2 2"/></default>
    <worldbody><body><joint name="j"/><geom size="0.1"/></body></worldbody>
    <actuator><motor joint="j"/><position joint="j"/></actuator>)");
  EXPECT_EQ(d.actuators[0].gain[0], 1.0);
  EXPECT_EQ(d.actuators[0].bias[1], 0.0);
  EXPECT_EQ(*d.actuators[0].control_range, Vector2(-2, 2));
  EXPECT_EQ(d.actuators[1].gain[0], 50.0);
}

TEST(Mjcf, replicas_are_turned_and_shifted_one_from_the_other) {
  const Description d = parse(R"(
    <worldbody><replicate count="3" sep="-" offset="1 0 0" euler="0 0 90">
      <body name="post" pos="0 0 1"><joint name="j"/><geom size="0.1"/></body></replicate></worldbody>
    <actuator><motor name="m" joint="j"/></actuator>)");
  ASSERT_EQ(d.bodies.size(), 3u);
  EXPECT_EQ(d.bodies[2].name, "post-2");
  EXPECT_TRUE(d.bodies[1].pose.position.isApprox(Vector3(1, 0, 1), 1e-12));
  EXPECT_TRUE(d.bodies[2].pose.position.isApprox(Vector3(1, 1, 1), 1e-12));
  EXPECT_TRUE((d.bodies[2].pose.rotation * Vector3::UnitX()).isApprox(-Vector3::UnitX(), 1e-12));
  ASSERT_EQ(d.actuators.size(), 3u);
  EXPECT_EQ(d.actuators[1].target, "j-1");
}

TEST(Mjcf, an_attached_body_brings_the_actuators_on_it_with_or_without_names) {
  const std::filesystem::path directory =
      std::filesystem::path(::testing::TempDir()) / ("articula_attach_" + std::to_string(::getpid()));
  std::filesystem::create_directories(directory);
  std::ofstream(directory / "part.xml") << R"(<mujoco><worldbody>
      <body name="l"><joint name="jl"/><geom size="0.1"/><site name="sl"/></body>
      <body name="r"><joint name="jr"/><joint name="kr" axis="1 0 0"/><geom size="0.1"/><site name="sr"/></body>
      </worldbody><tendon><fixed><joint joint="jl" coef="1"/></fixed><fixed><joint joint="jr" coef="2"/></fixed>
      </tendon><actuator><motor joint="jl"/><motor joint="jr" gear="2"/><motor joint="kr"/>
      <motor site="sr" refsite="sl"/></actuator></mujoco>)";
  const Description d = parse_mjcf(R"(<mujoco><asset><model name="p" file="part.xml"/></asset>
      <worldbody><attach model="p" body="r" prefix="x_"/></worldbody></mujoco>)",
                                   directory);
  std::filesystem::remove_all(directory);
  ASSERT_EQ(d.actuators.size(), 2u);
  EXPECT_EQ(d.actuators[0].target, "x_jr");
  EXPECT_EQ(d.actuators[1].target, "x_kr");
  ASSERT_EQ(d.tendons.size(), 1u);
  EXPECT_EQ(d.tendons[0].terms[0].joint, "x_jr");
  EXPECT_NO_THROW(build(d));
}

// On the ground the same arm is lighter to turn than on what carried it.
TEST(Mjcf, springs_and_dampers_of_an_attached_body_are_for_the_whole_it_becomes_part_of) {
  const std::filesystem::path directory =
      std::filesystem::path(::testing::TempDir()) / ("articula_springs_" + std::to_string(::getpid()));
  std::filesystem::create_directories(directory);
  const std::string arm = R"(<body name="e" pos="0 0 1"><joint axis="0 1 0" springdamper="0.5 0.9"/>
      <joint name="k" axis="1 0 0"/><geom size="0.1" pos="0 0.1 0.2"/></body>)";
  const std::string servos = R"(<position joint="k" kp="3" dampratio="1"/>)";
  std::ofstream(directory / "part.xml")
      << R"(<mujoco><worldbody><body name="p"><joint name="j" springdamper="1 1"/><geom size="0.1" pos="0.1 0 0"/>)"
      << arm << R"(</body></worldbody><actuator><position joint="j" kp="2" dampratio="2"/>)" << servos
      << "</actuator></mujoco>";
  const std::string own =
      R"(<body><joint name="o" springdamper="2 1"/><geom size="0.1" pos="0.1 0 0"/></body>)";
  const std::string own_servo = R"(<actuator><motor joint="o"/>)";
  const Description attached = parse_mjcf(R"(<mujoco><asset><model name="p" file="part.xml"/></asset>
      <worldbody>)" + own + R"(<attach model="p" body="e" prefix=""/></worldbody>)" +
                                              own_servo + "</actuator></mujoco>",
                                          directory);
  std::filesystem::remove_all(directory);
  const Description written =
      parse("<worldbody>" + own + arm + "</worldbody>" + own_servo + servos + "</actuator>");
  ASSERT_EQ(attached.bodies.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_DOUBLE_EQ(attached.bodies[i].joints[0].stiffness, written.bodies[i].joints[0].stiffness);
    EXPECT_DOUBLE_EQ(attached.bodies[i].joints[0].damping, written.bodies[i].joints[0].damping);
    EXPECT_GT(attached.bodies[i].joints[0].stiffness, 0.0);
    EXPECT_DOUBLE_EQ(attached.actuators[i].bias[2], written.actuators[i].bias[2]);
  }
  EXPECT_LT(attached.actuators[1].bias[2], 0.0);
}

TEST(Mjcf, a_short_list_in_a_class_keeps_the_rest_of_the_one_around_it) {
  const Description d = parse(R"(<default><geom size="0.1 0.2 0.3" type="box" quat="0 1 0 0"/>
      <default class="a"><geom size="0.5" euler="0 0 90"/><default class="b"><geom size="0.6 0.7"/></default>
      </default></default><worldbody><geom/><geom class="a"/><geom class="b"/><geom class="b" size="0.9"/>
      </worldbody>)");
  EXPECT_EQ(d.geometries[0].size, Vector3(0.1, 0.2, 0.3));
  EXPECT_EQ(d.geometries[1].size, Vector3(0.5, 0.2, 0.3));
  EXPECT_EQ(d.geometries[2].size, Vector3(0.6, 0.7, 0.3));
  EXPECT_EQ(d.geometries[3].size, Vector3(0.9, 0.7, 0.3));
  EXPECT_TRUE(d.geometries[0].pose.rotation.isApprox(Quaternion(0, 1, 0, 0)));
  const Quaternion quarter(Eigen::AngleAxisd(pi / 2.0, Vector3::UnitZ()));
  EXPECT_TRUE(d.geometries[3].pose.rotation.isApprox(quarter, 1e-12));
}

TEST(Mjcf, a_hundred_warnings_are_told_and_the_rest_is_mentioned) {
  std::string inner = "<worldbody>";
  for (int i = 0; i < 1000; ++i) inner += "<mystery/>";
  const Description d = parse(inner + "</worldbody>");
  ASSERT_EQ(d.warnings.size(), 101u);
  EXPECT_NE(d.warnings[0].find("<mystery>"), std::string::npos);
  EXPECT_NE(d.warnings[100].find("more warnings"), std::string::npos);
}

TEST(Mjcf, equalities_between_sites_of_fused_bodies_hold_the_same_points) {
  const Description d = parse(R"(<compiler fusestatic="true"/>
    <worldbody>
      <body name="arm"><joint/><geom size="0.1"/>
        <body name="tool" pos="0 0 0.3" euler="0 0 90"><site name="tip" pos="0.1 0 0"/></body></body>
      <body name="box"><freejoint/><geom size="0.1"/>
        <body name="hook" pos="0.2 0 0" euler="0 0 90"><site name="eye" pos="0 0 0.4"/></body></body>
    </worldbody>
    <equality><connect site1="tip" site2="eye"/><weld site1="tip" site2="eye"/></equality>)");
  ASSERT_EQ(d.bodies.size(), 2u);
  ASSERT_EQ(d.equalities.size(), 2u);
  for (const EqualityDescription& e : d.equalities) {
    EXPECT_EQ(e.first, "arm");
    EXPECT_EQ(e.second, "box");
  }
  const Vector3 tip(0.0, 0.1, 0.3), eye(0.2, 0.0, 0.4);
  EXPECT_LT((d.equalities[0].anchor - tip).norm(), 1e-15);
  EXPECT_LT((d.equalities[0].anchor2.value() - eye).norm(), 1e-15);
  // The sites have the same axes, so that the welded bodies do, too.
  EXPECT_LT((d.equalities[1].anchor - eye).norm(), 1e-15);
  EXPECT_LT((d.equalities[1].relative_pose.value().position - (tip - eye)).norm(), 1e-15);
  EXPECT_NEAR(std::abs(d.equalities[1].relative_pose->rotation.w()), 1.0, 1e-15);
}

TEST(Mjcf, an_equality_between_two_sites_of_one_body_is_left_out_with_a_warning) {
  const Description d = parse(R"(<worldbody><body name="arm"><joint/><geom size="0.1"/>
      <site name="a"/><site name="b" pos="0 0 1"/></body></worldbody>
    <equality><connect site1="a" site2="b"/></equality>)");
  EXPECT_TRUE(d.equalities.empty());
  ASSERT_EQ(d.warnings.size(), 1u);
  EXPECT_NE(d.warnings[0].find("<connect>: both sides are on 'arm'"), std::string::npos) << d.warnings[0];
}

TEST(Mjcf, soft_contact_parameters_are_mentioned_once) {
  const Description d =
      parse(R"(<worldbody><geom size="1" solref="0.1 1"/><geom size="1" solimp="0 1 1"/></worldbody>)");
  ASSERT_EQ(d.warnings.size(), 1u);
  EXPECT_NE(d.warnings[0].find("solref, solimp"), std::string::npos) << d.warnings[0];
}

TEST(Mjcf, an_attribute_of_another_kind_of_actuator_is_a_warning) {
  const Description d =
      parse_mjcf(R"(<mujoco><worldbody><body><joint name="j"/><geom size=".1"/></body></worldbody>
    <actuator><motor joint="j" kp="50"/></actuator></mujoco>)");
  ASSERT_EQ(d.warnings.size(), 1u);
  EXPECT_NE(d.warnings[0].find("kp"), std::string::npos) << d.warnings[0];
}

TEST(Mjcf, an_unknown_attribute_is_a_warning_with_file_line_and_element) {
  const Description d = parse("\n<worldbody>\n<geom name=\"g\" size=\"1\" frictoin=\"1\"/></worldbody>");
  ASSERT_EQ(d.warnings.size(), 1u);
  EXPECT_NE(d.warnings[0].find("model.xml:3: <geom name=\"g\">"), std::string::npos) << d.warnings[0];
  EXPECT_NE(d.warnings[0].find("did you mean 'friction'"), std::string::npos) << d.warnings[0];
}

TEST(Mjcf, a_keyframe_that_is_too_short_keeps_the_reference_pose_for_the_rest) {
  const Description d = parse(R"(
    <worldbody><body pos="0 0 1"><freejoint/><geom size="0.1"/>
      <body><joint type="slide" ref="0.3"/><geom size="0.1"/></body></body></worldbody>
    <keyframe><key name="k" qpos="1 2 3 2"/></keyframe>)");
  EXPECT_EQ(d.keyframes[0].q, (std::vector<double>{1, 2, 3, 1, 0, 0, 0, 0.3}));
}

}  // namespace
}  // namespace articula::mjcf_test
