#pragma once
// Contact problems as they come out of steps: our own robots, stacked, falling, trotting and squeezing.
//
// Scenes take turns, one step each. Every episode starts elsewhere, with other controls and pushes, so that
// the problems go on being new; those of an island are what solve_contact sees within the step.

#include <random>

#include "articula/simulation/simulation.hpp"
#include "tests/support/contact_problems.hpp"

namespace articula::testing {

class SceneProblems {
 public:
  SceneProblems(FrictionLaw law, unsigned seed);
  ~SceneProblems();
  // The next problem; there is always one more. Throws articula::Error if a step fails.
  void next(OwnedProblem& problem);
  // Where the last one is from: "humanoid, episode 3, step 120, island 0".
  std::string origin() const;
  // Names of the scenes, in their turns.
  static std::vector<std::string> names();

 private:
  struct Scene;
  FrictionLaw law_;
  std::vector<std::unique_ptr<Scene>> scenes_;
  std::size_t turn_ = 0;
  std::size_t island_ = 0;  // the next one of the scene whose turn it is
};

}  // namespace articula::testing
