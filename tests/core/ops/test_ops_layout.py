"""Operators give equal results for channels-last and logical tensors, on the NumPy reference."""

import dataclasses
import types

import numpy as np
import pytest

from labdl.ops import channels_last, rules
from labdl.ops.infix import neutral
from labdl.ops.operator import OPERATORS, Sample

AXES = [None, 1, -1, 0, (2, 3), (0, 2, 3), (1, 2), (-1, 1)]
SHAPES = [(2, 3, 4, 5), (3, 1, 1), (2, 1, 4, 5), (5,)]
INDICES = [
    (slice(None), slice(0, 2)),
    (..., slice(1, 3)),
    slice(1, None),
    (slice(None, None, -1), ..., slice(2)),
    (..., None),
    0,
]


class Side:
    """A layout for NumPy arrays that remembers what was transposed."""

    def __init__(self):
        self.made, self.used = {}, 0

    def lies_last(self, x) -> bool:
        return id(x) in self.made

    def channels_last(self, x, rank=None):
        self.used += self.lies_last(x)
        x = np.reshape(x, (1,) * ((rank or 0) - np.ndim(x)) + np.shape(x))
        return np.moveaxis(x, 1, -1)

    def channels_first(self, y):
        x = np.moveaxis(y, -1, 1)
        self.made[id(x)] = x
        return x


def way(entry):
    own = entry.rule is None and (entry.name == "logsumexp" or (entry.category == "activation" and not entry.random))
    return channels_last.strategy(entry, own), own


FOLLOWED = [entry for entry in OPERATORS.values() if way(entry)[0]]


def drawn(value, rng, shapes=None):
    if isinstance(value, list | tuple) and value and isinstance(value[0], Sample):
        return [drawn(v, rng, shapes) for v in value]
    if not isinstance(value, Sample):
        return value
    if shapes is None:
        return value.draw(rng)
    if value.low > value.high - 0.1:
        return value.draw(rng)
    return dataclasses.replace(value, shape=shapes.pop(0)).draw(rng)


def calls(entry, rng):
    """Arguments with at least three axes for the leading tensor."""
    found, _ = way(entry)
    for args, kwargs in entry.samples:
        if found is channels_last._elementwise:
            for turn in range(len(SHAPES)):
                shapes = [SHAPES[0], *(SHAPES[turn:] + SHAPES[:turn])] * 2
                yield [drawn(a, rng, shapes) for a in args], {k: drawn(v, rng, shapes) for k, v in kwargs.items()}
            continue
        if found in (channels_last._reduce, channels_last._index_reduce):
            x = drawn(args[0], rng, [SHAPES[0]])
            options = {k: v for k, v in kwargs.items() if k not in ("axis", "keepdims")}
            if len(args) == 1 or entry.rule is rules.quantile:
                for axis in AXES:
                    for keepdims in (False, True):
                        yield [x, *args[1:2]], {**options, "axis": axis, "keepdims": keepdims}
            continue
        args = [drawn(a, rng) for a in args]
        lead = args[0] if isinstance(args[0], list) else [args[0]]
        if min(np.ndim(v) for v in lead) > 2:
            yield args, {k: drawn(v, rng) for k, v in kwargs.items()}
    x = rng.normal(size=SHAPES[0]).astype("float32")
    more = {
        rules.getitem: [(i,) for i in INDICES],
        rules.pad: [(((0, 0), (1, 2), (0, 1), (3, 0)),)],
        rules.take: [(np.array([2, 0]), a) for a in (1, -1)] + [(np.array([[1, 0]]), 1), (np.array([0]), 0)],
        rules.permute_dims: [((0, 2, 3, 1),), ((0, 3, 1, 2),), ((3, 0, 2, 1),)],
        rules.flip: [(1,), ((1, -1),), ()],
        rules.cumulative_total: [(1,), (-1,)],
        rules.cumulative: [(1,), (2,)],
        rules.softmax: [(1,), (-1,)],
        rules.split: [(3, 1), ((1, 4), -1)],
        rules.local_response_norm: [(2,)],
    }
    for args in more.get(entry.rule, []):
        yield [x, *args], {}
    if entry.rule is rules.concat:
        yield [[x, x[:, :2]]], {"axis": 1}
        yield [[x, x[:1]]], {"axis": 0}
    if entry.rule in (rules.group_norm, rules.batch_norm):
        yield ([x, 3] if entry.rule is rules.group_norm else [x, *np.abs(rng.normal(size=(4, 3)))]), {}


def settled(result):
    return result if isinstance(result, tuple | list) else [result]


@pytest.mark.sample(every=8)
@pytest.mark.parametrize("entry", [e for e in FOLLOWED if not e.random], ids=lambda e: e.name)
def test_it_means_the_same_on_both_sides(entry):
    rng, tried, used = np.random.default_rng(0), 0, 0
    body = neutral(entry.body) if entry.composite else entry.body
    for args, kwargs in calls(entry, rng):
        try:
            expected = settled(body(*_copies(args), **kwargs))
        except (TypeError, ValueError, IndexError):
            continue  # shapes that only this operator refuses
        for all_of_them in (False, True):
            side = Side()
            backend = types.SimpleNamespace(operators=types.SimpleNamespace(**{entry.name: 0} if way(entry)[1] else {}))
            backend.layout = side
            run = channels_last.follow_layout(entry, body, backend)
            given = [_laid(a, side, all_of_them or not at) for at, a in enumerate(_copies(args))]
            found = settled(run(*given, **kwargs))
            assert len(found) == len(expected)
            for ours, reference in zip(found, expected, strict=True):
                np.testing.assert_allclose(ours, reference, rtol=1e-4, atol=1e-5)
            used += side.used
            tried += 1
    assert tried
    assert used, "no case had a tensor that lies channels-last"


def _copies(args):
    return [np.array(a) if isinstance(a, np.ndarray) else list(a) if isinstance(a, list) else a for a in args]


def _laid(value, side, wanted):
    if isinstance(value, list) and value and isinstance(value[0], np.ndarray):
        return [_laid(v, side, wanted) for v in value]
    if not wanted or not isinstance(value, np.ndarray) or value.ndim < 3:
        return value
    return side.channels_first(np.moveaxis(value, 1, -1))


def test_elementwise_composites_are_detected_from_their_bodies():
    spread = {e.name for e in FOLLOWED if e.rule is None and way(e)[0] is channels_last._elementwise}
    assert {"silu", "gelu", "softplus", "elu", "hardswish", "mish", "leaky_relu", "hardtanh"} <= spread
    assert not spread & {"log_softmax", "softmin", "glu", "crelu", "swiglu", "sparsemax"}


def test_random_operators_keep_the_logical_order_of_portable_numbers():
    import labdl

    side = Side()
    backend = types.SimpleNamespace(operators=types.SimpleNamespace(dropout=0), layout=side)
    seen = []
    entry = OPERATORS["dropout"]
    run = channels_last.follow_layout(entry, lambda x, *rest, **options: seen.append(x.shape) or x, backend)
    x = side.channels_first(np.zeros((2, 4, 5, 3)))
    run(x, 0.5, training=True)
    labdl.seed(0, portable=True)
    try:
        run(x, 0.5, training=True)
    finally:
        labdl.seed(0, portable=False)
    assert seen == [(2, 4, 5, 3), (2, 3, 4, 5)]
