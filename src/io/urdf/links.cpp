#include <Eigen/Eigenvalues>

#include "io/urdf/reader.hpp"

namespace articula::urdf {

namespace {

Matrix3 read_matrix(const Element& element) {
  const Attributes a(element);
  Matrix3 I = Matrix3::Zero();
  struct Entry {
    const char* name;
    int row, column;
  };
  for (const auto& [name, row, column] : {Entry{"ixx", 0, 0}, Entry{"iyy", 1, 1}, Entry{"izz", 2, 2}}) {
    if (!a.read(name, I(row, column))) fail(element, "attribute {} is missing; add it", name);
  }
  for (const auto& [name, row, column] : {Entry{"ixy", 0, 1}, Entry{"ixz", 0, 2}, Entry{"iyz", 1, 2}}) {
    a.read(name, I(row, column));
    I(column, row) = I(row, column);
  }
  return I;
}

// What no real body has, in words; "" for what one can have.
std::string oddity(double mass, const Matrix3& inertia) {
  const double scale = inertia.cwiseAbs().maxCoeff();
  if (scale == 0.0) return "";
  if (mass == 0.0) return "there is inertia, but no mass";
  const Vector3 m = Eigen::SelfAdjointEigenSolver<Matrix3>(inertia, Eigen::EigenvaluesOnly).eigenvalues();
  const std::string moments =
      fmt::format("the principal moments are {:.6g}, {:.6g}, {:.6g}", m[0], m[1], m[2]);
  if (m[0] < -1e-9 * scale) return moments + ": one is negative";
  if (m[0] + m[1] < m[2] * (1.0 - 1e-6)) return moments + ": the largest exceeds the sum of the others";
  return "";
}

InertiaDescription read_inertial(Reader& reader, const Element& element) {
  const Element mass = child_of(element, "mass"), matrix = child_of(element, "inertia");
  if (!mass.node) fail(element, "<mass value=\"...\"/> is missing; add it");
  if (!matrix.node) fail(element, "<inertia ixx=\"...\" .../> is missing; add it");
  InertiaDescription inertia;
  if (!Attributes(mass).read("value", inertia.mass)) fail(mass, "attribute value is missing; add it");
  if (inertia.mass < 0.0) fail(mass, "attribute value is {}; a mass cannot be negative", inertia.mass);
  const Pose origin = read_origin(element);
  const Matrix3 R = origin.rotation.toRotationMatrix();
  inertia.com = origin.position;
  const Matrix3 about_com = R * read_matrix(matrix) * R.transpose();
  inertia.inertia = 0.5 * (about_com + about_com.transpose());
  const std::string odd = oddity(inertia.mass, inertia.inertia);
  if (!odd.empty()) {
    inertia.as_given = true;
    reader.warn(matrix, odd + "; no real body is like that, and it is taken as it is");
  }
  return inertia;
}

}  // namespace

void read_links(Reader& reader) {
  for (const Element& element : reader.tree.children(reader.tree.root(), "link")) {
    Link link;
    link.element = element;
    link.name = element.text("name");
    if (link.name.empty()) fail(element, "attribute name is missing; joints refer to links by name");
    if (!reader.link_index.emplace(link.name, static_cast<int>(reader.links.size())).second) {
      fail(element, "another link has that name; give each its own");
    }
    if (reader.links.size() >= reader.options.most_elements) {
      fail(element, "there are more than {} links; split the model", reader.options.most_elements);
    }
    const Element inertial = child_of(element, "inertial");
    if (inertial.node) link.inertia = read_inertial(reader, inertial);
    link.collides = child_of(element, "collision").node;
    reader.links.push_back(std::move(link));
  }
  if (reader.links.empty()) {
    fail(reader.tree.root(), "there is no <link> in it{}",
         child_of(reader.tree.root(), "disable_collisions").node
             ? "; this is an SRDF file, which goes with a URDF file"
             : "; a robot has at least one");
  }
}

}  // namespace articula::urdf
