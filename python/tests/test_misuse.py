"""What users get wrong: a clear exception, never a crash."""

from __future__ import annotations

import copy
import gc
import inspect
import multiprocessing
import os
import pickle
import threading

import numpy as np
import pytest

import articula as art
from conftest import in_contact, same_bits


def test_wrong_shapes_name_the_argument_and_both_shapes(hopper):
    sim, x = art.Simulation(hopper), hopper.neutral_state()
    for bad in (np.zeros(hopper.nu + 1), np.zeros((1, hopper.nu)), 0.0, []):
        with pytest.raises(art.Error, match=rf"controls has shape .*, not \({hopper.nu},\)"):
            sim.step(x, bad)
    with pytest.raises(art.Error, match="q has shape"):
        sim.step(art.State(np.zeros(hopper.nq + 1), np.zeros(hopper.nv)))
    with pytest.raises(art.Error, match="v has shape"):
        sim.step(art.State(x.q, np.zeros(0)))
    with pytest.raises(art.Error, match="activation has shape"):
        sim.step(art.State(x.q, x.v, [1.0]))
    with pytest.raises(art.Error, match="q has shape"):
        art.State(np.zeros((2, 2)), x.v)
    with pytest.raises(art.Error, match="q has shape"):
        x.q = np.zeros(3)
    with pytest.raises(art.Error, match="controls has shape"):
        sim.rollout(x, np.zeros((5, hopper.nu + 1)))
    with pytest.raises(art.Error):
        sim.step(x, art.Input(wrenches=np.zeros((1, 6))))
    with pytest.raises(art.Error):
        sim.step(x, art.Input(forces=np.zeros(1)))
    with pytest.raises(art.Error, match="wrenches"):
        art.Input(wrenches=np.zeros(6))
    with pytest.raises(art.Error, match="theta has shape"):
        hopper.with_(np.zeros(3))
    with pytest.raises(art.Error):
        hopper.with_("gravity", [1.0, 2.0])


def test_wrong_dtypes_are_type_errors(hopper):
    sim, x = art.Simulation(hopper), hopper.neutral_state()
    for bad in (np.zeros(hopper.nu, complex), np.array(["a"] * hopper.nu), np.array([None] * hopper.nu), "abc", object(),
                np.zeros(hopper.nu, bool), {"a": 1}):
        with pytest.raises(TypeError, match="controls must be an array of real numbers"):
            sim.step(x, bad)
    with pytest.raises(TypeError):
        sim.step(np.zeros(hopper.nq), np.zeros(hopper.nu))
    with pytest.raises(TypeError):
        art.Simulation("hopper")
    with pytest.raises(TypeError):
        art.Simulation(hopper, nonsense=1)
    with pytest.raises(TypeError):
        sim.step(x, None, warm=3)


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.int8, np.uint16, np.float16, ">f8"])
def test_real_dtypes_are_converted(hopper, dtype):
    sim, x = art.Simulation(hopper), hopper.neutral_state()
    u = np.ones(hopper.nu)
    assert same_bits(sim.step(x, u.astype(dtype)).next.v, sim.step(x, u).next.v)


def test_arrays_that_are_not_contiguous_mean_the_same(hopper):
    sim, x = art.Simulation(hopper), hopper.neutral_state()
    wide = np.random.default_rng(0).standard_normal((hopper.nu, 4))
    expected = sim.step(x, wide[:, 1].copy()).next
    assert same_bits(sim.step(x, wide[:, 1]).next.v, expected.v)
    backwards = wide[::-1, 1].copy()[::-1]
    assert same_bits(sim.step(x, backwards).next.v, expected.v)
    controls = np.asfortranarray(np.random.default_rng(1).standard_normal((20, hopper.nu)))
    assert same_bits(sim.rollout(x, controls).q, sim.rollout(x, controls.copy("C")).q)
    read_only = wide[:, 1].copy()
    read_only.flags.writeable = False
    assert same_bits(sim.step(x, read_only).next.v, expected.v)
    many = np.random.default_rng(1).standard_normal((hopper.nu, 3)).T
    batch = art.Batch(hopper, 3)
    assert same_bits(batch.step(batch.neutral_states(), many).next.v, batch.step(batch.neutral_states(), many.copy()).next.v)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite_are_refused_by_name(hopper, bad):
    sim = art.Simulation(hopper)
    x = hopper.neutral_state()
    x.v[2] = bad
    with pytest.raises(art.Error, match="v is not finite: entry 2"):
        sim.step(x)
    u = np.zeros(hopper.nu)
    u[1] = bad
    with pytest.raises(art.Error, match="controls is not finite: entry 1"):
        sim.step(hopper.neutral_state(), u)
    controls = np.zeros((10, hopper.nu))
    controls[4] = bad
    r = sim.rollout(hopper.neutral_state(), controls)
    assert r.steps == 4 and not r.ok and r.status == "input not finite"
    with pytest.raises(art.Error):
        hopper.with_("gravity", [0.0, 0.0, bad])


