"""Invalid sizes and options for every operator: each backend refuses what the operator refuses, in its words."""

import random
import zlib
from dataclasses import replace

import numpy as np
import pytest
from cases import Call, each_sample, native

import labdl
from labdl.ops.operator import OPERATORS

pytestmark = pytest.mark.sample(backends=1)

TRIES = 3


def misfit(case, chance: random.Random):
    """One or two of the tensors with an axis more, one less, or another size, down to none."""
    count = 0

    def counted(sample):
        nonlocal count
        count += 1
        return sample

    each_sample(case, counted)
    changed = set(chance.sample(range(count), min(count, chance.choice((1, 1, 2)))))
    places = iter(range(count))

    def change(sample):
        if next(places) not in changed:
            return sample
        shape, kind = list(sample.shape), chance.random()
        if kind < 0.2 and shape:
            del shape[chance.randrange(len(shape))]
        elif kind < 0.4:
            shape.insert(chance.randint(0, len(shape)), chance.choice((1, 2, 3)))
        elif shape:
            shape[chance.randrange(len(shape))] = chance.choice((0, 1, 2, 3, 5, 7))
        return replace(sample, shape=tuple(shape), transform=None)

    return each_sample(case, change)


def outcome(call, args, kwargs, backend):
    """The shapes of the results, or what was raised."""
    try:
        return [labdl.to_numpy(t).shape for t in call(args, kwargs, lambda a: native(a, backend.name))]
    except Exception as error:
        return error


@pytest.mark.sample(every=4)
@pytest.mark.parametrize("name", OPERATORS)
def test_sizes_that_do_not_fit(name, backend):
    entry = OPERATORS[name]
    chance = random.Random(zlib.crc32(name.encode()))
    for case in entry.samples[:2]:
        for _ in range(TRIES):
            call = Call(entry, misfit(case, chance))
            args, kwargs = call.arrays()
            refused = call.refused(args, kwargs)
            found = outcome(call, args, kwargs, backend)
            if refused:
                assert isinstance(found, TypeError | ValueError | IndexError), f"{call.case}: {found!r}, not {refused}"
            else:
                assert found == [r.shape for r in call(args, kwargs)], call.case


@pytest.mark.parametrize("name", [name for name, entry in OPERATORS.items() if entry.options])
def test_wrong_values_of_options(name, backend):
    """Every declared option refuses its wrong values, also after a call with right ones."""
    entry = OPERATORS[name]
    call = Call(entry, entry.samples[0])
    args, kwargs = call.arrays()
    call(args, kwargs, lambda a: native(a, backend.name))
    for option, domain in entry.options.items():
        for wrong in domain.wrong_values():
            bound = entry.signature.bind(*args, **kwargs)
            bound.arguments[option] = wrong
            found = outcome(call, bound.args, bound.kwargs, backend)
            assert isinstance(found, TypeError | ValueError | IndexError), f"{name}({option}={wrong!r}): {found!r}"


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("take", (np.ones((2, 3), "float32"), np.array([7]), 1)),
        ("getitem", (np.ones((2, 3), "float32"), np.array([-3]))),
        ("embedding", (np.array([9]), np.ones((4, 2), "float32"))),
        ("take_along_axis", (np.ones((2, 3), "float32"), np.array([[0], [5]]), 1)),
    ],
)
def test_a_position_outside_of_a_tensor(name, args, backend):
    """The error comes at once, and what came of the call does no harm afterwards."""
    tensors = [native(a, backend.name) if isinstance(a, np.ndarray) else a for a in args]
    for _ in range(3):
        with pytest.raises((IndexError, ValueError)):
            getattr(labdl.ops, name)(*tensors)
        labdl.ops.add(*tensors[:1] * 2)


@pytest.mark.parametrize("name", ["quantile", "nanquantile"])
@pytest.mark.parametrize("shape", [(), (2,)])
def test_shares_of_quantiles_are_numbers(shape, name, backend):
    x, q = (native(np.full(s, 0.5), backend.name) for s in ((3,), shape))
    with pytest.raises(TypeError, match="quantile wants q as a number or a list of numbers, received"):
        getattr(labdl.ops, name)(x, q)
