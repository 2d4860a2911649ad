"""Environments for reinforcement learning: gymnasium's MuJoCo v5 conventions, Articula's robots and physics.

    env = gymnasium.make("Articula/HalfCheetah-v5")                    # after `import articula.gymnasium`
    envs = gymnasium.make_vec("Articula/Hopper-v5", num_envs=1024)     # one Batch, stepped over threads

HalfCheetah, Hopper, Walker2d, Ant, Humanoid, Quadruped. Options have gymnasium's names: `ctrl_cost_weight`,
`healthy_z_range`, `exclude_current_positions_from_observation`, `include_cfrc_ext_in_observation`, ...
"""

from __future__ import annotations

from typing import Any, Optional, Union

import numpy as np
from numpy.typing import NDArray

try:
    import gymnasium
except ImportError as error:
    raise ImportError("articula.gymnasium needs gymnasium: pip install gymnasium") from error
from gymnasium.spaces import Box
from gymnasium.utils import seeding
from gymnasium.vector.utils import batch_space

from . import tasks
from .tasks import Field, Task

_Array = NDArray[np.float64]

__all__ = ["AntEnv", "HalfCheetahEnv", "HopperEnv", "HumanoidEnv", "LocomotionEnv", "LocomotionVectorEnv", "QuadrupedEnv",
           "Walker2dEnv", "make_vec"]


def _spaces(field: Field) -> tuple[Any, Any]:
    return (Box(-np.inf, np.inf, (field.size,), np.float64), Box(field.action_low, field.action_high, dtype=np.float32))


def _fps(field: Field) -> int:
    return round(1.0 / field.dt)


def _told(infos: dict[str, _Array], known: NDArray[np.bool_]) -> dict[str, Any]:
    """As gymnasium's vector environments tell: `_name` says which environments have `name`, others have zero."""
    told: dict[str, Any] = {}
    for name, values in infos.items():
        told[name], told[f"_{name}"] = np.where(known, values, 0.0), known.copy()
    return told


class LocomotionEnv(gymnasium.Env[_Array, Any]):
    """One environment of a task."""

    metadata: dict[str, Any] = {"render_modes": []}
    task: Task

    def __init__(self, render_mode: Optional[str] = None, **options: Any) -> None:
        if render_mode is not None:
            raise ValueError("these environments do not render; plot `env.unwrapped.field.x` or their observations")
        self.render_mode = None
        self.field = Field(tasks.with_options(type(self).task, options), 1, threads=1)
        self.observation_space, self.action_space = _spaces(self.field)
        self.observation_structure = self.field.structure
        self.dt = self.field.dt
        self.metadata = {"render_modes": [], "render_fps": _fps(self.field)}

    def reset(self, *, seed: Optional[int] = None, options: Optional[dict[str, Any]] = None) -> tuple[_Array, dict[str, Any]]:
        super().reset(seed=seed)
        self.field.reset([0], [self.np_random])
        return self.field.observe()[0], {k: v[0] for k, v in self.field.positions().items()}

    def step(self, action: Any) -> tuple[_Array, float, bool, bool, dict[str, Any]]:
        given = np.asarray(action, dtype=np.float64)
        if given.shape != (self.field.model.nu,):
            raise ValueError(f"the action has shape {given.shape}, not ({self.field.model.nu},)")
        reward, terminated, infos = self.field.step(given[None])
        return (self.field.observe()[0], float(reward[0]), bool(terminated[0]), False, {k: v[0] for k, v in infos.items()})


class HalfCheetahEnv(LocomotionEnv):
    task = tasks.half_cheetah


class HopperEnv(LocomotionEnv):
    task = tasks.hopper


class Walker2dEnv(LocomotionEnv):
    task = tasks.walker


class AntEnv(LocomotionEnv):
    task = tasks.ant


class HumanoidEnv(LocomotionEnv):
    task = tasks.humanoid


class QuadrupedEnv(LocomotionEnv):
    task = tasks.quadruped


