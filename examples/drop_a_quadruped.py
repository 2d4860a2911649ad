"""Drops a quadruped from half a metre and plots its height and what the ground carries."""

from __future__ import annotations

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import articula as art


def main(picture: str = "drop_a_quadruped.png") -> None:
    model = art.load("quadruped")
    print(model)
    sim = art.Simulation(model, dt=0.002)
    x = model.neutral_state()
    x.q[2] += 0.5  # m

    # Springs and dampers at the joints hold the legs near the pose it starts in.
    rest, warm = x.q[7:].copy(), art.WarmStart()
    time, height, load = [], [], []
    for _ in range(1000):
        u = 60.0 * (rest - x.q[7:]) - 2.0 * x.v[6:]
        s = sim.step(x, u, warm)
        x, warm = s.next, s.warm
        time.append(x.time)
        height.append(x.q[2])
        load.append(sum(c.force[2] * (1.0 if c.body_a == 0 else -1.0) for c in s.contacts if 0 in (c.body_a, c.body_b)))

    weight = model.total_mass * 9.81
    print(f"after {x.time:.1f} s it stands at {height[-1]:.3f} m; the ground carries {load[-1]:.1f} N of {weight:.1f} N")
    figure, axes = plt.subplots(2, sharex=True, figsize=(7, 5), layout="constrained")
    axes[0].plot(time, height)
    axes[0].set_ylabel("height of the trunk, m")
    axes[1].plot(time, np.array(load) / weight)
    axes[1].set(ylabel="load on the ground / weight", xlabel="time, s", ylim=(0.0, 8.0))
    figure.savefig(picture, dpi=120)


if __name__ == "__main__":
    main(*sys.argv[1:])
