"""Positions outside of what they count raise an error, where a kernel would count them from the end or wrap them around."""

import numpy as np
import pytest

import labdl
from labdl import ops

pytestmark = pytest.mark.sample(backends=2)

REFUSED = (IndexError, ValueError, RuntimeError)  # the last is the framework's own, where NumPy has a result


def read(value):
    """Waits for the results of frameworks that raise errors later."""
    return labdl.to_numpy(value)


@pytest.mark.parametrize("place", [-1, -3, -4, 3, 2**31, 2**40, 2**62, 2**63 - 1, -(2**63)])
@pytest.mark.parametrize("name", ["embedding", "embedding_bag"])
def test_rows_of_a_table(name, place, backend):
    table = backend.tensor(np.arange(6, dtype="float32").reshape(3, 2))
    indices = np.array([[0, place]])
    with pytest.raises(REFUSED):
        read(getattr(ops, name)(backend.tensor(indices), table))


@pytest.mark.parametrize("place", [-1, -3, -17, 16, 2**32, 2**62])
def test_places_of_unpooling(place, backend):
    x = backend.tensor(np.ones((1, 1, 2, 2), "float32"))
    with pytest.raises(REFUSED):
        read(ops.max_unpool2d(x, backend.tensor(np.array([[[[0, 1], [2, place]]]])), 2))


@pytest.mark.sample(every=4)
@pytest.mark.parametrize("place", [1, -2, 2**32, 2**60, 2**62, -(2**62)])
@pytest.mark.parametrize("name", ["roi_align", "roi_pool"])
def test_images_of_boxes(name, place, backend):
    x = backend.tensor(np.arange(16, dtype="float32").reshape(1, 1, 4, 4))
    boxes = backend.tensor(np.array([[0, 0, 2, 2]], "float32"))
    options = {"sampling_ratio": 1} if name == "roi_align" else {}
    with pytest.raises(REFUSED):
        read(getattr(ops, name)(x, boxes, backend.tensor(np.array([place])), 2, **options))


