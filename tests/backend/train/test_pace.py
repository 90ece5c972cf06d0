"""Where the time of real steps goes, and at which rate they learn."""

import time

import pytest
from interrupted import DATA, own_seeds, plain, trainer

import labdl
from labdl.train import SGD, Pace, Rate, Step


@pytest.fixture(autouse=True)
def seeds():
    with own_seeds():
        yield


def of(found, kind):
    return [e for e in found if isinstance(e, kind)]


def test_the_time_of_steps_is_told_in_its_parts(backend):
    began = time.perf_counter()
    found = list(plain(backend).events(DATA, epochs=3, batch_size=16, health=0))
    passed = time.perf_counter() - began
    paces = of(found, Pace)
    assert (sum(e.steps for e in paces), sum(e.samples for e in paces)) == (15, 210)
    assert paces[-1].step == 15
    parts = [(e.data, e.compute, e.update or 0.0) for e in paces]
    assert all(seconds >= 0 for part in parts for seconds in part)
    assert passed / 10 < sum(map(sum, parts)) < passed
    apart = backend.name in ("torch", "paddle")
    assert all((e.update is not None) == apart for e in paces), "compiled as one, or a call of its own"


@pytest.mark.parametrize("options", [{"compiled": False}, {"accumulate": 2}])
def test_an_update_that_is_a_call_of_its_own_is_timed_everywhere(options, backend):
    paces = of(trainer(backend, **options).events(DATA, epochs=1, batch_size=16, health=0), Pace)
    assert all(e.update > 0 for e in paces)


def test_learning_rates_are_told_where_they_change_by_schedule_and_by_hand(backend):
    schedule = labdl.train.StepDecay(10, 0.1)
    subject, found = trainer(backend, optimizer=SGD(0.1), schedule=schedule), []
    for event in subject.events(DATA, epochs=4, batch_size=16, health=0):
        found.append(event)
        if isinstance(event, Step) and event.step == 3:
            subject.learning_rate = 0.05
    points = [p for e in of(found, Rate) for p in zip(e.step, e.value, strict=True)]
    assert points == [(0, 0.1), (3, 0.05), (10, pytest.approx(0.005))]
