from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import articula as art


@pytest.fixture(scope="session")
def hopper() -> art.Model:
    return art.load("hopper")


@pytest.fixture(scope="session")
def quadruped() -> art.Model:
    return art.load("quadruped")


def same_bits(a: Any, b: Any) -> bool:
    """Equal to the last bit, signs of zero included."""
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


def in_flight(model: art.Model) -> art.State:
    """High above everything, turning and moving."""
    x = model.neutral_state()
    rng = np.random.default_rng(1)
    x.v = 0.3 * rng.standard_normal(model.nv)
    root = model.joints[0]
    if root.type == "free":
        x.q[2] += 3.0
    else:
        x.q[model.joint("root_z").q] += 3.0
    return x


def in_contact(model: art.Model, steps: int = 60) -> art.State:
    """On the ground, some steps on: away from switches of contact modes, where differences would straddle them."""
    return art.Simulation(model).rollout(model.neutral_state(), np.zeros((steps, model.nu))).last()