@pytest.mark.parametrize("place", [-1, -3, -4, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ["nll_loss", "cross_entropy"])
def test_numbers_of_classes(name, weighted, place, backend):
    scores, target = backend.tensor(np.zeros((4, 3), "float32")), backend.tensor(np.array([0, -2, 2, place]))
    weight = backend.tensor(np.ones(3, "float32")) if weighted else None
    with pytest.raises(REFUSED):
        read(getattr(ops, name)(scores, target, weight=weight, ignore_index=-2))
    read(getattr(ops, name)(scores, backend.tensor(np.array([0, -2, 2, 1])), weight=weight, ignore_index=-2))


@pytest.mark.parametrize("place", [-1, -(2**63)])
def test_counted_numbers(place, backend):
    with pytest.raises(REFUSED):
        read(ops.bincount(backend.tensor(np.array([1, place]))))


@pytest.mark.backends("paddle")  # the others would allocate the counts
def test_counts_beyond_memory(backend):
    with pytest.raises(MemoryError, match="bincount would give 1099511627776 counts"):
        ops.bincount(backend.tensor(np.array([1])), minlength=2**40)
    with pytest.raises(MemoryError, match="bincount"):
        ops.bincount(backend.tensor(np.array([1, 2**40])))


# n positions on the first axis of x, of two axes; NumPy counts -n to -1 from the end
ROWS = {
    "take": lambda x, at: ops.take(x, at),
    "getitem": lambda x, at: ops.getitem(x, at),
    "take_along_axis": lambda x, at: ops.take_along_axis(x, ops.expand_dims(at, 1), axis=0),
    "gather_nd": lambda x, at: ops.gather_nd(x, ops.expand_dims(at, 1)),
    "scatter_nd": lambda x, at: ops.scatter_nd(ops.expand_dims(at, 1), x, (3, 2)),
    "index_add": lambda x, at: ops.index_add(x, at, x),
    **{
        f"scatter_{how}": lambda x, at, how=how: ops.scatter(x, ops.expand_dims(at, 1), x, 0, reduce=how)
        for how in (None, "add", "multiply", "max", "min")
    },
    **{
        f"scatter_{how}_columns": lambda x, at, how=how: ops.scatter(
            ops.permute_dims(x, (1, 0)), ops.expand_dims(at, 0), ops.permute_dims(x, (1, 0)), 1, reduce=how
        )
        for how in (None, "add", "multiply", "max", "min")
    },
    **{
        f"segment_{kind}": lambda x, at, kind=kind: getattr(ops, f"segment_{kind}")(x, at, 3)
        for kind in ("sum", "mean", "prod", "max", "min")
    },
}


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("name", ROWS)
def test_rows_beyond_both_ends(name, backend):
    x = np.arange(1.0, 7.0, dtype="float32").reshape(3, 2)
    tensor = backend.tensor(x)
    for place in (2, -1, -3):
        at = np.array([0, place, 1])
        if place == -1 or "scatter" not in name:
            np.testing.assert_allclose(read(ROWS[name](tensor, backend.tensor(at))), ROWS[name](x, at))
    for place in (3, -4, -7, 2**33, -(2**33), 2**62, -(2**62)):
        with pytest.raises(REFUSED):
            read(ROWS[name](tensor, backend.tensor(np.array([0, place, 1]))))


SEQUENCES = {  # a call with the lengths of two sequences of four steps, or with their labels
    **{
        name: lambda backend, at, name=name, gates=gates: getattr(ops, name)(
            *(backend.tensor(np.ones(shape, "float32")) for shape in ((2, 4, 3), (3, 2 * gates), (2, 2 * gates))),
            *[backend.tensor(np.ones(2 * gates, "float32"))] * (2 if name == "gru" else 1),
            lengths=at,
        )
        for name, gates in (("lstm", 4), ("gru", 3), ("rnn", 1))
    },
    "ctc_greedy_decode": lambda backend, at: ops.ctc_greedy_decode(_scores(backend, 4, 2, 3), at),
    "ctc_loss": lambda backend, at: ops.ctc_loss(
        _scores(backend, 4, 2, 3), _ones(backend, 2, 1), at, _ones(backend, 2)
    ),
    "ctc_loss targets": lambda backend, at: ops.ctc_loss(
        _scores(backend, 6, 2, 3), _ones(backend, 2, 4), _ones(backend, 2) * 6, at
    ),
    "ctc_loss labels": lambda backend, at: ops.ctc_loss(
        _scores(backend, 4, 2, 5), ops.expand_dims(at, 1), _ones(backend, 2) * 4, _ones(backend, 2)
    ),
    "rnnt_loss": lambda backend, at: ops.rnnt_loss(
        _scores(backend, 2, 4, 2, 3), _ones(backend, 2, 1), at, _ones(backend, 2)
    ),
    "rnnt_loss targets": lambda backend, at: ops.rnnt_loss(
        _scores(backend, 2, 1, 5, 3), _ones(backend, 2, 4), _ones(backend, 2), at
    ),
    "multi_margin_loss": lambda backend, at: ops.multi_margin_loss(_scores(backend, 2, 5), at),
    "multilabel_margin_loss": lambda backend, at: ops.multilabel_margin_loss(
        _scores(backend, 2, 5), ops.repeat(ops.expand_dims(at, 1), 5, axis=1)
    ),
}


def _scores(backend, *shape):
    return backend.tensor(np.zeros(shape, "float32"))


def _ones(backend, *shape):
    return backend.tensor(np.ones(shape, "int64"))


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("name", SEQUENCES)
def test_lengths_and_labels_out_of_range(name, backend):
    call, word = SEQUENCES[name], name.split()[0]
    first = call(backend, backend.tensor(np.array([4, 1])))
    read(first[0] if isinstance(first, tuple | list) else first)
    for number in (-2, 5, 2**40):
        with pytest.raises(ValueError, match=f"{word} wants .* from -?[01] to 4, received 1 to|received -2 to 1"):
            call(backend, backend.tensor(np.array([1, number])))


@pytest.mark.parametrize(
    ("name", "args", "options"),
    [
        ("rrelu", 1, {"lower": 0.5, "upper": 0.2}),
        ("random_uniform_like", 1, {"low": 2.0, "high": 1.0}),
        ("softshrink", 1, {"threshold": -1.0}),
        ("focal_loss", 2, {"gamma": -1.0}),
        ("focal_loss", 2, {"alpha": 3.0}),
        ("smooth_l1_loss", 2, {"beta": -1.0}),
    ],
)
def test_settings_out_of_range(name, args, options, backend):
    with pytest.raises(ValueError, match=f"{name} wants {next(iter(options))}"):
        getattr(ops, name)(*[_scores(backend, 3)] * args, **options)
