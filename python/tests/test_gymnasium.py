"""Environments: gymnasium's conventions, checked by gymnasium itself."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from conftest import same_bits

gymnasium = pytest.importorskip("gymnasium", reason="SKIPPED LOUDLY: gymnasium is not installed")
import articula.gymnasium as ag  # noqa: E402
from gymnasium.utils.env_checker import check_env  # noqa: E402

NAMES = ["HalfCheetah", "Hopper", "Walker2d", "Ant", "Humanoid", "Quadruped"]
# Sizes of gymnasium's own v5 environments, whose joints and bodies ours share.
SIZES = {"HalfCheetah": 17, "Hopper": 11, "Walker2d": 17, "Ant": 105, "Humanoid": 348}


@pytest.mark.parametrize("name", NAMES)
def test_check_env_is_clean(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*(Box observation space|infinity|render).*")
        check_env(gymnasium.make(f"Articula/{name}-v5").unwrapped, skip_render_check=True)


@pytest.mark.parametrize("name", SIZES)
def test_observations_have_gymnasium_s_sizes(name):
    env = gymnasium.make(f"Articula/{name}-v5")
    observation, info = env.reset(seed=1)
    assert observation.shape == (SIZES[name],) and "x_position" in info
    assert sum(v for k, v in env.unwrapped.observation_structure.items() if k != "skipped_qpos") == SIZES[name]


def test_optional_parts_are_optional():
    bare = ag.HumanoidEnv(include_cinert_in_observation=False, include_cvel_in_observation=False,
                          include_qfrc_actuator_in_observation=False, include_cfrc_ext_in_observation=False)
    assert bare.reset(seed=0)[0].shape == (45,)
    whole = ag.HopperEnv(exclude_current_positions_from_observation=False)
    assert whole.reset(seed=0)[0].shape == (12,)
    assert ag.AntEnv(include_cfrc_ext_in_observation=False).reset(seed=0)[0].shape == (27,)
    with pytest.raises(TypeError, match="no option"):
        ag.AntEnv(nonsense=1)


@pytest.mark.parametrize("name", NAMES)
def test_the_vectorised_environment_is_each_single_one_to_the_bit(name):
    count = 3
    envs = gymnasium.make_vec(f"Articula/{name}-v5", num_envs=count)
    singles = [gymnasium.make(f"Articula/{name}-v5") for _ in range(count)]
    observations, _ = envs.reset(seed=7)
    firsts = [env.reset(seed=7 + i)[0] for i, env in enumerate(singles)]
    assert all(same_bits(observations[i], first) for i, first in enumerate(firsts))
    rng, alive = np.random.default_rng(0), [True] * count
    for _ in range(20):
        actions = rng.uniform(envs.single_action_space.low, envs.single_action_space.high, (count, envs.single_action_space.shape[0]))
        observations, rewards, terminated, truncated, infos = envs.step(actions)
        for i, env in enumerate(singles):
            if alive[i]:
                observation, reward, ended, _, info = env.step(actions[i])
                assert same_bits(observations[i], observation) and rewards[i] == reward and terminated[i] == ended
                assert info["x_velocity"] == infos["x_velocity"][i]
                alive[i] = not ended


def test_rewards_are_the_sum_of_their_parts():
    env = ag.AntEnv()
    env.reset(seed=0)
    action = np.full(8, 0.5)
    _, reward, _, _, info = env.step(action)
    parts = [info[k] for k in ("reward_forward", "reward_ctrl", "reward_contact", "reward_survive")]
    assert reward == pytest.approx(sum(parts)) and info["reward_ctrl"] == pytest.approx(-0.5 * 8 * 0.25)
    assert info["reward_survive"] == 1.0 and info["reward_forward"] == info["x_velocity"]


def test_a_hopper_that_falls_ends_and_begins_anew():
    envs = ag.make_vec("Hopper", 2, max_episode_steps=500)
    envs.reset(seed=0)
    ended = False
    for _ in range(300):
        observations, rewards, terminated, _, _ = envs.step(np.full((2, 3), 0.7))
        if ended:
            assert rewards[0] == 0.0 and abs(observations[0][0] - 1.23) < 0.01
            return
        ended = bool(terminated[0])
    pytest.fail("it never fell")


def test_time_runs_out():
    envs = ag.make_vec("HalfCheetah", 2, max_episode_steps=3)
    envs.reset(seed=0)
    flags = [envs.step(np.zeros((2, 6)))[3].tolist() for _ in range(5)]
    assert flags == [[False] * 2, [False] * 2, [True] * 2, [False] * 2, [False] * 2]


def test_body_quantities_are_mujoco_s():
    """cinert, cvel, centre of mass and actuator forces against MuJoCo, where it is installed."""
    mujoco = pytest.importorskip("mujoco", reason="SKIPPED: MuJoCo is not installed")
    import articula as art

    model = art.load("humanoid")
    rival = mujoco.MjModel.from_xml_string(model.to_mjcf())
    data = mujoco.MjData(rival)
    rng = np.random.default_rng(0)
    x = model.neutral_state()
    x.v = rng.standard_normal(model.nv)
    x.q[7:] += 0.3 * rng.standard_normal(model.nq - 7)
    u = rng.uniform(-0.4, 0.4, model.nu)
    data.qpos[:], data.qvel[:], data.ctrl[:] = x.q, x.v, u
    mujoco.mj_forward(rival, data)
    ours = art.body_quantities(model, art.BatchState(x.q[None], x.v[None]), u[None])
    for name in ("cinert", "cvel", "xpos", "qfrc_actuator"):
        assert np.allclose(ours[name][0], getattr(data, name), atol=1e-9), name
    assert np.allclose(ours["com"][0], data.subtree_com[0], atol=1e-12)
