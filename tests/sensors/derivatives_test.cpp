// Derivatives of readings against Ridders' differences.

#include "articula/sensors/derivatives.hpp"

#include "articula/io/load.hpp"
#include "tests/support/allocations.hpp"
#include "tests/support/differences.hpp"
#include "tests/support/random_tree.hpp"

namespace articula::testing::derivatives_test {
namespace {

constexpr double tolerance = 1e-6;

// A model with its sensors, in any state.
struct Case {
  Model model;
  Sensors sensors{model};
  Data data{model};
  ForceWork forces{model};
  ExternalWrenches wrenches = ExternalWrenches::Random(6, model.nbody());

  void move(const VectorX& q, const VectorX& v, const VectorX& a) {
    forward_kinematics(model, data, q);
    propagate_motion(model, data, v.data(), a.data());
    applied_forces(model, data, forces, q, v, VectorX::Zero(model.na()), VectorX::Zero(model.nu()), 0.01);
  }
  SensorInputs inputs(const VectorX& q, const VectorX& v) const {
    SensorInputs in;
    in.q = q.data(), in.v = v.data(), in.forces = &forces, in.wrenches = &wrenches;
    return in;
  }
  VectorX read(const VectorX& q, const VectorX& v, const VectorX& a) {
    move(q, v, a);
    VectorX readings(sensors.size());
    read_sensors(model, data, sensors, inputs(q, v), readings);
    return readings;
  }
};

Case sensor_case(const std::string& file) { return {load(ARTICULA_SOURCE_DIR "/" + file + ".xml")}; }

// Differences would straddle the kink.
bool near_cutoff(const SensorIndex& sensor, const VectorX& readings) {
  const auto own = readings.segment(sensor.offset, sensor.size).array().abs();
  const double exact = 1e-12, near = 1.0;
  const auto distance = (own - sensor.cutoff).abs();
  return sensor.cutoff > 0.0 && ((distance > exact) && (distance < near)).any();
}

TEST(SensorDerivatives, are_those_of_the_readings) {
  for (const char* file :
       {"tests/features/sensors", "tests/features/massless_frames", "tests/features/tendons",
        "tests/features/mocap", "tests/features/replicas", "tests/features/bounds_without_mass",
        "tests/features/massless_bodies_sensed", "fuzz/corpus/mjcf/sensed_limits"}) {
    Case c = sensor_case(file);
    std::mt19937 random(3);
    for (int i = 0; i < 5; ++i) {
      const RandomState x = random_state(c.model, random);
      SensorDerivatives derivatives(c.model, c.sensors);
      c.move(x.q, x.v, x.a);
      motion_rates(c.model, c.data, x.v.data(), x.a.data());
      differentiate_sensors(c.model, c.data, c.sensors, c.inputs(x.q, x.v), derivatives);
      const auto read = [&](const VectorX& q, const VectorX& v, const VectorX& a) { return c.read(q, v, a); };
      const MatrixX by_q =
          ridders_tangent(c.model, [&](const VectorX& q) { return read(q, x.v, x.a); }, x.q, 1e-3);
      const MatrixX by_v = ridders_jacobian([&](const VectorX& v) { return read(x.q, v, x.a); }, x.v, 0.1);
      const MatrixX by_a = ridders_jacobian([&](const VectorX& a) { return read(x.q, x.v, a); }, x.a, 0.05);
      for (const SensorIndex& sensor : c.sensors.list()) {
        if (!has_derivative(sensor) || near_cutoff(sensor, derivatives.readings)) continue;
        const auto rows = [&](const MatrixX& J) { return J.middleRows(sensor.offset, sensor.size); };
        const std::string label =
            fmt::format("{}, sensor at {} of type {}", file, sensor.offset, static_cast<int>(sensor.type));
        EXPECT_LT(derivative_error(rows(derivatives.by_q), rows(by_q)), tolerance) << label << " by q";
        EXPECT_LT(derivative_error(rows(derivatives.by_v), rows(by_v)), tolerance) << label << " by v";
        EXPECT_LT(derivative_error(rows(derivatives.by_a), rows(by_a)), tolerance) << label << " by a";
      }
    }
  }
}

TEST(SensorDerivatives, and_readings_allocate_nothing) {
  SKIP_UNLESS_ALLOCATIONS_ARE_COUNTED();
  Case c = sensor_case("tests/features/sensors");
  std::mt19937 random(3);
  const RandomState x = random_state(c.model, random);
  SensorDerivatives derivatives(c.model, c.sensors);
  VectorX readings(c.sensors.size());
  c.move(x.q, x.v, x.a);
  motion_rates(c.model, c.data, x.v.data(), x.a.data());
  const auto work = [&] {
    read_sensors(c.model, c.data, c.sensors, c.inputs(x.q, x.v), readings);
    differentiate_sensors(c.model, c.data, c.sensors, c.inputs(x.q, x.v), derivatives);
  };
  work();
  EXPECT_EQ(allocations_during(work), 0u);
}

// A lamp at rest on an arm: the arm holds its weight less what else pushes it up.
TEST(Sensors, of_force_and_torque_feel_weight_and_wrenches_from_outside) {
  const Model model =
      build(parse_mjcf(R"(<mujoco><option gravity="0 0 -10"/><worldbody><body name="arm"><joint/>
      <geom size="0.1"/><body name="lamp" pos="0 0 1"><geom size="0.1" mass="3" pos="0.5 0 0"/><site name="s"/></body></body>
      </worldbody><sensor><force site="s"/><torque site="s"/></sensor></mujoco>)"));
  const Sensors sensors(model);
  Data data(model);
  const VectorX zero = VectorX::Zero(1);
  forward_kinematics(model, data, zero);
  propagate_motion(model, data, zero.data(), zero.data());
  ExternalWrenches wrenches = ExternalWrenches::Zero(6, model.nbody());
  wrenches.col(model.body("lamp")) << 0, 0, 12, 0, 0, 2;
  SensorInputs in;
  in.q = zero.data(), in.v = zero.data(), in.wrenches = &wrenches;
  VectorX readings(6);
  read_sensors(model, data, sensors, in, readings);
  EXPECT_TRUE(readings.head<3>().isApprox(Vector3(0, 0, 18)));
  EXPECT_TRUE(readings.tail<3>().isApprox(Vector3(0, -9, -2))) << readings.tail<3>().transpose();
}

// A box at rest on three contacts: each zone feels those on its own side.
TEST(Sensors, of_touch_add_up_the_forces_that_meet_their_zone) {
  const Model model = build(parse_mjcf(R"(<mujoco><worldbody><body name="box" pos="0 0 0.5"><freejoint/>
      <geom type="box" size="0.5 0.5 0.5"/><site name="left" type="box" size="0.2 0.5 0.1" pos="-0.3 0 -0.5"/>
      <site name="right" type="box" size="0.2 0.5 0.1" pos="0.3 0 -0.5"/></body></worldbody>
    <sensor><touch site="left"/><touch site="right"/></sensor></mujoco>)"));
  const Sensors sensors(model);
  Data data(model);
  const VectorX q = model.neutral_configuration(), v = VectorX::Zero(6);
  forward_kinematics(model, data, q);
  propagate_motion(model, data, v.data(), v.data());
  const int body = model.body("box");
  const TouchContact contacts[] = {{0, body, Vec3(-0.4, 0, 0), Vec3(0, 0, 1), 2.0},
                                   {0, body, Vec3(-0.3, 0.4, 0), Vec3(0, 0, 1), 3.0},
                                   {body, 0, Vec3(0.4, 0, 0), Vec3(0, 0, -1), 5.0}};
  SensorInputs in;
  in.q = q.data(), in.v = v.data(), in.contacts = contacts;
  VectorX readings(2);
  read_sensors(model, data, sensors, in, readings);
  EXPECT_DOUBLE_EQ(readings[0], 5.0);
  EXPECT_DOUBLE_EQ(readings[1], 5.0);
}

}  // namespace
}  // namespace articula::testing::derivatives_test
