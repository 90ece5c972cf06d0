"""Pace and learning rates, as they are summed and told: nothing of this needs a framework."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from labdl.train.events import Pace, Rate, to_record
from labdl.train.monitor import profiler
from labdl.train.monitor.profiler import Pacer, Stopwatch


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(profiler, "perf_counter", lambda: now[0])
    return now


def trained(clock, rates, wait=0.001, compute=0.003, update=0.001, timed=True, pause=0.0):
    """The events of a training of as many steps as there are rates."""
    updates, optimizer = Stopwatch(), SimpleNamespace(learning_rate=None)
    pacer, found = Pacer(updates, optimizer), []

    def advance(seconds):
        clock[0] += seconds

    def batches():
        for rate in rates:
            clock[0] += wait
            yield rate

    apply = updates.timed(advance) if timed else advance
    for step, rate in enumerate(pacer.waiting(batches()), 1):
        optimizer.learning_rate, began = rate, clock[0]
        advance(compute)
        apply(update)
        if pacer.stepped(began, clock[0], step):
            found += pacer.told(step, 16 * step)
        clock[0] += pause  # whoever hears of it takes his time
    return [*found, *pacer.told(len(rates), 16 * len(rates))]


def of(found, kind):
    return [e for e in found if isinstance(e, kind)]


def test_each_second_is_told_once(clock):
    found = of(trained(clock, [0.1] * 400), Pace)
    assert sum(e.steps for e in found) == 400
    assert sum(e.samples for e in found) == 6400
    assert sum(e.data for e in found) == pytest.approx(0.4)
    assert sum(e.compute for e in found) == pytest.approx(1.2)
    assert sum(e.update for e in found) == pytest.approx(0.4)
    assert [e.step for e in found] == list(itertools.accumulate(e.steps for e in found))
    assert 9 <= len(found) <= 12, "every 0.2 s of the training"
    assert to_record(found[0]) == {
        "step": 1,
        "steps": 1,
        "samples": 16,
        "data": 0.001,
        "compute": 0.003,
        "update": 0.001,
    }


def test_what_others_do_meanwhile_is_not_the_time_of_the_training(clock):
    found = of(trained(clock, [0.1] * 20, pause=5.0), Pace)
    assert sum(e.data + e.compute + e.update for e in found) == pytest.approx(0.1)


def test_the_seconds_of_a_training_are_known_at_any_time(clock):
    pacer = Pacer(Stopwatch(), SimpleNamespace(learning_rate=0.1))
    pacer.stepped(1.0, 1.5, 1)
    assert pacer.seconds == 0.5
    pacer.told(1, 16)
    pacer.stepped(7.0, 7.25, 2)
    assert pacer.seconds == 0.75


def test_of_a_step_that_is_one_there_is_no_update(clock):
    assert {e.update for e in of(trained(clock, [0.1] * 100, timed=False), Pace)} == {None}
    assert sum(e.compute for e in of(trained(clock, [0.1] * 100, timed=False), Pace)) == pytest.approx(0.4)


def test_of_steps_of_which_some_are_one_there_is_none_either(clock):
    updates = Stopwatch()
    pacer, apply = Pacer(updates, SimpleNamespace(learning_rate=0.1)), updates.timed(lambda _: None)
    for step in range(1, 4):
        if step != 2:
            apply(None)
        pacer.stepped(0.0, 0.1, step)
    assert of(pacer.told(3, 48), Pace)[0].update is None


def test_a_long_training_is_told_ever_more_seldom(clock):
    counts = [len(of(trained(clock, [0.1] * n, compute=1.0), Pace)) for n in (200, 2000, 20000)]
    assert counts[2] < 2.5 * counts[1] + 1000
    assert counts[2] < 5000


def test_a_constant_rate_is_one_point(clock):
    (found,) = of(trained(clock, [0.1] * 400), Rate)
    assert found == Rate((0,), (0.1,))
    assert to_record(found) == {"step": [0], "value": [0.1]}


def test_single_changes_are_told_with_their_step(clock):
    rates = [0.1] * 100 + [0.01] * 100 + [0.2] * 100
    found = of(trained(clock, rates), Rate)
    assert [p for e in found for p in zip(e.step, e.value, strict=True)] == [(0, 0.1), (100, 0.01), (200, 0.2)]


def test_of_several_changes_between_two_events_each_is_told(clock):
    rates = [0.1] * 3 + [0.05] * 7 + [0.01] * 90
    found = of(trained(clock, rates, wait=0, compute=1e-5, update=0), Rate)
    assert [p for e in found for p in zip(e.step, e.value, strict=True)] == [(0, 0.1), (3, 0.05), (10, 0.01)]


def test_a_rate_that_changes_all_the_time_is_thinned_and_its_last_value_is_there(clock):
    rates = np.linspace(1, 0, 20_000).tolist()
    found = trained(clock, rates, wait=0.0, compute=1e-4, update=0.0)
    assert max(len(e.step) for e in of(found, Rate)) <= profiler.POINTS
    points = [p for e in of(found, Rate) for p in zip(e.step, e.value, strict=True)]
    assert 50 < len(points) < 200
    assert all(rates[step] == value for step, value in points)
    assert points[-1] == (19_999, 0.0)
    steps = [step for step, _ in points]
    assert steps == sorted(set(steps))


def test_an_update_that_fails_raises(clock):
    def broken(_):
        raise KeyError("no")

    with pytest.raises(KeyError):
        Stopwatch().timed(broken)(None)
