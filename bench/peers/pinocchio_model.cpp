#include "bench/peers/pinocchio_model.hpp"

#include <stdexcept>
#include <string>

namespace articula::peers {
namespace {

using pinocchio::JointIndex;
using pinocchio::SE3;
using RowMajor3 = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;

[[noreturn]] void reject(int joint, const std::string& why) {
  throw std::runtime_error("joint " + std::to_string(joint) + ": " + why);
}

SE3 placement_of(const PeerTree& tree, int j) {
  return {Eigen::Map<const RowMajor3>(tree.rotation + 9 * j),
          Eigen::Map<const Eigen::Vector3d>(tree.translation + 3 * j)};
}

pinocchio::Inertia inertia_of(const PeerTree& tree, int j) {
  return {tree.mass[j], Eigen::Map<const Eigen::Vector3d>(tree.com + 3 * j),
          Eigen::Map<const RowMajor3>(tree.inertia + 9 * j)};
}

// Pinocchio's joints about and along x, y, z are faster than those about any other axis. Turning the joint's
// frame by `turn` (and what hangs from it back) gives every hinge and slide such a joint, with the same q, v
// and tau.
struct AlignedJoint {
  pinocchio::JointModel joint;
  Eigen::Matrix3d turn = Eigen::Matrix3d::Identity();
};

AlignedJoint aligned_joint(const PeerTree& tree, int j) {
  const bool hinge = tree.type[j] == PEER_HINGE;
  Eigen::Vector3d axis = Eigen::Map<const Eigen::Vector3d>(tree.axis + 3 * j);
  if (!(axis.norm() > 0.0)) {
    reject(j, "its axis is zero");
  }
  axis.normalize();
  if (axis == Eigen::Vector3d::UnitX()) {
    return {hinge ? pinocchio::JointModel(pinocchio::JointModelRX()) : pinocchio::JointModelPX()};
  }
  if (axis == Eigen::Vector3d::UnitY()) {
    return {hinge ? pinocchio::JointModel(pinocchio::JointModelRY()) : pinocchio::JointModelPY()};
  }
  return {hinge ? pinocchio::JointModel(pinocchio::JointModelRZ()) : pinocchio::JointModelPZ(),
          Eigen::Quaterniond::FromTwoVectors(Eigen::Vector3d::UnitZ(), axis).toRotationMatrix()};
}

AlignedJoint joint_of(const PeerTree& tree, int j, Convention& convention) {
  switch (tree.type[j]) {
    case PEER_HINGE:
    case PEER_SLIDE: return aligned_joint(tree, j);
    case PEER_BALL:
      convention.quaternions.push_back(convention.nq);
      return {pinocchio::JointModelSpherical()};
    case PEER_FREE:
      if (tree.parent[j] != -1 || !placement_of(tree, j).isIdentity(0.0)) {
        reject(j, "a free joint hangs from the world, with identity placement");
      }
      if (tree.armature[j] != 0.0) {
        reject(
            j,
            "armature on a free joint means another thing in Pinocchio, whose linear velocity is the body's");
      }
      convention.quaternions.push_back(convention.nq + 3);
      convention.free_joints.push_back({convention.nq, convention.nv});
      return {pinocchio::JointModelFreeFlyer()};
    default: reject(j, "unknown type " + std::to_string(tree.type[j]));
  }
}

// Depth first: the parent is the joint before this one or an ancestor of it. Only then do q and v follow the
// list.
void check_order(const PeerTree& tree, int j) {
  int ancestor = j - 1;
  while (ancestor >= 0 && ancestor != tree.parent[j]) {
    ancestor = tree.parent[ancestor];
  }
  if (ancestor != tree.parent[j]) {
    reject(j, "its parent is not on the path to the joint before it: list the joints depth first");
  }
}

}  // namespace

PinocchioTree build_pinocchio_tree(const PeerTree& tree) {
  PinocchioTree result;
  pinocchio::Model& model = result.model;
  model.gravity.linear() = Eigen::Map<const Eigen::Vector3d>(tree.gravity);

  // Our moved frame j is at `offset[j]` in the frame of Pinocchio's joint `carrier[j]`: fixed joints are
  // merged into what carries them, turned joints are turned back.
  std::vector<JointIndex> carrier(static_cast<std::size_t>(tree.nj));
  std::vector<SE3> offset(static_cast<std::size_t>(tree.nj));
  std::vector<double> armature, damping;
  for (int j = 0; j < tree.nj; ++j) {
    check_order(tree, j);
    const auto here = static_cast<std::size_t>(j), parent = static_cast<std::size_t>(tree.parent[j]);
    const bool on_world = tree.parent[j] < 0;
    const JointIndex parent_joint = on_world ? 0 : carrier[parent];
    const SE3 frame = (on_world ? SE3::Identity() : offset[parent]) * placement_of(tree, j);
    if (tree.type[j] == PEER_FIXED) {
      carrier[here] = parent_joint;
      offset[here] = frame;
    } else {
      const AlignedJoint aligned = joint_of(tree, j, result.convention);
      const SE3 turn(aligned.turn, Eigen::Vector3d::Zero());
      carrier[here] = model.addJoint(parent_joint, aligned.joint, frame * turn, "joint" + std::to_string(j));
      offset[here] = turn.inverse();
      result.convention.nq = model.nq;
      result.convention.nv = model.nv;
      armature.resize(static_cast<std::size_t>(model.nv), tree.armature[j]);
      damping.resize(static_cast<std::size_t>(model.nv), tree.damping[j]);
    }
    model.appendBodyToJoint(carrier[here], inertia_of(tree, j), offset[here]);
  }
  model.armature = Eigen::Map<const VectorXd>(armature.data(), model.nv);
  result.damping = Eigen::Map<const VectorXd>(damping.data(), model.nv);
  return result;
}

}  // namespace articula::peers