class LocomotionVectorEnv(gymnasium.vector.VectorEnv[_Array, Any, Any]):
    """N environments of a task in one Batch. Environment i, seeded with s, is the single environment seeded s + i. One
    that has ended is reset in the next step, as gymnasium's vector environments do by default."""

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": gymnasium.vector.AutoresetMode.NEXT_STEP}

    def __init__(self, task: Task, num_envs: int, max_episode_steps: Optional[int] = 1000, threads: int = 0,
                 render_mode: Optional[str] = None, **options: Any) -> None:
        if render_mode is not None:
            raise ValueError("these environments do not render; plot `env.unwrapped.field.x` or their observations")
        self.num_envs, self.render_mode = num_envs, None
        self.field = Field(tasks.with_options(task, options), num_envs, threads)
        self.single_observation_space, self.single_action_space = _spaces(self.field)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.metadata = {**type(self).metadata, "render_fps": _fps(self.field)}
        self.max_episode_steps = max_episode_steps
        self._generators = [seeding.np_random(None)[0] for _ in range(num_envs)]
        self._elapsed = np.zeros(num_envs, dtype=np.int64)
        self._ended = np.zeros(num_envs, dtype=np.bool_)

    def reset(self, *, seed: Union[int, list[Optional[int]], None] = None,
              options: Optional[dict[str, Any]] = None) -> tuple[_Array, dict[str, Any]]:
        seeds = [seed + i for i in range(self.num_envs)] if isinstance(seed, int) else seed
        for i, own in enumerate(seeds or []):
            if own is not None:
                self._generators[i] = seeding.np_random(own)[0]
        self.field.reset(range(self.num_envs), self._generators)
        self._elapsed[:], self._ended[:] = 0, False
        return self.field.observe(), _told(self.field.positions(), np.ones(self.num_envs, dtype=np.bool_))

    def step(self, actions: Any) -> tuple[_Array, _Array, NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        given = np.asarray(actions, dtype=np.float64)
        if given.shape != (self.num_envs, self.field.model.nu):
            raise ValueError(f"the actions have shape {given.shape}, not {(self.num_envs, self.field.model.nu)}")
        ended = self._ended
        reward, terminated, infos = self.field.step(given)
        self._elapsed += 1
        if ended.any():
            self.field.reset(np.flatnonzero(ended).tolist(), self._generators)
            reward, terminated = np.where(ended, 0.0, reward), terminated & ~ended
            self._elapsed[ended] = 0
        limit = self.max_episode_steps
        truncated = self._elapsed >= limit if limit is not None else np.zeros(self.num_envs, dtype=np.bool_)
        self._ended = terminated | truncated
        told = _told(infos, ~ended)
        if ended.any():  # those tell where they begin
            told |= _told(self.field.positions(), np.ones(self.num_envs, dtype=np.bool_))
        return self.field.observe(), reward, terminated, truncated, told


_environments: dict[str, type[LocomotionEnv]] = {
    "HalfCheetah": HalfCheetahEnv, "Hopper": HopperEnv, "Walker2d": Walker2dEnv, "Ant": AntEnv, "Humanoid": HumanoidEnv,
    "Quadruped": QuadrupedEnv}


def make_vec(name: str, num_envs: int, **options: Any) -> LocomotionVectorEnv:
    """N environments side by side: make_vec("HalfCheetah", 1024)."""
    if name not in _environments:
        raise ValueError(f"no environment '{name}': one of {', '.join(_environments)}")
    return LocomotionVectorEnv(_environments[name].task, num_envs, **options)


class _Maker:
    """An entry point for gymnasium.make_vec."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, num_envs: int = 1, **options: Any) -> LocomotionVectorEnv:
        return make_vec(self.name, num_envs, **options)


for _name, _environment in _environments.items():
    gymnasium.register(f"Articula/{_name}-v5", entry_point=f"{__name__}:{_environment.__name__}",
                       vector_entry_point=_Maker(_name), max_episode_steps=1000)