@pytest.mark.parametrize("bad,length", [(0.0, "no length"), (1e-200, "no length"), (1e200, "too large a length")])
def test_a_quaternion_without_direction_is_refused_by_its_joint(bad, length):
    model = art.load("quadruped")
    sim = art.Simulation(model)
    x = model.neutral_state()
    x.q[3:7] = bad
    with pytest.raises(art.Error, match=f"quaternion of joint '.*' .entries 3 to 6. has {length}"):
        sim.step(x)
    r = sim.rollout(x, np.zeros((3, model.nu)))
    assert r.steps == 0 and r.status == "input not finite"
    states = art.Batch(model, 2).neutral_states()
    states.q[1, 3:7] = bad
    s = art.Batch(model, 2).step(states)
    assert list(s.ok) == [True, False]
    x.q[3:7] = [0.5, 0.5, 0.5, 0.5]
    scaled = x.copy()
    scaled.q[3:7] *= 7.0  # a rotation all the same
    np.testing.assert_allclose(sim.step(scaled).next.q, sim.step(x).next.q, atol=1e-12)


def test_settings_that_make_no_sense_are_refused(hopper):
    for settings in ({"dt": 0.0}, {"dt": -1.0}, {"dt": np.nan}, {"contact": "soft"}, {"recovery_speed": -1.0},
                     {"most_contacts": -1}):
        with pytest.raises(art.Error):
            art.Simulation(hopper, **settings)


def test_files_and_names_that_are_not_there():
    with pytest.raises(art.Error, match="hopper"):
        art.load("hoper")
    with pytest.raises(art.Error):
        art.load("/nowhere/robot.xml")
    with pytest.raises(art.Error):
        art.parse_mjcf("<mujoco><worldbody><body></worldbody></mujoco>")
    model = art.load("hopper")
    with pytest.raises(art.Error, match="torso"):
        model.body("torsoo")
    with pytest.raises(art.Error, match="did you mean"):
        model.parameter("body/torsoo/inertia")
    assert isinstance(art.Error("x"), ValueError)


def test_names_in_an_odd_encoding_are_refused_by_a_message(hopper, tmp_path):
    for name in (b"\xff\xfe", "ab\udcff", "robot\udce9.xml"):  # as os.listdir gives what is no UTF-8
        with pytest.raises(art.Error, match=r"\\x(ff|e9)"):
            art.load(name)
    with pytest.raises(UnicodeEncodeError):
        art.load("\ud800")  # half a character
    with pytest.raises(ValueError, match="null byte"):
        art.load("a\0b")
    with pytest.raises(art.Error, match="no name"):
        art.load("")
    with pytest.raises(TypeError):
        art.load(None)
    for search_path in ("meshes", [1], None):
        with pytest.raises(TypeError):
            art.load("hopper", search_path=search_path)
    for name in ("\ud800", 3):
        with pytest.raises((TypeError, UnicodeEncodeError)):
            hopper.with_({name: 1.0})
        with pytest.raises((TypeError, UnicodeEncodeError)):
            hopper.parameter(name)


