"""PyTorch: gradcheck without tolerance for chance, in flight and in contact."""

from __future__ import annotations

import multiprocessing

import numpy as np
import pytest

import articula as art
from conftest import in_contact, in_flight, same_bits

torch = pytest.importorskip("torch", reason="SKIPPED LOUDLY: PyTorch is not installed (Debian: python3-torch)")
import articula.torch as at  # noqa: E402


def tensors(x: art.State, count: int = 0, spread: float = 0.0):
    rng = np.random.default_rng(5)
    shape = (count,) if count else ()
    q = np.tile(x.q, (*shape, 1)) if count else x.q.copy()
    v = np.tile(x.v, (*shape, 1)) if count else x.v.copy()
    v = v + spread * rng.standard_normal(v.shape)
    return torch.tensor(q, requires_grad=True), torch.tensor(v, requires_grad=True)


@pytest.mark.parametrize("contact", ["ncp", "lcp"])
@pytest.mark.parametrize("where", [in_flight, in_contact])
@pytest.mark.parametrize("name", ["hopper", "quadruped"])
def test_gradcheck_is_clean_in_flight_and_in_contact(name, where, contact):
    model = art.load(name)
    sim = art.Simulation(model, contact=contact)
    q, v = tensors(where(model))
    u = torch.full((model.nu,), 0.1, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda *x: at.step(sim, *x), (q, v, u), nondet_tol=0.0, eps=1e-6, atol=1e-4, rtol=1e-4)


def standing_quadruped():
    """Held by springs and dampers at its joints, as in the example."""
    model = art.load("quadruped")
    rest = model.neutral_state().q[7:].copy()

    def hold(x: art.State):
        return 60.0 * (rest - x.q[7:]) - 2.0 * x.v[6:]

    x = art.Simulation(model).rollout(model.neutral_state(), 600, lambda i, x: hold(x)).last()
    return model, x, hold(x)


def settled(name: str, steps: int):
    model = art.load(name)
    return model, in_contact(model, steps), np.full(model.nu, 0.01)


def moved_walker():
    """Knees bent: straight legs bear on the ground through a singular pose."""
    model = art.load("walker")
    controls = np.repeat(0.3 * np.random.default_rng(0).standard_normal((20, model.nu)), 20, axis=0)
    return model, art.Simulation(model).rollout(model.neutral_state(), controls).last(), controls[-1]


@pytest.mark.parametrize("make", [lambda: settled("half_cheetah", 1000), standing_quadruped, moved_walker,
                                  lambda: settled("arm", 300), lambda: settled("plate_gripper", 300),
                                  lambda: settled("biped", 400)],
                         ids=["half_cheetah", "quadruped", "walker", "arm", "plate_gripper", "biped"])
def test_gradcheck_with_torch_s_own_tolerances_is_clean_for_robots_that_stand_lie_and_grip(make):
    model, x, u = make()
    sim = art.Simulation(model)
    q, v = tensors(x, 2, 1e-3)
    u = torch.tensor(np.tile(u, (2, 1)), requires_grad=True)
    gravity = torch.tensor(model.gravity, requires_grad=True)
    gears = torch.tensor(np.tile(model.parameter("actuator/*/gear"), (2, 1)), requires_grad=True)

    def step(q, v, u, gravity, gears):
        return at.step(sim, q, v, u, parameters={"gravity": gravity, "actuator/*/gear": gears})

    assert torch.autograd.gradcheck(step, (q, v, u, gravity, gears), nondet_tol=0.0)


def test_gradcheck_is_clean_for_batches_and_parameters(hopper):
    sim = art.Simulation(hopper)
    x = in_contact(hopper)
    x.v[0] += 0.5
    q, v = tensors(x, 3, 0.05)
    u = torch.zeros(3, hopper.nu, dtype=torch.float64, requires_grad=True)
    shared = torch.tensor(hopper.parameter("geometry/*/friction"), requires_grad=True)
    gravity = torch.tensor(np.tile(hopper.gravity, (3, 1)), requires_grad=True)

    def step(q, v, u, shared, gravity):
        return at.step(sim, q, v, u, parameters={"geometry/*/friction": shared, "gravity": gravity})

    assert torch.autograd.gradcheck(step, (q, v, u, shared, gravity), nondet_tol=0.0, eps=1e-6, atol=1e-4, rtol=1e-4)


