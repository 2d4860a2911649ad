// Poses, Jacobians and dynamics of a configuration: pure functions of the model and arrays.

#include <fmt/format.h>

#include "arguments.hpp"
#include "arrays.hpp"
#include "articula/dynamics/aba.hpp"
#include "articula/dynamics/crba.hpp"
#include "articula/dynamics/energy.hpp"
#include "articula/kinematics/jacobian.hpp"
#include "articula/kinematics/manifold.hpp"
#include "articula/math/lie.hpp"
#include "bindings.hpp"

namespace articula::python {

namespace {

// ------------------------------------------------------------------ where things are

// (count, 7): position and quaternion of each of `count` things.
template <class Place>
py::array placements(const Model& model, const py::object& q, size_t count, const Place& place) {
  const VectorX at = configuration(model, q);
  MatrixX rows(7, static_cast<Eigen::Index>(count));
  {
    const py::gil_scoped_release released;
    Data data(model);
    forward_kinematics(model, data, at);
    for (int i = 0; i < rows.cols(); ++i) {
      const Placement placed = place(model, data, i);
      rows.col(i).head<3>() = placed.p.eigen();
      store_quaternion(rows.col(i).data() + 3, rotation_quaternion(placed.R));
    }
  }
  return copy_rows(rows);
}

template <class Rows, class Fill>
py::array jacobian(const Model& model, const py::object& q, const Fill& fill) {
  const VectorX at = configuration(model, q);
  Rows J = Rows::Zero(Rows::RowsAtCompileTime, model.nv());
  {
    const py::gil_scoped_release released;
    Data data(model);
    forward_kinematics(model, data, at);
    fill(data, J);
  }
  return copy_matrix(J);
}

py::array point_jacobian_of(const Model& model, const py::object& q, const py::object& body,
                            const py::object& point) {
  const int b = body_number(model, "body", body);
  const Vector3 at = finite_vector("point", point, 3);
  return jacobian<Matrix3X>(model, q,
                            [&](const Data& data, Matrix3X& J) { point_jacobian(model, data, b, at, J); });
}

// ------------------------------------------------------------------ dynamics

py::array mass_matrix(const Model& model, const py::object& q) {
  const VectorX at = configuration(model, q);
  MatrixX M(model.nv(), model.nv());
  {
    const py::gil_scoped_release released;
    Data data(model);
    crba(model, data, at);
    dense_mass_matrix(model, data, M);
  }
  return copy_matrix(M);
}

py::array inverse_dynamics(const Model& model, const py::object& q, const py::object& v,
                           const py::object& a) {
  const VectorX at = configuration(model, q), rate = finite_vector("v", v, model.nv()),
                acceleration = finite_vector("a", a, model.nv());
  VectorX tau(model.nv());
  {
    const py::gil_scoped_release released;
    Data data(model);
    rnea(model, data, at, rate, acceleration, tau);
  }
  return copy(tau);
}

py::array forward_dynamics(const Model& model, const py::object& q, const py::object& v,
                           const py::object& tau) {
  const VectorX at = configuration(model, q), rate = finite_vector("v", v, model.nv()),
                force = finite_vector("tau", tau, model.nv());
  VectorX a(model.nv());
  bool determined = false;
  {
    const py::gil_scoped_release released;
    Data data(model);
    determined = aba(model, data, at, rate, force, a);
  }
  if (!determined) throw Error("a degree of freedom of '{}' meets no inertia", model.description().name);
  return copy(a);
}

struct Conserved {
  Energy energy;
  Vector3 centre_of_mass;
  Vector6 momentum;
};

Conserved conserved(const Model& model, const py::object& q, const py::object& v) {
  const VectorX at = configuration(model, q);
  const VectorX rate = v.is_none() ? VectorX(VectorX::Zero(model.nv())) : finite_vector("v", v, model.nv());
  const py::gil_scoped_release released;
  Data data(model);
  forward_kinematics(model, data, at);
  place_inertias(model, data);
  propagate_motion(model, data, rate.data(), nullptr);
  return {energy(model, data, at, rate), centre_of_mass(model, data), momentum(model, data)};
}

py::array difference_of(const Model& model, const py::object& q0, const py::object& q1) {
  const VectorX from = configuration(model, q0), to = configuration(model, q1);
  VectorX d(model.nv());
  difference(model, from, to, d);
  return copy(d);
}

void bind_places(py::module_& module) {
  module.def(
      "body_placements",
      [](const Model& m, const py::object& q) {
        return placements(m, q, m.structure().bodies.size(), &body_placement);
      },
      py::arg("model"), py::arg("q"),
      "(nbody, 7): position (m) and quaternion w x y z of every body in the world, at the configuration q "
      "(nq,).");
  module.def(
      "frame_placements",
      [](const Model& m, const py::object& q) {
        return placements(m, q, m.structure().frames.size(), &frame_placement);
      },
      py::arg("model"), py::arg("q"),
      "(nframe, 7): position (m) and quaternion w x y z of every frame (MJCF's sites), as `frame_names` "
      "lists "
      "them.");
  module.def(
      "body_jacobian",
      [](const Model& m, const py::object& q, const py::object& body) {
        const int b = body_number(m, "body", body);
        return jacobian<Matrix6X>(m, q, [&](const Data& data, Matrix6X& J) { body_jacobian(m, data, b, J); });
      },
      py::arg("model"), py::arg("q"), py::arg("body"),
      "(6, nv): linear (m/s) and angular (rad/s) velocity of a body's origin, in world axes, per velocity v. "
      "body: its name or number.");
  module.def(
      "frame_jacobian",
      [](const Model& m, const py::object& q, const std::string& frame) {
        const int f = m.frame(frame);
        return jacobian<Matrix6X>(m, q,
                                  [&](const Data& data, Matrix6X& J) { frame_jacobian(m, data, f, J); });
      },
      py::arg("model"), py::arg("q"), py::arg("frame"), "(6, nv): the same of a frame, by its name.");
  module.def("point_jacobian", &point_jacobian_of, py::arg("model"), py::arg("q"), py::arg("body"),
             py::arg("point"),
             "(3, nv): velocity (m/s) of the point of a body that is at `point` (3,) m in the world now.");
  module.def("difference", &difference_of, py::arg("model"), py::arg("q0"), py::arg("q1"),
             "(nv,): q1 (-) q0, the tangent vector that `integrate` moves q0 to q1 along; m and rad.");
}

}  // namespace

void bind_kinematics(py::module_& module) {
  bind_places(module);
  module.def("mass_matrix", &mass_matrix, py::arg("model"), py::arg("q"),
             "(nv, nv): kg, kg m and kg m^2, armature included.");
  module.def("rnea", &inverse_dynamics, py::arg("model"), py::arg("q"), py::arg("v"), py::arg("a"),
             "Inverse dynamics: the forces (nv,), N and N m, that make accelerations a (nv,) at q (nq,), v "
             "(nv,). No contacts, springs or dampers.");
  module.def(
      "aba", &forward_dynamics, py::arg("model"), py::arg("q"), py::arg("v"), py::arg("tau"),
      "Forward dynamics: accelerations (nv,), m/s^2 and rad/s^2, under forces tau (nv,), N and N m. No "
      "contacts, springs or dampers.");
  py::class_<Energy> energy(module, "Energy", "J.");
  exported(energy)
      .def_readonly("kinetic", &Energy::kinetic, "J, armature included")
      .def_readonly("potential", &Energy::potential, "J: gravity, from the world's origin")
      .def_readonly("elastic", &Energy::elastic, "J: springs of joints and tendons")
      .def_property_readonly("total", &Energy::total, "J")
      .def("__repr__", [](const Energy& e) {
        return fmt::format("<energy {:.6g} J: kinetic {:.6g}, potential {:.6g}, elastic {:.6g}>", e.total(),
                           e.kinetic, e.potential, e.elastic);
      });
  module.def(
      "energy",
      [](const Model& m, const py::object& q, const py::object& v) { return conserved(m, q, v).energy; },
      py::arg("model"), py::arg("q"), py::arg("v"), "Energies (J) at q (nq,), v (nv,).");
  module.def(
      "centre_of_mass",
      [](const Model& m, const py::object& q) { return copy(conserved(m, q, py::none()).centre_of_mass); },
      py::arg("model"), py::arg("q"), "(3,) m: of all that moves.");
  module.def(
      "momentum",
      [](const Model& m, const py::object& q, const py::object& v) {
        return copy(conserved(m, q, v).momentum);
      },
      py::arg("model"), py::arg("q"), py::arg("v"),
      "(6,): linear momentum (kg m/s), and angular momentum (kg m^2/s) about the centre of mass.");
}

}  // namespace articula::python
