// What a model's sensors read.

#include "articula/sensors/sensors.hpp"

#include <fmt/format.h>

#include "arguments.hpp"
#include "articula/sensors/derivatives.hpp"
#include "bindings.hpp"

namespace articula::python {

namespace {

struct KeptSensors {
  explicit KeptSensors(const Model& m) : model(m), sensors(m) {}
  Model model;
  Sensors sensors;
};

std::string_view stage_name(SensorStage stage) {
  switch (stage) {
    case SensorStage::position: return "position";
    case SensorStage::velocity: return "velocity";
    case SensorStage::acceleration: return "acceleration";
  }
  return "unknown";
}

// Everything that a reading depends on, as Python gave it.
struct Reading {
  VectorX acceleration, controls, joint_limit_force, tendon_limit_force;
  Matrix6X wrenches;
  std::vector<TouchContact> contacts;
};

VectorX optional_vector(const char* what, const py::object& given, py::ssize_t size) {
  return given.is_none() ? VectorX() : finite_vector(what, given, size);
}

std::vector<TouchContact> touch_contacts(const Model& model, const py::iterable& given) {
  std::vector<TouchContact> result;
  for (const py::handle one : given) {
    if (!py::isinstance<NamedContact>(one)) throw py::type_error("contacts must be the contacts of a Step");
    const auto& c = one.cast<const NamedContact&>();
    if (c.structure.get() != &model.structure()) throw Error("these contacts are of another model");
    result.push_back({c.body_a, c.body_b, Vec3(c.position), Vec3(c.normal()), c.force.dot(c.normal())});
  }
  return result;
}

void prepare(const Model& model, const State& x, const Reading& given, Data& data, ForceWork& forces,
             SensorInputs& inputs) {
  forward_kinematics(model, data, x.q);
  const bool accelerates = given.acceleration.size() > 0;
  propagate_motion(model, data, x.v.data(), accelerates ? given.acceleration.data() : nullptr);
  applied_forces(model, data, forces, x.q, x.v, x.activation,
                 given.controls.size() > 0 ? given.controls : VectorX(VectorX::Zero(model.nu())),
                 model.timestep());
  inputs.q = x.q.data();
  inputs.v = x.v.data();
  inputs.time = x.time;
  inputs.forces = &forces;
  if (given.wrenches.cols() > 0) inputs.wrenches = &given.wrenches;
  inputs.contacts = given.contacts;
  if (given.joint_limit_force.size() > 0) inputs.joint_limit_force = &given.joint_limit_force;
  if (given.tendon_limit_force.size() > 0) inputs.tendon_limit_force = &given.tendon_limit_force;
}

void require_numbers(const Model& model, const State& x) {
  require_state(x, model);
  require_finite("q", x.q.data(), x.q.size());
  require_finite("v", x.v.data(), x.v.size());
  require_finite("activation", x.activation.data(), x.activation.size());
  require_rotations(model, x.q);
}

py::array read(const KeptSensors& kept, const State& x, const py::object& acceleration,
               const py::object& controls, const py::object& wrenches, const py::iterable& contacts,
               const py::object& joint_limit_force, const py::object& tendon_limit_force) {
  const Model& model = kept.model;
  require_numbers(model, x);
  if (acceleration.is_none() && kept.sensors.need_acceleration())
    throw Error("sensors of '{}' need the acceleration (nv,)", model.description().name);
  Reading given;
  given.acceleration = optional_vector("acceleration", acceleration, model.nv());
  given.controls = optional_vector("controls", controls, model.nu());
  given.joint_limit_force = optional_vector("joint_limit_force", joint_limit_force, model.njoint());
  given.tendon_limit_force = optional_vector("tendon_limit_force", tendon_limit_force,
                                             static_cast<py::ssize_t>(model.structure().tendons.size()));
  given.contacts = touch_contacts(model, contacts);
  if (!wrenches.is_none()) {
    const Numbers array = numbers("wrenches", wrenches, {model.nbody(), 6});
    require_finite("wrenches", array.data(), array.size());
    given.wrenches = as_columns(array, 6, model.nbody());
  }
  VectorX readings(kept.sensors.size());
  {
    const py::gil_scoped_release released;
    Data data(model);
    ForceWork forces(model);
    SensorInputs inputs;
    prepare(model, x, given, data, forces, inputs);
    read_sensors(model, data, kept.sensors, inputs, readings);
  }
  return copy(readings);
}

// (size, nv) each: by q, v and the acceleration.
py::tuple derivatives(const KeptSensors& kept, const State& x, const py::object& acceleration) {
  const Model& model = kept.model;
  require_numbers(model, x);
  Reading given;
  given.acceleration = acceleration.is_none() ? VectorX(VectorX::Zero(model.nv()))
                                              : finite_vector("acceleration", acceleration, model.nv());
  SensorDerivatives result(model, kept.sensors);
  {
    const py::gil_scoped_release released;
    Data data(model);
    ForceWork forces(model);
    SensorInputs inputs;
    prepare(model, x, given, data, forces, inputs);
    motion_rates(model, data, x.v.data(), given.acceleration.data());
    differentiate_sensors(model, data, kept.sensors, inputs, result);
  }
  return py::make_tuple(copy_matrix(result.by_q), copy_matrix(result.by_v), copy_matrix(result.by_a));
}

}  // namespace

void bind_sensors(py::module_& module) {
  py::class_<SensorIndex> sensor(module, "Sensor", "A sensor, and where its numbers are among the readings.");
  exported(sensor)
      .def_property_readonly(
          "name", [](const SensorIndex& s) { return text(s.name); }, "As in the file.")
      .def_readonly("offset", &SensorIndex::offset, "Its first number among the readings.")
      .def_readonly("size", &SensorIndex::size, "How many numbers it reads.")
      .def_property_readonly(
          "stage", [](const SensorIndex& s) { return text(stage_name(s.stage)); },
          "'position', 'velocity' or 'acceleration': what it depends on, beside the configuration.")
      .def_property_readonly("has_derivative", &has_derivative, "False: its rows of `derivatives` are zero.")
      .def("__repr__", [](const SensorIndex& s) {
        return text(fmt::format("<sensor '{}': readings[{}:{}]>", s.name, s.offset, s.offset + s.size));
      });

  py::class_<KeptSensors, std::shared_ptr<KeptSensors>> sensors(
      module, "Sensors", "The sensors of a model, as MuJoCo defines them. Threads may share it.");
  exported(sensors)
      .def(py::init<const Model&>(), py::arg("model"))
      .def_property_readonly(
          "list", [](const KeptSensors& k) { return k.sensors.list(); }, "In the order of the file.")
      .def_property_readonly(
          "size", [](const KeptSensors& k) { return k.sensors.size(); }, "Numbers of all readings.")
      .def(
          "find",
          [](const KeptSensors& k, const std::string& name) {
            return k.sensors.list()[k.sensors.find(name)];
          },
          py::arg("name"), "The sensor of that name.")
      .def("read", &read, py::arg("x"), py::arg("acceleration") = py::none(),
           py::arg("controls") = py::none(), py::arg("wrenches") = py::none(),
           py::arg("contacts") = py::tuple(), py::arg("joint_limit_force") = py::none(),
           py::arg("tendon_limit_force") = py::none(),
           "(size,): readings in a state x. acceleration (nv,), m/s^2 and rad/s^2: needed by accelerometers "
           "and the like; of a step (s.next.v - s.start.v) / dt. controls (nu,). wrenches (nbody, 6), N and "
           "N m: of contacts and of the user, at centres of mass, for force and torque sensors. contacts: "
           "those of a Step, for touch. Limit forces (njoint,), (ntendon,), N and N m. What is not given is "
           "zero.")
      .def("derivatives", &derivatives, py::arg("x"), py::arg("acceleration") = py::none(),
           "Of the readings, by q (tangent space), v and the acceleration: three arrays (size, nv).")
      .def("__len__", [](const KeptSensors& k) { return k.sensors.list().size(); })
      .def("__repr__", [](const KeptSensors& k) {
        return text(fmt::format("<{} sensors of '{}': {} numbers>", k.sensors.list().size(),
                                k.model.description().name, k.sensors.size()));
      });
}

}  // namespace articula::python