def test_gradcheck_is_clean_for_rollouts(hopper):
    sim = art.Simulation(hopper)
    q, v = tensors(in_flight(hopper), 2, 0.1)
    u = torch.full((2, 5, hopper.nu), 0.2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda *x: at.rollout(sim, *x), (q, v, u), nondet_tol=0.0, eps=1e-6, atol=1e-4, rtol=1e-4)


def test_numbers_are_the_simulation_s_own_to_the_bit(quadruped):
    sim = art.Simulation(quadruped)
    x = in_contact(quadruped)
    controls = 0.3 * np.random.default_rng(0).standard_normal((20, quadruped.nu))
    expected = sim.rollout(x, controls)
    q, v = at.rollout(sim, torch.tensor(x.q), torch.tensor(x.v), torch.tensor(controls))
    assert q.shape == (21, quadruped.nq) and same_bits(q.numpy(), expected.q) and same_bits(v.numpy(), expected.v)
    q1, v1 = at.step(sim, torch.tensor(x.q), torch.tensor(x.v), torch.tensor(controls[0]))
    assert same_bits(q1.numpy(), expected.q[1]) and same_bits(v1.numpy(), expected.v[1])


def test_gradients_are_the_simulation_s_own(hopper):
    sim = art.Simulation(hopper)
    x, rng = in_contact(hopper), np.random.default_rng(0)
    bars = rng.standard_normal(hopper.nq), rng.standard_normal(hopper.nv)
    q, v = tensors(x)
    q1, v1 = at.step(sim, q, v)
    (q1 @ torch.tensor(bars[0]) + v1 @ torch.tensor(bars[1])).backward()
    g = sim.pullback(sim.step(x, np.zeros(hopper.nu)), bars[0], bars[1])
    assert same_bits(q.grad.numpy(), g.q) and same_bits(v.grad.numpy(), g.v)


def test_float32_in_float32_out(hopper):
    sim = art.Simulation(hopper)
    x = in_flight(hopper)
    q, v = (torch.tensor(a, dtype=torch.float32, requires_grad=True) for a in (x.q, x.v))
    q1, v1 = at.step(sim, q, v, torch.zeros(hopper.nu))
    assert q1.dtype == v1.dtype == torch.float32
    v1.sum().backward()
    assert q.grad.dtype == torch.float32 and torch.isfinite(v.grad).all()


def test_leading_dimensions_broadcast(hopper):
    sim = art.Simulation(hopper)
    q, v = tensors(in_flight(hopper))
    u = torch.zeros(2, 3, hopper.nu, dtype=torch.float64)
    q1, v1 = at.step(sim, q, v, u)
    assert q1.shape == (2, 3, hopper.nq) and v1.shape == (2, 3, hopper.nv)
    v1.sum().backward()
    assert v.grad.shape == (hopper.nv,)


def test_the_mode_is_chosen_per_call(hopper):
    sim = art.Simulation(hopper)
    q, v = tensors(in_flight(hopper))
    grads = []
    for mode in ("exact", "finite_difference"):
        _, v1 = at.step(sim, q, v, mode=mode)
        grads.append(torch.autograd.grad(v1.sum(), v)[0])
    assert torch.allclose(grads[0], grads[1], atol=1e-6) and not torch.equal(grads[0], grads[1])


def test_a_mode_that_does_not_exist_is_refused_before_the_step(hopper):
    q, v = tensors(in_flight(hopper))
    with pytest.raises(art.Error, match="mode must be one of 'exact'.*, not 'exactly'"):
        at.step(art.Simulation(hopper), q, v, mode="exactly")


def _step_in_child(queue, sim, q, v) -> None:
    queue.put(at.step(sim, q, v)[1].detach().numpy().tobytes())


