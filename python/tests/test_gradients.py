"""Jacobians and pullbacks against differences of steps, and against each other."""

from __future__ import annotations

import numpy as np
import pytest

import articula as art
from conftest import in_contact, in_flight, same_bits


def difference(model: art.Model, q0, q1):
    """q1 (-) q0 for small differences: of hinges and slides, and twice the vector part of conj(q0) q1."""
    d = np.zeros(model.nv)
    for j in model.joints:
        if j.type in ("hinge", "slide"):
            d[j.dof] = q1[j.q] - q0[j.q]
            continue
        iq, iv = j.q, j.dof
        if j.type == "free":
            d[iv:iv + 3] = q1[iq:iq + 3] - q0[iq:iq + 3]
            iq, iv = iq + 3, iv + 3
        (w0, *v0), (w1, *v1) = q0[iq:iq + 4], q1[iq:iq + 4]
        v0, v1 = np.array(v0), np.array(v1)
        d[iv:iv + 3] = 2.0 * (w0 * v1 - w1 * v0 - np.cross(v0, v1))
    return d


def jacobian_by_differences(sim: art.Simulation, x: art.State, u, h: float = 1e-6):
    model = sim.model
    columns = []
    base = sim.step(x, u).next
    for i in range(2 * model.nv + model.nu):
        ends = []
        for sign in (1.0, -1.0):
            d = np.zeros(2 * model.nv + model.nu)
            d[i] = sign * h
            moved = art.State(art.integrate(model, x.q, d[:model.nv]), x.v + d[model.nv:2 * model.nv])
            y = sim.step(moved, u + d[2 * model.nv:]).next
            ends.append(np.concatenate([difference(model, base.q, y.q), y.v]))
        columns.append((ends[0] - ends[1]) / (2.0 * h))
    return np.stack(columns, axis=1)


@pytest.mark.parametrize("where", [in_flight, in_contact])
@pytest.mark.parametrize("name", ["half_cheetah", "quadruped"])
def test_jacobians_are_those_of_differences(name, where):
    model = art.load(name)
    sim = art.Simulation(model)
    x, u = where(model), 0.1 * np.ones(model.nu)
    step = sim.step(x, u)
    d = sim.jacobians(step)
    n = 2 * model.nv
    assert d.by_state.shape == (n, n) and d.by_control.shape == (n, model.nu)
    expected = jacobian_by_differences(sim, x, u)
    assert np.abs(np.hstack([d.by_state, d.by_control]) - expected).max() < 1e-5 * max(1.0, np.abs(expected).max())
    assert d.certificate.valid and "certificate" in repr(d.certificate)


@pytest.mark.parametrize("contact", ["ncp", "lcp"])
@pytest.mark.parametrize("name", ["arm", "biped", "half_cheetah", "hopper"])
def test_jacobians_of_robots_left_alone_are_those_of_differences(name, contact):
    model = art.load(name)
    sim = art.Simulation(model, contact=contact)
    path = sim.rollout(model.neutral_state(), np.zeros((500, model.nu)))
    for i in (0, 100, 500):
        d = sim.jacobians(sim.step(path.state(i), np.zeros(model.nu)))
        expected = jacobian_by_differences(sim, path.state(i), np.zeros(model.nu))
        assert np.allclose(np.hstack([d.by_state, d.by_control]), expected, rtol=1e-3, atol=1e-5), i


def test_a_pullback_is_the_transposed_jacobian(quadruped):
    sim = art.Simulation(quadruped)
    step = sim.step(in_contact(quadruped), np.zeros(quadruped.nu))
    d = sim.jacobians(step)
    rng = np.random.default_rng(0)
    nv = quadruped.nv
    q_bar, v_bar = rng.standard_normal(nv), rng.standard_normal(nv)
    g = sim.pullback(step, q_bar, v_bar)
    expected = np.concatenate([q_bar, v_bar]) @ d.by_state
    scale = np.abs(expected).max()
    assert np.abs(np.concatenate([g.q, g.v]) - expected).max() < 1e-9 * scale
    assert np.abs(g.control - np.concatenate([q_bar, v_bar]) @ d.by_control).max() < 1e-9 * scale
    assert g.wrench.shape == (quadruped.nbody, 6) and g.force.shape == (nv,) and g.parameters.shape == (0,)


