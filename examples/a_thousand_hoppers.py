"""A thousand hoppers side by side, each with its own gravity."""

from __future__ import annotations

import sys
import time

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import articula as art


def main(picture: str = "a_thousand_hoppers.png") -> None:
    model = art.load("hopper")
    rng = np.random.default_rng(0)
    gravity = rng.uniform(1.6, 12.0, 1000)  # m/s^2, from the Moon's to more than the Earth's
    batch = art.Batch([model.with_("gravity", [0.0, 0.0, -g]) for g in gravity])
    print(batch)

    steps = 500
    t = model.timestep * np.arange(steps)
    controls = np.zeros((1000, steps, model.nu))
    controls[:, :, 1] = np.where((t > 0.1) & (t < 0.3), 0.4, -0.4)  # the knee bends, then stretches
    before = time.perf_counter()
    paths = batch.rollout(batch.neutral_states(), controls)
    seconds = time.perf_counter() - before
    print(f"{1000 * steps} steps in {seconds:.2f} s: {1000 * steps / seconds:.0f} a second on {batch.threads} threads")

    height = paths.q[:, :, 1]  # (N, steps + 1)
    figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    for e in np.argsort(gravity)[::100]:
        axes[0].plot(paths.time[e], height[e], color=plt.get_cmap("viridis")(gravity[e] / 12.0))
    axes[0].set(xlabel="time, s", ylabel="height of the torso, m")
    axes[1].plot(gravity, height.max(axis=1), ".", markersize=3)
    axes[1].set(xlabel="gravity, m/s^2", ylabel="highest point, m")
    figure.savefig(picture, dpi=120)


if __name__ == "__main__":
    main(*sys.argv[1:])
