"""The same words as in C++, the same numbers, and arrays that are views."""

from __future__ import annotations

import gc
import json
import os
import pathlib
import subprocess

import numpy as np
import pytest

import articula as art
from conftest import in_contact, in_flight, same_bits


def test_urdf_is_loaded_with_its_srdf(tmp_path):
    (tmp_path / "robot.urdf").write_text('<robot name="r"><link name="a"/></robot>')
    (tmp_path / "robot.srdf").write_text('<robot name="r"><disable_collisions link1="a" link2="bee"/></robot>')
    model = art.load(tmp_path / "robot.urdf", srdf=tmp_path / "robot.srdf")
    assert any("'bee'" in warning for warning in model.warnings)


def test_links_of_a_urdf_that_overlap_are_left_out_unless_kept(tmp_path):
    mass = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    ball = '<collision><geometry><sphere radius="0.1"/></geometry></collision>'
    links = "".join(f'<link name="{name}">{mass}{ball}</link>' for name in ("a", "b", "c"))
    joints = "".join(
        f'<joint name="{child}j" type="continuous"><parent link="{parent}"/><child link="{child}"/></joint>'
        for parent, child in (("a", "b"), ("b", "c"))
    )
    (tmp_path / "robot.urdf").write_text(f'<robot name="r">{links}{joints}</robot>')
    assert any("a and c" in warning for warning in art.load(tmp_path / "robot.urdf").warnings)
    assert not art.load(tmp_path / "robot.urdf", keep_overlaps=True).warnings


def test_built_in_models_load_and_print_their_tree():
    for name in art.model_names():
        model = art.load(name)
        text = repr(model)
        assert f"nq {model.nq}, nv {model.nv}" in text.splitlines()[0]
        for body in model.body_names[1:40]:
            assert body in text


def test_a_step_depends_on_its_arguments_alone(quadruped):
    sim = art.Simulation(quadruped, dt=0.002)
    x, u = in_contact(quadruped), np.zeros(quadruped.nu)
    first = sim.step(x, u)
    other = sim.step(in_flight(quadruped), u)
    again = sim.step(x, u, other.warm)
    assert first.ok and len(first.contacts) > 0
    assert same_bits(first.next.q, again.next.q) and same_bits(first.next.v, again.next.v)
    assert first.next.hash == again.next.hash


def test_numbers_are_those_of_the_command_line_tool_to_the_bit(tmp_path):
    binaries = os.environ.get("ARTICULA_TEST_BINARIES")
    tool = pathlib.Path(binaries or "") / "articula"
    if not binaries or not tool.exists():
        pytest.skip("SKIPPED: the command-line tool was not built beside the package")
    recording = tmp_path / "run.npz"
    model = art.load("half_cheetah")
    steps = 300
    run = subprocess.run([str(tool), "simulate", "half_cheetah", "--seconds", str(steps * model.timestep), "--controls",
                          "random", "--seed", "3", "--npz", str(recording), "--json"],
                         capture_output=True, text=True, check=True,
                         env={k: v for k, v in os.environ.items() if k != "LD_PRELOAD"})  # the sanitizers' runtime
    assert json.loads(run.stdout)
    kept = np.load(recording)
    controls = kept["controls"][:-1]  # the last row belongs to the state after the last step
    x = art.State(kept["q"][0], kept["v"][0])
    r = art.rollout(art.Simulation(model), x, controls)
    assert r.steps == len(controls) and r.ok
    assert same_bits(r.q, kept["q"]) and same_bits(r.v, kept["v"])


def test_a_falling_body_gains_g_dt_per_step():
    model = art.load("boxes_and_balls")
    sim = art.Simulation(model, dt=0.001, contact="none")
    x = model.neutral_state()
    free = [j for j in model.joints if j.type == "free"][0]
    after = sim.step(x).next
    assert after.v[free.dof + 2] - x.v[free.dof + 2] == pytest.approx(-9.81 * 0.001, rel=1e-12)


def test_contacts_carry_the_weight_of_what_rests(quadruped):
    sim = art.Simulation(quadruped)
    x, total = in_contact(quadruped, 2000), np.zeros(3)
    step = sim.step(x)
    for contact in step.contacts:
        sign = 1.0 if contact.body_a == 0 else -1.0
        if 0 in (contact.body_a, contact.body_b):
            total += sign * contact.force
        assert contact.frame.shape == (3, 3) and np.allclose(contact.frame.T @ contact.frame, np.eye(3))
        assert contact.mode in ("separating", "sticking", "sliding")
        assert all(isinstance(name, str) for name in (*contact.geometries, *contact.bodies))
    assert step.contact_forces.shape == (len(step.contacts), 3)
    weight = quadruped.total_mass * 9.81
    assert total[2] == pytest.approx(weight, rel=0.05)
    reactions = sim.joint_reactions(step)
    assert reactions.shape == (quadruped.njoint, 6)


