"""Locomotion tasks with the observations, rewards and terminations of gymnasium's MuJoCo v5 environments, for N
environments at once. The robots are Articula's own; joints, bodies and actuators come in the order of gymnasium's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Optional, Union

import numpy as np
from numpy.typing import NDArray

from .._core import Batch, BatchState, body_quantities, contact_wrenches, load

Array = NDArray[np.float64]
Range = tuple[float, float]
_everything: Range = (-float("inf"), float("inf"))


@dataclass(frozen=True)
class Task:
    """The numbers of gymnasium's constructors, under its names; parts a robot does not have are off."""

    model: str
    frame_skip: int
    planar: bool = False  # moves in a plane: q begins with x, z, pitch
    forward_reward_weight: float = 1.0
    ctrl_cost_weight: float = 0.1
    contact_cost_weight: float = 0.0
    contact_force_range: Range = _everything
    contact_cost_range: Range = _everything
    healthy_reward: float = 0.0
    terminate_when_unhealthy: bool = True
    healthy_state_range: Range = _everything
    healthy_z_range: Range = _everything
    healthy_angle_range: Range = _everything
    reset_noise_scale: float = 0.1
    normal_velocity_noise: bool = False  # reset: velocities are normal, not uniform
    velocity_limit: float = float("inf")  # observations: velocities are clipped
    normalised_actions: bool = False  # actions in [-1, 1] stand for the range of the controls
    velocity_of_mass_centre: bool = False  # the reward's velocity: of the centre of mass, or of the main body
    main_body: Union[int, str] = 1  # by number or name
    survives: bool = True  # health is rewarded and told
    touches: bool = False  # contacts cost, and are told
    bounds_are_healthy: bool = False  # of healthy_z_range
    exclude_current_positions_from_observation: bool = True
    include_cinert_in_observation: bool = False
    include_cvel_in_observation: bool = False
    include_qfrc_actuator_in_observation: bool = False
    include_cfrc_ext_in_observation: bool = False


# What only some of them have; gymnasium refuses the others' options, and so do we.
_planar_options = {"healthy_state_range", "healthy_angle_range"}
_spatial_options = {"main_body", "include_cinert_in_observation", "include_cvel_in_observation",
                    "include_qfrc_actuator_in_observation"}
_touch_options = {"contact_cost_weight", "contact_force_range", "contact_cost_range", "include_cfrc_ext_in_observation"}
_survival_options = {"healthy_reward", "terminate_when_unhealthy", "healthy_z_range"} | _planar_options
_fixed = {"planar", "survives", "touches", "bounds_are_healthy"}

half_cheetah = Task("half_cheetah", 5, planar=True, reset_noise_scale=0.1, normal_velocity_noise=True,
                    terminate_when_unhealthy=False, survives=False)
hopper = Task("hopper", 4, planar=True, ctrl_cost_weight=1e-3, healthy_reward=1.0, healthy_state_range=(-100.0, 100.0),
              healthy_z_range=(0.7, float("inf")), healthy_angle_range=(-0.2, 0.2), reset_noise_scale=5e-3,
              velocity_limit=10.0)
walker = Task("walker", 4, planar=True, ctrl_cost_weight=1e-3, healthy_reward=1.0, healthy_z_range=(0.8, 2.0),
              healthy_angle_range=(-1.0, 1.0), reset_noise_scale=5e-3, velocity_limit=10.0)
ant = Task("ant", 5, ctrl_cost_weight=0.5, contact_cost_weight=5e-4, contact_force_range=(-1.0, 1.0), healthy_reward=1.0,
           healthy_z_range=(0.2, 1.0), reset_noise_scale=0.1, normal_velocity_noise=True,
           include_cfrc_ext_in_observation=True, touches=True, bounds_are_healthy=True)
humanoid = Task("humanoid", 5, forward_reward_weight=1.25, ctrl_cost_weight=0.1, contact_cost_weight=5e-7,
                contact_cost_range=(-float("inf"), 10.0), healthy_reward=5.0, healthy_z_range=(1.0, 2.0),
                reset_noise_scale=1e-2, velocity_of_mass_centre=True, include_cinert_in_observation=True,
                include_cvel_in_observation=True, include_qfrc_actuator_in_observation=True,
                include_cfrc_ext_in_observation=True, touches=True)
# Not among gymnasium's: a walking robot under the ant's conventions.
quadruped = Task("quadruped", 10, ctrl_cost_weight=0.5, contact_cost_weight=5e-4, contact_force_range=(-1.0, 1.0),
                 healthy_reward=1.0, healthy_z_range=(0.15, 0.6), reset_noise_scale=0.02, normal_velocity_noise=True,
                 normalised_actions=True, include_cfrc_ext_in_observation=True, touches=True, bounds_are_healthy=True)


