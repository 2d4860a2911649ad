// Quantities of all bodies for many states at once, in the layout of MuJoCo's mjData: what observations are
// made of. Spatial vectors are angular part first, in world axes about the centre of mass of the body's tree.

#include "observations.hpp"

#include <fmt/format.h>

#include "arrays.hpp"
#include "articula/dynamics/forces.hpp"

namespace articula::python {

namespace {

struct BodyMasses {
  std::vector<double> mass;
  std::vector<Vector3> com;      // in the body's frame
  std::vector<Matrix3> inertia;  // about the centre of mass, in the body's axes
  std::vector<int> root;         // the body of its tree that is a child of the world
};

// theta has mass, first moment and inertia about the body's origin.
BodyMasses body_masses(const Model& model) {
  BodyMasses all;
  const int count = model.nbody();
  all.mass.assign(count, 0.0);
  all.com.assign(count, Vector3::Zero());
  all.inertia.assign(count, Matrix3::Zero());
  all.root.assign(count, 0);
  for (int b = 1; b < count; ++b) {
    const BodyIndex& body = model.structure().bodies[b];
    all.root[b] = body.parent == 0 ? b : all.root[body.parent];
    const auto pi = model.theta().segment<10>(body.inertia);
    if (!(pi[0] > 0.0)) continue;
    all.mass[b] = pi[0];
    all.com[b] = pi.segment<3>(1) / pi[0];
    Matrix3 about_origin;
    about_origin << pi[4], pi[5], pi[6], pi[5], pi[7], pi[8], pi[6], pi[8], pi[9];
    const Vector3& c = all.com[b];
    all.inertia[b] = about_origin - pi[0] * (c.squaredNorm() * Matrix3::Identity() - c * c.transpose());
  }
  return all;
}

Matrix3 rotation(const Mat3& R) {
  Matrix3 result;
  result << R.x.eigen(), R.y.eigen(), R.z.eigen();
  return result;
}

// Centres of mass of all trees, by root body; the world's entry is that of everything.
void tree_centres(const BodyMasses& masses, const std::vector<Vector3>& com, std::vector<Vector3>& centre) {
  std::vector<double> mass(com.size(), 0.0);
  centre.assign(com.size(), Vector3::Zero());
  for (size_t b = 1; b < com.size(); ++b) {
    for (const int tree : {masses.root[b], 0}) {
      mass[tree] += masses.mass[b];
      centre[tree] += masses.mass[b] * com[b];
    }
  }
  for (size_t b = 0; b < com.size(); ++b)
    if (mass[b] > 0.0) centre[b] /= mass[b];
}

struct Rows {
  double *com, *xpos, *cinert, *cvel, *qfrc;
};

void write_inertia(double* out, double mass, const Vector3& r, const Matrix3& about_com) {
  const Matrix3 I = about_com + mass * (r.squaredNorm() * Matrix3::Identity() - r * r.transpose());
  const double values[10] = {I(0, 0), I(1, 1),     I(2, 2),     I(0, 1),     I(0, 2),
                             I(1, 2), mass * r[0], mass * r[1], mass * r[2], mass};
  std::copy_n(values, 10, out);
}

void observe(const Model& model, Data& data, const BodyMasses& masses, const Rows& out) {
  const int count = model.nbody();
  std::vector<Vector3> com(count, Vector3::Zero()), centre;
  std::vector<Matrix3> R(count, Matrix3::Identity());
  for (int b = 1; b < count; ++b) {
    const Placement at = body_placement(model, data, b);
    R[b] = rotation(at.R);
    Eigen::Map<Vector3>(out.xpos + 3 * b) = at.p.eigen();
    com[b] = at.p.eigen() + R[b] * masses.com[b];
  }
  tree_centres(masses, com, centre);
  Eigen::Map<Vector3>(out.com) = centre[0];
  for (int b = 1; b < count; ++b) {
    const Vector3& c = centre[masses.root[b]];
    write_inertia(out.cinert + 10 * b, masses.mass[b], com[b] - c,
                  R[b] * masses.inertia[b] * R[b].transpose());
    const int link = model.structure().bodies[b].link;
    const Motion& motion = data.link_v[link];
    const Vec3 r = Vec3(c) - data.link_reference[link];
    Eigen::Map<Vector3>(out.cvel + 6 * b) = motion.angular.eigen();
    Eigen::Map<Vector3>(out.cvel + 6 * b + 3) = point_velocity(motion, r).eigen();
  }
}

py::array_t<double> zeros(std::vector<py::ssize_t> shape) {
  py::array_t<double> result(std::move(shape));
  std::fill_n(result.mutable_data(), result.size(), 0.0);
  return result;
}

py::dict body_quantities(const Model& model, const BatchState& x, const py::object& controls) {
  const py::ssize_t count = x.size(), nbody = model.nbody(), nv = model.nv();
  if (x.q.rows() != model.nq() || x.v.rows() != nv || x.activation.rows() != model.na())
    throw Error("these states are not of the model '{}'", model.description().name);
  Numbers given;
  if (!controls.is_none()) given = numbers("controls", controls, {count, model.nu()});
  const auto u = as_columns(given, model.nu(), controls.is_none() ? 0 : count);
  auto com = zeros({count, 3}), xpos = zeros({count, nbody, 3}), cinert = zeros({count, nbody, 10}),
       cvel = zeros({count, nbody, 6}), qfrc = zeros({count, nv});
  Rows rows{com.mutable_data(), xpos.mutable_data(), cinert.mutable_data(), cvel.mutable_data(),
            qfrc.mutable_data()};
  {
    const py::gil_scoped_release released;
    Data data(model);
    ForceWork forces(model);
    const BodyMasses masses = body_masses(model);
    for (py::ssize_t e = 0; e < count; ++e) {
      forward_kinematics(model, data, x.q.col(e));
      propagate_motion(model, data, x.v.data() + e * nv, nullptr);
      observe(model, data, masses, rows);
      if (u.cols() > 0) {
        applied_forces(model, data, forces, x.q.col(e), x.v.col(e), x.activation.col(e), u.col(e),
                       model.timestep());
        std::copy_n(forces.actuator.data(), nv, rows.qfrc);
      }
      rows = {rows.com + 3, rows.xpos + 3 * nbody, rows.cinert + 10 * nbody, rows.cvel + 6 * nbody,
              rows.qfrc + nv};
    }
  }
  using namespace py::literals;
  return py::dict("com"_a = com, "xpos"_a = xpos, "cinert"_a = cinert, "cvel"_a = cvel,
                  "qfrc_actuator"_a = qfrc);
}

void add_wrench(double* out, int body, const Vector3& arm, const Vector3& force, const Vector3& torque) {
  if (body == 0) return;
  Eigen::Map<Vector3>(out + 6 * body) += arm.cross(force) + torque;
  Eigen::Map<Vector3>(out + 6 * body + 3) += force;
}

// What contacts exert on each body during the step, about the centre of mass of its tree at the step's start.
py::array contact_wrenches(const Model& model, const KeptBatchStep& step, double dt) {
  const py::ssize_t count = step.start.size(), nbody = model.nbody();
  if (step.structure.get() != &model.structure()) throw Error("this step was taken with another model");
  if (!step.keep_contacts)
    throw Error("this step did not keep its contacts: batch.step(..., keep_contacts=True)");
  auto result = zeros({count, nbody, 6});
  double* out = result.mutable_data();
  const py::gil_scoped_release released;
  Data data(model);
  const BodyMasses masses = body_masses(model);
  std::vector<Vector3> com(nbody, Vector3::Zero()), centre;
  for (py::ssize_t e = 0; e < count; ++e, out += 6 * nbody) {
    if (step.contacts[e].empty()) continue;
    forward_kinematics(model, data, step.start.q.col(e));
    for (int b = 1; b < nbody; ++b) com[b] = (body_placement(model, data, b) * Vec3(masses.com[b])).eigen();
    tree_centres(masses, com, centre);
    for (const StepContact& c : step.contacts[e]) {
      const Vector3 torque = c.torque_impulse / dt;
      add_wrench(out, c.body_b, c.position - centre[masses.root[c.body_b]], c.force, torque);
      add_wrench(out, c.body_a, c.position - centre[masses.root[c.body_a]], -c.force, -torque);
    }
  }
  return result;
}

}  // namespace

void bind_observations(py::module_& module) {
  module.def("body_quantities", &body_quantities, py::arg("model"), py::arg("x"),
             py::arg("controls") = py::none(),
             "For states of N environments, in MuJoCo's layout: 'com' (N, 3) m, centre of mass of "
             "everything; 'xpos' "
             "(N, nbody, 3) m; 'cinert' (N, nbody, 10) and 'cvel' (N, nbody, 6), about the centre of mass of "
             "the body's "
             "tree; 'qfrc_actuator' (N, nv) N and N m, zero without controls.");
  module.def(
      "contact_wrenches",
      [](const OwnedBatch& batch, const KeptBatchStep& step) {
        return contact_wrenches(batch.model(0), step, *batch.settings().dt);
      },
      py::arg("batch"), py::arg("step"),
      "(N, nbody, 6): torque (N m) and force (N) that contacts exert on each body, about the centre of mass "
      "of its "
      "tree (MuJoCo's cfrc_ext). The step must have kept its contacts.");
}

}  // namespace articula::python