def test_state_arrays_are_views_and_outlive_their_owner(hopper):
    x = hopper.neutral_state()
    x.q[0] = 0.25
    assert x.q[0] == 0.25 and x.q.base is not None
    q = x.q
    x.q = np.arange(hopper.nq)
    assert q[1] == 1.0
    step = art.Simulation(hopper).step(hopper.neutral_state())
    v, expected = step.next.v, step.next.v.copy()
    del step, x
    gc.collect()
    junk = [np.full(1000, 7.0) for _ in range(100)]
    assert np.array_equal(v, expected) and len(junk) == 100


def test_results_of_rollouts_are_views(hopper):
    r = art.Simulation(hopper).rollout(hopper.neutral_state(), np.zeros((20, hopper.nu)))
    assert r.q.shape == (21, hopper.nq) and r.v.shape == (21, hopper.nv) and r.time.shape == (21,)
    assert r.q.base is not None and r.q.flags.c_contiguous
    q, last = r.q, r.last().q.copy()
    del r
    gc.collect()
    assert np.array_equal(q[-1], last)


def test_a_rollout_is_its_steps_and_a_controller_sees_each_state(hopper):
    sim = art.Simulation(hopper)
    controls = 0.3 * np.random.default_rng(0).standard_normal((50, hopper.nu))
    open_loop = art.rollout(sim, hopper.neutral_state(), controls)
    seen = []

    def controller(i: int, state: art.State) -> np.ndarray:
        seen.append(state.q.copy())
        return controls[i]

    closed_loop = sim.rollout(hopper.neutral_state(), 50, controller)
    assert same_bits(open_loop.q, closed_loop.q) and same_bits(np.array(seen), open_loop.q[:-1])
    s = sim.step(hopper.neutral_state(), controls[0])
    for u in controls[1:]:
        s = sim.step(s.next, u, s.warm)
    assert same_bits(s.next.q, open_loop.q[-1])


def test_an_exception_in_a_controller_arrives(hopper):
    def controller(i: int, state: art.State) -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        art.Simulation(hopper).rollout(hopper.neutral_state(), 5, controller)


def test_parameters_are_found_by_name_and_variants_differ(hopper):
    torso = hopper.parameter("body/torso/inertia")
    assert torso.shape == (10,)
    indices = hopper.parameter_indices("body/torso/inertia")
    assert same_bits(hopper.theta[indices], torso)
    with pytest.raises(ValueError):
        hopper.theta[0] = 1.0  # read-only
    heavy = hopper.with_("body/torso/inertia", 2.0 * torso)
    assert heavy.total_mass == pytest.approx(hopper.total_mass + torso[0])
    both = hopper.with_({"body/torso/inertia": 2.0 * torso, "gravity": [0, 0, -1.62]})
    assert both.gravity[2] == -1.62 and hopper.gravity[2] == pytest.approx(-9.81)
    slippery = hopper.with_("geometry/*/friction", 0.0)
    assert not slippery.parameter("geometry/*/friction").any()
    theta = hopper.theta.copy()
    theta[hopper.parameter_indices("gravity")] = 0.0
    assert not hopper.with_(theta).gravity.any()


def test_inputs_push_bodies(hopper):
    sim = art.Simulation(hopper, contact="none")
    x = hopper.neutral_state()
    wrenches = np.zeros((hopper.nbody, 6))
    wrenches[hopper.body("torso"), 0] = 10.0
    pushed = sim.step(x, art.Input(wrenches=wrenches)).next
    assert pushed.v[0] > sim.step(x).next.v[0]
    forces = np.zeros(hopper.nv)
    forces[0] = 10.0
    assert sim.step(x, art.Input(forces=forces)).next.v[0] == pytest.approx(pushed.v[0], rel=0.1)


def test_reprs_are_worth_reading(hopper):
    sim = art.Simulation(hopper)
    step = sim.step(in_contact(hopper))
    assert "hopper" in repr(sim) and "contacts touch" in repr(step)
    assert "q [" in repr(step.next) and "ok" in repr(step.report)
    assert "contact of" in repr(step.contacts[0])
    assert "Model 'hopper'" in repr(hopper)


def words_of(member) -> list[str]:
    """The lines of a docstring that are not signatures, which pybind11 writes."""
    signatures = ("->", "Overloaded function.", "(*args, **kwargs)")
    return [line for line in (member.__doc__ or "").splitlines() if line.strip() and not any(s in line for s in signatures)]


def test_everything_public_has_a_docstring():
    silent = []
    for name, member in vars(art._core._module).items():
        if name.startswith("_"):
            continue
        if not words_of(member):
            silent.append(name)
        if isinstance(member, type):
            assert member.__module__ == "articula", name
            silent += [f"{name}.{n}" for n, m in vars(member).items() if not n.startswith("_") and not words_of(m)]
    assert silent == []


def test_the_stubs_name_what_there_is():
    stub = pathlib.Path(art.__file__).with_name("_core.pyi").read_text()
    for name in vars(art._core._module):
        if not name.startswith("_"):
            assert f"class {name}" in stub or f"def {name}(" in stub, name
            member = getattr(art, name)
            if isinstance(member, type) and member is not art.Error:
                body = stub.split(f"class {name}:")[1].split("\nclass ")[0]
                for attribute in vars(member):
                    if not attribute.startswith("_"):
                        assert f"def {attribute}(" in body or f"    {attribute}:" in body, f"{name}.{attribute}"
