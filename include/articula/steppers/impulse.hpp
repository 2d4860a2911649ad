#pragma once
// The impulse step: hard contact, friction, limits, loops, all in one root (docs/contact.md).
//
//   Mhat (v+ - v_free) = J^T lam,     sigma = J v+ + s,     law(sigma, lam),      q+ = q (+) h v+
//
// 1. v_free, kinematics and the factor of Mhat (free_motion.hpp)
// 2. contacts of everything that may touch within the step (collision/detect.hpp)
// 3. rows and their problems (contact/rows.hpp)
// 4. impulses, island by island (solvers/solver.hpp)
// 5. v+, q+, activations. If something got faster than stage 2 expected, once more from there; if servos are
// at
//    other limits with v+ than with v_free, once more with these.

#include "articula/contact/rows.hpp"
#include "articula/solvers/solver.hpp"
#include "articula/steppers/free_motion.hpp"

namespace articula {

struct ImpulseSettings {
  double dt = 0.002;                    // s
  FrictionLaw law = FrictionLaw::cone;  // cone: ncp; pyramid: lcp
  double recovery_speed = 0.2;          // m/s, rad/s: an overlap at the start vanishes no faster than this
  double bounce_speed = -1.0;           // m/s: slower impacts do not bounce; negative: 2 h g
  bool implicit_gyroscopic = true;      // gyroscopic.hpp
  const FrozenModes* frozen = nullptr;  // keep these modes instead of finding them
  bool warm_start = true;               // guess the modes of the last step (docs/solvers.md)
};

// Modes and impulses of the blocks of a step by identity: a guess for the next one.
struct WarmStart {
  struct Entry {
    std::uint64_t key = 0;
    std::array<RowMode, 6> mode{};
    std::uint8_t rows = 0;
    SlideState slide;  // of a contact that slides or yields
    std::array<double, 6> impulse{};
  };
  FrictionLaw law = FrictionLaw::cone;
  std::vector<Entry> entries;
};

struct StepReport {
  StepStatus status = StepStatus::ok;
  SolveStatus contact = SolveStatus::solved;  // the worst of all islands
  double residual = 0.0;                      // largest over the islands, relative
  int contacts = 0, rows = 0, islands = 0;
  int guessed_islands = 0;  // those where the first guess was right
  int iterations = 0;       // factorisations
  double deepest = 0.0;     // m: largest overlap at the start of the step, not negative
  bool overflow = false;    // more contacts than there was room for: some were left out
};

// Everything a step leaves behind; derivatives read it.
struct ImpulseWork {
  explicit ImpulseWork(const Model& model, int most_contacts = 0);
  // For a variant (model.with) of the model it was made for, in microseconds.
  void set_numbers(const Model& variant);

  collision::Colliders colliders;
  collision::Contacts contacts;
  Constraints constraints;
  ContactRows rows;
  ContactSolver solver;
  FreeMotionWork free;
  VectorX v_free;
  VectorX v_coast;  // v_free less what dry friction without a row takes
  VectorX v_next, q_next, activation_next, impulse;
  std::vector<double> speed;  // per collider
  WarmStart again;            // from one pass of a step to the next
  // m/s, at least this fast part the contacts and ends of ranges, and slides the dry friction, without a row
  double idle_velocity = 0.0;
  bool ambiguous = false;  // some island has other solutions, or is not known to have the smallest impulses
};

// The modes of the step that was taken, those of servos among them.
FrozenModes freeze(const ImpulseWork& work);

// Islands whose impulses are not those that soft laws have in their modes: the step is not known to have the
// smallest, or was granted slack that is not theirs; or soft laws would take contacts that yield elsewhere as
// soon as the robot moves. A step beside this one with its modes held keeps what no equation tells.
std::vector<bool> islands_that_keep_loads(const ImpulseWork& work);

// Takes `state` one step on, in place, unless the report's status says that it could not. warm: read, then
// written.
StepReport impulse_step(const Model& model, Data& data, ImpulseWork& work, const ImpulseSettings& settings,
                        const Input& input, State& state, WarmStart& warm);

}  // namespace articula
