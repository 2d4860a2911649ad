#include "mujoco_agreement.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "articula/dynamics/aba.hpp"
#include "articula/dynamics/crba.hpp"
#include "articula/dynamics/forces.hpp"
#include "articula/sensors/sensors.hpp"
#include "random_forces.hpp"

namespace articula::testing {
namespace {

struct States {
  int count;
  MatrixX q, v, u, w;  // one column per state

  States(const Model& model, int states)
      : count(states),
        q(model.nq(), states),
        v(model.nv(), states),
        u(model.nu(), states),
        w(model.na(), states) {
    std::mt19937 random(7);
    for (int i = 0; i < states; ++i) {
      const RandomState x = random_state(model, random);
      const RandomInputs inputs = random_inputs(model, random);
      q.col(i) = x.q, v.col(i) = x.v, u.col(i) = inputs.control, w.col(i) = inputs.activation;
    }
  }
  PeerStates view() const { return {count, q.data(), v.data(), nullptr, nullptr, u.data(), w.data()}; }
};

// Rows of `size` numbers each, one per state.
struct Rows {
  std::vector<double> all;
  long size;
  VectorX operator[](int state) const { return Eigen::Map<const VectorX>(all.data() + state * size, size); }
};

double difference(const VectorX& ours, const VectorX& theirs, double scale = 0.0) {
  if (theirs.size() == 0) return 0.0;
  const double error = (ours - theirs).cwiseAbs().maxCoeff();
  if (std::isnan(error)) return INFINITY;
  constexpr double negligible = 1e-12;
  return error <= negligible ? 0.0 : error / std::max(scale, theirs.cwiseAbs().maxCoeff());
}

std::string compare_sizes(const PeerApi& mujoco, const peers::PeerModelPtr& peer, const Model& model,
                          const Sensors& sensors) {
  std::string text;
  const auto expect = [&](const char* name, int ours) {
    const int theirs = mujoco.size(peer.get(), name);
    if (theirs != ours) text += fmt::format("{}: {} and {} in MuJoCo; ", name, ours, theirs);
  };
  expect("nq", model.nq());
  expect("nv", model.nv());
  expect("nu", model.nu());
  expect("na", model.na());
  expect("nbody", model.nbody());
  expect("nsensordata", sensors.size());
  return text;
}

// Readings are compared sensor by sensor; a quaternion and its negative are one rotation.
void compare_sensors(const Model& model, const Sensors& sensors, const VectorX& ours, const VectorX& theirs,
                     Agreement& agreement) {
  for (const SensorIndex& sensor : sensors.list()) {
    const VectorX a = ours.segment(sensor.offset, sensor.size),
                  b = theirs.segment(sensor.offset, sensor.size);
    double error = difference(a, b, 1e-3);
    if (sensor.type == SensorType::frame_quaternion) error = std::min(error, difference(-a, b));
    if (error <= agreement.sensors) continue;
    agreement.sensors = error;
    const auto position = static_cast<std::size_t>(&sensor - sensors.list().data());
    agreement.worst_sensor =
        fmt::format("'{}' ({})", sensor.name, model.description().sensors[position].where);
  }
}

}  // namespace

double Agreement::worst() const {
  return std::max({masses, mass_matrix, bias, passive, actuator_force, actuator, smooth, sensors});
}

std::string Agreement::text() const {
  return fmt::format(
      "{}masses {:.1e}, M {:.1e}, bias {:.1e}, passive {:.1e}, actuator forces {:.1e}, at the joints {:.1e}, "
      "smooth acceleration {:.1e}, sensors {:.1e} {}",
      sizes, masses, mass_matrix, bias, passive, actuator_force, actuator, smooth, sensors, worst_sensor);
}

Agreement compare_with_mujoco(const PeerApi& mujoco, const peers::PeerModelPtr& peer, const Model& model,
                              int states) {
  mujoco.set_option(peer.get(), "constraint", 0.0);
  Agreement result;
  const Sensors sensors(model);
  result.sizes = compare_sizes(mujoco, peer, model, sensors);
  const States x(model, states);
  const PeerStates view = x.view();
  const auto theirs = [&](const char* quantity) {
    return Rows{peers::evaluate(peer, quantity, view), mujoco.quantity_size(peer.get(), quantity)};
  };
  if (mujoco.size(peer.get(), "nq") != model.nq() || mujoco.size(peer.get(), "nv") != model.nv() ||
      mujoco.size(peer.get(), "nu") != model.nu() || mujoco.size(peer.get(), "na") != model.na() ||
      mujoco.size(peer.get(), "nbody") != model.nbody()) {
    return result;
  }
  const int nv = model.nv();
  VectorX masses = VectorX::Zero(model.nbody());
  for (int b = 1; b < model.nbody(); ++b) masses[b] = model.theta()[model.structure().bodies[b].inertia];
  result.masses = difference(masses, theirs("body_masses")[0]);
  const Rows M = theirs("mass_matrix"), bias = theirs("bias"), passive = theirs("passive_forces"),
             actuator = theirs("actuator_generalised_forces"), force = theirs("actuator_forces"),
             smooth = theirs("smooth_acceleration"), readings = theirs("sensors");
  Data data(model);
  ForceWork work(model);
  VectorX c(nv), a(nv), ours(sensors.size());
  MatrixX mass_matrix(nv, nv);
  const auto raise = [](double& worst, double error) { worst = std::max(worst, error); };
  for (int i = 0; i < states; ++i) {
    const VectorX q = x.q.col(i), v = x.v.col(i);
    crba(model, data, q);
    dense_mass_matrix(model, data, mass_matrix);
    raise(result.mass_matrix, difference(mass_matrix.reshaped(), M[i]));
    bias_forces(model, data, q, v, c);
    raise(result.bias, difference(c, bias[i]));
    applied_forces(model, data, work, q, v, x.w.col(i), x.u.col(i), model.timestep());
    raise(result.passive, difference(work.passive, passive[i]));
    raise(result.actuator_force, difference(work.force, force[i]));
    raise(result.actuator, difference(work.actuator, actuator[i]));
    if (!aba(model, data, q, v, work.tau, a)) a.setConstant(NAN);
    raise(result.smooth, difference(a, smooth[i]));
    if (ours.size() == 0 || readings.size != ours.size()) continue;
    const VectorX their_a = smooth[i];  // what remains of the difference is the sensors' own
    propagate_motion(model, data, v.data(), their_a.data());
    SensorInputs inputs;
    inputs.q = q.data(), inputs.v = v.data(), inputs.forces = &work;
    read_sensors(model, data, sensors, inputs, ours);
    compare_sensors(model, sensors, ours, readings[i], result);
  }
  return result;
}

}  // namespace articula::testing
