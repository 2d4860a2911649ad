// Jacobians, pullbacks and certificates of steps, single and batched.

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <cmath>

#include "arguments.hpp"
#include "arrays.hpp"
#include "articula/kinematics/manifold.hpp"
#include "bindings.hpp"

namespace articula::python {

namespace {

// ------------------------------------------------------------------ one environment

void require_own(const Simulation& simulation, const NamedStep& step) {
  if (step.structure.get() != &simulation.model().structure())
    throw Error("this step was taken with another model");
}

std::shared_ptr<StepJacobians> jacobians(const Simulation& simulation, const NamedStep& step,
                                         const std::string& mode, const py::kwargs& options) {
  require_own(simulation, step);
  const GradientSettings settings = read_gradient_settings(simulation.model(), py::none(), mode, options);
  const py::gil_scoped_release released;
  return std::make_shared<StepJacobians>(simulation.jacobians(step, settings));
}

VectorX covector(const char* what, const py::object& given, py::ssize_t size) {
  return given.is_none() ? VectorX() : finite_vector(what, given, size);
}

std::shared_ptr<StepGradient> pullback(const Simulation& simulation, const NamedStep& step,
                                       const py::object& q, const py::object& v, const py::object& activation,
                                       const py::object& parameters, const std::string& mode,
                                       const py::kwargs& options) {
  require_own(simulation, step);
  const Model& model = simulation.model();
  const StepCovector bar{covector("q", q, model.nv()), covector("v", v, model.nv()),
                         covector("activation", activation, model.na())};
  const GradientSettings settings = read_gradient_settings(model, parameters, mode, options);
  const py::gil_scoped_release released;
  return std::make_shared<StepGradient>(simulation.pullback(step, bar, settings));
}

// ------------------------------------------------------------------ batches

std::shared_ptr<BatchJacobians> batch_jacobians(const OwnedBatch& batch, const KeptBatchStep& step,
                                                const std::string& mode, const py::kwargs& options) {
  batch.require_step(step);
  const GradientSettings settings = read_gradient_settings(batch.model(0), py::none(), mode, options);
  const py::gil_scoped_release released;
  auto result = std::make_shared<BatchJacobians>();
  batch.jacobians(step.start, step.controls, step, settings, *result);
  return result;
}

MatrixX covectors(const char* what, const py::object& given, py::ssize_t count, py::ssize_t size) {
  if (given.is_none()) return {};
  const Numbers array = numbers(what, given, {count, size});
  require_finite(what, array.data(), array.size());
  return as_columns(array, size, count);
}

std::shared_ptr<BatchGradient> batch_pullback(const OwnedBatch& batch, const KeptBatchStep& step,
                                              const py::object& q, const py::object& v,
                                              const py::object& activation, const py::object& parameters,
                                              const std::string& mode, const py::kwargs& options) {
  batch.require_step(step);
  const Model& model = batch.model(0);
  const BatchCovector bar{covectors("q", q, batch.size(), model.nv()),
                          covectors("v", v, batch.size(), model.nv()),
                          covectors("activation", activation, batch.size(), model.na())};
  const GradientSettings settings = read_gradient_settings(model, parameters, mode, options);
  const py::gil_scoped_release released;
  auto result = std::make_shared<BatchGradient>();
  batch.pullback(step.start, step.controls, step, bar, settings, *result);
  return result;
}

// ------------------------------------------------------------------ between q's numbers and its tangent
// space

// A turn d of a body moves its unit quaternion n by n (0, d) / 2, and a change dx of the quaternion x as
// given (not normalised) turns by d = 2 vec(conj(n) dx) / |x|. Hence, with the columns B = n (0, e_i):
//   covector of d from that of n:   B^T g / 2             (n comes out of a step normalised)
//   covector of x from that of d:   2 B d_bar / |x|       (nothing along x)
Eigen::Matrix<double, 4, 3> quaternion_basis(const Eigen::Vector4d& n) {
  Eigen::Matrix<double, 4, 3> B;
  B << -n[1], -n[2], -n[3],  //
      n[0], -n[3], n[2],     //
      n[3], n[0], -n[1],     //
      -n[2], n[1], n[0];
  return B;
}

template <class Turn, class Copy>
void for_each_block(const Model& model, const Turn& turn, const Copy& straight) {
  for (const JointIndex& joint : model.structure().joints) {
    if (joint.type == JointType::hinge || joint.type == JointType::slide) straight(joint.q, joint.dof, 1);
    if (joint.type == JointType::free) straight(joint.q, joint.dof, 3);
    if (joint.type == JointType::ball) turn(joint.q, joint.dof);
    if (joint.type == JointType::free) turn(joint.q + 3, joint.dof + 3);
  }
}

// (..., from) to (..., to), row by row.
template <class Row>
py::array convert_rows(const Model& model, const py::object& q, const py::object& g, py::ssize_t from,
                       py::ssize_t to, const Row& row) {
  const Numbers positions = numbers("q", q), given = numbers("g", g);
  const py::ssize_t ndim = positions.ndim();
  if (ndim < 1 || positions.shape(ndim - 1) != model.nq())
    throw Error("q has shape {}, not (..., {})", shape_text(positions.shape(), ndim), model.nq());
  std::vector<py::ssize_t> shape(positions.shape(), positions.shape() + ndim);
  shape.back() = from;
  if (given.ndim() != ndim || !std::equal(shape.begin(), shape.end(), given.shape()))
    throw Error("g has shape {}, not {}", shape_text(given.shape(), given.ndim()),
                shape_text(shape.data(), ndim));
  shape.back() = to;
  py::array_t<double> result(shape);
  const py::ssize_t rows = model.nq() > 0 ? positions.size() / model.nq() : 0;
  for (py::ssize_t i = 0; i < rows; ++i)
    row(positions.data() + i * model.nq(), given.data() + i * from, result.mutable_data() + i * to);
  return result;
}

py::array to_tangent(const Model& model, const py::object& q, const py::object& g) {
  return convert_rows(
      model, q, g, model.nq(), model.nv(), [&](const double* x, const double* in, double* out) {
        for_each_block(
            model,
            [&](int iq, int iv) {
              const Eigen::Vector4d n = Eigen::Map<const Eigen::Vector4d>(x + iq).normalized();
              Eigen::Map<Vector3>(out + iv) =
                  0.5 * quaternion_basis(n).transpose() * Eigen::Map<const Eigen::Vector4d>(in + iq);
            },
            [&](int iq, int iv, int size) { std::copy_n(in + iq, size, out + iv); });
      });
}

py::array from_tangent(const Model& model, const py::object& q, const py::object& g) {
  return convert_rows(model, q, g, model.nv(), model.nq(),
                      [&](const double* x, const double* in, double* out) {
                        for_each_block(
                            model,
                            [&](int iq, int iv) {
                              const Eigen::Map<const Eigen::Vector4d> given(x + iq);
                              Eigen::Map<Eigen::Vector4d>(out + iq) = 2.0 / given.norm() *
                                                                      quaternion_basis(given.normalized()) *
                                                                      Eigen::Map<const Vector3>(in + iv);
                            },
                            [&](int iq, int iv, int size) { std::copy_n(in + iv, size, out + iq); });
                      });
}

py::array integrate_rows(const Model& model, const py::object& q, const py::object& d) {
  return convert_rows(
      model, q, d, model.nv(), model.nq(), [&](const double* x, const double* in, double* out) {
        require_rotations(model, Eigen::Map<const VectorX>(x, model.nq()));
        integrate(model, Eigen::Map<const VectorX>(x, model.nq()), Eigen::Map<const VectorX>(in, model.nv()),
                  1.0, Eigen::Map<VectorX>(out, model.nq()));
      });
}

// ------------------------------------------------------------------ classes

void bind_certificate(py::module_& module) {
  py::class_<GradientCertificate> certificate(
      module, "GradientCertificate",
      "What a gradient is worth: modes, distance to the nearest switch, rank, one-sided choices.");
  exported(certificate)
      .def_readonly("valid", &GradientCertificate::valid,
                    "False: the equations have no factor, and the gradient is zero.")
      .def_property_readonly(
          "modes",
          [](const GradientCertificate& c) {
            std::vector<std::string> names;
            for (const RowMode mode : c.modes) names.emplace_back(to_string(mode));
            return names;
          },
          "Of all rows of the step.")
      .def_readonly("unknowns", &GradientCertificate::unknowns, "Impulses that no law fixes.")
      .def_readonly("rank", &GradientCertificate::rank, "How many of them are determined.")
      .def_readonly("impulse_margin", &GradientCertificate::impulse_margin,
                    "N s, to the nearest switch of modes")
      .def_readonly("velocity_margin", &GradientCertificate::velocity_margin,
                    "m/s, to the nearest switch of modes")
      .def_readonly("redundant", &GradientCertificate::redundant, "Impulses are not unique.")
      .def_readonly("conditioning", &GradientCertificate::conditioning, "Smallest over largest pivot.")
      .def_readonly("inconsistency", &GradientCertificate::inconsistency,
                    "How much dependent rows contradict each other, relative.")
      .def_readonly("one_sided", &GradientCertificate::one_sided,
                    "A derivative that does not exist was chosen from one side.")
      .def_readonly("relabelled", &GradientCertificate::relabelled, "The modes are not those of the step.")
      .def("__repr__", [](const GradientCertificate& c) {
        return fmt::format(
            "<{}certificate: {} rows, rank {} of {}, margins {:.2g} N s and {:.2g} m/s, conditioning "
            "{:.1e}{}{}>",
            c.valid ? "" : "INVALID ", c.modes.size(), c.rank, c.unknowns, c.impulse_margin,
            c.velocity_margin, c.conditioning, c.redundant ? ", redundant" : "",
            c.one_sided ? ", one-sided" : "");
      });
}

const char* certificate_text(bool valid, bool one_sided) {
  return !valid ? "; INVALID" : one_sided ? "; one-sided" : "";
}

void bind_single(py::module_& module) {
  py::class_<StepJacobians, std::shared_ptr<StepJacobians>> jacobian(
      module, "Jacobians",
      "Of x+ = (q, v, activation) after a step, n = 2 nv + na numbers, positions in the tangent space.");
  exported(jacobian)
      .def_property_readonly(
          "by_state", [](const StepJacobians& j) { return copy_matrix(j.by_state); }, "(n, n): dx+/dx")
      .def_property_readonly(
          "by_control", [](const StepJacobians& j) { return copy_matrix(j.by_control); }, "(n, nu): dx+/du")
      .def_readonly("certificate", &StepJacobians::certificate, "What they are worth.")
      .def("__repr__", [](const StepJacobians& j) {
        return fmt::format("<jacobians of {} numbers by {} and by {} controls{}>", j.by_state.rows(),
                           j.by_state.cols(), j.by_control.cols(),
                           certificate_text(j.certificate.valid, j.certificate.one_sided));
      });

  using Shared = std::shared_ptr<StepGradient>;
  py::class_<StepGradient, Shared> gradient(module, "Gradient",
                                            "Of a loss, with respect to everything that went into a step.");
  const auto owned = [](VectorX StepGradient::* member) {
    return [member](const py::object& self) { return view(self.cast<StepGradient&>().*member, self); };
  };
  exported(gradient)
      .def_property_readonly("q", owned(&StepGradient::q), "(nv,): in the tangent space")
      .def_property_readonly("v", owned(&StepGradient::v), "(nv,)")
      .def_property_readonly("activation", owned(&StepGradient::activation), "(na,)")
      .def_property_readonly("control", owned(&StepGradient::control), "(nu,)")
      .def_property_readonly("force", owned(&StepGradient::force), "(nv,)")
      .def_property_readonly(
          "wrench", [](const StepGradient& g) { return copy_rows(g.wrench); }, "(nbody, 6)")
      .def_property_readonly("parameters", owned(&StepGradient::parameters),
                             "Of the slices asked for, one after the other.")
      .def_readonly("certificate", &StepGradient::certificate, "What it is worth.")
      .def("__repr__", [](const StepGradient& g) {
        return fmt::format("<gradient by q {}, v {}, control {}, parameters {}{}>", g.q.size(), g.v.size(),
                           g.control.size(), g.parameters.size(),
                           certificate_text(g.certificate.valid, g.certificate.one_sided));
      });
}

void bind_batched(py::module_& module) {
  py::class_<BatchJacobians, std::shared_ptr<BatchJacobians>> jacobian(module, "BatchJacobians",
                                                                       "Of a step of every environment.");
  const auto blocks = [](RowMatrix BatchJacobians::* member) {
    return [member](const py::object& self) {
      const auto& j = self.cast<const BatchJacobians&>();
      const auto count = static_cast<py::ssize_t>(j.certificates.size());
      const RowMatrix& m = j.*member;
      return view(m.data(), {count, count > 0 ? m.rows() / count : 0, m.cols()}, self);
    };
  };
  exported(jacobian)
      .def_property_readonly("by_state", blocks(&BatchJacobians::by_state), "(N, n, n)")
      .def_property_readonly("by_control", blocks(&BatchJacobians::by_control), "(N, n, nu)")
      .def_property_readonly(
          "certificates", [](const BatchJacobians& j) { return j.certificates; },
          "One GradientCertificate per environment.")
      .def("__repr__", [](const BatchJacobians& j) {
        return fmt::format("<jacobians of {} environments>", j.certificates.size());
      });

  py::class_<BatchGradient, std::shared_ptr<BatchGradient>> gradient(module, "BatchGradient",
                                                                     "Of the losses of every environment.");
  const auto rows = [](MatrixX BatchGradient::* member) {
    return [member](const py::object& self) { return view_rows(self.cast<BatchGradient&>().*member, self); };
  };
  exported(gradient)
      .def_property_readonly("q", rows(&BatchGradient::q), "(N, nv): in the tangent space")
      .def_property_readonly("v", rows(&BatchGradient::v), "(N, nv)")
      .def_property_readonly("activation", rows(&BatchGradient::activation), "(N, na)")
      .def_property_readonly("control", rows(&BatchGradient::control), "(N, nu)")
      .def_property_readonly("force", rows(&BatchGradient::force), "(N, nv)")
      .def_property_readonly(
          "wrench",
          [](const py::object& self) {
            auto& g = self.cast<BatchGradient&>();
            return view(g.wrench.data(), {g.wrench.cols(), g.wrench.rows() / 6, 6}, self);
          },
          "(N, nbody, 6)")
      .def_property_readonly("parameters", rows(&BatchGradient::parameters), "(N, k)")
      .def_property_readonly(
          "certificates", [](const BatchGradient& g) { return g.certificates; },
          "One GradientCertificate per environment.")
      .def("__repr__", [](const BatchGradient& g) {
        return fmt::format("<gradient of {} environments: {} parameters>", g.certificates.size(),
                           g.parameters.rows());
      });
}

}  // namespace

void bind_gradients(py::module_& module) {
  bind_certificate(module);
  bind_single(module);
  bind_batched(module);
  const char* jacobian_doc =
      "Derivatives of a step, from the factors it kept. mode: 'exact', 'elastic', 'randomised', "
      "'finite_difference'. "
      "Options: ridders, difference_step, samples, position_spread, velocity_spread, control_spread, seed.";
  const char* pullback_doc =
      "The gradient of a loss by everything that went into the step, from its gradient by what came out: q "
      "and v in the "
      "tangent space (nv), activation (na); None is zero. parameters: a pattern, or several; their gradients "
      "stand one "
      "after the other. mode: 'exact', 'complementarity_aware', 'elastic', 'randomised', "
      "'finite_difference'; options as "
      "for jacobians.";
  const py::arg_v exact = py::arg("mode") = "exact";
  py::class_<Simulation, std::shared_ptr<Simulation>>(py::object(module.attr("Simulation")))
      .def("jacobians", &jacobians, py::arg("step"), exact, jacobian_doc)
      .def("pullback", &pullback, py::arg("step"), py::arg("q") = py::none(), py::arg("v") = py::none(),
           py::arg("activation") = py::none(), py::arg("parameters") = py::none(), exact, pullback_doc);
  py::class_<OwnedBatch, std::shared_ptr<OwnedBatch>>(py::object(module.attr("Batch")))
      .def("jacobians", &batch_jacobians, py::arg("step"), exact, jacobian_doc)
      .def("pullback", &batch_pullback, py::arg("step"), py::arg("q") = py::none(), py::arg("v") = py::none(),
           py::arg("activation") = py::none(), py::arg("parameters") = py::none(), exact, pullback_doc);

  module.def("to_tangent", &to_tangent, py::arg("model"), py::arg("q"), py::arg("g"),
             "A gradient by q's numbers (..., nq) as one in the tangent space (..., nv).");
  module.def("from_tangent", &from_tangent, py::arg("model"), py::arg("q"), py::arg("g"),
             "A gradient in the tangent space (..., nv) as one by q's numbers (..., nq); nothing along a "
             "quaternion's norm.");
  module.def("integrate", &integrate_rows, py::arg("model"), py::arg("q"), py::arg("d"),
             "q moved along tangent vectors d: (..., nq) and (..., nv) to (..., nq).");
}

}  // namespace articula::python
