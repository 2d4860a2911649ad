"""Learns to swing up a cart-pole by gradients through the simulator."""

from __future__ import annotations

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray

import articula as art

STEPS, DT = 100, 0.02
Array = NDArray[np.float64]


def roll(sim: art.Simulation, start: art.State, controls: Array) -> list[art.Step]:
    steps, x = [], start
    for u in controls:
        steps.append(sim.step(x, u))
        x = steps[-1].next
    return steps


def loss_and_gradient(steps: list[art.Step], sim: art.Simulation, controls: Array) -> tuple[float, Array]:
    """Upright and at rest at the end, near the middle, with little effort; and the gradient by all controls."""
    loss, gradient = 1e-5 * float(np.sum(controls**2)), 2e-5 * controls
    by_q, by_v = np.zeros(2), np.zeros(2)
    for i in reversed(range(len(steps))):
        q, v = steps[i].next.q, steps[i].next.v
        weight = 1.0 if i >= len(steps) - 15 else 0.0
        loss += weight * ((1.0 - np.cos(q[1])) + 0.02 * v[1] ** 2 + 0.02 * v[0] ** 2) + 0.002 * q[0] ** 2
        by_q = by_q + np.array([0.004 * q[0], weight * np.sin(q[1])])
        by_v = by_v + weight * np.array([0.04 * v[0], 0.04 * v[1]])
        g = sim.pullback(steps[i], by_q, by_v)
        by_q, by_v = g.q, g.v
        gradient[i] += g.control
    return loss, gradient


def main(picture: str = "learn_a_swing_up.png") -> None:
    model = art.load("cart_pole")
    sim = art.Simulation(model, dt=DT)
    start = model.neutral_state()
    start.q[1] = np.pi  # hangs down
    limit = float(model.control_range[0, 1])
    # Unlimited numbers w; the controls limit tanh(w) stay within the motor's range.
    w = 0.3 * np.sin(np.linspace(0.0, 3.0 * np.pi, STEPS))[:, None]
    mean, square, losses = np.zeros_like(w), np.zeros_like(w), []
    for i in range(400):
        controls = limit * np.tanh(w)
        loss, gradient = loss_and_gradient(roll(sim, start, controls), sim, controls)
        losses.append(loss)
        slope = gradient * limit * (1.0 - np.tanh(w) ** 2)
        mean, square = 0.9 * mean + 0.1 * slope, 0.99 * square + 0.01 * slope**2
        w = w - 0.03 * (mean / (1.0 - 0.9 ** (i + 1))) / (np.sqrt(square / (1.0 - 0.99 ** (i + 1))) + 1e-8)

    controls = limit * np.tanh(w)
    path = sim.rollout(start, controls)
    tilt = float(np.degrees(np.arccos(np.cos(path.q[-1, 1]))))
    print(f"loss {losses[0]:.2f} -> {losses[-1]:.3f}; at the end the pole is {tilt:.2f} degrees from upright")
    figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    axes[0].plot(path.time, path.q[:, 1], label="angle of the pole, rad")
    axes[0].plot(path.time, path.q[:, 0], label="position of the cart, m")
    axes[0].step(path.time[1:], controls[:, 0] / limit, color="0.6", label="control / limit")
    axes[0].set_xlabel("time, s")
    axes[0].legend()
    axes[1].semilogy(losses)
    axes[1].set(xlabel="iteration", ylabel="loss")
    figure.savefig(picture, dpi=120)


if __name__ == "__main__":
    main(*sys.argv[1:])
