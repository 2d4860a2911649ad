// A Pinocchio model made from PeerTree, and the algorithms we compare with, one plain function each:
// Pinocchio is all templates, and every algorithm instantiates some twenty joint types, so they are compiled
// in files of their own.
#pragma once

#include <pinocchio/algorithm/kinematics.hpp>

#include "bench/peers/peer.h"
#include "bench/peers/pinocchio_convention.hpp"

namespace articula::peers {

struct PinocchioTree {
  pinocchio::Model model;
  Convention convention;
  VectorXd damping;  // nv; Pinocchio keeps damping but applies none
};

// Throws std::runtime_error naming the joint that cannot be represented.
PinocchioTree build_pinocchio_tree(const PeerTree& tree);

// Kernels, in Pinocchio's convention. Results are left in `data` under Pinocchio's names.
void pinocchio_kinematics(const pinocchio::Model& model, pinocchio::Data& data, const VectorXd& q);
void pinocchio_rnea(const pinocchio::Model& model, pinocchio::Data& data, const VectorXd& q,
                    const VectorXd& v, const VectorXd& a);
void pinocchio_crba(const pinocchio::Model& model, pinocchio::Data& data, const VectorXd& q);
void pinocchio_factor(const pinocchio::Model& model, pinocchio::Data& data);
void pinocchio_aba(const pinocchio::Model& model, pinocchio::Data& data, const VectorXd& q, const VectorXd& v,
                   const VectorXd& tau);
void pinocchio_rnea_derivatives(const pinocchio::Model& model, pinocchio::Data& data, const VectorXd& q,
                                const VectorXd& v, const VectorXd& a);
void pinocchio_aba_derivatives(const pinocchio::Model& model, pinocchio::Data& data, const VectorXd& q,
                               const VectorXd& v, const VectorXd& tau);

}  // namespace articula::peers
