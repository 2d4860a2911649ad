"""Gradients over many steps: against pullbacks step by step, and against differences."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import articula as art
from conftest import in_contact, same_bits

STEPS = 12


def controls_of(model: art.Model):
    return 0.3 * np.random.default_rng(0).standard_normal((STEPS, model.nu))


def effort_and_height(i, state, control, covector):
    covector.v += 0.1 * state.v
    covector.control += 2.0 * control if len(control) else 0.0
    covector.q[1] += 1.0
    return 0.05 * state.v @ state.v + control @ control + state.q[1]


def value(sim: art.Simulation, x: art.State, controls) -> float:
    r = sim.rollout(x, controls)
    return sum(0.05 * r.v[i] @ r.v[i] + r.q[i, 1] + (controls[i] @ controls[i] if i < STEPS else 0.0)
               for i in range(STEPS + 1))


def test_the_gradient_is_that_of_pullbacks_step_by_step(hopper):
    sim, x, controls = art.Simulation(hopper), in_contact(hopper), controls_of(hopper)
    g = sim.rollout_gradient(x, controls, effort_and_height, parameters="gravity")
    steps, state, warm = [], x, None
    for u in controls:
        steps.append(sim.step(state, u, warm))
        state, warm = steps[-1].next, steps[-1].warm
    by_q, by_v = np.eye(hopper.nv)[1], 0.1 * state.v
    by_gravity = np.zeros(3)
    for i in reversed(range(STEPS)):
        back = sim.pullback(steps[i], by_q, by_v, parameters="gravity")
        by_gravity += back.parameters
        assert np.allclose(g.controls[i], back.control + 2.0 * controls[i], rtol=1e-10, atol=1e-12)
        by_q, by_v = back.q + np.eye(hopper.nv)[1], back.v + 0.1 * steps[i].start.v
    assert np.allclose(g.q, by_q, rtol=1e-10) and np.allclose(g.v, by_v, rtol=1e-10)
    assert np.allclose(g.parameters, by_gravity, rtol=1e-10)
    assert g.loss == pytest.approx(value(sim, x, controls), rel=1e-14) and g.invalid == 0 and "12 steps" in repr(g)
    assert same_bits(g.rollout.q, sim.rollout(x, controls).q)
    checkpointed = sim.rollout_gradient(x, controls, effort_and_height, parameters=["gravity"], stride=5)
    assert same_bits(checkpointed.controls, g.controls) and checkpointed.rollout.q.shape[0] == STEPS // 5 + 1


def test_sensitivities_are_differences_of_the_last_state(hopper):
    sim, x, controls = art.Simulation(hopper), in_contact(hopper), controls_of(hopper)
    S = sim.rollout_sensitivity(x, controls, "gravity")
    assert S.shape == (2 * hopper.nv, 3)
    h, ends = 1e-5, []
    for sign in (1, -1):
        last = art.Simulation(hopper.with_("gravity", hopper.gravity + [0.0, 0.0, sign * h])).rollout(x, controls).last()
        ends.append(np.concatenate([last.q, last.v]))
    assert np.allclose(S[:, 2], (ends[0] - ends[1]) / (2 * h), rtol=1e-4, atol=1e-7)


def test_hessian_products_are_differences_of_gradients():
    model = art.load("cart_pole")
    sim, x = art.Simulation(model, dt=0.01), model.neutral_state()
    x.q[1] = 0.7
    controls = controls_of(model)
    direction = np.random.default_rng(1).standard_normal(controls.shape)
    product = sim.hessian_vector_product(x, controls, direction, effort_and_height)
    h = 1e-4
    ends = [sim.rollout_gradient(x, controls + sign * h * direction, effort_and_height).controls.copy() for sign in (1, -1)]
    assert np.allclose(product, (ends[0] - ends[1]) / (2 * h), rtol=1e-5, atol=1e-7)


def test_a_loss_may_keep_what_it_was_given_and_its_exceptions_arrive(hopper):
    sim, x, controls = art.Simulation(hopper), hopper.neutral_state(), controls_of(hopper)
    kept = []

    def loss(i, state, control, covector):
        kept.append((state, control, covector, covector.q))
        return 0.0

    sim.rollout_gradient(x, controls, loss)
    gc.collect()
    assert len(kept) == STEPS + 1 and len(kept[0][1]) == 0 and all(c.v.shape == (hopper.nv,) for _, _, c, _ in kept)
    assert all(not q.any() for *_, q in kept)

    def wrong(i, state, control, covector):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        sim.rollout_gradient(x, controls, wrong)
    for bad, kind, words in ((lambda *_: None, TypeError, "value of the loss must be"),
                             (lambda *_: np.nan, art.Error, "value of the loss is not finite"),
                             (lambda *_: np.zeros(2), art.Error, "value of the loss has shape")):
        with pytest.raises(kind, match=words):
            sim.rollout_gradient(x, controls, bad)

    def not_finite(i, state, control, covector):
        covector.v[0] = np.inf
        return 0.0

    with pytest.raises(art.Error, match="covector of v is not finite"):
        sim.rollout_gradient(x, controls, not_finite)
    with pytest.raises(art.Error, match=r"controls has shape .*, not \(steps, 3\)"):
        sim.rollout_gradient(x, controls[0], effort_and_height)
    with pytest.raises(art.Error, match="direction has shape"):
        sim.hessian_vector_product(x, controls, controls[:3], effort_and_height)
    with pytest.raises(art.Error, match="stride"):
        sim.rollout_gradient(x, controls, effort_and_height, stride=-1)
    for most_bytes in (np.nan, -1.0):
        with pytest.raises(art.Error, match="most_bytes must not be"):
            sim.rollout_gradient(x, controls, effort_and_height, most_bytes=most_bytes)
    with pytest.raises(art.Error, match="step 0 failed"):
        sim.rollout_gradient(x, controls * np.nan, effort_and_height)
