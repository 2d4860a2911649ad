"""Poses, Jacobians, dynamics, rays, distances and sensors, against differences and closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import articula as art
from conftest import in_flight, same_bits

ARM = """
<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 0.1"/>
    <body name="upper" pos="0 0 1">
      <joint name="shoulder" type="hinge" axis="0 1 0"/>
      <geom name="rod" type="capsule" fromto="0 0 0 0.5 0 0" size="0.05" mass="1"/>
      <body name="lower" pos="0.5 0 0">
        <joint name="elbow" type="hinge" axis="0 1 0"/>
        <geom name="ball" type="sphere" pos="0.5 0 0" size="0.1" mass="2"/>
        <site name="tip" pos="0.5 0 0"/>
      </body>
    </body>
  </worldbody>
  <sensor>
    <jointpos name="angle" joint="elbow"/>
    <framelinvel name="speed" objtype="site" objname="tip"/>
    <accelerometer name="feels" site="tip"/>
    <touch name="touch" site="tip"/>
  </sensor>
</mujoco>
"""


def moved(model: art.Model, q, i: int, h: float):
    d = np.zeros(model.nv)
    d[i] = h
    return art.integrate(model, q, d)


@pytest.fixture(scope="module")
def arm() -> art.Model:
    return art.parse_mjcf(ARM)


def test_a_planar_arm_is_where_trigonometry_says(arm):
    q = np.array([0.3, -0.8])  # about y: x towards -z
    tip = np.array([0.5 * np.cos(0.3) + 0.5 * np.cos(-0.5), 0.0, 1.0 - 0.5 * np.sin(0.3) - 0.5 * np.sin(-0.5)])
    assert np.allclose(art.frame_placements(arm, q)[0, :3], tip, atol=1e-14)
    lower = art.body_placements(arm, q)[arm.body("lower")]
    assert np.allclose(lower[3:], [np.cos(-0.25), 0.0, np.sin(-0.25), 0.0], atol=1e-14)


def test_jacobians_are_differences_of_placements(quadruped):
    q = in_flight(quadruped).q.copy()
    q[7:] += 0.3 * np.random.default_rng(0).standard_normal(quadruped.nv - 6)
    body = quadruped.body_names[-1]
    number, h = quadruped.body(body), 1e-6
    J = art.body_jacobian(quadruped, q, body)
    assert J.shape == (6, quadruped.nv) and same_bits(J, art.body_jacobian(quadruped, q, number))
    point = art.body_placements(quadruped, q)[number, :3]
    assert np.allclose(art.point_jacobian(quadruped, q, body, point), J[:3], atol=1e-12)
    for i in range(quadruped.nv):
        ends = [art.body_placements(quadruped, moved(quadruped, q, i, sign * h))[number, :3] for sign in (1, -1)]
        assert np.allclose((ends[0] - ends[1]) / (2 * h), J[:3, i], atol=1e-8)
    d = 0.2 * np.random.default_rng(1).standard_normal(quadruped.nv)
    assert np.allclose(art.difference(quadruped, q, art.integrate(quadruped, q, d)), d, atol=1e-12)


def test_dynamics_agree_with_each_other_and_with_energy(quadruped):
    rng = np.random.default_rng(0)
    x = in_flight(quadruped)
    a = rng.standard_normal(quadruped.nv)
    tau = art.rnea(quadruped, x.q, x.v, a)
    assert np.allclose(art.aba(quadruped, x.q, x.v, tau), a, atol=1e-9)
    M = art.mass_matrix(quadruped, x.q)
    assert np.array_equal(M, M.T)
    assert np.allclose(tau - art.rnea(quadruped, x.q, x.v, 0 * a), M @ a, atol=1e-10)
    assert art.energy(quadruped, x.q, x.v).kinetic == pytest.approx(0.5 * x.v @ M @ x.v, rel=1e-12)
    com = art.centre_of_mass(quadruped, x.q)
    potential = art.energy(quadruped, x.q, x.v).potential
    assert potential == pytest.approx(quadruped.total_mass * 9.81 * com[2], rel=1e-10)
    momentum = art.momentum(quadruped, x.q, x.v)
    h = 1e-6
    ends = [art.centre_of_mass(quadruped, art.integrate(quadruped, x.q, sign * h * x.v)) for sign in (1, -1)]
    assert np.allclose(momentum[:3], quadruped.total_mass * (ends[0] - ends[1]) / (2 * h), atol=1e-6)


def test_rays_and_distances_are_those_of_a_ball_over_a_floor(arm):
    colliders, q = art.Colliders(arm), np.zeros(2)
    hit = colliders.cast_ray(q, [1.0, 0.0, 3.0], [0.0, 0.0, -1.0])
    assert hit is not None and hit.name == "ball" and hit.distance == pytest.approx(1.9, abs=1e-12)
    assert np.allclose(hit.normal, [0, 0, 1])
    below = colliders.cast_ray(q, [1.0, 0.0, 3.0], [0.0, 0.0, -2.0], except_body="lower")
    assert below is not None and below.name == "floor" and below.distance == pytest.approx(1.5, abs=1e-12)
    assert colliders.cast_ray(q, [1.0, 0.0, 3.0], [0.0, 0.0, 1.0]) is None
    d = colliders.distance_between([0.3, 0.2], "world", "lower")
    height = 1.0 - 0.5 * np.sin(0.3) - 0.5 * np.sin(0.5)
    assert d.distance == pytest.approx(height - 0.1, abs=1e-12) and d.geometries == ("floor", "ball")
    assert np.allclose(d.by_q, [-0.5 * np.cos(0.3) - 0.5 * np.cos(0.5), -0.5 * np.cos(0.5)], atol=1e-12)
    assert np.allclose(d.point_b - d.point_a, d.distance * d.normal, atol=1e-12) and len(colliders) == 3
    with pytest.raises(art.Error, match="no geometry"):
        art.Colliders(art.parse_mjcf("<mujoco><worldbody><body name='a'/><body name='b'/></worldbody></mujoco>")
                      ).distance_between([], "a", "b")


def test_distances_have_the_derivatives_of_differences(quadruped):
    colliders, q = art.Colliders(quadruped), in_flight(quadruped).q.copy()
    q[3:7] = [0.9, 0.2, -0.1, 0.3]
    q[2] -= 2.0
    trunk, foot, h = 0, quadruped.body_names[-1], 1e-6
    by_q = colliders.distance_between(q, trunk, foot).by_q
    for i in range(quadruped.nv):
        ends = [colliders.distance_between(moved(quadruped, q, i, sign * h), trunk, foot).distance for sign in (1, -1)]
        assert by_q[i] == pytest.approx((ends[0] - ends[1]) / (2 * h), abs=1e-7)


def test_sensors_read_what_they_are_for(arm):
    sensors = art.Sensors(arm)
    assert [s.name for s in sensors.list] == ["angle", "speed", "feels", "touch"] and sensors.size == 8
    x = art.State([0.0, 0.0], [1.0, 0.5])
    acceleration = art.aba(arm, x.q, x.v, np.zeros(2))
    readings = sensors.read(x, acceleration)
    speed = sensors.find("speed")
    assert readings[0] == 0.0 and speed.stage == "velocity"
    J = art.frame_jacobian(arm, x.q, "tip")
    assert np.allclose(readings[speed.offset:speed.offset + speed.size], J[:3] @ x.v, atol=1e-14)
    # x'' along the rod: -(w1^2 + (w1 + w2)^2) / 2, and what holds the tip against gravity across it
    feels = sensors.find("feels")
    assert readings[feels.offset] == pytest.approx(-0.5 * (1.0 + 1.5**2), abs=1e-12)
    assert readings[feels.offset + 2] == pytest.approx((J @ acceleration)[2] + 9.81, abs=1e-12)
    by_q, by_v, by_a = sensors.derivatives(x, acceleration)
    assert by_q.shape == by_v.shape == by_a.shape == (8, 2)
    assert np.allclose(by_v[speed.offset:speed.offset + 3], J[:3], atol=1e-14)
    assert by_q[0].tolist() == [0.0, 1.0] and not sensors.find("touch").has_derivative


def test_touch_feels_the_contacts_of_a_step():
    model = art.parse_mjcf("""<mujoco><worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 0.1"><freejoint/>
        <geom type="sphere" size="0.1" mass="2"/><site name="skin" size="0.12"/></body></worldbody>
        <sensor><touch name="touch" site="skin"/></sensor></mujoco>""")
    sim, x = art.Simulation(model), model.neutral_state()
    step = sim.step(x)
    assert art.Sensors(model).read(x, np.zeros(6), contacts=step.contacts)[0] == pytest.approx(2 * 9.81, rel=1e-9)
    assert art.Sensors(model).read(x, np.zeros(6))[0] == 0.0


def test_wrong_arguments_are_refused(arm, hopper):
    with pytest.raises(art.Error, match=r"q has shape \(3,\), not \(2,\)"):
        art.mass_matrix(arm, np.zeros(3))
    with pytest.raises(art.Error, match="q is not finite: entry 1"):
        art.body_placements(arm, [0.0, np.nan])
    with pytest.raises(art.Error, match="numbered 0 to 2"):
        art.body_jacobian(arm, np.zeros(2), 3)
    with pytest.raises(art.Error, match="lower"):
        art.body_jacobian(arm, np.zeros(2), "lowr")
    with pytest.raises(TypeError, match="name or the number"):
        art.body_jacobian(arm, np.zeros(2), 1.5)
    with pytest.raises(art.Error, match="tau is not finite"):
        art.aba(arm, np.zeros(2), np.zeros(2), [np.inf, 0.0])
    with pytest.raises(art.Error, match="direction is not finite"):
        art.Colliders(arm).cast_ray(np.zeros(2), np.zeros(3), [np.nan, 0, 0])
    sensors = art.Sensors(arm)
    with pytest.raises(art.Error, match="need the acceleration"):
        sensors.read(arm.neutral_state())
    with pytest.raises(art.Error, match="angle"):
        sensors.find("angel")
    with pytest.raises(TypeError, match="contacts of a Step"):
        sensors.read(arm.neutral_state(), np.zeros(2), contacts=[1])
    other = art.Simulation(hopper).rollout(hopper.neutral_state(), np.zeros((60, hopper.nu))).last()
    with pytest.raises(art.Error, match="another model"):
        sensors.read(arm.neutral_state(), np.zeros(2), contacts=art.Simulation(hopper).step(other).contacts)
