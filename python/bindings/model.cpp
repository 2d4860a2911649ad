// Model: what it is made of, its parameters, variants.

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <limits>

#include "arrays.hpp"
#include "articula/io/load.hpp"
#include "articula/io/mjcf_writer.hpp"
#include "articula/io/paths.hpp"
#include "articula/model/names.hpp"
#include "articula/simulation/snapshot.hpp"
#include "bindings.hpp"
#include "model_tree.hpp"

namespace articula::python {

namespace {

std::shared_ptr<Model> share(Model model) { return std::make_shared<Model>(std::move(model)); }

// ------------------------------------------------------------------ variants

Model with_named(const Model& model, const std::string& pattern, py::handle values) {
  const Numbers given = numbers(pattern.c_str(), values);
  long size = 0;
  for (const ParameterSlice& slice : model.parameters().matching(pattern)) size += slice.size;
  // One number stands for all of the slices it may fill.
  if (given.ndim() == 0 && size > 0) return model.with(pattern, VectorX::Constant(size, *given.data()));
  return model.with(pattern, as_vector(given));
}

std::shared_ptr<Model> with_theta(const Model& model, py::handle theta) {
  if (!py::isinstance<py::dict>(theta))
    return share(model.with(as_vector(numbers("theta", theta, {model.theta().size()}))));
  Model variant = model;
  for (const auto& [name, values] : py::reinterpret_borrow<py::dict>(theta))
    variant = with_named(variant, utf8("the name of a parameter", name), values);
  return share(std::move(variant));
}

std::vector<std::pair<int, int>> slices_of(const Model& model, const std::string& pattern) {
  std::vector<std::pair<int, int>> ranges;
  for (const ParameterSlice& slice : model.parameters().matching(pattern))
    ranges.emplace_back(slice.offset, slice.size);
  if (ranges.empty()) model.parameters().find(pattern);  // throws, with the nearest names
  return ranges;
}

py::array indices_of(const Model& model, const std::string& pattern) {
  std::vector<std::int64_t> indices;
  for (const auto& [offset, size] : slices_of(model, pattern))
    for (int i = 0; i < size; ++i) indices.push_back(offset + i);
  return py::array_t<std::int64_t>(static_cast<py::ssize_t>(indices.size()), indices.data());
}

// ------------------------------------------------------------------ keyframes

const KeyframeDescription& find_keyframe(const Model& model, const std::string& name) {
  std::vector<std::string> known;
  for (const KeyframeDescription& key : model.description().keyframes) {
    if (key.name == name) return key;
    known.push_back(key.name);
  }
  if (known.empty()) throw Error("no keyframe '{}': the model has none", name);
  throw Error("no keyframe '{}'{}", name, suggestion(name, known));
}

void fill(VectorX& target, const std::vector<double>& values) {
  if (values.size() == static_cast<size_t>(target.size()))
    target = Eigen::Map<const VectorX>(values.data(), target.size());
}

State keyframe_state(const Model& model, const std::string& name) {
  const KeyframeDescription& key = find_keyframe(model, name);
  State state = neutral_state(model);
  fill(state.q, key.q);
  fill(state.v, key.v);
  fill(state.activation, key.activation);
  state.time = key.time;
  return state;
}

VectorX keyframe_controls(const Model& model, const std::string& name) {
  VectorX controls = VectorX::Zero(model.nu());
  fill(controls, find_keyframe(model, name).control);
  return controls;
}

// ------------------------------------------------------------------ names and ranges

template <class List>
py::list names(const List& list) {
  py::list result;
  for (const auto& element : list) result.append(text(element.name));
  return result;
}

py::list texts(const std::vector<std::string>& list) {
  py::list result;
  for (const std::string& line : list) result.append(text(line));
  return result;
}

py::array ranges(const std::vector<std::optional<Vector2>>& given) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  py::array_t<double> result({static_cast<py::ssize_t>(given.size()), py::ssize_t{2}});
  double* out = result.mutable_data();
  for (const auto& range : given) {
    *out++ = range ? (*range)[0] : -inf;
    *out++ = range ? (*range)[1] : inf;
  }
  return result;
}

py::array control_range(const Model& model) {
  std::vector<std::optional<Vector2>> given;
  for (const ActuatorDescription& a : model.description().actuators) given.push_back(a.control_range);
  return ranges(given);
}

// As theta has it: a variant may have other limits.
py::array joint_range(const Model& model) {
  std::vector<std::optional<Vector2>> given;
  for (const JointIndex& joint : model.structure().joints) {
    given.emplace_back();
    if (joint.range >= 0) given.back() = model.theta().segment<2>(joint.range);
  }
  return ranges(given);
}

std::vector<std::filesystem::path> paths(const char* what, const py::object& given) {
  if (PyUnicode_Check(given.ptr()) || PyBytes_Check(given.ptr()) || !py::isinstance<py::iterable>(given))
    throw py::type_error(fmt::format("{} must be a list of directories", what));
  std::vector<std::filesystem::path> result;
  for (const py::handle directory : given) result.push_back(path(directory));
  return result;
}

// ------------------------------------------------------------------ pickles

// MJCF text gives back the same description, and theta its numbers to the bit.
py::tuple get_state(const Model& model) {
  return py::make_tuple(py::bytes(to_mjcf(model.description())), copy(model.theta()), structure_hash(model));
}

std::shared_ptr<Model> set_state(const py::tuple& kept) {
  if (kept.size() != 3) throw Error("this is no pickled model");
  const Model described = build(parse_mjcf(kept[0].cast<std::string>()));
  if (structure_hash(described) != kept[2].cast<std::uint64_t>())
    throw Error("the pickled model '{}' did not come back as it was", described.description().name);
  return share(described.with(as_vector(numbers("theta", kept[1], {described.theta().size()}))));
}

}  // namespace

