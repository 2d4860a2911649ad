// theta: every number that can be differentiated has a name and a slice.

#include "articula/model/parameters.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <set>

#include "articula/dynamics/aba.hpp"
#include "articula/dynamics/crba.hpp"
#include "articula/dynamics/springs.hpp"
#include "articula/error.hpp"
#include "tests/support/random_tree.hpp"

namespace articula::testing::parameters_test {
namespace {

Description robot() {
  std::mt19937 random(7);
  Description d = random_description(random, {.bodies = 6, .chain = true, .weld_probability = 0.0});
  d.bodies[5].joints.clear();
  d.bodies[2].joints = {JointDescription{.name = "knee", .range = Vector2(-1, 2)}};
  d.geometries = {
      GeometryDescription{.name = "box", .body = "body1", .type = ShapeType::box, .size = {1, 2, 3}}};
  d.actuators = {ActuatorDescription{.name = "motor", .target = "knee"}};
  return d;
}

TEST(parameters, slices_follow_each_other_and_have_unique_names) {
  const Model model = build(robot());
  int offset = 0;
  std::set<std::string> names;
  for (const ParameterSlice& slice : model.parameters().slices()) {
    EXPECT_EQ(slice.offset, offset) << slice.name;
    EXPECT_GT(slice.size, 0) << slice.name;
    EXPECT_TRUE(names.insert(slice.name).second) << slice.name;
    offset += slice.size;
  }
  EXPECT_EQ(offset, model.theta().size());
}

TEST(parameters, every_number_of_the_description_is_in_its_slice) {
  const Model model = build(robot());
  const Description& d = model.description();
  const auto expect = [&](const std::string& name, const VectorX& numbers) {
    EXPECT_EQ(model.parameter(name), numbers) << name;
  };
  for (const BodyDescription& body : d.bodies) {
    const VectorX placement = model.parameter("body/" + body.name + "/placement");
    EXPECT_EQ(placement.head<3>(), body.pose.position);
    EXPECT_DOUBLE_EQ(placement[3], body.pose.rotation.w());
    EXPECT_LT((placement.tail<3>() - body.pose.rotation.vec()).norm(), 1e-15);
    const InertiaDescription& in = body.inertia;
    expect("body/" + body.name + "/inertia", to_inertial_vector(in.mass, in.com, in.inertia));
    for (const JointDescription& joint : body.joints) {
      const std::string path = "joint/" + joint.name + "/";
      expect(path + "damping", VectorX::Constant(1, joint.damping));
      expect(path + "stiffness", VectorX::Constant(1, joint.stiffness));
      expect(path + "armature", VectorX::Constant(1, joint.armature));
      expect(path + "dry_friction", VectorX::Constant(1, joint.dry_friction));
      if (joint.type != JointType::hinge) continue;
      expect(path + "anchor", joint.position);
      expect(path + "axis", joint.axis.normalized());
      expect(path + "spring_reference", VectorX::Constant(1, joint.spring_reference));
    }
  }
  expect("joint/knee/range", Vector2(-1, 2));
  expect("geometry/box/size", Vector3(1, 2, 3));
  expect("geometry/box/friction", d.geometries[0].friction);
  expect("gravity", d.gravity);
  expect("timestep", VectorX::Constant(1, d.timestep));
  EXPECT_EQ(model.parameter("actuator/motor/gear").size(), 6);
  EXPECT_GE(model.parameters().of_kind(ParameterKind::inertia).size(), d.bodies.size());
}

// The inertia about the origin of two point masses, by the definition.
TEST(parameters, the_inertial_vector_is_mass_first_moment_and_inertia_about_the_origin) {
  const Vector3 at[2] = {{1, 2, -1}, {0, 1, 3}};
  const double mass[2] = {2.0, 3.0};
  const Vector3 com = (mass[0] * at[0] + mass[1] * at[1]) / 5.0;
  const auto inertia_about = [&](const Vector3& point) {
    Matrix3 I = Matrix3::Zero();
    for (int i = 0; i < 2; ++i) {
      const Vector3 r = at[i] - point;
      I += mass[i] * (r.squaredNorm() * Matrix3::Identity() - r * r.transpose());
    }
    return I;
  };
  const InertialVector pi = to_inertial_vector(5.0, com, inertia_about(com));
  const Matrix3 I = inertia_about(Vector3::Zero());
  InertialVector expected;
  expected << 5.0, 5.0 * com, I(0, 0), I(0, 1), I(0, 2), I(1, 1), I(1, 2), I(2, 2);
  EXPECT_LT((pi - expected).norm(), 1e-13);
}

// What the dynamics of a model are made of, in one vector: M, bias, spring forces, damping.
VectorX fingerprint(const Model& model) {
  std::mt19937 random(3);
  const RandomState state = random_state(model, random);
  Data data(model);
  const int nv = model.nv();
  VectorX all(nv * nv + 3 * nv), part(nv);
  crba(model, data, state.q);
  MatrixX M(nv, nv);
  dense_mass_matrix(model, data, M);
  all.head(nv * nv) = M.reshaped();
  bias_forces(model, data, state.q, state.v, part);
  all.segment(nv * nv, nv) = part;
  part.setZero();
  add_spring_forces(model, state.q, part);
  all.segment(nv * nv + nv, nv) = part;
  all.tail(nv) = Eigen::Map<const VectorX>(model.constants().damping.data(), nv);
  return all;
}

TEST(parameters, a_changed_theta_is_the_robot_described_with_those_numbers) {
  Description d = robot();
  const Model before = build(d);
  const VectorX original = fingerprint(before);
  const auto expect_same = [&](const std::string& pattern, const VectorX& values) {
    const Model changed = before.with(pattern, values), described = build(d);
    const VectorX got = fingerprint(changed), expected = fingerprint(described);
    EXPECT_LT(relative_difference(got, expected), 1e-14) << pattern;
    EXPECT_GT(relative_difference(got, original), 1e-6) << pattern;
    d = robot();
  };
  d.bodies[3].inertia.mass = 7.0;
  const InertiaDescription heavy = d.bodies[3].inertia;
  expect_same("body/body3/inertia", to_inertial_vector(7.0, heavy.com, heavy.inertia));

  d.bodies[5].pose = {{0.5, 0.6, 0.7}, Quaternion(0, 0.6, 0, 0.8)};  // of a body welded on
  VectorX placement(7);
  placement << 0.5, 0.6, 0.7, 0, 1.2, 0, 1.6;  // quaternions are normalised inside
  expect_same("body/body5/placement", placement);

  d.bodies[2].joints[0].axis = {1, 2, 3};
  expect_same("joint/knee/axis", Vector3(2, 4, 6));
  d.bodies[2].joints[0].position = {0.3, 0.2, 0.1};
  expect_same("joint/knee/anchor", Vector3(0.3, 0.2, 0.1));
  d.bodies[2].joints[0].armature = 0.5;
  expect_same("joint/knee/armature", VectorX::Constant(1, 0.5));
  d.bodies[2].joints[0].damping = 0.5;
  expect_same("joint/knee/damping", VectorX::Constant(1, 0.5));
  d.bodies[2].joints[0].stiffness = 3.0;
  expect_same("joint/knee/stiffness", VectorX::Constant(1, 3.0));
  d.gravity = {1, 2, 3};
  expect_same("gravity", Vector3(1, 2, 3));
}

TEST(parameters, a_pattern_names_several_slices_in_order_of_theta) {
  const Model model = build(robot());
  const VectorX dampings = model.parameter("joint/*/damping");
  EXPECT_EQ(dampings.size(), model.njoint());
  const Model doubled = model.with("joint/*/damping", 2.0 * dampings);
  for (int d = 0; d < model.nv(); ++d) {
    EXPECT_EQ(doubled.constants().damping[d], 2.0 * model.constants().damping[d]);
  }
  EXPECT_EQ(model.parameters().matching("*").size(), model.parameters().slices().size());
  EXPECT_EQ(model.parameters().matching("*knee*ar*").size(), 1U);  // joint/knee/armature
  EXPECT_EQ(doubled.shared_structure(), model.shared_structure());
}

TEST(parameters, bad_values_are_refused_and_named) {
  const Model model = build(robot());
  const auto message = [&](const std::string& pattern, const VectorX& values) -> std::string {
    try {
      model.with(pattern, values);
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  };
  const auto expect = [](const std::string& said, const std::string& words) {
    EXPECT_NE(said.find(words), std::string::npos) << said;
  };
  expect(message("joint/knee/dry_friction", VectorX::Constant(1, -1.0)),
         "'joint/knee/dry_friction' is negative");
  expect(message("joint/knee/damping", VectorX::Constant(1, NAN)), "'joint/knee/damping' is not a finite");
  expect(message("joint/knee/damping", VectorX::Zero(2)), "1 numbers, 2 were given");
  expect(message("joint/knee/axis", Vector3::Zero()), "'joint/knee/axis' is zero");
  expect(message("joint/kne/axis", Vector3::Zero()), "joint/knee/axis");
  expect(message("timestep", VectorX::Zero(1)), "'timestep'");
  expect(message("body/body3/inertia", to_inertial_vector(-1, Vector3::Zero(), Matrix3::Identity())),
         "body 'body3'");
  expect(message("body/body3/inertia",
                 to_inertial_vector(1, Vector3::Ones(), Vector3(1, 1, 2.1).asDiagonal().toDenseMatrix())),
         "body 'body3'");
  expect(message("body/body3/placement", VectorX::Zero(7)), "'body/body3/placement' has a zero quaternion");
  expect(message("geometry/box/placement", VectorX::Zero(7)), "'geometry/box/placement' has a zero");
  EXPECT_THROW(model.with(VectorX::Zero(3)), Error);
}

TEST(parameters, a_variant_of_a_large_robot_takes_microseconds) {
  std::mt19937 random(8);
  const Model model = random_model(random, {.bodies = 40});
  double least = INFINITY;
  for (int i = 0; i < 50; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const Model variant = model.with(model.theta());
    least = std::min(
        least, std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
    ASSERT_EQ(variant.nv(), model.nv());
  }
  RecordProperty("microseconds", std::to_string(least));
#ifdef NDEBUG
  EXPECT_LT(least, 100.0);
#endif
}

}  // namespace
}  // namespace articula::testing::parameters_test