def test_a_file_in_an_odd_encoding_is_loaded_and_its_names_are_spelled_out(tmp_path):
    path = tmp_path / "\u00e9.xml"
    path.write_bytes(b"<mujoco model='\xff'><worldbody><geom name='\xfa' type='plane' size='1 1 1'/><body name='\xfe' "
                     b"pos='0 0 0.05'><freejoint name='\xe9'/><geom name='\xfb' size='0.05' mass='1'/></body></worldbody></mujoco>")
    model = art.load(path)
    assert model.name == r"\xff" and model.joint_names == [r"\xe9"] and r"\xfe" in repr(model) and r"\xff" in model.to_mjcf()
    assert [p.name for p in model.parameters if r"\xfe" in p.name] and r"\xe9" in repr(model.joints)
    sim = art.Simulation(model)
    assert [c.geometries for c in sim.step(model.neutral_state()).contacts] == [(r"\xfa", r"\xfb")]
    again = pickle.loads(pickle.dumps(sim))
    assert again.model.structure_hash == model.structure_hash and r"\xff" in repr(again) and r"\xff" in repr(art.Batch(model, 2))
    with pytest.raises(art.Error, match=r"\\xfe"):
        model.body("nobody")


def test_options_of_gradients_that_make_no_sense_are_refused(hopper):
    sim = art.Simulation(hopper)
    step = sim.step(hopper.neutral_state())
    with pytest.raises(art.Error, match="samples is an option of mode 'randomised', not of 'exact'"):
        sim.jacobians(step, samples=4)
    with pytest.raises(art.Error, match="ridders is an option of mode 'finite_difference', not of 'randomised'"):
        sim.pullback(step, mode="randomised", ridders=True)
    for options in ({"samples": "many"}, {"samples": 1 << 40}, {"seed": -1}, {"position_spread": None}, {"ridders": "yes"},
                    {"parameters": 3}, {"parameters": [3]}):
        with pytest.raises(TypeError, match=f"{next(iter(options))[:9]}.* must be"):
            sim.pullback(step, mode="randomised", **options)
    for options in ({"samples": 0}, {"position_spread": np.nan}, {"velocity_spread": -1.0}, {"control_spread": np.inf}):
        with pytest.raises(art.Error):
            sim.pullback(step, mode="randomised", **options)
    for difference_step in (0.0, -1.0, np.nan, 1e300):
        with pytest.raises(art.Error):
            sim.pullback(step, mode="finite_difference", difference_step=difference_step)


def test_nothing_is_a_batch_of_no_environments(hopper):
    none = art.BatchState(np.zeros((0, hopper.nq)), np.zeros((0, hopper.nv)))
    batch = art.Batch(hopper, 2)
    assert len(none) == 0 and none.q.shape == (0, hopper.nq) and "0 environments" in repr(none)
    with pytest.raises(IndexError, match="there are 0"):
        none.state(0)
    with pytest.raises(art.Error, match=r"q has shape \(0, 6\)"):
        batch.step(none)
    assert pickle.loads(pickle.dumps(none)).v.shape == (0, hopper.nv)
    assert batch.rollout(batch.neutral_states(), np.zeros((2, 0, hopper.nu))).q.shape == (2, 1, hopper.nq)
    assert art.Simulation(hopper).rollout(hopper.neutral_state(), np.zeros((0, hopper.nu))).q.shape == (1, hopper.nq)
    warm = batch.step(batch.neutral_states()).warm
    assert len(warm[-1]) == len(warm[1])
    with pytest.raises(IndexError):
        warm[2]


def test_a_moved_body_needs_a_direction():
    model = art.parse_mjcf("<mujoco><worldbody><body name='hand' mocap='true'><geom size='0.1'/></body><body pos='0 0 1'>"
                           "<freejoint/><geom size='0.1' mass='1'/></body></worldbody></mujoco>")
    sim, x = art.Simulation(model), model.neutral_state()
    for bad in (0.0, 1e-200, 1e200, np.nan):
        with pytest.raises(art.Error, match="row 0 has no direction"):
            art.Input(kinematic_pose=[[0, 0, 0, bad, 0, 0, 0]])
    with pytest.raises(art.Error, match="kinematic_pose is not finite: entry 1"):
        sim.step(x, art.Input(kinematic_pose=[[0, np.nan, 0, 1, 0, 0, 0]]))
    with pytest.raises(art.Error, match="kinematic_twist is not finite: entry 5"):
        sim.step(x, art.Input(kinematic_twist=[[0, 0, 0, 0, 0, np.inf]]))
    x.time = np.nan
    with pytest.raises(art.Error, match="time is not finite"):
        sim.step(x)
    with pytest.raises(art.Error, match="no length"):
        art.integrate(model, np.zeros(model.nq), np.zeros(model.nv))


