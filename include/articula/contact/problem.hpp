#pragma once
// What a contact solver sees: impulses and velocities along constraint rows, and nothing of the robot.
//
//   sigma = G lam + b,      G = J Mhat^-1 J^T (symmetric, positive semi-definite, often singular),
//                           b = J v_free + s
// Find lam (N s) and sigma (m/s) that obey each block's law:
//   equality    sigma = 0
//   unilateral  lam >= 0, sigma >= 0, lam sigma = 0                      (limits, frictionless contacts)
//   interval    lam in [-bound, bound], sigma opposes it at the ends     (dry friction, force limits)
//   contact     row 0 the normal N, the others tangents T (then spin, then rolling) with coefficients mu_i
//     pyramid   N as unilateral; |lam_i| <= mu_i lam_N, sigma_i opposes lam_i where it is at its bound
//     cone      N as unilateral; sum (lam_i / mu_i)^2 <= lam_N^2; sigma_T = 0, or
//               lam_i = -mu_i lam_N w_i / |w| with w_i = mu_i sigma_i     (maximum dissipation)

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "articula/math/types.hpp"

namespace articula {

enum class FrictionLaw : std::uint8_t { pyramid, cone };

enum class BlockKind : std::uint8_t { equality, unilateral, interval, contact };

struct Block {
  BlockKind kind = BlockKind::unilateral;
  int first = 0;          // row
  int dim = 1;            // rows; contacts: 1 + tangents
  double bound = 0.0;     // interval
  double mu[5] = {};      // contact, per tangent
  double mobility = 0.0;  // of ContactProblem::mobility, where it is known beforehand; otherwise zero

  int tangents() const { return dim - 1; }
};

// W of G = W W^T, for problems of many bodies: columns come in groups, one for each that moves by itself, and
// a block's rows are zero but for two of them at most. Products with W and W^T take the place of those with
// G.
struct RowRoots {
  struct Side {
    int group = -1;             // none: negative
    const double* W = nullptr;  // the block's rows, one after the other, over the columns of the group
  };
  std::span<const int> begin;  // of each group its first column; and the end of the last
  std::span<const std::array<Side, 2>> blocks;
  double* room = nullptr;  // a number for each column

  int groups() const { return static_cast<int>(begin.size()) - 1; }
  int columns() const { return begin.back(); }
  int width(int group) const { return begin[group + 1] - begin[group]; }
};

// A view: the numbers live elsewhere.
struct ContactProblem {
  FrictionLaw law = FrictionLaw::cone;
  std::span<const Block> blocks;
  int size = 0;
  const double* G = nullptr;  // row-major
  int stride = 0;             // numbers from one row of G to the next
  const double* b = nullptr;
  double velocity_scale = 1.0;      // m/s: errors are judged relative to this
  const double* bias = nullptr;     // what b asks for: recovery, bounces, moving ground; or none
  const RowRoots* roots = nullptr;  // of many rows; or none

  const double* row(int i) const { return G + static_cast<std::size_t>(i) * stride; }
  double g(int i, int j) const { return row(i)[j]; }
  // tr(G_ii) / dim: how much the block's velocity changes per unit of impulse. Never zero.
  double mobility(const Block& block) const {
    return block.mobility > 0.0 ? block.mobility : mobility_of(block.first, block.dim);
  }
  double mobility_of(int first, int dim) const;
};

// max(|b|_inf, h g)
double velocity_scale(std::span<const double> b, double gravity_step);

// sigma = G lam + b
void contact_velocities(const ContactProblem& problem, const double* lam, double* sigma);
// x += W^T lam, and sigma += W x
void add_to_groups(const ContactProblem& problem, const double* lam, double* x);
void add_from_groups(const ContactProblem& problem, const double* x, double* sigma);
// sigma += G lam
void add_velocities(const ContactProblem& problem, const double* lam, double* sigma);

// How far (lam, sigma = G lam + b) is from obeying the laws, in m/s: the largest over the blocks of
//   g ‖lam - P(lam - (sigma + Gamma) / g)‖,    g = tr(G_ii) / dim
// with P the projection on the block's admissible impulses and, for cones, Gamma = mu ‖sigma_T‖ on the normal
// (De Saxce). Independent of all solvers. Divide by problem.velocity_scale for the relative residual.
double contact_residual(const ContactProblem& problem, const double* lam);
// The same where sigma = G lam + b is known.
double contact_residual(const ContactProblem& problem, const double* lam, const double* sigma);

}  // namespace articula
