// Descriptions that describe no robot are refused with a message that names the element.

#include "articula/model/builder.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "articula/error.hpp"

namespace articula::testing {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

BodyDescription rod(const std::string& name, const std::string& parent) {
  BodyDescription body;
  body.name = name;
  body.parent = parent;
  body.pose.position = {0, 0, -0.5};
  body.inertia.mass = 1.0;
  body.inertia.com = {0, 0, -0.25};
  body.inertia.inertia = Vector3(0.02, 0.02, 0.001).asDiagonal();
  JointDescription joint;
  joint.name = name + "_hinge";
  joint.axis = Vector3::UnitY();
  body.joints = {joint};
  return body;
}

// Upper and lower arm with a hand welded on, a camera frame, a paddle, a motor, a tendon, a sensor.
Description arm() {
  Description d;
  d.bodies = {rod("upper", "world"), rod("lower", "upper"), rod("hand", "lower")};
  d.bodies[2].joints.clear();
  d.frames = {FrameDescription{.name = "camera", .body = "hand"}};
  d.geometries = {GeometryDescription{.name = "paddle", .body = "hand", .size = {0.1, 0, 0}}};
  d.tendons = {TendonDescription{.name = "cable", .terms = {{"upper_hinge", 1.0}, {"lower_hinge", -0.5}}}};
  d.actuators = {ActuatorDescription{.name = "motor", .target = "lower_hinge"}};
  d.equalities = {EqualityDescription{.name = "grip", .first = "hand", .second = "world"}};
  d.sensors = {
      SensorDescription{.name = "encoder", .object_type = ObjectType::joint, .object = "lower_hinge"}};
  return d;
}

struct Fault {
  std::function<void(Description&)> spoil;
  std::vector<std::string> said;  // what the message must contain
};

void expect_refused(const std::vector<Fault>& faults) {
  for (const Fault& fault : faults) {
    Description d = arm();
    fault.spoil(d);
    try {
      build(std::move(d));
      ADD_FAILURE() << "accepted: " << fault.said[0];
    } catch (const Error& error) {
      for (const std::string& words : fault.said) {
        EXPECT_NE(std::string(error.what()).find(words), std::string::npos)
            << "'" << words << "' is missing in: " << error.what();
      }
    }
  }
}

TEST(builder, the_arm_that_the_faults_are_made_in_is_accepted) { EXPECT_EQ(build(arm()).nv(), 2); }

TEST(builder, refuses_trees_that_are_none) {
  expect_refused({
      {[](Description& d) { d.bodies[1].parent = "uper"; }, {"'lower'", "'uper'", "did you mean 'upper'"}},
      {[](Description& d) { d.bodies[0].parent = "hand"; }, {"cycle", "'upper'"}},
      {[](Description& d) { d.bodies[1].parent = "lower"; }, {"'lower'", "its own ancestor"}},
      {[](Description& d) { d.bodies[2].name = "upper"; }, {"'upper'", "another body has that name"}},
      {[](Description& d) { d.bodies[0].name = "world"; }, {"'world'"}},
      {[](Description& d) { d.bodies[1].joints[0].name = "upper_hinge"; },
       {"'upper_hinge'", "another joint has that name"}},
  });
}

TEST(builder, refuses_joints_that_cannot_move) {
  expect_refused({
      {[](Description& d) { d.bodies[1].joints[0].axis.setZero(); }, {"'lower_hinge'", "axis is zero"}},
      {[](Description& d) { d.bodies[1].joints[0].axis[2] = nan; }, {"'lower_hinge'", "axis", "finite"}},
      {[](Description& d) { d.bodies[1].joints[0].position[0] = infinity; }, {"'lower_hinge'", "position"}},
      {[](Description& d) { d.bodies[1].joints[0].type = JointType::free; },
       {"'lower_hinge'", "free joint", "child of the world"}},
      {[](Description& d) {
         d.bodies[0].joints[0].type = JointType::free;
         d.bodies[0].joints.push_back(d.bodies[1].joints[0]);
         d.bodies[1].joints.clear();
       },
       {"'upper_hinge'", "free joint", "only joint"}},
      {[](Description& d) {
         d.bodies[1].inertia = {};
         d.bodies[2].inertia = {};
       },
       {"'lower_hinge'", "'lower'", "moves no inertia"}},
      // A thin rod turning about its own length feels nothing either.
      {[](Description& d) {
         for (int i : {1, 2}) d.bodies[i].inertia.inertia = Vector3(0.02, 0.02, 0).asDiagonal();
         d.bodies[1].joints[0].axis = Vector3::UnitZ();
       },
       {"'lower_hinge'", "moves no inertia"}},
      {[](Description& d) { d.bodies[1].kinematic = true; }, {"'lower'", "kinematic"}},
  });
}

TEST(builder, armature_makes_a_massless_joint_move) {
  Description d = arm();
  d.bodies[1].inertia = {};
  d.bodies[2].inertia = {};
  d.bodies[1].joints[0].armature = 0.1;
  EXPECT_EQ(build(d).nv(), 2);
}

TEST(builder, refuses_inertias_no_real_body_has) {
  const auto inertia = [](const Vector3& moments) {
    return [moments](Description& d) { d.bodies[1].inertia.inertia = moments.asDiagonal(); };
  };
  expect_refused({
      {[](Description& d) { d.bodies[1].inertia.mass = -1.0; }, {"'lower'", "mass", "negative"}},
      {[](Description& d) { d.bodies[1].inertia.mass = nan; }, {"'lower'", "mass", "finite"}},
      {[](Description& d) { d.bodies[1].inertia.mass = 0.0; }, {"'lower'", "inertia but no mass"}},
      {[](Description& d) { d.bodies[1].inertia.com[1] = nan; }, {"'lower'", "centre of mass", "finite"}},
      {[](Description& d) { d.bodies[1].inertia.inertia(0, 1) = infinity; },
       {"'lower'", "inertia", "finite"}},
      {[](Description& d) { d.bodies[1].inertia.inertia(0, 1) = 0.01; }, {"'lower'", "not symmetric"}},
      {inertia({0.1, 0.1, -0.1}), {"'lower'", "not positive"}},
      {inertia({0.1, 0.1, 0.201}), {"'lower'", "largest exceeds the sum"}},
  });
}

TEST(builder, the_triangle_inequality_holds_in_every_axes) {
  Description d = arm();
  const Matrix3 R = Quaternion(0.5, 0.1, -0.7, 0.2).normalized().toRotationMatrix();
  d.bodies[1].inertia.inertia = R * Vector3(0.1, 0.1, 0.201).asDiagonal() * R.transpose();
  EXPECT_THROW(build(d), Error);
  d.bodies[1].inertia.inertia = R * Vector3(0.1, 0.1, 0.2).asDiagonal() * R.transpose();  // a flat disc
  EXPECT_EQ(build(d).nv(), 2);
}

TEST(builder, refuses_numbers_out_of_range) {
  const auto joint = [](auto member, auto value) {
    return [=](Description& d) { d.bodies[1].joints[0].*member = value; };
  };
  expect_refused({
      {joint(&JointDescription::damping, -1.0), {"'lower_hinge'", "damping", "negative"}},
      {joint(&JointDescription::stiffness, -1.0), {"'lower_hinge'", "stiffness", "negative"}},
      {joint(&JointDescription::armature, -1.0), {"'lower_hinge'", "armature", "negative"}},
      {joint(&JointDescription::dry_friction, -1.0), {"'lower_hinge'", "dry friction", "negative"}},
      {joint(&JointDescription::reference, nan), {"'lower_hinge'", "reference", "finite"}},
      {joint(&JointDescription::spring_reference, infinity), {"'lower_hinge'", "spring reference", "finite"}},
      {joint(&JointDescription::range, Vector2(1, -1)), {"'lower_hinge'", "range", "empty"}},
      {[](Description& d) { d.bodies[1].pose.position[0] = nan; }, {"'lower'", "position", "finite"}},
      {[](Description& d) { d.bodies[1].pose.rotation.coeffs().setZero(); }, {"'lower'", "zero quaternion"}},
      {[](Description& d) { d.gravity[1] = nan; }, {"gravity", "finite"}},
      {[](Description& d) { d.timestep = 0.0; }, {"timestep", "positive"}},
      {[](Description& d) { d.medium.density = -1.0; }, {"density", "negative"}},
      {[](Description& d) { d.frames[0].pose.position[2] = nan; }, {"'camera'", "position", "finite"}},
      {[](Description& d) { d.geometries[0].size[0] = -0.1; }, {"'paddle'", "size", "negative"}},
      {[](Description& d) { d.geometries[0].friction[0] = nan; }, {"'paddle'", "friction", "finite"}},
      {[](Description& d) { d.actuators[0].gear[0] = nan; }, {"'motor'", "gear", "finite"}},
      {[](Description& d) { d.tendons[0].terms[1].coefficient = nan; }, {"'cable'", "coefficient", "finite"}},
  });
}

TEST(builder, refuses_references_to_what_is_not_there) {
  expect_refused({
      {[](Description& d) { d.frames[0].body = "foot"; }, {"'camera'", "'foot'", "no body"}},
      {[](Description& d) { d.geometries[0].body = "foot"; }, {"'paddle'", "'foot'", "no body"}},
      {[](Description& d) { d.geometries[0].type = ShapeType::mesh; }, {"'paddle'", "no mesh"}},
      {[](Description& d) { d.actuators[0].target = "knee"; }, {"'motor'", "'knee'", "no joint"}},
      {[](Description& d) { d.tendons[0].terms[0].joint = "knee"; }, {"'cable'", "'knee'", "no joint"}},
      {[](Description& d) { d.tendons[0].terms.clear(); }, {"'cable'", "no joints"}},
      {[](Description& d) { d.equalities[0].second = "foot"; }, {"'grip'", "'foot'", "no body"}},
      {[](Description& d) { d.equalities[0].second = "hand"; }, {"'grip'", "both sides"}},
      {[](Description& d) { d.sensors[0].object = "knee"; }, {"'encoder'", "'knee'", "no joint"}},
      {[](Description& d) { d.contact_exclusions = {{"hand", "foot", ""}}; }, {"exclusion", "'foot'"}},
      {[](Description& d) { d.frames.push_back(d.frames[0]); },
       {"'camera'", "another frame (site) has that name"}},
  });
}

TEST(builder, says_where_the_element_was_written) {
  expect_refused({{[](Description& d) {
                     d.bodies[1].where = "robot.xml:12";
                     d.bodies[1].inertia.mass = -1.0;
                   },
                   {"robot.xml:12: body 'lower'"}}});
}

TEST(builder, bodies_may_be_listed_in_any_order_and_without_names) {
  Description d = arm();
  std::swap(d.bodies[0], d.bodies[2]);
  Model model = build(d);
  EXPECT_EQ(model.structure().bodies[1].name, "upper");
  EXPECT_EQ(model.structure().bodies[3].name, "hand");
  EXPECT_EQ(model.nlink(), 3);  // the world, upper, and lower with the hand

  BodyDescription nameless = rod("", "upper");
  nameless.joints[0].name = "";
  d.bodies.push_back(nameless);
  d.bodies.push_back(nameless);
  EXPECT_EQ(build(d).nv(), 4);
}

TEST(builder, subtrees_are_contiguous_ranges) {
  Description d = arm();
  d.bodies.push_back(rod("second", "upper"));
  d.bodies.push_back(rod("third", "lower"));
  const Model model = build(d);
  const Structure& s = model.structure();
  EXPECT_EQ(s.joints[1].name, "lower_hinge");
  EXPECT_EQ(s.joints[2].name, "third_hinge");
  EXPECT_EQ(s.joints[3].name, "second_hinge");
  EXPECT_EQ(s.dofs[0].subtree_end, 4);
  EXPECT_EQ(s.dofs[1].subtree_end, 3);
  EXPECT_EQ(s.dofs[3].parent, 0);
}

TEST(builder, unknown_names_are_answered_with_the_nearest) {
  const Model model = build(arm());
  EXPECT_EQ(model.structure().bodies[model.body("hand")].name, "hand");
  try {
    model.joint("lower_hing");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'lower_hinge'"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace articula::testing