class _Robot(art.Simulation):
    """A subclass with a word of its own."""

    def __init__(self, name: str) -> None:
        super().__init__(art.load(name))
        self.word = name


class _Forgetful(art.State):
    def __init__(self) -> None:
        pass


def test_subclasses_work_and_must_call_init():
    robot = _Robot("hopper")
    assert robot.word == "hopper" and robot.step(robot.model.neutral_state()).ok
    with pytest.raises(TypeError, match="__init__"):
        _Forgetful()


def _spawned(queue, model, sim, batch, x) -> None:
    queue.put((sim.step(x).next.hash, batch.step(batch.repeat(x)).next.q.tobytes(), model.structure_hash))


def test_models_states_simulations_and_batches_go_to_spawned_processes(hopper):
    sim, batch, x = art.Simulation(hopper), art.Batch(hopper, 4), in_contact(hopper)
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    child = context.Process(target=_spawned, args=(queue, hopper, sim, batch, x))
    child.start()
    hashed, q, structure = queue.get(timeout=120)
    child.join(60)
    assert hashed == sim.step(x).next.hash and q == batch.step(batch.repeat(x)).next.q.tobytes()
    assert structure == hopper.structure_hash and child.exitcode == 0


def test_copies_are_deep_where_numbers_may_change(hopper):
    sim, batch, x = art.Simulation(hopper, dt=0.001), art.Batch(hopper, 2), hopper.neutral_state()
    for kind in (copy.copy, copy.deepcopy):
        y = kind(x)
        y.q[0] = 7.0
        assert x.q[0] == 0.0 and kind(hopper) is hopper
        assert kind(sim).settings == sim.settings and len(kind(batch)) == 2
        assert len(kind(sim.step(x).warm)) == len(sim.step(x).warm)


def test_steps_of_another_model_are_refused(hopper, quadruped):
    step = art.Simulation(quadruped).step(quadruped.neutral_state())
    with pytest.raises(art.Error, match="another model"):
        art.Simulation(hopper).joint_reactions(step)


def test_what_is_used_lives_on_when_its_model_is_gone():
    model = art.load("hopper")
    sim, theta, gravity = art.Simulation(model), model.theta, model.parameter("gravity")
    kept = theta.copy()
    inner = art.Simulation(model).model  # of a simulation that is gone
    batch = art.Batch(model, 2)
    first = batch.model(0)
    step = sim.step(model.neutral_state())
    del model, sim, batch
    gc.collect()
    [np.full(5000, 3.0) for _ in range(50)]
    assert np.array_equal(theta, kept) and gravity[2] == pytest.approx(-9.81)
    assert inner.nq == first.nq == len(step.next.q)
    assert np.array_equal(inner.theta, kept) and np.array_equal(first.theta, kept)
    assert all(c.geometries for c in step.contacts)


def test_threads_share_a_model_and_a_simulation(quadruped):
    sim = art.Simulation(quadruped)
    x = in_contact(quadruped, 100)
    controls = 0.2 * np.random.default_rng(0).standard_normal((8, 60, quadruped.nu))
    expected = [sim.rollout(x, c).q.copy() for c in controls]
    results: list[object] = [None] * 8

    def work(i: int) -> None:
        s = sim.step(x, controls[i, 0])
        for u in controls[i, 1:]:
            s = sim.step(s.next, u, s.warm)
        results[i] = s.next.q.copy()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i in range(8):
        assert same_bits(results[i], expected[i][-1])