class Field:
    """N environments of one task: states, and what observations need of the last step."""

    def __init__(self, task: Task, count: int, threads: int = 0) -> None:
        self.task, self.count = task, count
        self.model = load(task.model)
        self.batch = Batch(self.model, count, threads)
        self.dt = task.frame_skip * self.batch.dt
        self.start = self.model.neutral_state()
        self.states = self.batch.repeat(self.start)
        self.controls = np.zeros((count, self.model.nu))
        self.wrenches = np.zeros((count, self.model.nbody, 6))
        self.warm: Any = None
        self._main_body = task.main_body if isinstance(task.main_body, int) else self.model.body(task.main_body)
        if not 0 <= self._main_body < self.model.nbody:
            raise ValueError(f"main_body is {task.main_body}, but bodies are numbered 0 to {self.model.nbody - 1}")
        self._quaternions = [j.q + (3 if j.type == "free" else 0) for j in self.model.joints if j.type in ("free", "ball")]
        self._low, self._high = self.model.control_range.T
        unit = np.ones(self.model.nu)
        self.action_low = (-unit if task.normalised_actions else self._low).astype(np.float32)
        self.action_high = (unit if task.normalised_actions else self._high).astype(np.float32)
        self.actions = self.controls.copy()
        self.structure = self._structure()
        self.size = sum(size for part, size in self.structure.items() if part != "skipped_qpos")

    def _structure(self) -> dict[str, int]:
        task, m = self.task, self.model
        skipped = (1 if task.planar else 2) * task.exclude_current_positions_from_observation
        bodies = m.nbody - 1
        structure = {"skipped_qpos": skipped, "qpos": m.nq - skipped, "qvel": m.nv}
        if not task.planar:
            structure |= {"cinert": 10 * bodies * task.include_cinert_in_observation,
                          "cvel": 6 * bodies * task.include_cvel_in_observation,
                          "qfrc_actuator": (m.nv - 6) * task.include_qfrc_actuator_in_observation,
                          "cfrc_ext": 6 * bodies * task.include_cfrc_ext_in_observation}
        return structure

    # -------------------------------------------------------------- reset

    def reset(self, environments: Sequence[int], generators: Sequence[np.random.Generator]) -> None:
        """Puts environments back to the start, with noise from the generator of each."""
        scale = self.task.reset_noise_scale
        for e in environments:
            rng = generators[e]
            q = self.start.q + rng.uniform(-scale, scale, self.model.nq)
            for i in self._quaternions:
                q[i:i + 4] /= np.linalg.norm(q[i:i + 4])
            noise = (scale * rng.standard_normal(self.model.nv) if self.task.normal_velocity_noise
                     else rng.uniform(-scale, scale, self.model.nv))
            self.states.q[e], self.states.v[e] = q, self.start.v + noise
            self.states.time[e] = 0.0
            self.controls[e] = 0.0
            self.wrenches[e] = 0.0

    # -------------------------------------------------------------- step

    def _needs_wrenches(self) -> bool:
        return self.task.include_cfrc_ext_in_observation or self.task.touches

    def _place(self, states: BatchState) -> Array:
        """(N, 2): where the robot is, as the reward sees it."""
        if self.task.velocity_of_mass_centre:
            return np.array(body_quantities(self.model, states)["com"][:, :2])
        if self.task.planar:
            return np.stack([states.q[:, 0], np.zeros(self.count)], axis=1)
        if self._main_body == 1 and self.model.joints[0].type == "free":
            return np.array(states.q[:, :2])  # where its joint says
        return np.array(body_quantities(self.model, states)["xpos"][:, self._main_body, :2])

    def step(self, actions: Array) -> tuple[Array, NDArray[np.bool_], dict[str, Array]]:
        """Rewards, terminations and infos, (N,) each."""
        before = self._place(self.states)
        self.actions = self.controls = np.array(actions, dtype=np.float64)
        if self.task.normalised_actions:
            self.controls = 0.5 * (self._low + self._high) + 0.5 * (self._high - self._low) * self.actions
        skip = self.task.frame_skip
        taken = np.ones(self.count, dtype=np.bool_)
        if skip > 1:
            path = self.batch.rollout(self.states, np.repeat(self.controls[:, None], skip - 1, axis=1))
            self.states = BatchState(path.q[:, -1], path.v[:, -1], path.activation[:, -1], path.time[:, -1])
            self.warm, taken = path.warm, path.ok
        last = self.batch.step(self.states, self.controls, self.warm, keep_contacts=self._needs_wrenches())
        self.states = last.next
        if self._needs_wrenches():
            self.wrenches = contact_wrenches(self.batch, last)
        velocity = (self._place(self.states) - before) / self.dt
        taken = taken & last.ok
        healthy = self._healthy() & taken
        reward, infos = self._reward(velocity, healthy)
        infos.update(self.positions())
        infos["x_velocity"] = velocity[:, 0]
        if not self.task.planar:
            infos["y_velocity"] = velocity[:, 1]
        terminated = ~healthy if self.task.terminate_when_unhealthy else ~taken
        return reward, terminated, infos

    def positions(self) -> dict[str, Array]:
        q = self.states.q
        if not self.task.survives:
            return {"x_position": q[:, 0].copy()}
        if self.task.planar:
            return {"x_position": q[:, 0].copy(), "z_distance_from_origin": q[:, 1] - self.start.q[1]}
        return {"x_position": q[:, 0].copy(), "y_position": q[:, 1].copy(),
                "distance_from_origin": np.linalg.norm(q[:, :2], axis=1)}

    def _healthy(self) -> NDArray[np.bool_]:
        task, q, v = self.task, self.states.q, self.states.v
        state = np.concatenate([q, v], axis=1)
        z = q[:, 1 if task.planar else 2]
        healthy: NDArray[np.bool_] = np.isfinite(state).all(axis=1)
        healthy &= _within(z, task.healthy_z_range, task.bounds_are_healthy)
        if task.planar:
            healthy &= _within(q[:, 2], task.healthy_angle_range)
            healthy &= _within(state[:, 2:], task.healthy_state_range).all(axis=1)
        return healthy

    def _reward(self, velocity: Array, healthy: NDArray[np.bool_]) -> tuple[Array, dict[str, Array]]:
        task = self.task
        forward = task.forward_reward_weight * velocity[:, 0]
        control = task.ctrl_cost_weight * np.square(self.actions).sum(axis=1)
        infos = {"reward_forward": forward, "reward_ctrl": -control}
        reward = forward - control
        if task.survives:
            infos["reward_survive"] = task.healthy_reward * healthy
            reward = reward + infos["reward_survive"]
        if task.touches:
            clipped = np.clip(self.wrenches, *task.contact_force_range)
            contact = np.clip(task.contact_cost_weight * np.square(clipped).sum(axis=(1, 2)), *task.contact_cost_range)
            infos["reward_contact"] = -contact
            reward = reward - contact
        return reward, infos

    # -------------------------------------------------------------- observation

    def observe(self) -> Array:
        """(N, size): qpos, qvel, and what else the task includes."""
        task, n = self.task, self.count
        limit = task.velocity_limit
        parts = [self.states.q[:, self.structure["skipped_qpos"]:], np.clip(self.states.v, -limit, limit)]
        if task.include_cinert_in_observation or task.include_cvel_in_observation or task.include_qfrc_actuator_in_observation:
            bodies = body_quantities(self.model, self.states, self.controls)
            if task.include_cinert_in_observation:
                parts.append(bodies["cinert"][:, 1:].reshape(n, -1))
            if task.include_cvel_in_observation:
                parts.append(bodies["cvel"][:, 1:].reshape(n, -1))
            if task.include_qfrc_actuator_in_observation:
                parts.append(bodies["qfrc_actuator"][:, 6:])
        if task.include_cfrc_ext_in_observation:
            parts.append(np.clip(self.wrenches[:, 1:], *task.contact_force_range).reshape(n, -1))
        return np.concatenate(parts, axis=1)


def _within(values: Array, bounds: Range, bounds_too: bool = False) -> NDArray[np.bool_]:
    low, high = bounds
    within: NDArray[np.bool_] = ((low < values) & (values < high)) | (bounds_too & ((values == low) | (values == high)))
    return within


def with_options(task: Task, options: Optional[dict[str, Any]]) -> Task:
    """The task with other numbers; an option that would change nothing is refused."""
    from dataclasses import fields, replace

    known = {f.name for f in fields(Task)} - _fixed
    known -= _spatial_options if task.planar else _planar_options
    known -= set() if task.touches else _touch_options
    known -= set() if task.survives else _survival_options
    for name in options or {}:
        if name not in known:
            raise TypeError(f"the {task.model} environment has no option '{name}'")
    return replace(task, **(options or {}))
