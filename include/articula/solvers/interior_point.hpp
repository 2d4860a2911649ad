#pragma once
// Contact by a primal-dual interior point: every law is relaxed by kappa and kappa is brought to zero.
//
// Velocities get variables of their own, eta ~ sigma, so that iterates may start anywhere. With lam_N = gamma
// and friction cones xi = (gamma, beta), beta = lam_T / mu, dual to (psi, w), w = mu o eta_T:
//   eta = G lam + b,    gamma eta_N = kappa,    gamma psi + beta . w = kappa,   gamma w + psi beta = 0
// A cone contact has one friction cone, a pyramid one for each tangent, an interval one with gamma = bound.
// Newton's method on these, eliminated to (G + H) dlam = r, with steps that stay inside the cones; products
// are in units where tr(G_ii)/dim = 1 for each block.

#include "articula/contact/problem.hpp"
#include "articula/math/lu.hpp"
#include "articula/solvers/group_factor.hpp"

namespace articula {

class InteriorPoint {
 public:
  // columns, groups: of RowRoots, if there are any.
  void reserve(int rows, int blocks, int columns = 0, int groups = 0);
  // The next problem has another G.
  void forget() { grouped_.forget(); }

  struct Settings {
    double kappa = 1e-22;  // of the scaled problem, where impulses and velocities are about one
    int most_iterations = 60;
    double start = 1.0;      // impulses, velocities and slacks at the beginning
    double patience = 0.02;  // by how much kappa shrinks after a full step; nearer to 1 is safer and slower
    double enough = 0.0;  // relative residual of the laws that ends it; then the best impulses are the result
    bool resumed = false;  // from where the path below has come to
  };
  // lam (size) is the result, whatever it was. Returns the number of iterations; the last lam is finite
  // always.
  int solve(const ContactProblem& problem, const Settings& settings, double* lam);

  // The same, slower and surer: follows the path of solutions from a large kappa down, also where it turns
  // back and kappa has to grow for a while, which stops Newton's method above (src/solvers/central_path.cpp).
  struct PathSettings {
    double kappa = 1e-13;
    int most_iterations = 1000;
    double start = 1.0;  // impulses at the beginning
    // From the last point of `solve` that was near the path without a shift, to this part of its kappa; 0:
    // from the start.
    double resumed = 0.0;
  };
  bool can_resume() const { return !kept_.empty(); }
  int follow_path(const ContactProblem& problem, const PathSettings& settings, double* lam);

 private:
  // Tangents of a block that share a friction disc.
  struct Cone {
    int normal = -1;  // row of gamma; -1: gamma = radius, fixed
    double radius = 0.0;
    int first = 0, count = 0;  // rows
    const double* mu = nullptr;
    double psi = 1.0, dpsi = 0.0;
  };
  // dw = constant + by_kappa dkappa - by_beta dbeta - by_gamma dgamma: the friction laws linearised, dpsi
  // eliminated.
  struct Linearised {
    double beta[5], w[5], gamma;
    double constant[5], by_kappa[5], by_gamma[5], by_beta[5][5];
    double defect;  // kappa - gamma psi - beta . w
  };

  void scale(const ContactProblem& problem, double softness);
  void multiply(const ContactProblem& problem, const double* x, double* out);
  double& H(int i, int j) { return H_[row_of_H_[i] + j]; }
  bool factor(const ContactProblem& problem);
  bool factor_bordered(const ContactProblem& problem);
  void solve_bordered(double* x);
  void list_cones(const ContactProblem& problem);
  bool step(const ContactProblem& problem, double kappa);
  double velocity_error(const ContactProblem& problem);
  double gap(const ContactProblem& problem) const;
  double longest_step(const ContactProblem& problem) const;
  Linearised linearise(const Cone& cone, double kappa) const;
  void assemble(const ContactProblem& problem, double kappa);
  void recover_velocities(double kappa, double dkappa);
  void advance(double alpha);
  double resume_path();
  double start_path(const ContactProblem& problem, double impulse);
  double path_error(const ContactProblem& problem, double kappa);
  double turn_along(double stride, std::vector<double>& step);
  void keep_point(double kappa);
  double restore_point();
  bool path_step(const ContactProblem& problem, double& kappa, double stride, double least_cosine);

  std::vector<Cone> cones_;
  std::vector<double> unit_;  // per row: 1 / sqrt(tr(G_ii)/dim)
  // Block by block, row-major; H(i, j) of two rows of one block is at row_of_H_[i] + j.
  std::vector<double> H_;
  std::vector<int> row_of_H_;
  std::vector<double> root_unit_;  // 1 / sqrt(tr(G_ii)/dim): G scaled is root_unit G root_unit + softness
  std::vector<double> product_, scaled_, border_, solved_border_;
  double softness_ = 0.0;
  std::vector<double> G_, b_, lam_, eta_, dlam_, deta_, constant_;
  std::vector<double> by_kappa_, shift_, tangent_, metric_, kept_;  // of the path
  std::vector<int> normals_;
  static constexpr double one_ = 1.0;
  static constexpr double newton_precision = 1e-14;  // of directions
  LuFactor lu_;
  GroupFactor grouped_;  // in place of it, and of G_, for many bodies
  bool by_groups_ = false;
  int size_ = 0;
};

}  // namespace articula
