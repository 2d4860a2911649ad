"""Batches: environments side by side, each as if it were alone."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import articula as art
from conftest import in_contact, same_bits


def spread(batch: art.Batch, x: art.State) -> art.BatchState:
    states = batch.repeat(x)
    states.v += 0.1 * np.random.default_rng(2).standard_normal(states.v.shape)
    return states


def test_far_more_threads_than_processors_cost_nothing(hopper):
    batch = art.Batch(hopper, 3, threads=1_000_000)
    few = art.Batch(hopper, 3, threads=1)
    assert same_bits(batch.step(batch.neutral_states()).next.v, few.step(few.neutral_states()).next.v)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_each_environment_is_as_if_alone_to_the_bit(hopper, threads):
    batch = art.Batch(hopper, 7, threads=threads)
    states = spread(batch, in_contact(hopper))
    controls = 0.5 * np.random.default_rng(0).standard_normal((7, 30, hopper.nu))
    r = batch.rollout(states, controls)
    assert r.q.shape == (7, 31, hopper.nq) and r.ok.all() and (r.taken == 30).all()
    sim = art.Simulation(hopper)
    for e in range(7):
        alone = sim.rollout(states.state(e), controls[e])
        assert same_bits(r.q[e], alone.q) and same_bits(r.v[e], alone.v)
    s = batch.step(states, controls[:, 0])
    for i in range(1, 30):
        s = batch.step(s.next, controls[:, i], s.warm)
    assert same_bits(s.next.q, r.q[:, -1]) and s.ok.all() and len(s.reports) == 7


def test_each_environment_may_have_its_own_parameters(hopper):
    frictions = [0.1, 0.5, 1.0]
    variants = [hopper.with_("geometry/*/friction", np.tile([mu, 0.005, 0.0001], 20)[: 3 * len(hopper.geometry_names)])
                for mu in frictions]
    batch = art.Batch(variants)
    x = in_contact(hopper)
    x.v[0] = 1.0
    r = batch.rollout(batch.repeat(x), np.zeros((3, 100, hopper.nu)))
    assert len({row.tobytes() for row in r.q[:, -1]}) == 3
    for e, model in enumerate(variants):
        alone = art.Simulation(model).rollout(x, np.zeros((100, hopper.nu)))
        assert same_bits(alone.q, r.q[e])
        assert same_bits(batch.model(e).theta, model.theta)


def test_batch_states_are_views(hopper):
    batch = art.Batch(hopper, 4)
    x = batch.neutral_states()
    assert x.q.shape == (4, hopper.nq) and x.q.base is not None and len(x) == 4
    x.q[2, 1] = 0.5
    assert x.state(2).q[1] == 0.5 and x.state(-2).q[1] == 0.5
    q = batch.step(x).next.q
    assert q.shape == (4, hopper.nq)
    remade = art.BatchState(x.q, x.v)
    assert same_bits(remade.q, x.q) and not np.shares_memory(remade.q, x.q)


def test_what_is_held_of_a_step_is_not_written_into_by_later_ones(hopper):
    batch = art.Batch(hopper, 4)
    x = spread(batch, in_contact(hopper))
    rng = np.random.default_rng(3)
    owners = [lambda s: s, lambda s: s.next, lambda s: s.next.q]  # whatever is held keeps its numbers
    numbers = [lambda s: s.next.v, lambda x: x.v, lambda q: q]
    held, warm = [], None
    for i in range(12):
        s = batch.step(x, rng.standard_normal((4, hopper.nu)), warm)
        kept = owners[i % 3](s)
        held.append((kept, numbers[i % 3], numbers[i % 3](kept).copy()))
        x, warm = s.next.copy(), s.warm
        del s, kept
    assert all(same_bits(look(kept), copy) for kept, look, copy in held)
    q = batch.step(x).next.q
    del batch
    assert q.shape == (4, hopper.nq) and np.isfinite(q).all()


def test_steps_without_warm_starts_are_cold_whatever_was_stepped_before(hopper):
    batch = art.Batch(hopper, 3)
    x = spread(batch, in_contact(hopper))
    cold = batch.step(x).next.v.copy()
    for _ in range(5):
        s = batch.step(x, np.ones((3, hopper.nu)))
        batch.step(s.next, np.ones((3, hopper.nu)), s.warm)
    assert same_bits(batch.step(x).next.v, cold)
    assert same_bits(art.Batch(hopper, 3).step(x).next.v, cold)


def test_an_environment_that_fails_stays_and_says_so(hopper):
    batch = art.Batch(hopper, 3)
    x = batch.neutral_states()
    x.v[1, 0] = np.nan
    s = batch.step(x)
    assert s.ok.tolist() == [True, False, True]
    assert s.reports[1].status == "input not finite"
    r = batch.rollout(x, np.zeros((3, 5, hopper.nu)))
    assert r.taken.tolist() == [5, 0, 5] and r.ok.tolist() == [True, False, True]


def test_contacts_of_an_environment_are_those_of_its_own_step(hopper):
    batch, sim = art.Batch(hopper, 3), art.Simulation(hopper)
    x = spread(batch, in_contact(hopper))
    step = batch.step(x, keep_contacts=True)
    assert [len(step.contact_list(e)) for e in range(3)] == step.contacts.tolist() and len(step.contact_list(-1)) > 0
    for e in range(3):
        alone = sim.step(x.state(e)).contacts
        assert [repr(c) for c in step.contact_list(e)] == [repr(c) for c in alone]
        assert all(same_bits(a.force, b.force) for a, b in zip(step.contact_list(e), alone))
    with pytest.raises(IndexError):
        step.contact_list(3)
    with pytest.raises(art.Error, match="did not keep its contacts"):
        batch.step(x).contact_list(0)


def test_warm_starts_are_pickled(hopper):
    batch = art.Batch(hopper, 3)
    step = batch.step(spread(batch, in_contact(hopper)))
    again = pickle.loads(pickle.dumps(step.warm))
    assert len(again) == 3 and "3 environments" in repr(again)
    assert same_bits(batch.step(step.next, None, again).next.v, batch.step(step.next, None, step.warm).next.v)


def test_wrong_batches_are_refused(hopper, quadruped):
    with pytest.raises(art.Error, match="at least one environment"):
        art.Batch(hopper, 0)
    with pytest.raises(art.Error, match="at least one model"):
        art.Batch([])
    with pytest.raises(art.Error, match="no variant"):
        art.Batch([hopper, quadruped])
    with pytest.raises(TypeError):
        art.Batch([1, 2])
    batch = art.Batch(hopper, 3)
    x = batch.neutral_states()
    with pytest.raises(art.Error, match=r"controls has shape \(2, 3\)"):
        batch.step(x, np.zeros((2, hopper.nu)))
    with pytest.raises(art.Error, match="controls has shape"):
        batch.rollout(x, np.zeros((3, hopper.nu)))
    with pytest.raises(art.Error, match="q has shape"):
        batch.step(art.Batch(hopper, 2).neutral_states())
    with pytest.raises(art.Error, match="q has shape"):
        batch.step(art.Batch(quadruped, 3).neutral_states())
    with pytest.raises(art.Error, match="environments 0 to 2"):
        batch.model(3)
    with pytest.raises(IndexError):
        x.state(3)
