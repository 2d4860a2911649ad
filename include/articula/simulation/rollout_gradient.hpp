#pragma once
// Gradients of a loss over many steps.
//
//   L = sum_i l_i(x_i, u_i) + l_T(x_T),       x_{i+1} = step(x_i, u_i; theta)
// The adjoint runs backwards: a_T = dl_T/dx_T, a_i = (dx_{i+1}/dx_i)^T a_{i+1} + dl_i/dx_i. Factors are not
// kept; each step is taken once more from the modes that it found, to the bit, so that a backward pass costs
// one more rollout and one adjoint per step.
//
// Memory: states and modes of every `stride`-th step, and of one stretch between two of them. With n numbers
// in a state and m bytes of modes that is (T / stride + stride) (8 n + m); a stride above one costs one more
// rollout.

#include "articula/simulation/rollout.hpp"

namespace articula {

// What a loss adds at step i (0 .. T; after the last step `control` has no columns): returns its value, and
// adds to the covectors, which are in the tangent space (nv, nv, na; nu).
struct LossCovector {
  VectorX q, v, activation, control;
};
using Loss =
    std::function<double(int i, const State& state, const ConstVectorRef& control, LossCovector& covector)>;

struct RolloutGradientSettings {
  GradientSettings gradient = {};  // mode, and which parameters
  int stride = 0;             // steps between checkpoints; 0: every step is kept while that takes less than
  double most_bytes = 256e6;  // this, and otherwise about the square root of the number of steps
};

struct RolloutGradient {
  double loss = 0.0;
  VectorX q, v, activation;  // of the start
  MatrixX controls;          // nu x steps
  VectorX parameters;        // the slices of the settings, one after the other
  Rollout rollout;           // states at checkpoints only, if stride > 1
  int one_sided = 0;         // steps whose certificate says that a derivative was chosen from one side
  int invalid = 0;           // steps without a derivative: the adjoint is cut there
  double bytes = 0.0;        // that checkpoints took
};

// Throws Error if a step fails.
RolloutGradient rollout_gradient(const Simulation& simulation, const State& start,
                                 const ConstMatrixRef& controls, const Loss& loss,
                                 const RolloutGradientSettings& settings = {});

// dx_T/dp for few parameters p, forwards along the rollout: n x (numbers of all slices).
MatrixX rollout_sensitivity(const Simulation& simulation, const State& start, const ConstMatrixRef& controls,
                            const std::vector<ParameterSlice>& parameters);

// The Hessian of the loss with respect to all controls times a direction (nu x steps), by central differences
// of the adjoint with the modes of every step held.
MatrixX hessian_vector_product(const Simulation& simulation, const State& start,
                               const ConstMatrixRef& controls, const ConstMatrixRef& direction,
                               const Loss& loss, double difference_step = 1e-4);

}  // namespace articula
