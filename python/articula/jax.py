"""Articula inside JAX: steps and rollouts with reverse-mode derivatives, under `jit`, `vmap` and `grad`.

    q1, v1 = art.jax.step(sim, q, v, u, parameters={"geometry/floor/friction": mu})
    q, v = art.jax.rollout(sim, q, v, controls)              # (..., T + 1, nq), (..., T + 1, nv)

The engine runs on the host (`jax.pure_callback`), in float64 whatever the inputs are; enable `jax_enable_x64` to see
all digits. Quaternions are normalised inside, and gradients have no component along their norm.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, Literal, Optional

import numpy as np

try:
    import jax
    import jax.numpy as jnp
except ImportError as error:
    raise ImportError("articula.jax needs JAX: pip install jax") from error
if jax.__version_info__ < (0, 4, 34):  # `pure_callback` has no `vmap_method`
    raise ImportError(f"articula.jax needs JAX 0.4.34 or later, not {jax.__version__}")

from . import _steps
from ._core import Error, Simulation

Mode = Literal["exact", "complementarity_aware", "elastic", "randomised", "finite_difference"]

_Shape: Any = jax.ShapeDtypeStruct

__all__ = ["rollout", "step"]


def _rows(array: Any, inner: int) -> _steps.Array:
    """As doubles, leading dimensions flattened."""
    values = np.asarray(array, dtype=np.float64)
    lead, own = values.shape[:values.ndim - inner], values.shape[values.ndim - inner:]
    return np.ascontiguousarray(values.reshape(int(np.prod(lead)), *own))


def _shared(rows: _steps.Array) -> _steps.Array:
    """`vmap` repeats what all environments share; one row then serves all."""
    return rows[0] if len(rows) == 1 or bool((rows == rows[0]).all()) else rows


def _record(sim: Simulation, patterns: tuple[str, ...], q: Any, v: Any, activation: Any, controls: Any,
            parameters: Any) -> _steps.Tape:
    u = _rows(controls, 2)
    rows = {p: _rows(values, 1) for p, values in zip(patterns, parameters)}
    tape = _steps.record(sim, _rows(q, 1), _rows(v, 1), _rows(activation, 1),
                         [np.ascontiguousarray(u[:, i]) for i in range(u.shape[1])],
                         {p: _shared(values) for p, values in rows.items()})
    tape.parameters = rows  # every environment is asked for its own share
    return tape


@functools.lru_cache(maxsize=64)
def _rolled(sim: Simulation, patterns: tuple[str, ...], mode: Any, options: tuple[tuple[str, Any], ...]) -> Any:
    """q (..., nq), v, activation, controls (..., T, nu), parameters to states after each step (..., T, n)."""

    def forward_on_host(q: Any, v: Any, activation: Any, controls: Any, parameters: Any) -> tuple[Any, ...]:
        tape = _record(sim, patterns, q, v, activation, controls, parameters)
        lead, dtype = np.shape(q)[:-1], np.asarray(q).dtype
        return tuple(np.stack([np.asarray(getattr(s.next, part)) for s in tape.steps], axis=1)
                     .reshape(*lead, len(tape.steps), getattr(tape.steps[0].next, part).shape[-1]).astype(dtype) for part in ("q", "v", "activation"))

    def backward_on_host(inputs: Any, bars: Any) -> Any:
        tape = _record(sim, patterns, *inputs)
        rows = [_rows(bar, 2) for bar in bars]
        per_step = [[np.ascontiguousarray(r[:, i]) for i in range(len(tape.steps))] for r in rows]
        g = _steps.pull_back(tape, per_step[0], per_step[1], per_step[2], mode, dict(options))
        q, v, activation, controls, parameters = inputs

        def shaped(rows: _steps.Array, like: Any) -> Any:
            return rows.reshape(np.shape(like)).astype(np.asarray(like).dtype)

        return (shaped(g.q, q), shaped(g.v, v), shaped(g.activation, activation),
                shaped(np.stack(g.controls, axis=1), controls),
                tuple(shaped(part, given) for part, given in zip(g.parameters.values(), parameters)))

    def shapes(inputs: Any) -> Any:
        return jax.tree_util.tree_map(lambda x: _Shape(x.shape, x.dtype), inputs)

    @jax.custom_vjp
    def roll(q: Any, v: Any, activation: Any, controls: Any, parameters: Any) -> Any:
        steps = controls.shape[-2]
        results = tuple(_Shape((*q.shape[:-1], steps, x.shape[-1]), q.dtype) for x in (q, v, activation))
        return jax.pure_callback(forward_on_host, results, q, v, activation, controls, parameters,
                                 vmap_method="broadcast_all")

    def forward(*inputs: Any) -> Any:
        return roll(*inputs), inputs

    def backward(inputs: Any, bars: Any) -> Any:
        return jax.pure_callback(backward_on_host, shapes(inputs), inputs, bars, vmap_method="broadcast_all")

    roll.defvjp(forward, backward)
    return roll


def _roll(sim: Simulation, q: Any, v: Any, activation: Any, controls: Any, parameters: Optional[Mapping[str, Any]],
          mode: Mode, options: Mapping[str, Any]) -> tuple[Any, ...]:
    _steps.require_mode(mode)
    model = sim.model
    q, v, controls = jnp.asarray(q), jnp.asarray(v), jnp.asarray(controls)
    if activation is None:
        if model.na > 0:
            raise Error(f"the model has {model.na} activations: pass `activation`")
        activation = jnp.zeros((*q.shape[:-1], 0), q.dtype)
    named = {p: jnp.atleast_1d(jnp.asarray(values)) for p, values in (parameters or {}).items()}
    sizes = {"q": (q, model.nq), "v": (v, model.nv), "activation": (activation, model.na), "u": (controls, model.nu),
             **{p: (values, len(model.parameter_indices(p))) for p, values in named.items()}}
    for what, (array, size) in sizes.items():
        if array.ndim < 1 or array.shape[-1] != size:
            raise Error(f"{what} has shape {array.shape}, not (..., {size})")
    lead = jnp.broadcast_shapes(q.shape[:-1], v.shape[:-1], activation.shape[:-1], controls.shape[:-2],
                                *[p.shape[:-1] for p in named.values()])

    def wide(array: Any, inner: int) -> Any:
        return jnp.broadcast_to(array, (*lead, *array.shape[array.ndim - inner:]))

    rolled = _rolled(sim, tuple(named), mode, tuple(sorted(options.items())))
    return tuple(rolled(wide(q, 1), wide(v, 1), wide(activation, 1), wide(controls, 2),
                        tuple(wide(p, 1) for p in named.values())))


def step(sim: Simulation, q: Any, v: Any, u: Any = None, *, activation: Any = None,
         parameters: Optional[Mapping[str, Any]] = None, mode: Mode = "exact", **options: Any) -> tuple[Any, ...]:
    """One step: (q, v) after it, and the activations where `activation` is given.

    q (..., nq), v (..., nv), u (..., nu). `parameters` maps names or patterns of the model's parameters to arrays (k,),
    the same for all, or (..., k). `mode` and options as for `Simulation.pullback`.
    """
    if u is None:
        u = jnp.zeros((*jnp.shape(q)[:-1], sim.model.nu), jnp.asarray(q).dtype)
    results = _roll(sim, q, v, activation, jnp.expand_dims(jnp.asarray(u), -2), parameters, mode, options)
    parts = tuple(r[..., 0, :] for r in results)
    return parts if activation is not None else parts[:2]


def rollout(sim: Simulation, q: Any, v: Any, controls: Any, *, activation: Any = None,
            parameters: Optional[Mapping[str, Any]] = None, mode: Mode = "exact", **options: Any) -> tuple[Any, ...]:
    """Steps in a row under controls (..., T, nu): q (..., T + 1, nq) and v (..., T + 1, nv), the start first."""
    if jnp.ndim(controls) < 2 or jnp.shape(controls)[-2] < 1:
        raise Error(f"controls has shape {jnp.shape(controls)}, not (..., T, {sim.model.nu}) with at least one step")
    results = _roll(sim, q, v, activation, controls, parameters, mode, options)
    starts = (q, v) if activation is None else (q, v, activation)
    lead = results[0].shape[:-2]
    return tuple(jnp.concatenate([jnp.broadcast_to(jnp.asarray(s), (*lead, jnp.shape(s)[-1]))[..., None, :], path], axis=-2)
                 for s, path in zip(starts, results))
