"""Throws a ball against a wall and finds, by the gradient of the simulation, the throw whose rebound hits a target."""

from __future__ import annotations

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray

import articula as art

SCENE = """
<mujoco model="throw">
  <option timestep="0.001"/>
  <worldbody>
    <geom name="wall" type="box" pos="3 0 2" size="0.1 2 2"/>
    <body name="ball" pos="0 0 1.5">
      <freejoint name="ball"/>
      <geom name="ball" type="sphere" size="0.1" mass="0.5" condim="1"/>
    </body>
  </worldbody>
</mujoco>
"""
TARGET = np.array([0.5, 0.0, 0.8])  # m
Array = NDArray[np.float64]


def throw(sim: art.Simulation, velocity: Array) -> tuple[float, Array, Array]:
    """The squared miss after a second, its gradient by the velocity of the throw, and the path."""
    x = sim.model.neutral_state()
    x.v[:3] = velocity
    steps, path, warm = [], [x.q[:3].copy()], art.WarmStart()
    for _ in range(1000):
        s = sim.step(x, None, warm)
        steps.append(s)
        path.append(s.next.q[:3].copy())
        x, warm = s.next, s.warm
    miss = x.q[:3] - TARGET
    # Backwards through all steps: the gradient by what came out becomes that by what went in.
    by_q, by_v = np.concatenate([2.0 * miss, np.zeros(3)]), np.zeros(6)
    for s in reversed(steps):
        g = sim.pullback(s, by_q, by_v, mode="elastic")
        by_q, by_v = g.q, g.v
    return float(miss @ miss), by_v[:3].copy(), np.array(path)


def main(picture: str = "gradient_of_a_throw.png") -> None:
    model = art.parse_mjcf(SCENE)
    model = model.with_("geometry/ball/restitution", 0.8)
    sim = art.Simulation(model)
    velocity = np.array([5.3, 0.3, 2.0])  # m/s
    paths, misses = [], []
    for i in range(40):
        loss, gradient, path = throw(sim, velocity)
        misses.append(np.sqrt(loss))
        if i % 10 == 0:
            paths.append(path)
        velocity = velocity - 0.2 * gradient
    loss, _, path = throw(sim, velocity)
    print(f"a throw of {np.round(velocity, 3)} m/s misses by {np.sqrt(loss) * 1000.0:.2f} mm; the first missed by {misses[0]:.2f} m")
    figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    for old in paths:
        axes[0].plot(old[:, 0], old[:, 2], color="0.75")
    axes[0].plot(path[:, 0], path[:, 2], color="C0")
    axes[0].plot(TARGET[0], TARGET[2], "x", color="C3", markersize=10)
    axes[0].set(xlabel="x, m", ylabel="z, m", title="throws")
    axes[1].semilogy(misses)
    axes[1].set(xlabel="iteration", ylabel="miss, m")
    figure.savefig(picture, dpi=120)


if __name__ == "__main__":
    main(*sys.argv[1:])
