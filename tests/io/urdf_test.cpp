// What a URDF file means, against figures worked out by hand.

#include "articula/io/urdf.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "articula/collision/colliders.hpp"
#include "articula/error.hpp"
#include "articula/model/builder.hpp"

namespace articula::urdf_test {
namespace {

namespace fs = std::filesystem;

constexpr const char* heavy =
    R"(<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>)";

std::string link(const std::string& name, const std::string& inner = heavy) {
  return "<link name=\"" + name + "\">" + inner + "</link>";
}

std::string joint(const std::string& name, const std::string& type, const std::string& parent,
                  const std::string& child, const std::string& inner = "") {
  return fmt::format(R"(<joint name="{}" type="{}"><parent link="{}"/><child link="{}"/>{}</joint>)", name,
                     type, parent, child, inner);
}

Description parse(const std::string& inner, const LoadOptions& options = {}) {
  return parse_urdf("<robot name=\"r\">" + inner + "</robot>", {}, options);
}

const BodyDescription& body(const Description& d, const std::string& name) {
  for (const BodyDescription& b : d.bodies) {
    if (b.name == name) return b;
  }
  throw Error("no body " + name);
}

bool mentions(const std::vector<std::string>& warnings, const std::string& part) {
  return std::any_of(warnings.begin(), warnings.end(),
                     [&](const std::string& w) { return w.find(part) != w.npos; });
}

TEST(Urdf, rpy_turns_about_fixed_axes_roll_first) {
  const Description d =
      parse(link("a") + link("b") +
            joint("j", "continuous", "a", "b",
                  R"(<origin xyz="1 2 3" rpy="1.5707963267948966 0 1.5707963267948966"/>)"));
  // Roll takes y to z, where yaw leaves it; x goes to y.
  EXPECT_TRUE((body(d, "b").pose.rotation * Vector3::UnitY()).isApprox(Vector3::UnitZ(), 1e-12));
  EXPECT_TRUE((body(d, "b").pose.rotation * Vector3::UnitX()).isApprox(Vector3::UnitY(), 1e-12));
  EXPECT_EQ(body(d, "b").pose.position, Vector3(1, 2, 3));
}

TEST(Urdf, an_effort_of_zero_is_said_to_be_no_limit) {
  const Description d = parse(link("a") + link("b") +
                              joint("j", "continuous", "a", "b", R"(<limit effort="0" velocity="1"/>)"));
  EXPECT_FALSE(body(d, "b").joints[0].actuator_force_range);
  EXPECT_TRUE(mentions(d.warnings, "an effort of 0"));
}

TEST(Urdf, a_planar_joint_moves_across_its_axis_and_says_so_where_that_is_not_z) {
  const auto planar = [](const std::string& axis) {
    return parse(link("a") + link("b") + joint("j", "planar", "a", "b", axis));
  };
  const Description aside = planar(R"(<axis xyz="2 0 0"/>)");
  EXPECT_EQ(body(aside, "b").joints[2].axis, Vector3::UnitX());
  EXPECT_NEAR(body(aside, "b").joints[0].axis.dot(Vector3::UnitX()), 0.0, 1e-15);
  EXPECT_TRUE(mentions(aside.warnings, "Pinocchio"));
  for (const char* axis : {"", "<axis xyz=\"0 0 1\"/>", "<axis xyz=\"0 0 -3\"/>", "<axis xyz=\"0 0 0\"/>"}) {
    const Description flat = planar(axis);
    EXPECT_TRUE(body(flat, "b").joints[0].axis.isApprox(Vector3::UnitX(), 1e-15)) << axis;
    EXPECT_EQ(body(flat, "b").joints[2].axis, Vector3::UnitZ()) << axis;
    EXPECT_FALSE(mentions(flat.warnings, "Pinocchio")) << axis;
  }
}

TEST(Urdf, the_root_is_fixed_unless_a_floating_base_is_asked_for) {
  const std::string robot = link("base") + link("arm") + joint("j", "continuous", "base", "arm");
  EXPECT_EQ(build(parse(robot)).nv(), 1);
  LoadOptions floating;
  floating.floating_base = true;
  const Description d = parse(robot, floating);
  EXPECT_EQ(build(d).nv(), 7);
  EXPECT_EQ(body(d, "base").joints[0].name, "root_joint");
}

TEST(Urdf, massless_links_behind_fixed_joints_become_frames_where_they_were) {
  const Description d = parse(
      link("base") + link("hand", "") +
      link("tip", R"(<collision><geometry><sphere radius="0.1"/></geometry></collision>)") + link("weight") +
      joint("wrist", "fixed", "base", "hand", R"(<origin xyz="1 0 0" rpy="0 0 1.5707963267948966"/>)") +
      joint("end", "fixed", "hand", "tip", R"(<origin xyz="1 0 0"/>)") +
      joint("load", "fixed", "tip", "weight", R"(<origin xyz="0 0 1"/>)"));
  ASSERT_EQ(d.bodies.size(), 2u);
  ASSERT_EQ(d.frames.size(), 2u);
  EXPECT_EQ(d.frames[1].name, "tip");
  EXPECT_EQ(d.frames[1].body, "base");
  EXPECT_TRUE(d.frames[1].pose.position.isApprox(Vector3(1, 1, 0), 1e-12));
  EXPECT_EQ(d.geometries[0].body, "base");
  EXPECT_TRUE(d.geometries[0].pose.position.isApprox(Vector3(1, 1, 0), 1e-12));
  EXPECT_TRUE(body(d, "weight").pose.position.isApprox(Vector3(1, 1, 1), 1e-12));
}

TEST(Urdf, a_root_called_world_is_the_world) {
  const Description d = parse(link("world", "") + link("arm") + joint("j", "continuous", "world", "arm"));
  ASSERT_EQ(d.bodies.size(), 1u);
  EXPECT_EQ(d.bodies[0].parent, "world");
}

TEST(Urdf, mimic_is_an_equality_on_coordinates_that_stay) {
  const Description d =
      parse(link("a") + link("b") + link("c") + joint("lead", "continuous", "a", "b") +
            joint("follow", "continuous", "a", "c", R"(<mimic joint="lead" multiplier="-2" offset="0.5"/>)"));
  ASSERT_EQ(d.equalities.size(), 1u);
  EXPECT_EQ(d.equalities[0].first, "follow");
  EXPECT_EQ(d.equalities[0].second, "lead");
  EXPECT_EQ(d.equalities[0].polynomial, (std::array<double, 5>{0.5, -2.0, 0, 0, 0}));
  EXPECT_EQ(build(d).nv(), 2);
}

TEST(Urdf, limits_damping_and_friction_are_the_joints) {
  const Description d =
      parse(link("a") + link("b") +
            joint("j", "prismatic", "a", "b",
                  R"(<axis xyz="0 2 0"/><limit lower="-1" upper="2" effort="30" velocity="1"/>
                                       <dynamics damping="0.4" friction="0.3"/>)"));
  const JointDescription& j = body(d, "b").joints[0];
  EXPECT_EQ(j.type, JointType::slide);
  EXPECT_EQ(j.axis, Vector3::UnitY());
  EXPECT_EQ(*j.range, Vector2(-1, 2));
  EXPECT_EQ(*j.actuator_force_range, Vector2(-30, 30));
  EXPECT_EQ(j.damping, 0.4);
  EXPECT_EQ(j.dry_friction, 0.3);
  EXPECT_TRUE(mentions(d.warnings, "velocity"));
}

TEST(Urdf, a_floating_joint_on_a_fixed_base_is_free_in_the_world) {
  const Description d = parse(link("table") + link("cube") +
                              joint("j", "floating", "table", "cube", R"(<origin xyz="0 0 2"/>)"));
  EXPECT_EQ(body(d, "cube").parent, "world");
  EXPECT_EQ(body(d, "cube").joints[0].type, JointType::free);
  EXPECT_EQ(body(d, "cube").pose.position, Vector3(0, 0, 2));
  EXPECT_EQ(build(d).nv(), 6);
}

TEST(Urdf, a_planar_joint_moves_across_its_axis) {
  const Description d =
      parse(link("a") + link("b") + joint("j", "planar", "a", "b", R"(<axis xyz="1 0 0"/>)"));
  const auto& joints = body(d, "b").joints;
  ASSERT_EQ(joints.size(), 3u);
  EXPECT_NEAR(joints[0].axis.x(), 0.0, 1e-15);
  EXPECT_NEAR(joints[1].axis.x(), 0.0, 1e-15);
  EXPECT_TRUE(joints[2].axis.isApprox(Vector3::UnitX()));
}

TEST(Urdf, a_sphere_of_no_radius_is_a_contact_point) {
  const Description d = parse(
      link("a", std::string(heavy) + R"(<collision><geometry><sphere radius="0"/></geometry></collision>)"));
  ASSERT_EQ(d.geometries.size(), 1u);
  EXPECT_EQ(d.geometries[0].size[0], 0.0);
  EXPECT_EQ(d.geometries[0].contype, 1);
  EXPECT_NO_THROW(build(d));
}

TEST(Urdf, sizes_are_halved_and_visuals_do_not_collide) {
  const Description d = parse(link("a", std::string(heavy) + R"(
      <collision><geometry><box size="2 4 6"/></geometry></collision>
      <collision><geometry><cylinder radius="1" length="3"/></geometry></collision>
      <visual><geometry><sphere radius="1"/></geometry><material name="m"><color rgba="1 0 0 1"/></material></visual>)"));
  EXPECT_EQ(d.geometries[0].size, Vector3(1, 2, 3));
  EXPECT_EQ(d.geometries[0].name, "a_0");
  EXPECT_EQ(d.geometries[1].size[1], 1.5);
  EXPECT_EQ(d.geometries[2].contype, 0);
  EXPECT_EQ(d.geometries[2].rgba[0], 1.0f);
}

TEST(Urdf, an_inertia_no_body_has_is_taken_with_a_warning) {
  const Description d = parse(link("base") + link("odd", R"(<inertial><mass value="1"/>
      <inertia ixx="1" iyy="1" izz="5" ixy="0" ixz="0" iyz="0"/></inertial>)") +
                              joint("j", "continuous", "base", "odd"));
  EXPECT_TRUE(mentions(d.warnings, "the largest exceeds the sum of the others"));
  EXPECT_EQ(body(d, "odd").inertia.inertia(2, 2), 5.0);
  EXPECT_NO_THROW(build(d));
}

TEST(Urdf, a_joint_that_moves_nothing_gets_a_tiny_rotor_with_a_warning) {
  const Description d = parse(link("base") + link("finger", "") + joint("j", "continuous", "base", "finger"));
  EXPECT_TRUE(mentions(d.warnings, "moves no inertia"));
  EXPECT_NO_THROW(build(d));
}

TEST(Urdf, a_joint_that_turns_points_on_its_axis_gets_a_tiny_rotor_with_a_warning) {
  const std::string point = R"(<inertial><origin xyz="0 0 0.3"/><mass value="2"/>
    <inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial>)";
  const auto armature = [&](const std::string& axis) {
    const Description d = parse(link("base") + link("arm", point) + link("hand", point) +
                                joint("j", "continuous", "base", "arm", axis) +
                                joint("k", "fixed", "arm", "hand", R"(<origin xyz="0 0 1"/>)"));
    EXPECT_NO_THROW(build(d));
    EXPECT_EQ(mentions(d.warnings, "moves no inertia"), body(d, "arm").joints[0].armature > 0.0);
    return body(d, "arm").joints[0].armature;
  };
  EXPECT_GT(armature(R"(<axis xyz="0 0 1"/>)"), 0.0);
  EXPECT_EQ(armature(R"(<axis xyz="1 0 0"/>)"), 0.0);
  LoadOptions floating;
  floating.floating_base = true;
  EXPECT_NO_THROW(build(parse(link("bob", point), floating)));
}

TEST(Urdf, a_visual_that_cannot_be_drawn_is_left_out_with_a_warning) {
  const auto shaped = [](const std::string& kind, const std::string& shape) {
    return parse(link("a", fmt::format("{}<{}><geometry>{}</geometry></{}>", heavy, kind, shape, kind)));
  };
  for (const std::string shape : {R"(<box size="0 0 1"/>)", R"(<cylinder radius="0" length="1"/>)", "<cone/>",
                                  R"(<mesh filename="gone.stl"/>)"}) {
    const Description d = shaped("visual", shape);
    EXPECT_TRUE(d.geometries.empty()) << shape;
    EXPECT_TRUE(mentions(d.warnings, "it is left out")) << shape;
    EXPECT_THROW(shaped("collision", shape), Error) << shape;
  }
  EXPECT_EQ(shaped("collision", R"(<box size="0 0 0"/>)").geometries.at(0).type, ShapeType::sphere);
}

TEST(Urdf, extensions_are_named_once) {
  const Description d = parse(link("a") + "<gazebo/><gazebo/><transmission/><mystery/>");
  EXPECT_EQ(std::count_if(d.warnings.begin(), d.warnings.end(),
                          [](const std::string& w) { return w.find("<gazebo>") != w.npos; }),
            1);
  EXPECT_TRUE(mentions(d.warnings, "<mystery>"));
}

Description parse_with_srdf(const std::string& inner, const std::string& srdf) {
  LoadOptions options;
  options.srdf = fs::path(::testing::TempDir()) / ("articula_pairs_" + std::to_string(::getpid()) + ".srdf");
  std::ofstream(options.srdf) << "<robot name=\"r\">" << srdf << "</robot>";
  const Description d = parse(inner, options);
  fs::remove(options.srdf);
  return d;
}

// Whether the first collision geometries of two links may touch.
bool may_touch(const Description& d, const std::string& link1, const std::string& link2) {
  const Model model = build(d);
  const collision::Colliders colliders(model);
  const auto collider = [&](const std::string& name) {
    for (std::size_t g = 0; g < d.geometries.size(); ++g) {
      if (model.description().geometries[g].name == name) return colliders.collider_of(static_cast<int>(g));
    }
    throw Error("no geometry " + name);
  };
  const int a = collider(link1 + "_0"), b = collider(link2 + "_0");
  return colliders.may_touch(std::min(a, b), std::max(a, b));
}

TEST(Urdf, groups_of_drake_and_pairs_of_srdf_exclude_contacts) {
  const Description d = parse_with_srdf(
      link("a") + link("b") + link("c") + joint("j", "continuous", "a", "b") +
          joint("k", "continuous", "b", "c") + R"(
      <collision_filter_group name="g"><member link="a"/><member link="b"/>
        <ignored_collision_filter_group collision_filter_group="g"/></collision_filter_group>)",
      R"(<disable_collisions link1="a" link2="c"/><disable_collisions link1="a" link2="nobody"/>)");
  ASSERT_EQ(d.contact_exclusions.size(), 2u);
  EXPECT_EQ(d.contact_exclusions[0].body2, "b");
  EXPECT_EQ(d.contact_exclusions[1].body2, "c");
  EXPECT_TRUE(mentions(d.warnings, "'nobody'"));
}

constexpr const char* ball = R"(<collision><geometry><sphere radius="0.1"/></geometry></collision>)";

// base (massless, on the world) -- arm -- elbow -- hand, with a massless "pad" fixed to the arm.
std::string arm_with_pad() {
  const std::string solid = std::string(heavy) + ball;
  const std::string up = R"(<origin xyz="0 0 0.3"/>)", aside = R"(<origin xyz="0.3 0 0"/>)";
  return link("base", ball) + link("arm", solid) + link("pad", ball) + link("elbow", solid) +
         link("hand", solid) + joint("j", "continuous", "base", "arm", up) +
         joint("f", "fixed", "arm", "pad", aside) + joint("k", "continuous", "arm", "elbow", up) +
         joint("l", "continuous", "elbow", "hand", up);
}

TEST(Urdf, a_disabled_pair_says_nothing_of_what_a_massless_link_is_fixed_to) {
  const std::string ground = link("table", ball) + joint("t", "fixed", "base", "table");
  const Description d = parse_with_srdf(arm_with_pad() + ground,
                                        R"(<disable_collisions link1="pad" link2="hand"/>
                                           <disable_collisions link1="table" link2="hand"/>)");
  EXPECT_FALSE(may_touch(d, "pad", "hand"));
  EXPECT_TRUE(may_touch(d, "arm", "hand"));
  EXPECT_FALSE(may_touch(d, "table", "hand"));
  EXPECT_TRUE(may_touch(d, "base", "hand"));
  for (const ContactExclusion& e : d.contact_exclusions) {
    EXPECT_NE(e.body1, "world");
    EXPECT_NE(e.body2, "world");
  }
  // What is fixed together still passes through itself and its neighbours.
  EXPECT_FALSE(may_touch(d, "pad", "arm"));
  EXPECT_FALSE(may_touch(d, "pad", "elbow"));
}

TEST(Urdf, a_disabled_pair_says_nothing_of_massless_links_fixed_to_a_link_it_names) {
  const Description d = parse_with_srdf(arm_with_pad(), R"(<disable_collisions link1="arm" link2="hand"/>)");
  EXPECT_FALSE(may_touch(d, "arm", "hand"));
  EXPECT_TRUE(may_touch(d, "pad", "hand"));
}

TEST(Urdf, a_disabled_pair_with_a_link_that_is_only_a_frame_excludes_nothing) {
  const std::string frame = link("tool_frame", "") + joint("t", "fixed", "arm", "tool_frame") +
                            link("world_frame", "") + joint("w", "fixed", "base", "world_frame");
  const Description d = parse_with_srdf(arm_with_pad() + frame,
                                        R"(<disable_collisions link1="tool_frame" link2="hand"/>
                                           <disable_collisions link1="world_frame" link2="hand"/>)");
  EXPECT_TRUE(may_touch(d, "arm", "hand"));
  EXPECT_TRUE(may_touch(d, "base", "hand"));
  for (const ContactExclusion& e : d.contact_exclusions) EXPECT_NE(e.body2, "hand");
}

TEST(Urdf, neighbours_pass_through_each_other_on_a_fixed_base_too) {
  const Description d = parse(arm_with_pad());
  EXPECT_FALSE(may_touch(d, "base", "arm"));
  EXPECT_TRUE(may_touch(d, "base", "elbow"));
  EXPECT_TRUE(may_touch(d, "pad", "hand"));
  for (const ContactExclusion& e : d.contact_exclusions) EXPECT_NE(e.body1, "world");
  // What stands on the world is not tied to it.
  const std::string solid = std::string(heavy) + ball;
  const Description box =
      parse(link("table", ball) + link("box", solid) + joint("j", "floating", "table", "box"));
  EXPECT_TRUE(may_touch(box, "table", "box"));
}

TEST(Urdf, links_without_default_collisions_touch_only_what_is_enabled) {
  const Description d = parse_with_srdf(arm_with_pad(), R"(<disable_default_collisions link="hand"/>
      <enable_collisions link1="pad" link2="hand"/>)");
  EXPECT_TRUE(may_touch(d, "pad", "hand"));
  EXPECT_FALSE(may_touch(d, "arm", "hand"));
  EXPECT_FALSE(may_touch(d, "base", "hand"));
  EXPECT_TRUE(may_touch(d, "base", "elbow"));
}

// shoulder -- arm -- hand, all balls of 0.1 m; the hand reaches back over the arm to overlap with the
// shoulder by 0.1 m - `away`.
std::string folded_arm(double away, const std::string& limit = "") {
  const std::string solid = std::string(heavy) + ball;
  return link("shoulder", solid) + link("arm", solid) + link("hand", solid) +
         joint("j", "continuous", "shoulder", "arm", R"(<origin xyz="0.3 0 0"/>)") +
         joint("k", limit.empty() ? "continuous" : "prismatic", "arm", "hand",
               fmt::format(R"(<origin xyz="{} 0 0"/>{})", -0.2 + away, limit));
}

TEST(Urdf, links_that_overlap_at_zero_pass_through_each_other_with_a_warning) {
  const Description d = parse(folded_arm(0.0));
  EXPECT_FALSE(may_touch(d, "shoulder", "hand"));
  EXPECT_TRUE(mentions(d.warnings, "shoulder and hand"));
  LoadOptions keep;
  keep.keep_overlaps = true;
  const Description kept = parse(folded_arm(0.0), keep);
  EXPECT_TRUE(may_touch(kept, "shoulder", "hand"));
  EXPECT_TRUE(kept.warnings.empty());
}

TEST(Urdf, links_that_only_touch_at_zero_collide) {
  for (const double away : {0.1, 0.10001, 0.09995}) {
    const Description d = parse(folded_arm(away));
    EXPECT_TRUE(may_touch(d, "shoulder", "hand")) << away;
    EXPECT_TRUE(d.warnings.empty()) << away;
  }
}

TEST(Urdf, zero_is_where_ranges_come_nearest_to_it) {
  const auto slide = [](const char* lower, const char* upper) {
    return fmt::format(R"(<axis xyz="0 0 1"/><limit lower="{}" upper="{}" effort="1" velocity="1"/>)", lower,
                       upper);
  };
  EXPECT_FALSE(may_touch(parse(folded_arm(0.0, slide("-1", "1"))), "shoulder", "hand"));
  EXPECT_TRUE(may_touch(parse(folded_arm(0.0, slide("0.3", "1"))), "shoulder", "hand"));
}

TEST(Urdf, what_floats_is_parted_and_collides) {
  const std::string solid = std::string(heavy) + ball;
  const Description d = parse(folded_arm(0.0) + link("box", solid) + link("lid", solid) +
                              joint("f", "floating", "arm", "box") + joint("g", "continuous", "box", "lid"));
  EXPECT_FALSE(may_touch(d, "shoulder", "hand"));
  for (const char* other : {"shoulder", "arm", "hand"}) EXPECT_TRUE(may_touch(d, "lid", other)) << other;
}

class UrdfFiles : public ::testing::Test {
 protected:
  UrdfFiles() {
    fs::create_directories(directory / "my_robot/urdf");
    fs::create_directories(directory / "my_robot/meshes");
    std::ofstream(directory / "my_robot/meshes/tetra.OBJ") << "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
                                                              "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";
  }
  ~UrdfFiles() override { fs::remove_all(directory); }

