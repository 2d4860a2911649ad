"""Finds the friction of a sliding box from its trajectory, by the gradient with respect to the parameter."""

from __future__ import annotations

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray

import articula as art

SCENE = """
<mujoco model="slide">
  <option timestep="0.005"/>
  <worldbody>
    <geom name="floor" type="plane" size="10 10 0.1" friction="0.01"/>
    <body name="box" pos="0 0 0.1">
      <freejoint name="box"/>
      <geom name="box" type="box" size="0.1 0.1 0.1" mass="1" friction="0.8"/>
    </body>
  </worldbody>
</mujoco>
"""
STEPS, TRUE = 100, 0.35
Array = NDArray[np.float64]


def with_friction(model: art.Model, mu: float) -> art.Model:
    return model.with_("geometry/box/friction", [mu, 0.005, 0.0001])


def start(model: art.Model) -> art.State:
    x = model.neutral_state()
    x.v[0] = 3.0  # m/s
    return x


def loss_and_gradient(model: art.Model, mu: float, observed: Array) -> tuple[float, float]:
    """Mean squared distance to the observed positions, and its derivative by mu."""
    sim = art.Simulation(with_friction(model, mu))
    x, steps = start(model), []
    for _ in range(STEPS):
        steps.append(sim.step(x))
        x = steps[-1].next
    errors = [s.next.q[0] - o for s, o in zip(steps, observed)]
    by_q, by_v, slope = np.zeros(model.nv), np.zeros(model.nv), 0.0
    for s, error in zip(reversed(steps), reversed(errors)):
        by_q = by_q.copy()
        by_q[0] += 2.0 * error / STEPS
        g = sim.pullback(s, by_q, by_v, parameters="geometry/box/friction")
        by_q, by_v = g.q, g.v
        slope += float(g.parameters[0])
    return float(np.mean(np.square(errors))), slope


def main(picture: str = "fit_a_friction_coefficient.png") -> None:
    model = art.parse_mjcf(SCENE)
    recorded = art.Simulation(with_friction(model, TRUE)).rollout(start(model), np.zeros((STEPS, 0)))
    observed = recorded.q[1:, 0] + 0.002 * np.random.default_rng(0).standard_normal(STEPS)  # 2 mm of noise

    mu, history = 0.5, []
    for _ in range(30):
        loss, slope = loss_and_gradient(model, mu, observed)
        history.append((mu, loss))
        # Gauss-Newton on one number: the curvature from the change of the slope.
        curvature = (loss_and_gradient(model, mu + 1e-4, observed)[1] - slope) / 1e-4
        change = slope / curvature if curvature > 0.0 else np.copysign(0.02, slope)
        mu -= float(np.clip(change, -0.1, 0.1))
        if abs(change) < 1e-8:
            break
    print(f"friction {mu:.5f} after {len(history)} iterations; the trajectory was made with {TRUE}")

    figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    fitted = art.Simulation(with_friction(model, mu)).rollout(start(model), np.zeros((STEPS, 0)))
    axes[0].plot(recorded.time[1:], observed, ".", markersize=3, label="observed")
    axes[0].plot(fitted.time, fitted.q[:, 0], label=f"fitted, mu = {mu:.3f}")
    axes[0].set(xlabel="time, s", ylabel="x, m")
    axes[0].legend()
    axes[1].plot([h[0] for h in history], "o-")
    axes[1].axhline(TRUE, color="0.5", linestyle="--")
    axes[1].set(xlabel="iteration", ylabel="friction coefficient")
    figure.savefig(picture, dpi=120)


if __name__ == "__main__":
    main(*sys.argv[1:])
