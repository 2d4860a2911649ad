"""Locomotion tasks with the observations, rewards and terminations of gymnasium's MuJoCo v5 environments, for N
environments at once. The robots are Articula's own; joints, bodies and actuators come in the order of gymnasium's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Optional

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
    velocity_of_mass_centre: bool = False  # the reward's velocity: of the centre of mass, or of the first body
    exclude_current_positions_from_observation: bool = True
    include_cinert_in_observation: bool = False
    include_cvel_in_observation: bool = False
    include_qfrc_actuator_in_observation: bool = False
    include_cfrc_ext_in_observation: bool = False


half_cheetah = Task("half_cheetah", 5, planar=True, reset_noise_scale=0.1, normal_velocity_noise=True,
                    terminate_when_unhealthy=False)
hopper = Task("hopper", 4, planar=True, ctrl_cost_weight=1e-3, healthy_reward=1.0, healthy_state_range=(-100.0, 100.0),
              healthy_z_range=(0.7, float("inf")), healthy_angle_range=(-0.2, 0.2), reset_noise_scale=5e-3,
              velocity_limit=10.0)
walker = Task("walker", 4, planar=True, ctrl_cost_weight=1e-3, healthy_reward=1.0, healthy_z_range=(0.8, 2.0),
              healthy_angle_range=(-1.0, 1.0), reset_noise_scale=5e-3, velocity_limit=10.0)
ant = Task("ant", 5, ctrl_cost_weight=0.5, contact_cost_weight=5e-4, contact_force_range=(-1.0, 1.0), healthy_reward=1.0,
           healthy_z_range=(0.2, 1.0), reset_noise_scale=0.1, normal_velocity_noise=True,
           include_cfrc_ext_in_observation=True)
humanoid = Task("humanoid", 5, forward_reward_weight=1.25, ctrl_cost_weight=0.1, contact_cost_weight=5e-7,
                contact_cost_range=(-float("inf"), 10.0), healthy_reward=5.0, healthy_z_range=(1.0, 2.0),
                reset_noise_scale=1e-2, velocity_of_mass_centre=True, include_cinert_in_observation=True,
                include_cvel_in_observation=True, include_qfrc_actuator_in_observation=True,
                include_cfrc_ext_in_observation=True)
# Not among gymnasium's: a walking robot under the ant's conventions.
quadruped = Task("quadruped", 10, ctrl_cost_weight=0.5, contact_cost_weight=5e-4, contact_force_range=(-1.0, 1.0),
                 healthy_reward=1.0, healthy_z_range=(0.15, 0.6), reset_noise_scale=0.02, normal_velocity_noise=True,
                 normalised_actions=True, include_cfrc_ext_in_observation=True)


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
        return {"skipped_qpos": skipped, "qpos": m.nq - skipped, "qvel": m.nv,
                "cinert": 10 * bodies * task.include_cinert_in_observation,
                "cvel": 6 * bodies * task.include_cvel_in_observation,
                "qfrc_actuator": (m.nv - 6) * task.include_qfrc_actuator_in_observation,
                "cfrc_ext": 6 * bodies * task.include_cfrc_ext_in_observation}

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
        return self.task.include_cfrc_ext_in_observation or self.task.contact_cost_weight != 0.0

    def _place(self, states: BatchState) -> Array:
        """(N, 2): where the robot is, as the reward sees it."""
        if self.task.velocity_of_mass_centre:
            return np.array(body_quantities(self.model, states)["com"][:, :2])
        if self.task.planar:
            return np.stack([states.q[:, 0], np.zeros(self.count)], axis=1)
        return np.array(states.q[:, :2])

    def step(self, actions: Array) -> tuple[Array, NDArray[np.bool_], dict[str, Array]]:
        """Rewards, terminations and infos, (N,) each."""
        before = self._place(self.states)
        self.actions = self.controls = np.array(actions, dtype=np.float64)
        if self.task.normalised_actions:
            self.controls = 0.5 * (self._low + self._high) + 0.5 * (self._high - self._low) * self.actions
        skip = self.task.frame_skip
        if skip > 1:
            path = self.batch.rollout(self.states, np.repeat(self.controls[:, None], skip - 1, axis=1))
            self.states = BatchState(path.q[:, -1], path.v[:, -1], path.activation[:, -1], path.time[:, -1])
            self.warm = path.warm
        last = self.batch.step(self.states, self.controls, self.warm, keep_contacts=self._needs_wrenches())
        self.states = last.next
        if self._needs_wrenches():
            self.wrenches = contact_wrenches(self.batch, last)
        velocity = (self._place(self.states) - before) / self.dt
        healthy = self._healthy() & last.ok
        reward, infos = self._reward(velocity, healthy)
        infos.update(self.positions())
        infos["x_velocity"] = velocity[:, 0]
        if not self.task.planar:
            infos["y_velocity"] = velocity[:, 1]
        terminated = ~healthy if self.task.terminate_when_unhealthy else ~last.ok
        return reward, terminated, infos

    def positions(self) -> dict[str, Array]:
        q = self.states.q
        if self.task.planar:
            return {"x_position": q[:, 0].copy(), "z_distance_from_origin": q[:, 1] - self.start.q[1]}
        return {"x_position": q[:, 0].copy(), "y_position": q[:, 1].copy(),
                "distance_from_origin": np.linalg.norm(q[:, :2], axis=1)}

    def _healthy(self) -> NDArray[np.bool_]:
        task, q, v = self.task, self.states.q, self.states.v
        state = np.concatenate([q, v], axis=1)
        z = q[:, 1 if task.planar else 2]
        healthy: NDArray[np.bool_] = np.isfinite(state).all(axis=1)
        healthy &= (task.healthy_z_range[0] <= z) & (z <= task.healthy_z_range[1])
        if task.planar:
            low, high = task.healthy_angle_range
            healthy &= (low <= q[:, 2]) & (q[:, 2] <= high)
            low, high = task.healthy_state_range
            healthy &= ((low <= state[:, 2:]) & (state[:, 2:] <= high)).all(axis=1)
        return healthy

    def _reward(self, velocity: Array, healthy: NDArray[np.bool_]) -> tuple[Array, dict[str, Array]]:
        task = self.task
        forward = task.forward_reward_weight * velocity[:, 0]
        control = task.ctrl_cost_weight * np.square(self.actions).sum(axis=1)
        infos = {"reward_forward": forward, "reward_ctrl": -control}
        reward = forward - control
        if task.healthy_reward != 0.0:
            infos["reward_survive"] = task.healthy_reward * healthy
            reward = reward + infos["reward_survive"]
        if task.contact_cost_weight != 0.0:
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


def with_options(task: Task, options: Optional[dict[str, Any]]) -> Task:
    from dataclasses import fields, replace

    known = {f.name for f in fields(Task)}
    for name in options or {}:
        if name not in known:
            raise TypeError(f"the {task.model} environment has no option '{name}'")
    return replace(task, **(options or {}))
