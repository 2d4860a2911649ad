#pragma once
// Many steps in a row.

#include <functional>

#include "articula/simulation/simulation.hpp"

namespace articula {

// States before each step and after the last, one column each; fewer than asked for if a step failed.
struct Rollout {
  MatrixX q;                        // nq x (steps + 1)
  MatrixX v;                        // nv x (steps + 1)
  MatrixX activation;               // na x (steps + 1)
  VectorX time;                     // steps + 1, s
  std::vector<StepReport> reports;  // steps, and that of a step that failed
  WarmStart warm;                   // for the next step

  int steps() const { return static_cast<int>(time.size()) - 1; }
  State state(int i) const { return {q.col(i), v.col(i), activation.col(i), time[i]}; }
  State last() const { return state(steps()); }
  // Of the last step tried.
  StepStatus status() const { return reports.empty() ? StepStatus::ok : reports.back().status; }
};

// controls: nu x steps, one column for each step.
Rollout rollout(const Simulation& simulation, const State& start, const ConstMatrixRef& controls,
                const WarmStart& warm = {});

// `control` sets what acts during step i, from the state before it. The input is zero at first, and then as
// the last call left it.
using Controller = std::function<void(int i, const State& state, Input& input)>;
Rollout rollout(const Simulation& simulation, const State& start, int steps, const Controller& control,
                const WarmStart& warm = {});

}  // namespace articula
