#include "io/mesh/plate.hpp"

#include <Eigen/Eigenvalues>

#include <algorithm>
#include <limits>

namespace articula {

namespace {

struct Plane {
  Vector3 normal = Vector3::Zero();
  Vector3 extents = Vector3::Zero();  // of the points along the principal axes, the normal's first
};

// The normal is the direction in which the points vary least.
Plane plane_of(const std::vector<Vector3>& points) {
  Vector3 mean = Vector3::Zero();
  for (const Vector3& x : points) mean += x;
  mean /= static_cast<double>(points.size());
  Matrix3 covariance = Matrix3::Zero();
  for (const Vector3& x : points) covariance += (x - mean) * (x - mean).transpose();
  const Matrix3 axes = Eigen::SelfAdjointEigenSolver<Matrix3>(covariance).eigenvectors();
  Vector3 lower = Vector3::Zero(), upper = Vector3::Zero();
  for (const Vector3& x : points) {
    const Vector3 seen = axes.transpose() * (x - mean);
    lower = lower.cwiseMin(seen);
    upper = upper.cwiseMax(seen);
  }
  return {axes.col(0), upper - lower};
}

}  // namespace

bool is_flat(const TriangleMesh& mesh) {
  if (mesh.vertices.size() < 3) return false;
  const Plane plane = plane_of(mesh.vertices);
  double largest = 0.0;
  for (const Vector3& x : mesh.vertices) largest = std::max(largest, x.cwiseAbs().maxCoeff());
  const double rounding = 4.0 * largest * static_cast<double>(std::numeric_limits<float>::epsilon());
  return plane.extents[0] <= rounding && plane.extents[1] > 10.0 * rounding;
}

TriangleMesh plate_of(const TriangleMesh& mesh, const Vector3& scale) {
  TriangleMesh plate;
  for (const Vector3& x : mesh.vertices) plate.vertices.push_back(scale.cwiseProduct(x));
  const Plane plane = plane_of(plate.vertices);
  const Vector3 half = 0.5e-3 * plane.extents.maxCoeff() * plane.normal;
  const std::size_t count = plate.vertices.size();
  for (std::size_t i = 0; i < count; ++i) {
    plate.vertices.push_back(plate.vertices[i] - half);
    plate.vertices[i] += half;
  }
  for (Vector3& x : plate.vertices) x = x.cwiseQuotient(scale).cast<float>().cast<double>();
  return plate;
}

}  // namespace articula
