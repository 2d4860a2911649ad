"""Environments: gymnasium's conventions, checked by gymnasium itself."""

from __future__ import annotations

import copy
import inspect
import pickle
import warnings

import numpy as np
import pytest

import articula as art
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
    for make, option in ((ag.AntEnv, "nonsense"), (ag.AntEnv, "healthy_angle_range"), (ag.HopperEnv, "contact_cost_weight"),
                         (ag.HalfCheetahEnv, "healthy_reward"), (ag.HopperEnv, "main_body"), (ag.AntEnv, "planar")):
        with pytest.raises(TypeError, match=f"no option '{option}'"):
            make(**{option: 1})


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


@pytest.mark.parametrize("name", SIZES)
def test_options_observations_and_infos_are_gymnasium_s_own(name):
    """Against gymnasium's environments themselves, where MuJoCo is installed."""
    pytest.importorskip("mujoco", reason="SKIPPED: MuJoCo is not installed")
    theirs = gymnasium.make(f"{name}-v5").unwrapped
    ours = gymnasium.make(f"Articula/{name}-v5").unwrapped
    for option, parameter in inspect.signature(type(theirs).__init__).parameters.items():
        if option not in ("self", "kwargs", "xml_file", "default_camera_config"):
            assert getattr(ours.field.task, option) == parameter.default, option
            type(ours)(**{option: parameter.default})
    assert ours.action_space.shape == theirs.action_space.shape and ours.action_space.dtype == theirs.action_space.dtype
    assert ours.observation_space == theirs.observation_space
    for part, size in theirs.observation_structure.items():
        assert ours.observation_structure.get(part, 0) == size, part
    assert ours.metadata["render_fps"] == round(1.0 / ours.dt)
    their_info, our_info = theirs.reset(seed=0)[1], ours.reset(seed=0)[1]
    tendons = {"tendon_length", "tendon_velocity"}  # of the humanoid; ours has none
    assert set(our_info) == set(their_info) - tendons
    action = np.zeros(theirs.action_space.shape)
    assert set(ours.step(action)[4]) == set(theirs.step(action)[4]) - tendons


@pytest.mark.parametrize("name,normal", [("Hopper", False), ("HalfCheetah", True), ("Humanoid", False)])
def test_resets_draw_noise_as_gymnasium_does(name, normal):
    """The same numbers of the same generator: uniform positions, then uniform or normal velocities."""
    env = gymnasium.make(f"Articula/{name}-v5").unwrapped
    env.reset(seed=11)
    field, rng = env.field, np.random.Generator(np.random.PCG64(np.random.SeedSequence(11)))
    scale = field.task.reset_noise_scale
    q = field.start.q + rng.uniform(-scale, scale, field.model.nq)
    v = scale * rng.standard_normal(field.model.nv) if normal else rng.uniform(-scale, scale, field.model.nv)
    if name == "Humanoid":
        q[3:7] /= np.linalg.norm(q[3:7])
    assert same_bits(field.states.q[0], q) and np.allclose(field.states.v[0], v, atol=0.0, rtol=1e-15)


def test_health_ends_where_gymnasium_s_does():
    """Hopper, walker and humanoid are unhealthy at the ends of their range, the ant is not."""
    for make, healthy in ((ag.HopperEnv, False), (ag.Walker2dEnv, False), (ag.HumanoidEnv, False), (ag.AntEnv, True)):
        field = make().field
        z = 1 if field.task.planar else 2
        field.states.q[0, z] = field.task.healthy_z_range[0]
        assert bool(field._healthy()[0]) is healthy
        field.states.q[0, z] += 1e-9
        assert bool(field._healthy()[0])


def test_the_main_body_is_the_one_whose_velocity_counts():
    model = ag.AntEnv().field.model
    far = model.body_names[-1]
    env = ag.AntEnv(main_body=far)
    env.reset(seed=0)
    before = art.body_placements(model, env.field.states.q[0])[model.body(far), 0]
    info = env.step(np.full(8, 0.5))[4]
    after = art.body_placements(model, env.field.states.q[0])[model.body(far), 0]
    assert info["x_velocity"] == pytest.approx((after - before) / env.dt, rel=1e-9)
    with pytest.raises(ValueError, match="main_body"):
        ag.AntEnv(main_body=99)


def test_environments_that_begin_anew_tell_where():
    envs = ag.make_vec("Hopper", 2, max_episode_steps=3)
    _, infos = envs.reset(seed=0)
    assert infos["_x_position"].all()
    for _ in range(3):
        _, _, _, truncated, infos = envs.step(np.zeros((2, 3)))
        assert infos["_x_velocity"].all()
    assert truncated.all()
    observation, reward, _, _, infos = envs.step(np.zeros((2, 3)))
    assert not infos["_x_velocity"].any() and not infos["x_velocity"].any() and not reward.any()
    assert same_bits(infos["x_position"], envs.field.states.q[:, 0].copy()) and infos["_x_position"].all()
    listed = gymnasium.wrappers.vector.DictInfoToList(ag.make_vec("Ant", 2))
    assert [set(i) for i in listed.reset(seed=0)[1]] == [{"x_position", "y_position", "distance_from_origin"}] * 2


def test_environments_are_copied_and_pickled():
    env = ag.HopperEnv(reset_noise_scale=1e-3)
    env.reset(seed=3)
    env.step(np.zeros(3))
    for other in (pickle.loads(pickle.dumps(env)), copy.deepcopy(env)):
        ours, theirs = env.field.states.q[0].copy(), other.field.states.q[0].copy()
        assert same_bits(ours, theirs) and other.field.task == env.field.task
        assert same_bits(other.step(np.full(3, 0.2))[0], copy.deepcopy(env).step(np.full(3, 0.2))[0])


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