def test_parameters_are_chosen_by_name_and_match_differences(hopper):
    sim = art.Simulation(hopper)
    x = in_contact(hopper)
    x.v[0] += 0.5  # slides
    step = sim.step(x)
    v_bar = np.zeros(hopper.nv)
    v_bar[0] = 1.0
    patterns = ["geometry/*/friction", "body/torso/inertia", "gravity"]
    g = sim.pullback(step, v=v_bar, parameters=patterns)
    indices = np.concatenate([hopper.parameter_indices(p) for p in patterns])
    assert g.parameters.shape == indices.shape
    for k in (*range(0, 9, 3), len(indices) - 13, len(indices) - 1):
        h = 1e-6
        ends = []
        for sign in (1, -1):
            theta = hopper.theta.copy()
            theta[indices[k]] += sign * h
            ends.append(art.Simulation(hopper.with_(theta)).step(x).next.v[0])
        assert g.parameters[k] == pytest.approx((ends[0] - ends[1]) / (2 * h), rel=1e-4, abs=1e-7)


def test_a_gradient_does_not_change_the_step(quadruped):
    sim = art.Simulation(quadruped)
    x = in_contact(quadruped)
    plain = sim.step(x).next.hash
    step = sim.step(x)
    sim.jacobians(step)
    sim.pullback(step, v=np.ones(quadruped.nv), parameters="*")
    assert step.next.hash == plain and sim.step(x).next.hash == plain


def test_a_step_followed_by_others_still_has_its_gradient(hopper):
    sim = art.Simulation(hopper)
    first = sim.step(in_contact(hopper))
    expected = sim.jacobians(first).by_state
    sim.step(in_flight(hopper))
    assert same_bits(sim.jacobians(first).by_state, expected)


@pytest.mark.parametrize("mode", ["exact", "complementarity_aware", "elastic", "randomised", "finite_difference"])
def test_every_mode_answers(hopper, mode):
    sim = art.Simulation(hopper)
    step = sim.step(in_flight(hopper))
    exact = sim.pullback(step, v=np.ones(hopper.nv))
    g = sim.pullback(step, v=np.ones(hopper.nv), mode=mode)
    tolerance = 1e-2 if mode == "randomised" else 1e-5
    assert np.abs(g.v - exact.v).max() < tolerance


@pytest.mark.parametrize("ridders", [False, True])
def test_differences_by_all_parameters_of_an_ordinary_model(ridders):
    model = art.parse_mjcf("<mujoco><worldbody><geom type='plane' size='1 1 1'/><body pos='0 0 0.1'><freejoint/><geom type='box' "
                           "size='0.1 0.1 0.1' mass='2'/><body pos='0 0 0.1'><joint name='hip' axis='0 1 0' range='-1 1'/>"
                           "<geom type='capsule' size='0.003 0.01' pos='0 0 0.02' mass='0.001'/></body></body></worldbody></mujoco>")
    sim, ones = art.Simulation(model), np.ones(model.nv)
    step = sim.step(model.neutral_state())
    options = {"mode": "finite_difference", "ridders": ridders}
    g = sim.pullback(step, ones, ones, parameters="*", **options)
    assert np.isfinite(g.parameters).all() and g.certificate.one_sided  # no restitution, no dry friction
    for name in ("body/*/inertia", "gravity"):
        exact = sim.pullback(step, ones, ones, parameters=name).parameters
        g = sim.pullback(step, ones, ones, parameters=name, **options)
        assert not g.certificate.one_sided and np.abs(g.parameters - exact).max() < (1e-7 if ridders else 1e-4) * np.abs(exact).max()


