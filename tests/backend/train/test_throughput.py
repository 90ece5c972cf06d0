"""Throughput and learning rate events of trainings on a backend."""

import time

import pytest
from interrupted import DATA, own_seeds, plain, trainer

import labdl
from labdl.train import SGD, Rate, Step, Throughput

pytestmark = [pytest.mark.default_mode, pytest.mark.sample(backends=1)]


@pytest.fixture(autouse=True)
def seeds():
    with own_seeds():
        yield


def of(found, kind):
    return [e for e in found if isinstance(e, kind)]


def test_throughput_has_the_time_of_each_part_of_a_step(backend):
    began = time.perf_counter()
    found = list(plain(backend).events(DATA, epochs=3, batch_size=16, health=0))
    passed = time.perf_counter() - began
    events = of(found, Throughput)
    assert (sum(e.steps for e in events), sum(e.samples for e in events)) == (15, 210)
    assert events[-1].step == 15
    parts = [(e.data, e.compute, e.update or 0.0) for e in events]
    assert all(seconds >= 0 for part in parts for seconds in part)
    assert 0 < sum(map(sum, parts)) < passed
    separate = backend.name in ("torch", "paddle")
    assert all((e.update is not None) == separate for e in events), (
        "the update is a separate call, or compiled with the step"
    )


@pytest.mark.parametrize("options", [{"compiled": False}, {"accumulate": 2}])
def test_separate_update_is_timed(options, backend):
    events = of(trainer(backend, **options).events(DATA, epochs=1, batch_size=16, health=0), Throughput)
    assert all(e.update > 0 for e in events)


def test_rate_events_for_changes_by_schedule_and_by_hand(backend):
    schedule = labdl.train.StepDecay(10, 0.1)
    subject, found = trainer(backend, optimizer=SGD(0.1), schedule=schedule), []
    for event in subject.events(DATA, epochs=4, batch_size=16, health=0):
        found.append(event)
        if isinstance(event, Step) and event.step == 3:
            subject.learning_rate = 0.05
    points = [p for e in of(found, Rate) for p in zip(e.step, e.value, strict=True)]
    assert points == [(0, 0.1), (3, 0.05), (10, pytest.approx(0.005))]