def test_threads_share_a_batch(hopper):
    batch = art.Batch(hopper, 16, threads=2)
    x = batch.neutral_states()
    controls = np.random.default_rng(0).standard_normal((16, 40, hopper.nu))
    expected = batch.rollout(x, controls).q.copy()
    results: list[object] = []

    def work() -> None:
        results.append(batch.rollout(x, controls).q.copy())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4 and all(same_bits(r, expected) for r in results)


# ------------------------------------------------------------------ pickles, copies, snapshots


@pytest.mark.parametrize("name", ["hopper", "quadruped", "arm", "four_bar", "boxes_and_balls", "drone"])
def test_a_pickled_model_steps_to_the_same_bits(name):
    model = art.load(name)
    if model.total_mass > 0:
        model = model.with_("gravity", [0.1, 0.0, -9.0])
    again = pickle.loads(pickle.dumps(model))
    assert same_bits(again.theta, model.theta) and again.structure_hash == model.structure_hash
    x = model.neutral_state()
    controls = 0.1 * np.random.default_rng(0).standard_normal((100, model.nu))
    a, b = (art.Simulation(m).rollout(x, controls) for m in (model, again))
    assert a.ok and same_bits(a.q, b.q) and same_bits(a.v, b.v)


def test_states_warm_starts_simulations_and_batches_pickle(hopper):
    sim = art.Simulation(hopper, dt=0.003, contact="lcp", bounce_speed=0.1)
    step = sim.step(in_contact(hopper))
    x, warm, sim2 = pickle.loads(pickle.dumps((step.next, step.warm, sim)))
    assert same_bits(x.q, step.next.q) and same_bits(x.v, step.next.v) and x.time == step.next.time
    assert len(warm) == len(step.warm) and sim2.settings == sim.settings
    assert sim2.step(x, None, warm).next.hash == sim.step(step.next, None, step.warm).next.hash
    given = art.Input(controls=np.ones(hopper.nu), forces=np.ones(hopper.nv), kinematic_pose=[[1, 2, 3, 1, 0, 0, 0]])
    again = pickle.loads(pickle.dumps(given))
    assert same_bits(again.controls, given.controls) and same_bits(again.forces, given.forces)
    assert same_bits(again.kinematic_pose, given.kinematic_pose) and again.wrenches is None
    copied = copy.deepcopy(x)
    copied.q[0] = 9.0
    assert x.q[0] != 9.0
    variants = [hopper.with_("gravity", [0, 0, -g]) for g in (1.0, 9.0)]
    batch = art.Batch(variants, threads=1)
    batch2 = pickle.loads(pickle.dumps(batch))
    assert same_bits(batch2.step(batch2.neutral_states()).next.v, batch.step(batch.neutral_states()).next.v)
    states = pickle.loads(pickle.dumps(batch.neutral_states()))
    assert same_bits(states.q, batch.neutral_states().q)


@pytest.mark.parametrize("contact", ["lcp", "ncp"])
def test_warm_starts_of_all_modes_pickle(contact):
    model = art.load("stack")
    sim = art.Simulation(model, contact=contact)
    x = model.neutral_state()
    x.v = np.random.default_rng(2).uniform(-0.5, 0.5, model.nv)
    step = sim.step(x)
    for _ in range(60):
        again = pickle.loads(pickle.dumps(step.warm))
        assert pickle.dumps(again) == pickle.dumps(step.warm)
        step = sim.step(step.next, None, step.warm)
    assert sim.step(step.next, None, again).ok


def test_steps_do_not_pickle_and_say_so(hopper):
    with pytest.raises(TypeError):
        pickle.dumps(art.Simulation(hopper).step(hopper.neutral_state()))


def test_broken_pickles_are_refused(hopper):
    for cls, state in ((art.State, (1, 2)), (art.Model, ("<mujoco/>", np.zeros(3), 1)), (art.WarmStart, b"xx")):
        with pytest.raises((art.Error, TypeError, RuntimeError)):
            made = cls.__new__(cls)
            made.__setstate__(state)