def test_batched_gradients_are_those_of_each_environment(hopper):
    count = 5
    batch, sim = art.Batch(hopper, count), art.Simulation(hopper)
    x = batch.repeat(in_contact(hopper))
    x.v[:] += 0.2 * np.random.default_rng(0).standard_normal(x.v.shape)
    u = 0.3 * np.random.default_rng(1).standard_normal((count, hopper.nu))
    bar = np.random.default_rng(2).standard_normal((count, hopper.nv))
    step = batch.step(x, u)
    g = batch.pullback(step, bar, 2 * bar, parameters="geometry/*/friction")
    d = batch.jacobians(step)
    assert d.by_state.shape == (count, 2 * hopper.nv, 2 * hopper.nv)
    assert d.by_control.shape == (count, 2 * hopper.nv, hopper.nu) and len(d.certificates) == count
    assert g.wrench.shape == (count, hopper.nbody, 6)
    for e in range(count):
        one = sim.step(x.state(e), u[e])
        single = sim.pullback(one, bar[e], 2 * bar[e], parameters="geometry/*/friction")
        assert same_bits(g.q[e], single.q) and same_bits(g.v[e], single.v) and same_bits(g.control[e], single.control)
        assert same_bits(g.parameters[e], single.parameters)
        assert same_bits(d.by_state[e], sim.jacobians(one).by_state)
    x.q[:] = np.nan  # the step has kept what it was taken from
    again = batch.pullback(step, bar, 2 * bar, parameters="geometry/*/friction")
    assert same_bits(again.q, g.q)


def test_wrong_questions_are_refused(hopper, quadruped):
    sim = art.Simulation(hopper)
    step = sim.step(hopper.neutral_state())
    with pytest.raises(art.Error, match="mode must be one of"):
        sim.pullback(step, mode="magic")
    with pytest.raises(art.Error, match=r"q has shape"):
        sim.pullback(step, q=np.zeros(hopper.nq + 1))
    with pytest.raises(art.Error, match="v is not finite"):
        sim.pullback(step, v=np.full(hopper.nv, np.nan))
    with pytest.raises(art.Error, match="did you mean"):
        sim.pullback(step, parameters="gravitas")
    with pytest.raises(TypeError, match="no option"):
        sim.pullback(step, nonsense=1)
    with pytest.raises(art.Error, match="another model"):
        art.Simulation(quadruped).jacobians(step)
    batch = art.Batch(hopper, 2)
    other = art.Batch(hopper, 3)
    with pytest.raises(art.Error, match="environments"):
        batch.jacobians(other.step(other.neutral_states()))


def test_tangent_gradients_of_quaternions_round_trip(quadruped):
    rng = np.random.default_rng(0)
    q = quadruped.neutral_state().q.copy()
    q[3:7] = rng.standard_normal(4)  # not normalised
    g = rng.standard_normal(quadruped.nv)
    ambient = art.from_tangent(quadruped, q, g)
    assert abs(ambient[3:7] @ q[3:7]) < 1e-14
    unit = q.copy()
    unit[3:7] /= np.linalg.norm(q[3:7])
    assert np.allclose(art.to_tangent(quadruped, unit, art.from_tangent(quadruped, unit, g)), g, atol=1e-14)
    h, d = 1e-6, rng.standard_normal(quadruped.nv)
    along = (art.integrate(quadruped, unit, h * d) - art.integrate(quadruped, unit, -h * d)) / (2 * h)
    w = rng.standard_normal(quadruped.nq)
    assert along @ w == pytest.approx(art.to_tangent(quadruped, unit, w) @ d, rel=1e-8)


CAR = """<mujoco><option timestep="0.002"/><worldbody><geom type="plane" size="5 5 .1" friction=".8"/>
  <body pos="0 0 .11"><freejoint/><geom type="box" size=".3 .1 .04" mass="3"/>{}</body></worldbody><actuator>{}</actuator></mujoco>""".format(
    "".join(
        f'<body pos="{x} {y} -.02"><joint name="{i}" axis="0 1 0" damping=".01" armature=".002"/>'
        f'<geom type="cylinder" size=".08 .02" euler="90 0 0" mass=".5"/></body>'
        for i, (x, y) in enumerate([(0.2, 0.15), (0.2, -0.15), (-0.2, 0.15), (-0.2, -0.15)])),
    "".join(f'<motor joint="{i}" ctrlrange="-1.5 1.5"/>' for i in range(4)))


