"""Articula inside PyTorch: steps and rollouts that autograd differentiates.

    q1, v1 = art.torch.step(sim, q, v, u, parameters={"geometry/floor/friction": mu})
    q, v = art.torch.rollout(sim, q, v, controls)            # (..., T + 1, nq), (..., T + 1, nv)
    layer = art.torch.Rollout(sim, learn=["geometry/*/friction"])

Tensors have any leading dimensions (a batch, stepped over threads), float32 or float64; inside, everything is float64.
Quaternions are normalised inside, and gradients have no component along their norm.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Optional, Union, overload

import numpy as np

try:
    import torch
except ImportError as error:
    raise ImportError("articula.torch needs PyTorch: pip install torch") from error

from . import _steps
from ._core import Error, Simulation

Tensor = torch.Tensor
Mode = Literal["exact", "complementarity_aware", "elastic", "randomised", "finite_difference"]

__all__ = ["Rollout", "rollout", "step"]


def _array(what: str, tensor: Tensor) -> _steps.Array:
    if not tensor.dtype.is_floating_point:
        raise TypeError(f"{what} must be a tensor of float32 or float64, not {tensor.dtype}")
    return np.ascontiguousarray(tensor.detach().to("cpu", torch.float64).numpy())  # NumPy has no bfloat16


class _Roll(torch.autograd.Function):
    """T steps: (N, nq), (N, nv), (N, na), (N, T, nu) and parameters to states after each step, (N, T, n)."""

    @staticmethod
    def forward(ctx: Any, sim: Simulation, patterns: tuple[str, ...], mode: Mode, options: Mapping[str, Any], q: Tensor,
                v: Tensor, activation: Tensor, controls: Tensor, *parameters: Tensor) -> tuple[Tensor, ...]:
        given = {p: _array(p, values) for p, values in zip(patterns, parameters)}
        start = _array("q", q), _array("v", v), _array("activation", activation)
        u = _array("u", controls)
        tape = _steps.record(sim, *start, [np.ascontiguousarray(u[:, i]) for i in range(u.shape[1])], given)
        ctx.tape, ctx.mode, ctx.options = tape, mode, options
        ctx.inputs = [(t.dtype, t.device) for t in (q, v, activation, controls, *parameters)]
        ctx.set_materialize_grads(False)

        def stacked(part: str) -> Tensor:
            rows = np.stack([np.asarray(getattr(s.next, part)) for s in tape.steps], axis=1)
            return torch.from_numpy(rows).to(dtype=q.dtype, device=q.device)

        return stacked("q"), stacked("v"), stacked("activation")

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *bars: Optional[Tensor]) -> tuple[Any, ...]:
        tape = ctx.tape
        arrays = [None if bar is None else _array("gradient", bar) for bar in bars]
        per_step = [[None if a is None else np.ascontiguousarray(a[:, i]) for i in range(len(tape.steps))] for a in arrays]
        g = _steps.pull_back(tape, per_step[0], per_step[1], per_step[2], ctx.mode, ctx.options)
        results = [g.q, g.v, g.activation, np.stack(g.controls, axis=1), *g.parameters.values()]
        tensors = [torch.from_numpy(r).to(dtype=d, device=c) if wanted else None
                   for r, (d, c), wanted in zip(results, ctx.inputs, ctx.needs_input_grad[4:])]
        return (None, None, None, None, *tensors)


def _last(what: str, tensor: Tensor, size: int) -> Tensor:
    if tensor.ndim < 1 or tensor.shape[-1] != size:
        raise Error(f"{what} has shape {tuple(tensor.shape)}, not (..., {size})")
    return tensor


def _roll(sim: Simulation, q: Tensor, v: Tensor, activation: Optional[Tensor], controls: Tensor,
          parameters: Optional[Mapping[str, Tensor]], mode: Mode, options: Mapping[str, Any]) -> tuple[Tensor, ...]:
    """Leading dimensions are broadcast and flattened; controls are (..., T, nu)."""
    _steps.require_mode(mode)
    model = sim.model
    if activation is None:
        if model.na > 0:
            raise Error(f"the model has {model.na} activations: pass `activation`")
        activation = q.new_zeros((*q.shape[:-1], 0))
    for what, tensor, size in (("q", q, model.nq), ("v", v, model.nv), ("activation", activation, model.na),
                               ("u", controls, model.nu)):
        _last(what, tensor, size)
    parameters = dict(parameters or {})
    per_row = {}
    for pattern, values in parameters.items():
        size = len(model.parameter_indices(pattern))
        per_row[pattern] = _last(pattern, values.reshape(1) if values.ndim == 0 else values, size)
    shapes: Any = torch.broadcast_shapes
    lead = shapes(q.shape[:-1], v.shape[:-1], activation.shape[:-1], controls.shape[:-2],
                                  *[p.shape[:-1] for p in per_row.values()])

    count = int(np.prod(lead))

    def flat(t: Tensor, inner: int) -> Tensor:
        own = t.shape[t.ndim - inner:]
        return t.expand(*lead, *own).reshape(count, *own)

    given = [p if p.ndim == 1 else flat(p, 1) for p in per_row.values()]
    results = _Roll.apply(sim, tuple(per_row), mode, dict(options), flat(q, 1), flat(v, 1), flat(activation, 1),
                          flat(controls, 2), *given)
    return tuple(r.reshape(*lead, *r.shape[1:]) for r in results)


def step(sim: Simulation, q: Tensor, v: Tensor, u: Optional[Tensor] = None, *, activation: Optional[Tensor] = None,
         parameters: Optional[Mapping[str, Tensor]] = None, mode: Mode = "exact", **options: Any) -> tuple[Tensor, ...]:
    """One step: (q, v) after it, and the activations where `activation` is given.

    q (..., nq), v (..., nv), u (..., nu). `parameters` maps names or patterns of the model's parameters to tensors (k,),
    the same for all, or (..., k). `mode` and options as for `Simulation.pullback`.
    """
    if u is None:
        u = q.new_zeros((*q.shape[:-1], sim.model.nu))
    _last("u", u, sim.model.nu)
    results = _roll(sim, q, v, activation, u.unsqueeze(-2), parameters, mode, options)
    parts = tuple(r.squeeze(-2) for r in results)
    return parts if activation is not None else parts[:2]


def rollout(sim: Simulation, q: Tensor, v: Tensor, controls: Tensor, *, activation: Optional[Tensor] = None,
            parameters: Optional[Mapping[str, Tensor]] = None, mode: Mode = "exact", **options: Any) -> tuple[Tensor, ...]:
    """Steps in a row under controls (..., T, nu): q (..., T + 1, nq) and v (..., T + 1, nv), the start first."""
    if controls.ndim < 2 or controls.shape[-2] < 1:
        raise Error(f"controls has shape {tuple(controls.shape)}, not (..., T, {sim.model.nu}) with at least one step")
    results = _roll(sim, q, v, activation, controls, parameters, mode, options)
    lead = results[0].shape[:-2]
    starts = (q, v) if activation is None else (q, v, activation)
    return tuple(torch.cat([start.expand(*lead, start.shape[-1]).unsqueeze(-2), path], dim=-2)
                 for start, path in zip(starts, results))


class Rollout(torch.nn.Module):
    """A layer that rolls out a simulation; `learn` names parameters of the model that become the layer's own."""

    def __init__(self, sim: Simulation, learn: Sequence[str] = (), mode: Mode = "exact",
                 dtype: torch.dtype = torch.float64, **options: Any) -> None:
        super().__init__()
        self.sim, self.mode, self.options = sim, mode, options
        self.patterns = list(learn)
        self.values = torch.nn.ParameterList(
            [torch.nn.Parameter(torch.tensor(sim.model.parameter(p), dtype=dtype)) for p in learn])

    @property
    def parameters_by_name(self) -> dict[str, Tensor]:
        return dict(zip(self.patterns, self.values))

    @overload
    def forward(self, q: Tensor, v: Tensor, controls: Tensor, *, activation: Optional[Tensor] = None) -> tuple[Tensor, ...]: ...
    @overload
    def forward(self, q: Tensor, v: Tensor, controls: Callable[..., Tensor], steps: int, *,
                activation: Optional[Tensor] = None) -> tuple[Tensor, ...]: ...
    def forward(self, q: Tensor, v: Tensor, controls: Union[Tensor, Callable[..., Tensor]], steps: int = 0, *,
                activation: Optional[Tensor] = None) -> tuple[Tensor, ...]:
        """Controls (..., T, nu), or a policy that is asked before each of `steps` steps: u = controls(q, v), and
        controls(q, v, activation) where activations (..., na) are given. Returns what `rollout` does."""
        chosen: dict[str, Any] = {"parameters": self.parameters_by_name, "mode": self.mode, **self.options}
        if isinstance(controls, torch.Tensor):
            return rollout(self.sim, q, v, controls, activation=activation, **chosen)
        state = (q, v) if activation is None else (q, v, activation)
        path = [state]
        for _ in range(steps):
            state = step(self.sim, state[0], state[1], controls(*state), activation=state[2] if len(state) > 2 else None, **chosen)
            path.append(state)
        return tuple(torch.stack(parts, dim=-2) for parts in zip(*path))
