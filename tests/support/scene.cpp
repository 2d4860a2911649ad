#include "tests/support/scene.hpp"

#include <gtest/gtest.h>

namespace articula::testing {

namespace {

void give(GeometryDescription& geometry, const Material& material) {
  geometry.friction = {material.friction, material.spinning, material.rolling};
  geometry.restitution = material.restitution;
  geometry.condim = material.condim;
}

BodyDescription free_body(const std::string& name, double mass, const Vector3& moments,
                          const Vector3& position, const Quaternion& rotation) {
  BodyDescription body;
  body.name = name;
  body.pose = {position, rotation};
  JointDescription joint;
  joint.name = name + "_joint";
  joint.type = JointType::free;
  body.joints.push_back(joint);
  body.inertia.mass = mass;
  body.inertia.inertia = moments.asDiagonal();
  return body;
}

}  // namespace

Description empty_world() {
  Description d;
  d.name = "scene";
  return d;
}

void add_floor(Description& d, const Material& material, double tilt) {
  GeometryDescription floor;
  floor.name = "floor";
  floor.type = ShapeType::plane;
  floor.pose.rotation = Quaternion(Eigen::AngleAxisd(tilt, Vector3::UnitY()));
  give(floor, material);
  d.geometries.push_back(floor);
}

void add_box(Description& d, const std::string& name, const Vector3& half, double mass,
             const Vector3& position, const Material& material, const Quaternion& rotation) {
  const Vector3 square = half.cwiseProduct(half);
  const Vector3 moments(square[1] + square[2], square[0] + square[2], square[0] + square[1]);
  d.bodies.push_back(free_body(name, mass, mass / 3.0 * moments, position, rotation));
  GeometryDescription box;
  box.name = name + "_box";
  box.body = name;
  box.type = ShapeType::box;
  box.size = half;
  give(box, material);
  d.geometries.push_back(box);
}

void add_ball(Description& d, const std::string& name, double radius, double mass, const Vector3& position,
              const Material& material) {
  d.bodies.push_back(free_body(name, mass, Vector3::Constant(0.4 * mass * radius * radius), position,
                               Quaternion::Identity()));
  GeometryDescription ball;
  ball.name = name + "_ball";
  ball.body = name;
  ball.type = ShapeType::sphere;
  ball.size[0] = radius;
  give(ball, material);
  d.geometries.push_back(ball);
}

Scene::Scene(const Description& description, double dt, FrictionLaw law)
    : model(build(description)),
      data(model),
      work(model),
      state(neutral_state(model)) {
  settings.dt = dt;
  settings.law = law;
  input.controls = VectorX::Zero(model.nu());
  input.forces = VectorX::Zero(model.nv());
}

void Scene::step() {
  report = impulse_step(model, data, work, settings, input, state, warm);
  ASSERT_EQ(report.status, StepStatus::ok);
  ASSERT_LT(report.residual, 1e-9) << to_string(report.contact);
}

void Scene::run(int steps) {
  for (int i = 0; i < steps && !::testing::Test::HasFatalFailure(); ++i) step();
}

}  // namespace articula::testing