  Description load_with(const std::string& filename, const std::string& attributes = "",
                        const LoadOptions& options = {}) const {
    const fs::path file = directory / "my_robot/urdf/robot.urdf";
    std::ofstream(file)
        << "<robot name=\"r\">"
        << link("a",
                std::string(heavy) +
                    fmt::format(R"(<collision><geometry><mesh filename="{}" {}/></geometry></collision>)",
                                filename, attributes))
        << "</robot>";
    return load_urdf(file, options);
  }

  const fs::path directory =
      fs::path(::testing::TempDir()) / ("articula_urdf_files_" + std::to_string(::getpid()));
};

TEST_F(UrdfFiles, packages_are_found_above_the_file_and_in_the_search_path) {
  for (const char* name : {"package://my_robot/meshes/tetra.OBJ", "package:///my_robot/meshes/tetra.OBJ",
                           "package://renamed/meshes/tetra.OBJ", "../meshes/tetra.OBJ", "meshes/tetra.OBJ",
                           "model://my_robot/meshes/tetra.OBJ"}) {
    EXPECT_EQ(load_with(name).meshes.size(), 1u) << name;
  }
  EXPECT_EQ(load_with("file://" + (directory / "my_robot/meshes/tetra.OBJ").string()).meshes.size(), 1u);
  fs::create_directories(directory / "elsewhere");
  fs::rename(directory / "my_robot/meshes", directory / "elsewhere/meshes");
  EXPECT_THROW(load_with("package://other/meshes/tetra.OBJ"), Error);
  LoadOptions options;
  options.search_path = {directory / "elsewhere"};
  EXPECT_EQ(load_with("package://other/meshes/tetra.OBJ", "", options).meshes.size(), 1u);
}

TEST_F(UrdfFiles, a_missing_mesh_is_an_error_or_a_warning_as_asked) {
  try {
    load_with("package://nowhere/foot.stl");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("robot.urdf:1"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("search path"), std::string::npos) << error.what();
  }
  LoadOptions options;
  options.need_all_meshes = false;
  EXPECT_TRUE(mentions(load_with("package://nowhere/foot.stl", "", options).warnings, "foot.stl"));
}

// Markers on a robot's shell are often flat, and collide.
TEST_F(UrdfFiles, a_flat_mesh_collides_as_a_thin_plate) {
  std::ofstream(directory / "my_robot/meshes/flat.obj")
      << "v 1 0 0\nv 0 2 0\nv -1 0 0\nv 0 -2 0\nf 1 2 3\nf 1 3 4\n"
      << std::flush;
  const Description d = load_with("../meshes/flat.obj", "scale=\"1 1 -3\"");
  EXPECT_TRUE(mentions(d.warnings, "flat"));
  ASSERT_EQ(d.meshes.size(), 1u);
  EXPECT_EQ(d.meshes[0]->hull.size(), 8u);
  for (const Vector3& v : d.meshes[0]->vertices) {
    const Pose& pose = d.geometries[0].pose;
    const Vector3 in_link = pose.position + pose.rotation * v;
    EXPECT_NEAR(std::abs(in_link.z()), 0.002, 1e-6);
    EXPECT_NEAR(std::abs(in_link.x()) + 0.5 * std::abs(in_link.y()), 1.0, 1e-6);
  }
  std::ofstream(directory / "my_robot/meshes/line.obj")
      << "v 1 0 0\nv 2 0 0\nv 3 0 0\nv 4 0 0\nf 1 2 3\nf 1 3 4\n"
      << std::flush;
  EXPECT_THROW(load_with("../meshes/line.obj"), Error);
}

TEST_F(UrdfFiles, a_negative_scale_mirrors_the_mesh) {
  const Description d = load_with("../meshes/tetra.OBJ", "scale=\"2 -1 1\"");
  Vector3 lowest = Vector3::Constant(1e9), highest = -lowest;
  for (const Vector3& v : d.meshes[0]->vertices) {
    const Vector3 x = d.geometries[0].pose.position + d.geometries[0].pose.rotation * v;
    lowest = lowest.cwiseMin(x);
    highest = highest.cwiseMax(x);
  }
  EXPECT_TRUE(lowest.isApprox(Vector3(0, -1, 0), 1e-6) || (lowest - Vector3(0, -1, 0)).norm() < 1e-6);
  EXPECT_LT((highest - Vector3(2, 0, 1)).norm(), 1e-6);
}

}  // namespace
}  // namespace articula::urdf_test
