#pragma once
// Derivatives of one step against Ridders' extrapolated differences of it: with its modes held, and as it is.

#include <array>
#include <limits>
#include <random>

#include "articula/simulation/disturbed_step.hpp"
#include "articula/simulation/step_signature.hpp"

namespace articula::cli {

// What happened in one block (state, control, a kind of parameters) at one state.
struct BlockResult {
  bool present = false;       // the model has it
  double largest = 0.0;       // of the derivative
  bool one_sided = false;     // says the certificate
  double frozen_error = 0.0;  // of the step with its modes held
  bool frozen_left_out = false;
  double true_error = 0.0;     // of the step as it is
  bool true_left_out = false;  // no differences within one assignment of modes
};

const std::vector<std::string>& block_names();

// Workspace of one thread.
class GradientCheck {
 public:
  GradientCheck(const Model& model, Contact contact);

  // Everything about the step from `start`; false if it cannot be taken, or has no derivative.
  bool run(const State& start, const Input& input, unsigned seed, std::vector<BlockResult>& blocks);
  double adjoint_error() const { return adjoint_error_; }    // against the transposed Jacobians
  double jacobian_error() const { return jacobian_error_; }  // against products along every state

 private:
  struct Reference {
    struct Ends {
      double step;
      VectorX ahead, behind;  // the outermost evaluations of a table
    };
    VectorX derivative, rounding, unsure;  // and by how much they may be off, rounding and all
    double error = std::numeric_limits<double>::infinity();  // by its own estimate, relative to the block
    bool thorough = false;                                   // noise was measured
    bool confirmed = false;  // a derivative that is wrong would have to be wrong alike
    std::vector<Ends> outermost;
    bool tied = false;    // contacts were told apart by their places
    double surest = 0.0;  // the first step of the table that knew most
    double noise = 0.0;   // of what steps return, as far as it was measured
  };
  // What differences are made of: the first table that is sure; all tables, and the noise in them; many
  // tables of the surest first step, so that noise is less.
  enum class Look { quick, thorough, repeated };
  void compare(const MatrixX& derivative, const MatrixX& directions, bool jumps, BlockResult& block);
  MatrixX along(const MatrixX& directions);
  void leave_out_what_cannot_change(MatrixX& directions);
  VectorX evaluate(const VectorX& dz, double t, bool held, bool& same);
  bool difference(const VectorX& dz, bool held, bool jumps, double scale, bool thorough,
                  Reference& reference);
  bool difference_if_any(const VectorX& dz, bool held, bool jumps, double scale, bool thorough,
                         Reference& reference);
  void repeat(const VectorX& dz, bool held, double scale, Reference& reference);
  bool keeps_apart(const VectorX& dz, double t);
  bool agrees_with_held(const VectorX& dz, double scale, const Reference& reference);
  bool is_held(const VectorX& dz, const Reference& reference);
  static bool agree(const Reference& one, const Reference& other, double scale);
  bool found_cold(const VectorX& dz);
  bool searches_again();
  void check_adjoint(const MatrixX& by_state, const MatrixX& by_control, std::mt19937& random);

  const Model& model_;
  SimulationSettings settings_;
  VectorX felt_, scales_;
  Data data_;
  ImpulseWork work_;
  ImpulseDerivatives derivatives_;
  DisturbedStep disturbed_;
  StepSignature signature_, there_;  // of the undisturbed step, of another
  StepSignature by_place_;           // rows of the undisturbed step, contacts told apart by their places
  GradientCertificate certificate_;
  double adjoint_error_ = 0.0, jacobian_error_ = 0.0, inconsistency_ = 0.0;
  bool searches_again_ = false;                   // the step as it is finds one of several solutions
  bool tied_ = false;                             // contacts are told apart by their places
  bool moved_on_ = false;                         // some contact has other features than it had
  double noise_ = 0.0;                            // of what a step returns
  static constexpr std::size_t first_steps = 13;  // of tables of differences
  std::array<int, first_steps> crossed_{};  // how often each first step led to other modes, in this block
};

}  // namespace articula::cli
