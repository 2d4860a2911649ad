"""Articula: differentiable physics of articulated rigid bodies with contact.

    import articula as art
    model = art.load("quadruped")
    sim = art.Simulation(model, dt=0.002)
    x = model.neutral_state()
    s = sim.step(x, u)               # s.next, s.contacts, s.report, s.warm
    s = sim.step(s.next, u, s.warm)  # a warm start: faster

`articula.torch`, `articula.jax` and `articula.gymnasium` are imported on first use; each needs its library.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

from . import _core
from ._core import *  # noqa: F403

if TYPE_CHECKING:
    from . import gymnasium as gymnasium
    from . import jax as jax
    from . import torch as torch

__version__ = _core.__version__
_optional = ("torch", "jax", "gymnasium")


def __getattr__(name: str) -> Any:
    if name in _optional:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module 'articula' has no attribute '{name}'")


def __dir__() -> list[str]:
    # help() looks at all that is listed here: not at what cannot be imported.
    return sorted([*globals(), *(name for name in _optional if importlib.util.find_spec(name))])