def _exported_classes() -> list[type]:
    return [c for c in vars(art._core).values() if isinstance(c, type) and not issubclass(c, BaseException)]


@pytest.mark.parametrize("cls", _exported_classes(), ids=lambda c: c.__name__)
def test_an_object_without_init_is_refused_by_all_that_it_can_do(cls):
    raw = cls.__new__(cls)
    properties = [name for name in dir(cls) if isinstance(inspect.getattr_static(cls, name), property)]
    uses = [lambda name=name: getattr(raw, name) for name in properties]
    uses += [lambda: len(raw), lambda: pickle.dumps(raw), lambda: copy.deepcopy(raw)]
    if cls.__repr__ is not object.__repr__:
        uses.append(lambda: repr(raw))
    for use in uses:
        with pytest.raises((TypeError, RuntimeError)):
            use()


def test_objects_without_init_are_refused_as_arguments(hopper):
    sim, batch, x = art.Simulation(hopper), art.Batch(hopper, 2), hopper.neutral_state()
    empty = {c: c.__new__(c) for c in _exported_classes()}
    step, steps = sim.step(x), batch.step(batch.neutral_states())
    for call in (
        lambda: art.Simulation(empty[art.Model]),
        lambda: art.Batch(empty[art.Model], 3),
        lambda: art.Batch([hopper, empty[art.Model]]),
        lambda: empty[art.Simulation].step(x),
        lambda: empty[art.Simulation].rollout(x, np.zeros((2, hopper.nu))),
        lambda: empty[art.Simulation].jacobians(step),
        lambda: sim.step(empty[art.State]),
        lambda: sim.step(x, empty[art.Input]),
        lambda: sim.step(x, None, empty[art.WarmStart]),
        lambda: sim.jacobians(empty[art.Step]),
        lambda: sim.joint_reactions(empty[art.Step]),
        lambda: empty[art.Batch].step(batch.neutral_states()),
        lambda: batch.step(empty[art.BatchState]),
        lambda: batch.step(batch.neutral_states(), None, empty[art.WarmStarts]),
        lambda: batch.jacobians(empty[art.BatchStep]),
        lambda: empty[art.Batch].jacobians(steps),
        lambda: art.to_bytes(hopper, empty[art.State], step.warm),
        lambda: art.from_bytes(empty[art.Model], b""),
        lambda: empty[art.Model].with_("gravity", [0, 0, 0]),
    ):
        with pytest.raises((TypeError, RuntimeError)):
            call()


def test_snapshots_come_back_to_the_bit_and_damage_is_noticed(hopper, quadruped):
    sim = art.Simulation(hopper)
    step = sim.step(in_contact(hopper))
    data = art.to_bytes(hopper, step.next, step.warm)
    x, warm = art.from_bytes(hopper, data)
    assert x.hash == step.next.hash and len(warm) == len(step.warm)
    for broken in (b"", data[:-1], data + b"x", data[:40] + bytes([data[40] ^ 1]) + data[41:]):
        with pytest.raises(art.Error):
            art.from_bytes(hopper, broken)
    with pytest.raises(art.Error):
        art.from_bytes(quadruped, data)


# ------------------------------------------------------------------ fork


def _in_child(queue, model, sim, batch, x) -> None:
    outcome = []
    outcome.append(sim.step(x).next.hash)
    try:
        batch.step(batch.neutral_states())
        outcome.append("stepped")
    except art.Error as error:
        outcome.append(str(error))
    fresh = art.Batch(model, 8, threads=2)
    outcome.append(fresh.step(fresh.neutral_states()).next.q.tobytes())
    queue.put(outcome)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_steps_and_makes_its_own_batches(hopper):
    sim, batch, x = art.Simulation(hopper), art.Batch(hopper, 8, threads=2), hopper.neutral_state()
    expected = batch.step(batch.neutral_states()).next.q.tobytes()
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_in_child, args=(queue, hopper, sim, batch, x))
    child.start()
    hashed, message, fresh = queue.get(timeout=60)
    child.join(60)
    assert child.exitcode == 0
    assert hashed == sim.step(x).next.hash and fresh == expected
    assert "forked" in message