def test_a_forked_child_steps_a_simulation_that_its_parent_has_stepped(hopper):
    sim = art.Simulation(hopper)
    q, v = tensors(in_contact(hopper), 4)
    expected = at.step(sim, q, v)[1].detach().numpy().tobytes()
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_step_in_child, args=(queue, sim, q, v))
    child.start()
    assert queue.get(timeout=60) == expected
    child.join(60)
    assert child.exitcode == 0


def test_a_layer_learns_a_parameter(hopper):
    sim = art.Simulation(hopper, contact="none")
    layer = at.Rollout(sim, learn=["gravity"])
    assert [p.shape for p in layer.parameters()] == [(3,)]
    q, v = tensors(in_flight(hopper))
    path, _ = layer(q, v, torch.zeros(10, hopper.nu, dtype=torch.float64))
    path[-1, 1].backward()
    assert next(layer.parameters()).grad[2] > 0.0
    policy = torch.nn.Linear(hopper.nq, hopper.nu).double()
    with torch.no_grad():  # far from the limits of the actuators, beyond which there is no gradient
        policy.weight.fill_(0.01)
        policy.bias.zero_()
    path, _ = layer(q, v, lambda q, v: policy(q), 5)
    path[-1].sum().backward()
    assert path.shape == (6, hopper.nq) and policy.weight.grad.abs().sum() > 0.0


MUSCLE = """
<mujoco>
  <worldbody><body><joint name="slide" type="slide" axis="1 0 0"/><geom size="0.1" mass="1"/></body></worldbody>
  <actuator><general name="motor" joint="slide" dyntype="filter" dynprm="0.05" gainprm="3"/></actuator>
</mujoco>
"""


def test_activations_are_rolled_out_and_differentiated():
    model = art.parse_mjcf(MUSCLE)
    sim = art.Simulation(model)
    assert model.na == 1
    start = [torch.tensor([0.1], dtype=torch.float64, requires_grad=True) for _ in range(3)]
    u = torch.full((6, 1), 0.4, dtype=torch.float64, requires_grad=True)
    expected = sim.rollout(art.State([0.1], [0.1], [0.1]), u.detach().numpy())
    layer = at.Rollout(sim)
    open_loop = layer(start[0], start[1], u, activation=start[2])
    closed_loop = layer(start[0], start[1], lambda q, v, activation: u[0], 6, activation=start[2])
    for ours, closed, theirs in zip(open_loop, closed_loop, (expected.q, expected.v, expected.activation)):
        assert same_bits(ours.detach().numpy(), theirs) and same_bits(closed.detach().numpy(), theirs)
    assert torch.autograd.gradcheck(lambda q, v, w, u: at.rollout(sim, q, v, u, activation=w), (*start, u), nondet_tol=0.0)
    with pytest.raises(art.Error, match="pass `activation`"):
        layer(start[0], start[1], u)


def test_half_precision_goes_in_and_comes_out(hopper):
    sim, x = art.Simulation(hopper), in_flight(hopper)
    for dtype in (torch.bfloat16, torch.float16):
        q, v = (torch.tensor(a, dtype=dtype) for a in (x.q, x.v))
        q1, v1 = at.step(sim, q, v)
        exact = at.step(sim, q.double(), v.double())
        assert q1.dtype == v1.dtype == dtype and torch.equal(q1, exact[0].to(dtype)) and torch.equal(v1, exact[1].to(dtype))


def test_wrong_tensors_are_refused(hopper):
    sim = art.Simulation(hopper)
    q, v = tensors(in_flight(hopper))
    with pytest.raises(art.Error, match=r"u has shape"):
        at.step(sim, q, v, torch.zeros(hopper.nu + 1, dtype=torch.float64))
    with pytest.raises(art.Error, match=r"q has shape"):
        at.step(sim, q[:-1], v)
    with pytest.raises(TypeError, match="must be a tensor of float32 or float64"):
        at.step(sim, torch.zeros(hopper.nq, dtype=torch.int64), v)
    with pytest.raises(art.Error, match="not finite"):
        at.step(sim, q, v * float("nan"))
    with pytest.raises(art.Error, match="did you mean"):
        at.step(sim, q, v, parameters={"gravitas": torch.zeros(3)})
