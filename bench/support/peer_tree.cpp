#include "bench/support/peer_tree.hpp"

#include <vector>

#include "articula/error.hpp"

namespace articula::bench {
namespace {

using RowMatrix3 = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;

PeerJointType peer_type(JointType type) {
  switch (type) {
    case JointType::hinge: return PEER_HINGE;
    case JointType::slide: return PEER_SLIDE;
    case JointType::ball: return PEER_BALL;
    case JointType::free: return PEER_FREE;
    case JointType::fixed: break;
  }
  return PEER_FIXED;
}

/// Where the next joint's frame is counted from: a moved frame, and the link's frame in it.
struct Attachment {
  int joint = -1;
  Matrix3 rotation = Matrix3::Identity();
  Vector3 position = Vector3::Zero();
};

/// The joint's frame lies at its anchor, in the link's axes, turned back by its reference:
///   link after = placement * motion(q - ref) * shift(-anchor)
Attachment add_joint(peers::PeerTreeArrays& tree, const Model& model, int index, const Attachment& at) {
  const JointIndex& joint = model.structure().joints[index];
  const JointConstants& c = model.constants().joints[index];
  const Vector3 anchor = c.anchor.eigen(), axis = c.axis.eigen();
  Matrix3 rotation = at.rotation;
  Vector3 position = at.position + at.rotation * anchor;
  if (joint.type == JointType::hinge)
    rotation = rotation * Eigen::AngleAxisd(-c.reference, axis).toRotationMatrix();
  if (joint.type == JointType::slide) position -= rotation * axis * c.reference;
  if (joint.type == JointType::free) rotation.setIdentity(), position.setZero();

  peers::PeerJoint entry;
  entry.parent = at.joint;
  entry.type = peer_type(joint.type);
  Eigen::Map<RowMatrix3>(entry.rotation) = rotation;
  Eigen::Map<Vector3>(entry.translation) = position;
  Eigen::Map<Vector3>(entry.axis) = axis;
  entry.armature = model.constants().armature[joint.dof];
  entry.damping = model.constants().damping[joint.dof];
  return {tree.add(entry), Matrix3::Identity(), -anchor};
}

void set_inertia(peers::PeerTreeArrays& tree, const Inertia& inertia, const Attachment& link) {
  if (inertia.mass == 0.0) return;
  const size_t j = static_cast<size_t>(link.joint);
  const Vector3 com = inertia.moment.eigen() / inertia.mass;
  const Matrix3 about_com = inertia.rotational.eigen() -
                            inertia.mass * (com.squaredNorm() * Matrix3::Identity() - com * com.transpose());
  tree.mass[j] = inertia.mass;
  Eigen::Map<Vector3>(tree.com.data() + 3 * j) = com + link.position;
  Eigen::Map<RowMatrix3>(tree.inertia.data() + 9 * j) = 0.5 * (about_com + about_com.transpose());
}

}  // namespace

peers::PeerTreeArrays peer_tree(const Model& model) {
  const Structure& s = model.structure();
  if (s.nkinematic > 0) throw Error("a rival's tree has no kinematic bodies");
  peers::PeerTreeArrays tree;
  Eigen::Map<Vector3>(tree.gravity) = model.gravity().eigen();
  std::vector<Attachment> links(s.links.size());
  for (size_t k = 1; k < s.links.size(); ++k) {
    const LinkConstants& c = model.constants().links[k];
    const Attachment& parent = links[s.links[k].parent];
    Attachment at{parent.joint, parent.rotation * c.rotation.eigen(),
                  parent.position + parent.rotation * c.position.eigen()};
    for (int j = s.links[k].joint_begin; j < s.links[k].joint_end; ++j) at = add_joint(tree, model, j, at);
    set_inertia(tree, c.inertia, at);
    links[k] = at;
  }
  return tree;
}

}  // namespace articula::bench
