#pragma once
// The linear-algebra types of the public interface. Inside the recursions the engine uses the
// four-lane types of vec3.hpp and spatial.hpp; these are what users see.

#include <Eigen/Core>
#include <Eigen/Geometry>

namespace articula {

using Vector2 = Eigen::Vector2d;
using Vector3 = Eigen::Vector3d;
using Vector6 = Eigen::Matrix<double, 6, 1>;
using Matrix3 = Eigen::Matrix3d;
using Matrix6 = Eigen::Matrix<double, 6, 6>;
using Matrix6X = Eigen::Matrix<double, 6, Eigen::Dynamic>;
using Matrix3X = Eigen::Matrix<double, 3, Eigen::Dynamic>;
using VectorX = Eigen::VectorXd;
using MatrixX = Eigen::MatrixXd;
using Quaternion = Eigen::Quaterniond;

using ConstVectorRef = Eigen::Ref<const VectorX>;
using VectorRef = Eigen::Ref<VectorX>;
using ConstMatrixRef = Eigen::Ref<const MatrixX>;
using MatrixRef = Eigen::Ref<MatrixX>;

// A placement: x_outer = position + rotation * x_inner.
struct Pose {
  Vector3 position = Vector3::Zero();
  Quaternion rotation = Quaternion::Identity();
};

inline Pose operator*(const Pose& outer, const Pose& inner) {
  return {outer.position + outer.rotation * inner.position, (outer.rotation * inner.rotation).normalized()};
}

inline Pose inverse(const Pose& pose) {
  const Quaternion back = pose.rotation.conjugate();
  return {-(back * pose.position), back};
}

}  // namespace articula
