#pragma once
// Frictional contact problems as robots make them: G = J M^-1 J^T of random trees and heaps of bodies.
//
// Biases are not negative on normals (gaps, no recovery), so a solution exists. About half the problems have
// patches of coplanar contacts, duplicated contacts or loops, which make G singular; masses differ by up to
// 1e4.

#include <functional>
#include <memory>
#include <random>

#include "articula/contact/problem.hpp"

namespace articula::testing {

struct OwnedProblem {
  FrictionLaw law = FrictionLaw::cone;
  std::vector<Block> blocks;
  MatrixX G;  // symmetric, so column-major is row-major
  VectorX b;
  VectorX bias;  // the part of b that is asked for; empty: not known
  bool singular = false;
  double least_velocity = 0.0;  // m/s: the velocity scale is no smaller

  ContactProblem view(double gravity_step = 0.0) const;
};

struct ProblemOptions {
  FrictionLaw law = FrictionLaw::cone;
  int most_bodies = 8, most_contacts = 10;
  bool other_rows = true;  // limits, dry friction, equalities, condim 1, 4 and 6
};

OwnedProblem random_contact_problem(std::mt19937& random, const ProblemOptions& options = {});

}  // namespace articula::testing
