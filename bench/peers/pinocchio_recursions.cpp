// Pinocchio's recursions. CRBA and ABA come in two conventions: LOCAL is the faster one for ABA throughout
// (by 4 to 9 %) and for CRBA on robots (by a third on a quadruped); on chains of 40 and 100 links, CRBA and
// factor together would gain 10 % with WORLD.
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/cholesky.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea.hpp>

#include "bench/peers/pinocchio_model.hpp"

namespace articula::peers {

void pinocchio_kinematics(const pinocchio::Model& model, pinocchio::Data& data, const VectorXd& q) {
  pinocchio::forwardKinematics(model, data, q);
}

void pinocchio_rnea(const pinocchio::Model& model, pinocchio::Data& data, const VectorXd& q,
                    const VectorXd& v, const VectorXd& a) {
  pinocchio::rnea(model, data, q, v, a);
}

void pinocchio_crba(const pinocchio::Model& model, pinocchio::Data& data, const VectorXd& q) {
  pinocchio::crba(model, data, q, pinocchio::Convention::LOCAL);
}

void pinocchio_factor(const pinocchio::Model& model, pinocchio::Data& data) {
  pinocchio::cholesky::decompose(model, data);
}

void pinocchio_aba(const pinocchio::Model& model, pinocchio::Data& data, const VectorXd& q, const VectorXd& v,
                   const VectorXd& tau) {
  pinocchio::aba(model, data, q, v, tau, pinocchio::Convention::LOCAL);
}

}  // namespace articula::peers
