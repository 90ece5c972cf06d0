"""The tables of other frameworks' names against the frameworks: complete, and equal where they say so."""

import inspect
import warnings

import numpy as np
import pytest
from foreign_layers import (
    PARTICULAR,
    Native,
    NoKernelError,
    arrays_of,
    calls_of,
    native_class,
    public_classes,
    tables,
    translated,
)
from stage_report import leave_out

import labdl
from labdl.interop import names
from labdl.interop.names import Reading
from labdl.interop.names.entry import parse_signature
from labdl.nn import foreign
from labdl.spec import Spec

pytestmark = pytest.mark.sample(backends=2)

CONTAINERS = ("Module", "Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict")
RANDOM = ("Dropout", "DropoutChannels", "AlphaDropout", "GaussianDropout", "GaussianNoise", "RReLU")


def test_every_class_of_the_framework_is_in_its_table(backend):
    found = public_classes(backend.name)
    table = names.classes(backend.name)
    assert sorted(found.keys() - table.keys()) == [], "give each an entry, or a reason"
    assert sorted(table.keys() - found.keys() - {"Model", "Input", "Sequential"}) == []


def test_signatures_are_those_of_the_framework(backend):
    common = ("name", "input_shape", "input_dim")  # what every layer of Keras takes by **kwargs
    for name, cls in public_classes(backend.name).items():
        entry = names.classes(backend.name)[name]
        if not entry.equal:  # their rules are for arguments of the class, some of which take any
            own = inspect.signature(cls.__init__).parameters
            assert entry.rules.keys() <= own.keys() or {"args", "kwargs"} & own.keys(), name
        if not entry.equal or entry.ours in CONTAINERS:
            continue
        theirs = [p for p in list(inspect.signature(cls.__init__).parameters.values())[1:] if p.kind not in (2, 4)]
        wanted = {p.name: p.default for p in theirs if p.name != "dtype"}
        listed = {
            p.name: p.default for p in parse_signature(entry.signature).parameters.values() if p.kind not in (2, 4)
        }
        listed = {n: d for n, d in listed.items() if n != "dtype" and (n in wanted or n not in common)}
        assert list(listed.items()) == list(wanted.items()), name


def build(backend, name, entry, args, kwargs, arrays=None):
    """LabDL's layer with random weights, the framework's with the same, and inputs."""
    ours = foreign.create(Reading(backend.name, name, entry), args, kwargs)
    rng = np.random.default_rng(0)
    arrays = arrays or arrays_of(name, ours, rng)
    ours.build(*[Spec(a.shape, str(a.dtype)) for a in arrays], backend=backend.name, seed=0)
    if not entry.ours.endswith("Loss"):  # the weights of losses are settings
        values = {
            k: rng.uniform(0.5, 1.5, v.shape).astype("float32") * rng.choice([1, -1] if v.ndim > 1 else [1], v.shape)
            for k, v in ours.state_dict().items()
        }
        ours.load_state_dict(values)
    native = Native(backend, name, args, kwargs)
    native.load(ours, arrays)
    return ours, native, arrays


def check(backend, name, entry):
    """A layer by its foreign name computes what the framework's own computes, with each argument that is translated."""
    tried, compared = set(), 0
    for args, kwargs in calls_of(name, entry):
        tried |= {*list(parse_signature(entry.signature).parameters)[: len(args)], *kwargs}
        ours, native, arrays = build(backend, name, entry, args, kwargs)
        for training in (False,) if entry.ours in RANDOM else (False, True):
            actual = ours.train(training)(*map(backend.tensor, arrays))
            with warnings.catch_warnings():  # of frameworks on their own defaults
                warnings.simplefilter("ignore")
                try:
                    expected = native(arrays, training)
                except NoKernelError:
                    leave_out(f"{backend.name} {name} {args} {kwargs} training={training}")
                    continue
            compared += 1
            assert len(expected) == 1
            np.testing.assert_allclose(
                labdl.to_numpy(actual), expected[0], rtol=1e-4, atol=2e-5, err_msg=f"{args} {kwargs}"
            )
    assert compared
    assert not set(translated(entry)) - tried, "arguments that no call gives"


@pytest.mark.sample(cases=20)
def test_equal_classes_compute_the_same(backend, run_cases):
    entries = {}  # a class of several names is compared once
    for name, entry in tables(backend.name):
        if entry.ours not in CONTAINERS:
            entries.setdefault(native_class(backend.name, name), (name, entry))
            assert entries[native_class(backend.name, name)][1] == entry, "one class with several names"
    run_cases([(name, (name, entry)) for name, entry in entries.values()], lambda case: check(backend, *case))


def test_particular_calls_compute_the_same(backend, run_cases):
    def compare(case):
        name, args, kwargs, shape = case
        x = np.random.default_rng(0).normal(size=shape).astype("float32")
        ours, native, arrays = build(backend, name, names.classes(backend.name)[name], args, kwargs, [x])
        [expected] = native(arrays, False)
        actual = labdl.to_numpy(ours.eval()(backend.tensor(x)))
        np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=2e-5)

    run_cases(
        [
            (f"{name}{args}{kwargs}{shape}", (name, args, kwargs, shape))
            for name, args, kwargs, shape in PARTICULAR[backend.name]
        ],
        compare,
    )


@pytest.mark.parametrize("rate", [0.2, 0.7])
def test_dropped_fractions_are_the_same(backend, rate):
    x = np.ones((100, 100), "float32")
    for name, entry in tables(backend.name):
        if entry.ours == "Dropout":
            kwargs = {"rate" if backend.name == "tensorflow" else "p": rate}
            ours = foreign.create(Reading(backend.name, name, entry), (), kwargs).build(
                (None, 100), backend=backend.name
            )
            actual = labdl.to_numpy(ours.train()(backend.tensor(x)))
            [expected] = Native(backend, name, (), kwargs)([x], True)
            for found in (actual, expected):
                assert abs((found == 0).mean() - rate) < 0.02
                np.testing.assert_allclose(found.max(), 1 / (1 - rate), rtol=1e-5)


def test_running_statistics_follow_the_momentum(backend):
    """Where a note says that the variance is another one, it is that of the batch: (n - 1) / n of the sample's."""
    for name, entry in tables(backend.name):
        if entry.ours == "BatchNorm":
            args = () if backend.name == "tensorflow" or name.startswith("Lazy") else (4,)
            ours, native, arrays = build(backend, name, entry, args, {"momentum": 0.75})
            before = ours.state_dict()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                native(arrays, True)
            ours.train()(*map(backend.tensor, arrays))
            native.check_statistics(ours.state_dict(), before, arrays[0].size // 4 if entry.note else None)
