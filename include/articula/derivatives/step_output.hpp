#pragma once
// How the next state follows from v+: q+ = q (+) h v+ and the activations, with their derivatives.

#include "articula/derivatives/smooth_residual.hpp"

namespace articula {

class StepOutput {
 public:
  explicit StepOutput(const Model& model);
  void prepare(const Model& model, const FreeMotionWork& step, const VectorX& v_next, double h);

  // dx = (dq+, dv+, dw+) from dv+ and dz.
  void along(const StepInputs& in, const ConstVectorRef& dv_next, const ConstVectorRef& dz, VectorRef dx);
  // v_next_bar, and z_bar (set, not added to) from x_bar. Without `parameters` their part is left alone.
  void against(const StepInputs& in, const ConstVectorRef& x_bar, bool parameters, VectorRef v_next_bar,
               VectorRef z_bar);
  // Rows of q+ and w+ of Jacobians whose rows of v+ are there.
  void complete(MatrixRef by_state, MatrixRef by_control) const;
  // Rows of q+ alone: h Jr (v+ rows).
  void position_rows(MatrixRef J) const;
  // The same in two: rows of q+ that are h times those of v+ already (`turn_rows`), and all that is not v+
  // (`add_explicit`).
  void turn_rows(MatrixRef J) const;
  void add_explicit(MatrixRef by_state, MatrixRef by_control) const;

 private:
  int nv_ = 0, na_ = 0, nu_ = 0;
  const Model* model_ = nullptr;
  const FreeMotionWork* step_ = nullptr;
  const VectorX* v_next_ = nullptr;
  double h_ = 0.0;
  std::vector<int> turning_;                 // first dof of each turning block
  std::vector<Mat3> turn_by_q_, turn_by_v_;  // of q (+) h v+ there
  VectorX scratch_;
};

}  // namespace articula
