// Questions about geometry: what a ray hits, how far bodies are from each other.

#include "articula/collision/queries.hpp"

#include <fmt/format.h>

#include "arguments.hpp"
#include "articula/kinematics/jacobian.hpp"
#include "bindings.hpp"

namespace articula::python {

namespace {

// Shapes and hulls are made once; the model is kept for its poses.
struct KeptColliders {
  explicit KeptColliders(const Model& m) : model(m), colliders(m) {}
  Model model;
  collision::Colliders colliders;
};

struct NamedHit : collision::RayHit {
  std::string name;
};

Vec3 point(const char* what, const py::object& given) { return Vec3(Vector3(finite_vector(what, given, 3))); }

std::optional<NamedHit> cast(const KeptColliders& kept, const py::object& q, const py::object& origin,
                             const py::object& direction, const py::object& except_body) {
  const VectorX at = configuration(kept.model, q);
  const Vec3 from = point("origin", origin), along = point("direction", direction);
  const int except = except_body.is_none() ? -1 : body_number(kept.model, "except_body", except_body);
  const py::gil_scoped_release released;
  Data data(kept.model);
  forward_kinematics(kept.model, data, at);
  const collision::RayHit hit = cast_ray(kept.colliders, kept.model, data, from, along, except);
  if (!hit.hit()) return {};
  return NamedHit{hit, geometry_name(kept.model.structure(), hit.geometry)};
}

struct NamedDistance : collision::BodyDistance {
  VectorX by_q;  // nv
  std::string name_a, name_b;
};

// d distance / dq = sum over both links of J^T (angular, linear), J that of the link's point in the middle.
VectorX distance_gradient(const Model& model, const Data& data, const collision::BodyDistance& d, int body_a,
                          int body_b) {
  VectorX result = VectorX::Zero(model.nv());
  const double* motion = d.gradient;
  for (const int body : {body_a, body_b}) {
    const int link = model.structure().bodies[body].link;
    Matrix6X J = Matrix6X::Zero(6, model.nv());
    jacobian_at(model, data, {link, d.middle - data.link_reference[link]}, J);
    result += J.bottomRows<3>().transpose() * Eigen::Map<const Vector3>(motion);
    result += J.topRows<3>().transpose() * Eigen::Map<const Vector3>(motion + 3);
    motion += 6;
  }
  return result;
}

NamedDistance distance(const KeptColliders& kept, const py::object& q, const py::object& body_a,
                       const py::object& body_b) {
  const Model& model = kept.model;
  const VectorX at = configuration(model, q);
  const int a = body_number(model, "body_a", body_a), b = body_number(model, "body_b", body_b);
  const py::gil_scoped_release released;
  Data data(model);
  forward_kinematics(model, data, at);
  const collision::BodyDistance found = distance_between(kept.colliders, model, data, a, b);
  if (found.geometry_a < 0 || found.geometry_b < 0) {
    throw Error("no geometry of '{}' can collide with one of '{}'", model.structure().bodies[a].name,
                model.structure().bodies[b].name);
  }
  return {found, distance_gradient(model, data, found, a, b),
          geometry_name(model.structure(), found.geometry_a),
          geometry_name(model.structure(), found.geometry_b)};
}

void bind_answers(py::module_& module) {
  py::class_<NamedHit> hit(module, "RayHit", "Where a ray meets a surface.");
  exported(hit)
      .def_readonly("distance", &collision::RayHit::distance, "In units of the direction's length.")
      .def_property_readonly(
          "normal", [](const NamedHit& h) { return copy(h.normal.eigen()); }, "(3,): outward, in the world")
      .def_readonly("geometry", &collision::RayHit::geometry, "Number of the geometry.")
      .def_property_readonly(
          "name", [](const NamedHit& h) { return text(h.name); }, "Of the geometry.")
      .def("__repr__", [](const NamedHit& h) {
        return text(fmt::format("<ray hits {} at {:.6g}>", h.name, h.distance));
      });

  py::class_<NamedDistance> distance(module, "BodyDistance",
                                     "Signed distance of the nearest (deepest) geometries of two bodies.");
  exported(distance)
      .def_property_readonly(
          "distance", [](const NamedDistance& d) { return d.nearest.distance; }, "m; negative: overlap")
      .def_property_readonly(
          "normal", [](const NamedDistance& d) { return copy(d.nearest.normal.eigen()); },
          "(3,): from A to B, in the world")
      .def_property_readonly(
          "point_a", [](const NamedDistance& d) { return copy(d.nearest.point_a.eigen()); },
          "(3,) m: on the surface of A, in the world")
      .def_property_readonly(
          "point_b", [](const NamedDistance& d) { return copy(d.nearest.point_b.eigen()); },
          "(3,) m: on the surface of B, in the world")
      .def_property_readonly(
          "geometries", [](const NamedDistance& d) { return py::make_tuple(text(d.name_a), text(d.name_b)); },
          "Their names.")
      .def_property_readonly(
          "by_q", [](const NamedDistance& d) { return copy(d.by_q); },
          "(nv,): derivative of the distance by q, in the tangent space; m/m and m/rad")
      .def_readonly("one_sided", &collision::BodyDistance::one_sided,
                    "The distance has no single derivative here; one side was chosen.")
      .def("__repr__", [](const NamedDistance& d) {
        return text(fmt::format("<{:.6g} m between {} and {}>", d.nearest.distance, d.name_a, d.name_b));
      });
}

}  // namespace

void bind_queries(py::module_& module) {
  bind_answers(module);
  py::class_<KeptColliders, std::shared_ptr<KeptColliders>> colliders(
      module, "Colliders",
      "The shapes of a model, to be asked about rays and distances. Threads may share it.");
  exported(colliders)
      .def(py::init<const Model&>(), py::arg("model"))
      .def("cast_ray", &cast, py::arg("q"), py::arg("origin"), py::arg("direction"),
           py::arg("except_body") = py::none(),
           "The first hit of a ray from `origin` (3,) m along `direction` (3,), in the world, at the "
           "configuration q (nq,); None if there is none. except_body: name or number of a body that is not "
           "seen.")
      .def("distance_between", &distance, py::arg("q"), py::arg("body_a"), py::arg("body_b"),
           "The distance of two bodies (names or numbers) at the configuration q (nq,), and its derivative.")
      .def("__len__", [](const KeptColliders& k) { return k.colliders.list().size(); })
      .def("__repr__", [](const KeptColliders& k) {
        return text(
            fmt::format("<{} colliders of '{}'>", k.colliders.list().size(), k.model.description().name));
      });
}

}  // namespace articula::python
