"""JAX: the same numbers as the simulation's own, under jit, vmap and grad."""

from __future__ import annotations

import numpy as np
import pytest

import articula as art
from conftest import in_contact, in_flight, same_bits

jax = pytest.importorskip("jax", reason="SKIPPED LOUDLY: JAX is not installed")
jax.config.update("jax_enable_x64", True)
import articula.jax as aj  # noqa: E402
import jax.numpy as jnp  # noqa: E402


def loss_of(sim, weights):
    def loss(q, v, u, mu):
        q1, v1 = aj.step(sim, q, v, u, parameters={"geometry/*/friction": mu})
        return q1 @ weights[0] + v1 @ weights[1]

    return loss


def case(model, where, count=0):
    rng = np.random.default_rng(3)
    x = where(model)
    q, v, u, mu = x.q.copy(), x.v.copy(), np.full(model.nu, 0.1), model.parameter("geometry/*/friction")
    weights = rng.standard_normal(model.nq), rng.standard_normal(model.nv)
    if count:
        q, u = np.tile(q, (count, 1)), np.tile(u, (count, 1))
        v = v + 0.05 * rng.standard_normal((count, model.nv))
    return (q, v, u, mu), weights


@pytest.mark.parametrize("where", [in_flight, in_contact])
@pytest.mark.parametrize("name", ["hopper", "quadruped"])
def test_steps_and_gradients_are_the_simulation_s_own(name, where):
    model = art.load(name)
    sim = art.Simulation(model)
    (q, v, u, mu), weights = case(model, where)
    step = sim.step(art.State(q, v), u)
    q1, v1 = jax.jit(lambda *x: aj.step(sim, *x))(q, v, u)
    assert same_bits(np.asarray(q1), step.next.q) and same_bits(np.asarray(v1), step.next.v)
    grads = jax.jit(jax.grad(loss_of(sim, weights), argnums=(0, 1, 2, 3)))(q, v, u, mu)
    g = sim.pullback(step, art.to_tangent(model, step.next.q, weights[0]), weights[1], parameters="geometry/*/friction")
    expected = (art.from_tangent(model, q, g.q), g.v, g.control, g.parameters)
    for ours, theirs in zip(grads, expected):
        assert np.abs(np.asarray(ours) - theirs).max() <= 1e-12 * max(1.0, np.abs(theirs).max())


def test_gradients_equal_torch_s_to_1e_12(hopper):
    torch = pytest.importorskip("torch", reason="SKIPPED LOUDLY: PyTorch is not installed")
    sim = art.Simulation(hopper)
    for where in (in_flight, in_contact):
        given, weights = case(hopper, where)
        grads = jax.grad(loss_of(sim, weights), argnums=(0, 1, 2, 3))(*given)
        leaves = [torch.tensor(a, requires_grad=True) for a in given]
        q1, v1 = art.torch.step(sim, *leaves[:3], parameters={"geometry/*/friction": leaves[3]})
        (q1 @ torch.tensor(weights[0]) + v1 @ torch.tensor(weights[1])).backward()
        for ours, leaf in zip(grads, leaves):
            theirs = leaf.grad.numpy()
            assert np.abs(np.asarray(ours) - theirs).max() <= 1e-12 * max(1.0, np.abs(theirs).max())


def test_vmap_is_a_batch(hopper):
    sim, count = art.Simulation(hopper), 4
    (q, v, u, mu), weights = case(hopper, in_contact, count)
    loss = loss_of(sim, weights)
    mapped = jax.jit(jax.vmap(jax.value_and_grad(loss, argnums=(0, 1, 2, 3)), in_axes=(0, 0, 0, None)))
    values, grads = mapped(q, v, u, mu)
    for e in range(count):
        value, single = jax.value_and_grad(loss, argnums=(0, 1, 2, 3))(q[e], v[e], u[e], mu)
        assert float(value) == pytest.approx(float(values[e]), rel=1e-14)
        for ours, theirs in zip(grads, single):
            assert np.allclose(np.asarray(ours)[e], theirs, rtol=1e-12, atol=1e-12)
    total = jax.grad(lambda mu: jax.vmap(loss, in_axes=(0, 0, 0, None))(q, v, u, mu).sum())(mu)
    assert np.allclose(total, np.asarray(grads[3]).sum(axis=0), rtol=1e-12, atol=1e-12)


def test_check_grads_is_clean_for_rollouts(hopper):
    from jax.test_util import check_grads

    sim = art.Simulation(hopper)
    (q, v, u, _), _ = case(hopper, in_flight)
    controls = jnp.tile(u, (5, 1))
    check_grads(lambda v, c: aj.rollout(sim, q, v, c), (jnp.asarray(v), controls), order=1, modes=["rev"], eps=1e-6,
                atol=1e-4, rtol=1e-4)


def test_float32_in_float32_out(hopper):
    sim = art.Simulation(hopper)
    (q, v, u, _), _ = case(hopper, in_flight)
    q1, v1 = aj.step(sim, *(jnp.asarray(a, jnp.float32) for a in (q, v, u)))
    assert q1.dtype == v1.dtype == jnp.float32


def test_wrong_arrays_are_refused(hopper):
    sim = art.Simulation(hopper)
    (q, v, u, _), _ = case(hopper, in_flight)
    with pytest.raises(art.Error, match="u has shape"):
        aj.step(sim, q, v, np.zeros(hopper.nu + 1))
    with pytest.raises(art.Error, match="did you mean"):
        aj.step(sim, q, v, u, parameters={"gravitas": np.zeros(3)})
