// State, Input, WarmStart, snapshots.

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <cstring>

#include "arrays.hpp"
#include "articula/simulation/snapshot.hpp"
#include "articula/steppers/free_motion.hpp"
#include "bindings.hpp"

namespace articula::python {

namespace {

VectorX vector_or_empty(const char* what, const py::object& given) {
  if (given.is_none()) return {};
  const Numbers array = numbers(what, given);
  if (array.ndim() != 1)
    throw Error("{} has shape {}, not (n,)", what, shape_text(array.shape(), array.ndim()));
  return as_vector(array);
}

State make_state(const py::object& q, const py::object& v, const py::object& activation, double time) {
  return {vector_or_empty("q", q), vector_or_empty("v", v), vector_or_empty("activation", activation), time};
}

// Views of its memory may live: the numbers change, their place does not.
template <VectorX State::* member>
void assign(State& state, const py::object& values, const char* what) {
  VectorX& target = state.*member;
  target = as_vector(numbers(what, values, {target.size()}));
}

std::string numbers_text(const VectorX& x) {
  constexpr Eigen::Index most = 12;
  std::string list;
  for (Eigen::Index i = 0; i < std::min(x.size(), most); ++i)
    list += fmt::format("{}{:.6g}", i > 0 ? ", " : "", x[i]);
  return x.size() > most ? list + ", ..." : list;
}

std::string state_text(const State& x) {
  std::string text =
      fmt::format("State(time {:.6g} s\n  q [{}]\n  v [{}]", x.time, numbers_text(x.q), numbers_text(x.v));
  if (x.activation.size() > 0) text += fmt::format("\n  activation [{}]", numbers_text(x.activation));
  return text + ")";
}

// ------------------------------------------------------------------ inputs

Matrix6X columns6(const char* what, const py::object& given) {
  if (given.is_none()) return {};
  const Numbers array = numbers(what, given);
  if (array.ndim() != 2 || array.shape(1) != 6)
    throw Error("{} has shape {}, not (n, 6)", what, shape_text(array.shape(), array.ndim()));
  return as_columns(array, 6, array.shape(0));
}

std::vector<Pose> poses(const py::object& given) {
  std::vector<Pose> result;
  if (given.is_none()) return result;
  const Numbers array = numbers("kinematic_pose", given);
  if (array.ndim() != 2 || array.shape(1) != 7)
    throw Error("kinematic_pose has shape {}, not (nkinematic, 7)", shape_text(array.shape(), array.ndim()));
  for (py::ssize_t i = 0; i < array.shape(0); ++i) {
    const double* p = array.data(i, 0);
    if (!has_direction(p + 3)) throw Error("kinematic_pose: the quaternion of row {} has no direction", i);
    result.push_back({Vector3(p[0], p[1], p[2]), Quaternion(p[3], p[4], p[5], p[6]).normalized()});
  }
  return result;
}

py::object pose_rows(const std::vector<Pose>& given) {
  if (given.empty()) return py::none();
  MatrixX rows(7, static_cast<Eigen::Index>(given.size()));
  for (size_t i = 0; i < given.size(); ++i)
    rows.col(static_cast<Eigen::Index>(i)) << given[i].position, given[i].rotation.w(),
        given[i].rotation.vec();
  return copy_rows(rows);
}

py::object or_none(const VectorX& x) { return x.size() == 0 ? py::object(py::none()) : py::object(copy(x)); }
py::object or_none(const Matrix6X& x) {
  return x.size() == 0 ? py::object(py::none()) : py::object(copy_rows(x));
}

Input make_input(const py::object& controls, const py::object& forces, const py::object& wrenches,
                 const py::object& kinematic_pose, const py::object& kinematic_twist) {
  return {vector_or_empty("controls", controls), vector_or_empty("forces", forces),
          columns6("wrenches", wrenches), poses(kinematic_pose),
          columns6("kinematic_twist", kinematic_twist)};
}

std::string input_text(const Input& i) {
  std::string text = fmt::format("Input(controls [{}]", numbers_text(i.controls));
  if (i.forces.size() > 0) text += fmt::format("\n  forces [{}]", numbers_text(i.forces));
  if (i.wrenches.cols() > 0) text += fmt::format("\n  wrenches on {} bodies", i.wrenches.cols());
  if (!i.kinematic_pose.empty()) text += fmt::format("\n  {} kinematic poses", i.kinematic_pose.size());
  if (i.kinematic_twist.cols() > 0) text += fmt::format("\n  {} kinematic twists", i.kinematic_twist.cols());
  return text + ")";
}

// ------------------------------------------------------------------ warm starts

// law, size of an entry, then the entries as they are in memory: pickles are for programs of one build,
// snapshots (to_bytes) for keeping.
using Entry = WarmStart::Entry;
static_assert(std::is_trivially_copyable_v<Entry>);
constexpr size_t header_bytes = 2;

py::bytes warm_bytes(const WarmStart& warm) {
  std::string bytes(header_bytes + sizeof(Entry) * warm.entries.size(), '\0');
  bytes[0] = static_cast<char>(warm.law);
  bytes[1] = static_cast<char>(sizeof(Entry));
  if (!warm.entries.empty())
    std::memcpy(bytes.data() + header_bytes, warm.entries.data(), bytes.size() - header_bytes);
  return bytes;
}

WarmStart warm_from_bytes(const py::bytes& given) {
  const std::string bytes = given;
  if (bytes.size() < header_bytes || bytes[0] < 0 || bytes[0] > 1 ||
      bytes[1] != static_cast<char>(sizeof(Entry)) || (bytes.size() - header_bytes) % sizeof(Entry) != 0)
    throw Error("this is no pickled warm start of this version");
  WarmStart warm;
  warm.law = static_cast<FrictionLaw>(bytes[0]);
  warm.entries.resize((bytes.size() - header_bytes) / sizeof(Entry));
  if (!warm.entries.empty())
    std::memcpy(warm.entries.data(), bytes.data() + header_bytes, bytes.size() - header_bytes);
  for (const Entry& entry : warm.entries) {
    bool sound = entry.rows <= 6;
    for (const RowMode mode : entry.mode) sound = sound && mode <= RowMode::yield_lower;
    if (!sound) throw Error("this is no pickled warm start of this version");
  }
  return warm;
}

py::bytes snapshot_bytes(const Model& model, const State& state, const WarmStart* warm) {
  require_state(state, model);
  const std::vector<std::byte> bytes = to_bytes(model, {state, warm != nullptr ? *warm : WarmStart{}});
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

py::tuple snapshot_from_bytes(const Model& model, const py::bytes& given) {
  const std::string_view bytes = given;
  Snapshot snapshot = from_bytes(model, {reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()});
  return py::make_tuple(std::make_shared<State>(std::move(snapshot.state)),
                        std::make_shared<WarmStart>(std::move(snapshot.warm)));
}

}  // namespace

void require_state(const State& x, const Model& model) {
  const auto require = [](const char* what, long given, long needed) {
    if (given != needed) throw Error("{} has shape ({},), not ({},)", what, given, needed);
  };
  require("q", x.q.size(), model.nq());
  require("v", x.v.size(), model.nv());
  require("activation", x.activation.size(), model.na());
}

void read_input(py::handle given, const Model& model, Input& input) {
  if (given.is_none()) return;
  if (!Numbers::check_(given) && py::isinstance<Input>(given)) {
    input = given.cast<const Input&>();
    return;
  }
  input.controls = as_vector(numbers("controls", given, {model.nu()}));
}

void bind_state(py::module_& module) {
  py::class_<State, std::shared_ptr<State>> state(
      module, "State",
      "Positions, velocities, activations and time. The arrays are views: writing to them changes it.");
  exported(state)
      .def(py::init(&make_state), py::arg("q"), py::arg("v"), py::arg("activation") = py::none(),
           py::arg("time") = 0.0, "From arrays (nq,), (nv,) and (na,), which are copied.")
      .def_property(
          "q", [](const py::object& self) { return view(self.cast<State&>().q, self); },
          [](State& x, const py::object& values) { assign<&State::q>(x, values, "q"); },
          "(nq,): positions, m and rad; quaternions w x y z")
      .def_property(
          "v", [](const py::object& self) { return view(self.cast<State&>().v, self); },
          [](State& x, const py::object& values) { assign<&State::v>(x, values, "v"); },
          "(nv,): velocities, m/s and rad/s")
      .def_property(
          "activation", [](const py::object& self) { return view(self.cast<State&>().activation, self); },
          [](State& x, const py::object& values) { assign<&State::activation>(x, values, "activation"); },
          "(na,): activations of actuators")
      .def_readwrite("time", &State::time, "s")
      .def_property_readonly(
          "hash", [](const State& x) { return state_hash(x); }, "Over all bits of the state.")
      .def(
          "copy", [](const State& x) { return State(x); }, "A state of its own with the same numbers.")
      .def("__repr__", &state_text)
      .def(py::pickle(
          [](const State& x) { return py::make_tuple(copy(x.q), copy(x.v), copy(x.activation), x.time); },
          [](const py::tuple& kept) {
            if (kept.size() != 4) throw Error("this is no pickled state");
            return make_state(kept[0], kept[1], kept[2], kept[3].cast<double>());
          }));

  py::class_<Input, std::shared_ptr<Input>> input(
      module, "Input",
      "What acts from outside during a step. Whatever is None is zero, or at rest as described.");
  exported(input)
      .def(py::init(&make_input), py::arg("controls") = py::none(), py::arg("forces") = py::none(),
           py::arg("wrenches") = py::none(), py::arg("kinematic_pose") = py::none(),
           py::arg("kinematic_twist") = py::none(),
           "From arrays (nu,), (nv,), (nbody, 6), (nkinematic, 7) and (nkinematic, 6), which are copied.")
      .def_property_readonly(
          "controls", [](const Input& i) { return or_none(i.controls); }, "(nu,)")
      .def_property_readonly(
          "forces", [](const Input& i) { return or_none(i.forces); },
          "(nv,): at the joints, beside those of actuators, N and N m")
      .def_property_readonly(
          "wrenches", [](const Input& i) { return or_none(i.wrenches); },
          "(nbody, 6): force (N) at the centre of mass and torque (N m), in world axes")
      .def_property_readonly(
          "kinematic_pose", [](const Input& i) { return pose_rows(i.kinematic_pose); },
          "(nkinematic, 7): position (m) and quaternion w x y z of the bodies the user moves")
      .def_property_readonly(
          "kinematic_twist", [](const Input& i) { return or_none(i.kinematic_twist); },
          "(nkinematic, 6): linear (m/s) and angular (rad/s) velocity, in world axes")
      .def("__repr__", &input_text)
      .def(py::pickle(
          [](const Input& i) {
            return py::make_tuple(or_none(i.controls), or_none(i.forces), or_none(i.wrenches),
                                  pose_rows(i.kinematic_pose), or_none(i.kinematic_twist));
          },
          [](const py::tuple& kept) {
            if (kept.size() != 5) throw Error("this is no pickled input");
            return make_input(kept[0], kept[1], kept[2], kept[3], kept[4]);
          }));

  py::class_<WarmStart, std::shared_ptr<WarmStart>> warm(
      module, "WarmStart",
      "What the next step may guess from this one: faster; where the laws allow several motions, it picks "
      "one.");
  exported(warm)
      .def(py::init<>(), "A cold start: no guess.")
      .def("__len__", [](const WarmStart& w) { return w.entries.size(); })
      .def("__repr__",
           [](const WarmStart& w) {
             return fmt::format("<warm start of {} contacts and limits>", w.entries.size());
           })
      .def(py::pickle(&warm_bytes, &warm_from_bytes));

  module.def(
      "to_bytes", &snapshot_bytes, py::arg("model"), py::arg("state"), py::arg("warm") = py::none(),
      "A state and its warm start as bytes: bit for bit, with a checksum and the structure of the model.");
  module.def("from_bytes", &snapshot_from_bytes, py::arg("model"), py::arg("data"),
             "(State, WarmStart) from `to_bytes`.");
}

}  // namespace articula::python
