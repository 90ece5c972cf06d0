"""Every operator gives the same called, traced, and as source of the framework alone, or says why it has no such form."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

import labdl
from labdl.errors import ModelError
from labdl.ops.operator import OPERATORS
from labdl.saving.parameters import save_parameters
from labdl.saving.source_export import to_source
from labdl.spec import Spec

sys.path.append(str(Path(__file__).parents[2] / "core"))
from operator_calls import Calls, samples

pytestmark = pytest.mark.sample(backends=2)

REASONS = "integers, slices|reads the values|function of the sizes|random inputs|has compiled|depend on data"
NAMES = [
    name
    for name, entry in OPERATORS.items()
    if not entry.random and not any(s.dtype == "string" for s in samples([*entry.samples[0][0]]))
]


def flat(result):
    return [labdl.to_numpy(v) for v in (result if isinstance(result, list | tuple) else [result])]


def assert_same(actual, expected):
    assert [(a.shape, a.dtype) for a in actual] == [(e.shape, e.dtype) for e in expected]
    for a, e in zip(actual, expected, strict=True):
        np.testing.assert_allclose(a, e, rtol=1e-5, atol=1e-5)


def source_of(model, folder):
    """The exported model; None where it is refused for one of the reasons."""
    try:
        text, values = to_source(model)
    except ModelError as refused:
        if not re.search(REASONS, str(refused)):
            raise
        return None
    save_parameters(values, folder / "net.weights.npz")
    space = {"__file__": str(folder / "net.py"), "__name__": "net"}
    exec(text, space)
    return space["Calls"]()


@pytest.mark.sample(every=24)
@pytest.mark.parametrize("name", NAMES)
def test_every_operator_in_every_form(name, backend, tmp_path):
    args, kwargs = OPERATORS[name].samples[0]
    arrays = [np.asarray(s.draw(np.random.default_rng(at))) for at, s in enumerate(samples([*args, *kwargs.values()]))]
    specs = [Spec(a.shape, str(a.dtype)) for a in arrays]
    model = Calls(name, args, kwargs).build(*specs, backend=backend.name)

    def run(called):
        return flat(called(*[backend.tensor(a) for a in arrays]))

    expected = run(model)
    assert_same(run(labdl.trace(model).to_module().build(backend=backend.name)), expected)
    native = source_of(model, tmp_path)
    if native is not None:
        assert_same(run(native), expected)


def test_sizes_that_depend_on_data_are_not_written_down(backend, tmp_path):
    x = np.array([0, 3, 3, 1, 2])
    model = Calls("unique_values", (OPERATORS["unique_values"].samples[0][0][0],), {}).build(
        Spec(x.shape, "int64"), backend=backend.name
    )
    native = source_of(model, tmp_path)
    if native is not None:
        assert_same(flat(native(backend.tensor(x))), flat(model(backend.tensor(x))))
