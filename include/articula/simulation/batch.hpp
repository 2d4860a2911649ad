#pragma once
// Many environments stepped side by side, over threads. Each result depends on its own environment alone: the
// number of threads changes nothing, to the bit.
//
// Arrays have one column per environment; their memory is that of a row-major array (N, n). Rollouts keep the
// steps of an environment together: (N, steps, n).

#include "articula/simulation/rollout.hpp"

namespace articula {

struct BatchState {
  MatrixX q, v, activation;  // nq x N, nv x N, na x N
  VectorX time;              // N

  Eigen::Index size() const { return time.size(); }
};

struct BatchStep {
  BatchState next;  // of an environment whose step failed: the state it started from
  std::vector<StepReport> reports;
  std::vector<WarmStart> warm;
  bool keep_contacts = false;                      // set before a step that shall list its contacts
  std::vector<std::vector<StepContact>> contacts;  // N, if kept
  bool keep_start = false;  // set before a step that shall keep what it was taken from, for derivatives
  BatchState start;         // if kept
  MatrixX controls;         // nu x N, or without columns; if kept
};

struct BatchRollout {
  int steps = 0;
  MatrixX q, v, activation;       // n x (N (steps + 1)): columns of environment e begin at e (steps + 1)
  MatrixX time;                   // (steps + 1) x N
  Eigen::VectorXi taken;          // N: steps until one failed; columns after it repeat its start
  std::vector<StepReport> worst;  // N: the worst status and residual, sums of the counts
  std::vector<WarmStart> warm;    // N
};

// Derivatives of a step of every environment. Of one whose step failed they are zero, and its certificate is
// not valid. With n = 2nv + na:
struct BatchJacobians {
  RowMatrix by_state;    // (N n) x n: rows of environment e begin at e n; in memory NumPy's (N, n, n)
  RowMatrix by_control;  // (N n) x nu
  std::vector<GradientCertificate> certificates;
};

// What is left empty is zero.
struct BatchCovector {
  MatrixX q, v, activation;  // nv x N, nv x N, na x N
};

struct BatchGradient {
  MatrixX q, v, activation;  // nv x N, nv x N, na x N
  MatrixX control;           // nu x N
  MatrixX force;             // nv x N
  MatrixX wrench;            // (6 nbody) x N
  MatrixX parameters;        // the slices of the settings, one after the other, x N
  std::vector<GradientCertificate> certificates;
};

class Batch {
 public:
  // threads: 0 for as many as the machine has.
  Batch(const Model& model, int count, const SimulationSettings& settings = {}, int threads = 0);
  // One model per environment: all variants (model.with) of one.
  explicit Batch(std::vector<Model> models, const SimulationSettings& settings = {}, int threads = 0);
  ~Batch();
  Batch(Batch&&) noexcept;
  Batch& operator=(Batch&&) noexcept;

  int size() const;
  int threads() const;
  const Model& model(int environment) const;
  const SimulationSettings& settings() const;

  BatchState neutral_states() const;
  BatchState repeat(const State& state) const;

  // controls: nu x N, or without columns for none. The warm starts in `result` are guesses, and then those of
  // the next step. x may be result.next. Throws Error for wrong sizes.
  void step(const BatchState& x, const ConstMatrixRef& controls, BatchStep& result) const;
  // Guesses that stay as they are: N of them, or none. What is in `result` is no guess.
  void step(const BatchState& x, const ConstMatrixRef& controls, const std::vector<WarmStart>& warm,
            BatchStep& result) const;
  BatchStep step(const BatchState& x, const ConstMatrixRef& controls,
                 const std::vector<WarmStart>& warm = {}) const;

  // controls: nu x (N steps), the columns of environment e begin at e steps; without rows if nu is zero.
  BatchRollout rollout(const BatchState& x, int steps, const ConstMatrixRef& controls,
                       const std::vector<WarmStart>& warm = {}) const;

  // Derivatives of a step, which took x to step.next. The step is taken once more, from the modes that it
  // found.
  void jacobians(const BatchState& x, const ConstMatrixRef& controls, const BatchStep& step,
                 const GradientSettings& settings, BatchJacobians& result) const;
  void pullback(const BatchState& x, const ConstMatrixRef& controls, const BatchStep& step,
                const BatchCovector& covector, const GradientSettings& settings, BatchGradient& result) const;

 private:
  struct Threads;
  void step_from(const BatchState& x, const ConstMatrixRef& controls, const std::vector<WarmStart>& guesses,
                 BatchStep& result) const;

  std::unique_ptr<Threads> threads_;
};

}  // namespace articula