void bind_model(py::module_& module) {
  py::class_<ParameterSlice> slice(module, "ParameterSlice",
                                   "A name for a few consecutive numbers of theta.");
  exported(slice)
      .def_property_readonly(
          "name", [](const ParameterSlice& s) { return text(s.name); },
          "For `parameter`, `with_` and `pullback`.")
      .def_property_readonly(
          "kind", [](const ParameterSlice& s) { return text(to_string(s.kind)); }, "What its numbers are.")
      .def_readonly("offset", &ParameterSlice::offset, "Where it begins in theta.")
      .def_readonly("size", &ParameterSlice::size, "How many numbers it has.")
      .def("__repr__", [](const ParameterSlice& s) {
        return text(
            fmt::format("<{} ({}): theta[{}:{}]>", s.name, to_string(s.kind), s.offset, s.offset + s.size));
      });

  py::class_<JointIndex> joint(module, "Joint", "A joint, and where its numbers are in q and v.");
  exported(joint)
      .def_property_readonly(
          "name", [](const JointIndex& j) { return text(j.name); }, "As in the file.")
      .def_property_readonly(
          "type", [](const JointIndex& j) { return joint_type_name(j.type); },
          "'fixed', 'hinge', 'slide', 'ball' or 'free'")
      .def_readonly("body", &JointIndex::body, "Number of the body it moves.")
      .def_readonly("q", &JointIndex::q, "First entry in q.")
      .def_readonly("dof", &JointIndex::dof, "First entry in v.")
      .def("__repr__", [](const JointIndex& j) {
        return text(
            fmt::format("<{} joint '{}': q[{}], v[{}]>", joint_type_name(j.type), j.name, j.q, j.dof));
      });

  py::class_<Model, std::shared_ptr<Model>> model(
      module, "Model", "A robot or scene: immutable, shared between threads. Made by `load`.");
  exported(model)
      .def_property_readonly(
          "name", [](const Model& m) { return text(m.description().name); }, "As in the file.")
      .def_property_readonly("nq", &Model::nq, "Numbers of a configuration q (quaternions: 4).")
      .def_property_readonly("nv", &Model::nv, "Degrees of freedom: numbers of a velocity v.")
      .def_property_readonly("nu", &Model::nu, "Controls.")
      .def_property_readonly("na", &Model::na, "Activations of actuators.")
      .def_property_readonly("nbody", &Model::nbody, "Bodies, with the world as number 0.")
      .def_property_readonly("njoint", &Model::njoint, "Joints.")
      .def_property_readonly(
          "nkinematic", [](const Model& m) { return m.structure().nkinematic; },
          "Bodies that the user moves (Input.kinematic_pose).")
      .def_property_readonly("total_mass", &Model::total_mass, "kg")
      .def_property_readonly("timestep", &Model::timestep, "s: the file's own time step.")
      .def_property_readonly(
          "gravity", [](const Model& m) { return copy(m.theta().segment<3>(m.structure().gravity)); },
          "(3,) m/s^2")
      .def_property_readonly(
          "body_names", [](const Model& m) { return names(m.structure().bodies); },
          "By number; the world first.")
      .def_property_readonly(
          "joint_names", [](const Model& m) { return names(m.structure().joints); },
          "In the order of q and v.")
      .def_property_readonly(
          "frame_names", [](const Model& m) { return names(m.structure().frames); },
          "By number; MJCF calls them sites.")
      .def_property_readonly(
          "geometry_names", [](const Model& m) { return names(m.structure().geometries); },
          "By number; empty where there is no name.")
      .def_property_readonly(
          "actuator_names", [](const Model& m) { return names(m.structure().actuators); },
          "In the order of the controls.")
      .def_property_readonly(
          "joints", [](const Model& m) { return m.structure().joints; }, "In the order of q and v.")
      .def_property_readonly("control_range", &control_range, "(nu, 2); infinite where there is none")
      .def_property_readonly("joint_range", &joint_range,
                             "(njoint, 2) rad or m; infinite where there is none")
      .def_property_readonly(
          "warnings", [](const Model& m) { return texts(m.description().warnings); },
          "What the loader noticed and went on from.")
      .def("body", &Model::body, py::arg("name"), "Number of the body of that name.")
      .def(
          "joint",
          [](const Model& m, const std::string& name) { return m.structure().joints[m.joint(name)]; },
          py::arg("name"), "The joint of that name.")
      .def(
          "neutral_state", [](const Model& m) { return neutral_state(m); },
          "The pose as described, at rest, at time 0.")
      .def_property_readonly(
          "keyframes", [](const Model& m) { return names(m.description().keyframes); }, "Their names.")
      .def("keyframe", &keyframe_state, py::arg("name"), "The state of a keyframe.")
      .def(
          "keyframe_controls",
          [](const Model& m, const std::string& name) { return copy(keyframe_controls(m, name)); },
          py::arg("name"), "(nu,): the controls of a keyframe; zero where it has none.")
      .def_property_readonly(
          "theta", [](const py::object& self) { return read_only(self.cast<const Model&>().theta(), self); },
          "(ntheta,): every number of the model that can be differentiated; read-only, without a copy.")
      .def_property_readonly(
          "parameters", [](const Model& m) { return m.parameters().slices(); },
          "The named slices of theta, in its order.")
      .def(
          "parameter",
          [](const Model& m, const std::string& pattern) {
            slices_of(m, pattern);
            return copy(m.parameter(pattern));
          },
          py::arg("pattern"), "The numbers of the slice of that name, or of all that match (`*`: anything).")
      .def("parameter_indices", &indices_of, py::arg("pattern"),
           "Where in theta the numbers are that `parameter(pattern)` returns.")
      .def(
          "with_", &with_theta, py::arg("theta"),
          "The same robot with other numbers: all of theta, or a dict from patterns to values. Microseconds; "
          "the structure is shared.")
      .def(
          "with_",
          [](const Model& m, const std::string& pattern, const py::object& values) {
            slices_of(m, pattern);
            return share(with_named(m, pattern, values));
          },
          py::arg("pattern"), py::arg("values"),
          "The same robot with other numbers in the slices that match; one number fills all of them.")
      .def(
          "to_mjcf", [](const Model& m) { return text(to_mjcf(m.description())); },
          "The model as described (not its variant), as MJCF text.")
      .def_property_readonly(
          "structure_hash", [](const Model& m) { return structure_hash(m); },
          "Equal for variants of a model, and from run to run.")
      .def("__repr__", [](const Model& m) { return text(model_tree(m)); })
      .def("__copy__", [](const std::shared_ptr<Model>& m) { return m; })
      .def("__deepcopy__", [](const std::shared_ptr<Model>& m, const py::dict&) { return m; })
      .def(py::pickle(&get_state, &set_state));

  module.def(
      "load",
      [](const py::object& given, bool visual_meshes, bool floating_base, const py::object& search_path,
         const py::object& srdf, bool keep_overlaps) {
        const std::string name = path(given).string();
        LoadOptions options;
        options.visual_meshes = visual_meshes;
        options.floating_base = floating_base;
        options.search_path = paths("search_path", search_path);
        options.srdf = path(srdf);
        options.keep_overlaps = keep_overlaps;
        const py::gil_scoped_release released;
        return share(load(name, options));
      },
      py::arg("name_or_path"), py::kw_only(), py::arg("visual_meshes") = true,
      py::arg("floating_base") = false, py::arg("search_path") = py::tuple(), py::arg("srdf") = "",
      py::arg("keep_overlaps") = false,
      "A model from a file (MJCF, URDF, SDF: recognised by its content), a built-in model's name "
      "(`model_names()`), or \"chainN\", a pendulum of N links. For URDF: `floating_base` lets the root "
      "move, "
      "`search_path` has the directories of packages, `srdf` is a file with pairs of links that never "
      "collide, `keep_overlaps` lets links collide that overlap with all joints at zero.");
  module.def(
      "parse_mjcf",
      [](const std::string& mjcf, const py::object& directory) {
        const std::filesystem::path beside = path(directory);
        const py::gil_scoped_release released;
        return share(build(parse_mjcf(mjcf, beside)));
      },
      py::arg("text"), py::arg("directory") = "",
      "A model from MJCF text; files it refers to are looked up relative to `directory`.");
  module.def("model_names", [] { return texts(model_names()); }, "The built-in models.");
}

}  // namespace articula::python
