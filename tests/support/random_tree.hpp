#pragma once
// Random robots with every joint type and several joints per body, and random states of them.

#include <random>

#include "articula/model/builder.hpp"
#include "articula/model/data.hpp"

namespace articula::testing {

struct RandomTree {
  int bodies = 10;
  bool chain = false;          // every body hangs on the one before
  bool several_joints = true;  // up to three hinges and slides on one body
  double weld_probability = 0.1;
  double armature = 0.05;  // upper bound; 0: none
  bool kinematic = false;  // what is not free hangs on a kinematic body
};

Description random_description(std::mt19937& random, const RandomTree& options);
Model random_model(std::mt19937& random, const RandomTree& options);

// A swinging chain of `links` equal rods, hinged about alternating axes.
Description chain_description(int links);

struct RandomState {
  VectorX q, v, a;
};
// Somewhere, and moving: poses and twists of kinematic bodies.
void move_kinematic_bodies(Data& data, std::mt19937& random);
RandomState random_state(const Model& model, std::mt19937& random, double speed = 1.0);

double uniform(std::mt19937& random, double low, double high);
VectorX uniform_vector(std::mt19937& random, int size, double bound = 1.0);
Vector3 random_direction(std::mt19937& random);
Quaternion random_rotation(std::mt19937& random);

// max |a - b| relative to the largest number in b.
double relative_difference(const MatrixX& a, const MatrixX& b);

}  // namespace articula::testing