def steps_of_a_car(sim: art.Simulation, count: int):
    """Cold steps along a drive, under controls that change every 0.1 s."""
    random = np.random.default_rng(0)
    x, warm, u, steps = sim.model.neutral_state(), None, None, []
    for i in range(count):
        if i % 50 == 0:
            u = random.uniform(-1.5, 1.5, 4)
        if i % 5 == 0:
            steps.append(sim.step(x, u))
        s = sim.step(x, u, warm)
        x, warm = s.next, s.warm
    return steps


def test_derivatives_are_those_of_the_step_where_the_laws_allow_several_motions():
    # The modes of such a step, as a guess, may lead to another motion.
    sim = art.Simulation(art.parse_mjcf(CAR), contact="lcp")
    several = [s for s in steps_of_a_car(sim, 1000) if s.report.contact == "multiple"]
    assert several
    for s in several:
        again = sim.step(s.start, s.input)
        assert same_bits(again.next.v, s.next.v)
        at_once = sim.jacobians(again).by_state
        sim.step(sim.model.neutral_state())
        assert same_bits(sim.jacobians(s).by_state, at_once)


def test_joint_reactions_of_one_step_leave_derivatives_of_another_alone():
    model = art.load("quadruped")
    sim = art.Simulation(model)
    first = sim.step(in_flight(model))
    step = sim.step(in_contact(model))
    expected = sim.jacobians(step).by_state
    sim.joint_reactions(first)
    assert same_bits(sim.jacobians(step).by_state, expected)


@pytest.mark.parametrize("contact", ["ncp", "lcp", "none"])
def test_modes_tell_where_the_derivative_may_jump(contact):
    model = art.load("quadruped")
    sim = art.Simulation(model, contact=contact)
    x, u = in_contact(model), 0.1 * np.ones(model.nu)
    step = sim.step(x, u)
    expected = sim.jacobians(step)
    modes = sim.modes(step)
    assert modes == sim.modes(sim.step(art.State(x.q, x.v + 1e-9), u))
    assert contact == "none" or modes != sim.modes(sim.step(in_flight(model), u))
    assert same_bits(sim.jacobians(step).by_state, expected.by_state)  # looking changes nothing
    assert "modes" in repr(modes)
    with pytest.raises(TypeError):
        hash(modes)


@pytest.mark.parametrize("contact", ["ncp", "lcp"])
def test_a_held_step_is_the_function_whose_derivative_is_given(contact):
    # Far beyond the modes of the step as it is: all feet stay where they are, whatever pulls.
    model = art.load("quadruped")
    sim = art.Simulation(model, contact=contact)
    x, u = in_contact(model), 0.1 * np.ones(model.nu)
    step = sim.step(x, u)
    modes, d = sim.modes(step), sim.jacobians(step)
    base = sim.held_step(x, u, modes)
    assert np.abs(base.v - step.next.v).max() < 1e-12
    random = np.random.default_rng(3)
    for _ in range(5):
        dv, t = random.normal(size=model.nv), 1e-4
        ends = [sim.held_step(art.State(x.q, x.v + s * t * dv), u, modes).v for s in (1.0, -1.0)]
        expected = d.by_state[model.nv:, model.nv:] @ dv
        assert np.abs((ends[0] - ends[1]) / (2.0 * t) - expected).max() < 1e-5 * max(1.0, np.abs(expected).max())
    # Variants are held by the same modes.
    heavier = art.Simulation(model.with_("gravity", [0.0, 0.0, -9.82]), contact=contact)
    g = sim.pullback(step, v=np.ones(model.nv), parameters="gravity")
    slope = (heavier.held_step(x, u, modes).v.sum() - base.v.sum()) / -0.01
    assert abs(slope - g.parameters[2]) < 1e-5 * max(1.0, abs(slope))
    with pytest.raises(art.Error, match="v is not finite"):
        sim.held_step(art.State(x.q, x.v * np.nan), u, modes)
    with pytest.raises(art.Error, match="another model"):
        art.Simulation(art.load("hopper")).held_step(art.load("hopper").neutral_state(), None, modes)
