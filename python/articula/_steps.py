"""Steps and rollouts of arrays, and their pullbacks: what `torch` and `jax` share.

Positions are q's own numbers (nq); quaternions are normalised inside, and gradients have no component along
their norm. Parameters map patterns to arrays (k,), the same for all environments, or (N, k), one row for each.
"""

from __future__ import annotations

import os
import weakref
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Optional

import numpy as np
from numpy.typing import NDArray

from ._core import Batch, BatchState, BatchStep, Error, Model, Simulation, from_tangent, to_tangent

Array = NDArray[np.float64]
Parameters = Mapping[str, Array]

_most_batches = 8
_batches: weakref.WeakKeyDictionary[Simulation, OrderedDict[tuple[int, int], Batch]] = weakref.WeakKeyDictionary()
_modes = ("exact", "complementarity_aware", "elastic", "randomised", "finite_difference")


def require_mode(mode: str) -> None:
    """Before the step, not when its gradient is asked for."""
    if mode not in _modes:
        raise Error(f"mode must be one of {', '.join(repr(m) for m in _modes)}, not {mode!r}")


def _settings(sim: Simulation, model: Model, parameters: Parameters) -> dict[str, Any]:
    settings = dict(sim.settings)
    # The step's own length is the parameter `timestep`.
    if any(len(np.intersect1d(model.parameter_indices(p), model.parameter_indices("timestep"))) for p in parameters):
        settings["dt"] = model.timestep
    return settings


def batch_for(sim: Simulation, count: int, parameters: Parameters) -> Batch:
    """A batch of `count` environments of the simulation's model, or of its variants."""
    model = sim.model
    threads = 1 if count == 1 else 0
    if not parameters:
        kept = _batches.setdefault(sim, OrderedDict())
        key = (os.getpid(), count)  # a batch does not survive a fork
        if key not in kept:
            kept[key] = Batch(model, count, threads, **sim.settings)
            own = [k for k in kept if k[0] == key[0]]
            if len(own) > _most_batches:
                del kept[own[0]]
        kept.move_to_end(key)
        return kept[key]
    if all(values.ndim == 1 for values in parameters.values()):
        variant = model.with_(dict(parameters))
        return Batch(variant, count, threads, **_settings(sim, variant, parameters))
    if any("timestep" == p for p in parameters):
        raise Error("the time step is one for all environments: give it as (1,), not one row for each")
    rows = [{p: a if a.ndim == 1 else a[e] for p, a in parameters.items()} for e in range(count)]
    return Batch([model.with_(row) for row in rows], None, threads, **sim.settings)


def _take(batch: Batch, x: BatchState, u: Optional[Array], warm: Any = None) -> BatchStep:
    step = batch.step(x, u, warm)
    if not step.ok.all():
        e = int(np.flatnonzero(~step.ok)[0])
        raise Error(f"the step of environment {e} was not taken: {step.reports[e].status}")
    return step


@dataclass
class Tape:
    """Steps in a row, and what they were taken with."""

    batch: Batch
    parameters: Parameters
    steps: list[BatchStep] = field(default_factory=list)
    q: list[Array] = field(default_factory=list)  # before each step, as given


def record(sim: Simulation, q: Array, v: Array, activation: Optional[Array], controls: Sequence[Optional[Array]],
           parameters: Parameters) -> Tape:
    """Takes one step for each of the controls (N, nu), from states (N, nq), (N, nv), (N, na)."""
    tape = Tape(batch_for(sim, len(q), parameters), parameters)
    x = BatchState(q, v, activation)
    warm = None
    for u in controls:
        tape.q.append(np.array(x.q))
        step = _take(tape.batch, x, u, warm)
        tape.steps.append(step)
        x, warm = step.next, step.warm
    return tape


@dataclass
class Gradients:
    q: Array  # (N, nq)
    v: Array
    activation: Array
    controls: list[Array]  # per step (N, nu)
    parameters: dict[str, Array]  # of the shapes of the parameters given


def pull_back(tape: Tape, q_bars: Sequence[Optional[Array]], v_bars: Sequence[Optional[Array]],
              activation_bars: Sequence[Optional[Array]], mode: Any, options: Mapping[str, Any]) -> Gradients:
    """From gradients by the states after each step (None: zero) to those by everything that went in."""
    batch, model = tape.batch, tape.batch.model(0)
    count, patterns = len(batch), list(tape.parameters)
    sizes = [len(model.parameter_indices(p)) for p in patterns]
    by_parameter = np.zeros((count, sum(sizes)))
    q_bar, v_bar, a_bar = np.zeros((count, model.nv)), np.zeros((count, model.nv)), np.zeros((count, model.na))
    controls: list[Array] = []
    for i in reversed(range(len(tape.steps))):
        step = tape.steps[i]
        for total, given in ((v_bar, v_bars[i]), (a_bar, activation_bars[i])):
            if given is not None:
                total += given
        given_q = q_bars[i]
        if given_q is not None:
            q_bar += to_tangent(model, step.next.q, given_q)
        g = batch.pullback(step, q_bar, v_bar, a_bar, patterns, mode, **options)
        q_bar, v_bar, a_bar = np.array(g.q), np.array(g.v), np.array(g.activation)
        controls.append(np.array(g.control))
        if patterns:
            by_parameter += g.parameters
    controls.reverse()
    parameters = {}
    for pattern, part in zip(patterns, np.split(by_parameter, np.cumsum(sizes)[:-1], axis=1) if patterns else []):
        parameters[pattern] = part.sum(axis=0) if tape.parameters[pattern].ndim == 1 else part
    return Gradients(from_tangent(model, tape.q[0], q_bar), v_bar, a_bar, controls, parameters)
