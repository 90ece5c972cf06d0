"""Throughput and learning rate events of the step profiler; no framework is needed."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from labdl.train.events import Rate, Throughput, to_record
from labdl.train.monitor import profiler
from labdl.train.monitor.profiler import StepProfiler, Stopwatch


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(profiler, "perf_counter", lambda: now[0])
    return now


def profile(clock, rates, wait=0.001, compute=0.003, update=0.001, timed=True, pause=0.0):
    """The events of a training with one step per rate."""
    updates, optimizer = Stopwatch(), SimpleNamespace(learning_rate=None)
    step_profiler, found = StepProfiler(updates, optimizer), []

    def advance(seconds):
        clock[0] += seconds

    def batches():
        for rate in rates:
            clock[0] += wait
            yield rate

    apply = updates.wrap(advance) if timed else advance
    for step, rate in enumerate(step_profiler.time_batches(batches()), 1):
        optimizer.learning_rate, began = rate, clock[0]
        advance(compute)
        apply(update)
        if step_profiler.record_step(began, clock[0], step):
            found += step_profiler.take_events(step, 16 * step)
        clock[0] += pause  # time in which the consumer handles the events
    return [*found, *step_profiler.take_events(len(rates), 16 * len(rates))]


def of(found, kind):
    return [e for e in found if isinstance(e, kind)]


def test_sums_over_events_are_the_totals_of_the_training(clock):
    found = of(profile(clock, [0.1] * 400), Throughput)
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


def test_time_of_the_consumer_is_not_counted(clock):
    found = of(profile(clock, [0.1] * 20, pause=5.0), Throughput)
    assert sum(e.data + e.compute + e.update for e in found) == pytest.approx(0.1)


def test_total_seconds_are_available_between_events(clock):
    step_profiler = StepProfiler(Stopwatch(), SimpleNamespace(learning_rate=0.1))
    step_profiler.record_step(1.0, 1.5, 1)
    assert step_profiler.seconds == 0.5
    step_profiler.take_events(1, 16)
    step_profiler.record_step(7.0, 7.25, 2)
    assert step_profiler.seconds == 0.75


def test_step_compiled_as_a_whole_has_no_update_time(clock):
    assert {e.update for e in of(profile(clock, [0.1] * 100, timed=False), Throughput)} == {None}
    assert sum(e.compute for e in of(profile(clock, [0.1] * 100, timed=False), Throughput)) == pytest.approx(0.4)


def test_update_time_is_none_if_only_some_steps_call_the_optimizer(clock):
    updates = Stopwatch()
    step_profiler, apply = StepProfiler(updates, SimpleNamespace(learning_rate=0.1)), updates.wrap(lambda _: None)
    for step in range(1, 4):
        if step != 2:
            apply(None)
        step_profiler.record_step(0.0, 0.1, step)
    assert of(step_profiler.take_events(3, 48), Throughput)[0].update is None


def test_interval_grows_with_the_length_of_the_training(clock):
    counts = [len(of(profile(clock, [0.1] * n, compute=1.0), Throughput)) for n in (200, 2000, 20000)]
    assert counts[2] < 2.5 * counts[1] + 1000
    assert counts[2] < 5000


def test_constant_rate_is_one_point(clock):
    (found,) = of(profile(clock, [0.1] * 400), Rate)
    assert found == Rate((0,), (0.1,))
    assert to_record(found) == {"step": [0], "value": [0.1]}


def test_isolated_changes_have_their_step(clock):
    rates = [0.1] * 100 + [0.01] * 100 + [0.2] * 100
    found = of(profile(clock, rates), Rate)
    assert [p for e in found for p in zip(e.step, e.value, strict=True)] == [(0, 0.1), (100, 0.01), (200, 0.2)]


def test_several_changes_between_two_events_are_all_recorded(clock):
    rates = [0.1] * 3 + [0.05] * 7 + [0.01] * 90
    found = of(profile(clock, rates, wait=0, compute=1e-5, update=0), Rate)
    assert [p for e in found for p in zip(e.step, e.value, strict=True)] == [(0, 0.1), (3, 0.05), (10, 0.01)]


def test_rate_that_changes_at_each_step_is_sampled_with_its_last_value(clock):
    rates = np.linspace(1, 0, 20_000).tolist()
    found = profile(clock, rates, wait=0.0, compute=1e-4, update=0.0)
    assert max(len(e.step) for e in of(found, Rate)) <= profiler.POINTS
    points = [p for e in of(found, Rate) for p in zip(e.step, e.value, strict=True)]
    assert 50 < len(points) < 200
    assert all(rates[step] == value for step, value in points)
    assert points[-1] == (19_999, 0.0)
    steps = [step for step, _ in points]
    assert steps == sorted(set(steps))


def test_stopwatch_passes_errors_on(clock):
    def broken(_):
        raise KeyError("no")

    with pytest.raises(KeyError):
        Stopwatch().wrap(broken)(None)
