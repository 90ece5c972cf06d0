"""Gradients with respect to one argument alone, in float32 and float64: those of all arguments together, in their dtypes."""

import numpy as np
import pytest
from cases import Call, each_sample, native

import labdl
from labdl.ops.operator import OPERATORS

pytestmark = pytest.mark.sample(backends=2, every=6)


def float_samples(case):
    found = []
    each_sample(case, lambda s: found.append(s) if s.free and s.dtype == "float32" else s)
    return found


NAMES = [
    name
    for name, entry in OPERATORS.items()
    if entry.differentiable and not entry.random and len(float_samples(entry.samples[0])) > 1
]


def total_of(call, args, kwargs, leaves, places, backend):
    """A function of the leaves at ``places``: the sum of the squares of the results."""

    def run(*values):
        given = dict(zip(places, values, strict=True))
        count = iter(range(len(leaves)))

        def place(a):
            if a.dtype.kind != "f":
                return native(a, backend.name)
            i = next(count)
            return given[i] if i in given else leaves[i]

        total = None
        for result in call(args, kwargs, place):
            if "float" not in labdl.dispatch.spec_of(result).dtype:
                continue
            part = labdl.ops.sum(labdl.ops.square(result))
            total = part if total is None else labdl.ops.add(total, part)
        return total

    return run


@pytest.mark.parametrize("name", NAMES)
def test_one_argument_alone(name, backend):
    entry = OPERATORS[name]
    call = Call(entry, entry.samples[0], "float64" if "float64" in entry.takes else None)
    args, kwargs = call.arrays(seed=1)
    arrays: list[np.ndarray] = []
    each_sample((args, kwargs), lambda a: arrays.append(a) if a.dtype.kind == "f" else a)
    count = 3 if "batch_norm" in name else len(arrays)  # the running statistics are state
    leaves = [native(a, backend.name) for a in arrays]
    together = backend.gradients(total_of(call, args, kwargs, leaves, range(count), backend), leaves[:count])[1]
    for i in range(count):
        (alone,) = backend.gradients(total_of(call, args, kwargs, leaves, [i], backend), [leaves[i]])[1]
        found, expected = labdl.to_numpy(alone), labdl.to_numpy(together[i])
        assert found.shape == arrays[i].shape
        assert found.dtype == arrays[i].dtype, f"gradient {i}"
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)
