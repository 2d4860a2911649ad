// Pinocchio's analytic derivatives: d tau / d(q, v) in data.dtau_dq, dtau_dv (and M, upper triangle); d a /
// d(q, v, tau) in data.ddq_dq, ddq_dv and Minv (upper triangle).
#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>

#include "bench/peers/pinocchio_model.hpp"

namespace articula::peers {

void pinocchio_rnea_derivatives(const pinocchio::Model& model, pinocchio::Data& data, const VectorXd& q,
                                const VectorXd& v, const VectorXd& a) {
  pinocchio::computeRNEADerivatives(model, data, q, v, a);
}

void pinocchio_aba_derivatives(const pinocchio::Model& model, pinocchio::Data& data, const VectorXd& q,
                               const VectorXd& v, const VectorXd& tau) {
  pinocchio::computeABADerivatives(model, data, q, v, tau);
}

}  // namespace articula::peers
