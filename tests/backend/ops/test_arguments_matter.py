"""Two values of an argument give different results on some sample: one that is accepted and ignored is a fault."""

import math

import numpy as np
import pytest
from cases import Call, each_sample, native
from variations import is_equal, variations

import labdl
from labdl import ops
from labdl.ops.operator import OPERATORS

KERNELS = "the shape of the kernel belongs to one number of groups"
OFFSETS = "the shape of the offsets belongs to one of them"
UPDATED = "it moves the running statistics, which the layer's tests compare"
REASONS = {
    ("sort", "stable"): "the order of equal elements is that of a stable sort on every backend",
    ("argsort", "stable"): "the order of equal elements is that of a stable sort on every backend",
    ("conv1d", "groups"): KERNELS,
    ("conv2d", "groups"): KERNELS,
    ("conv3d", "groups"): KERNELS,
    ("deform_conv2d", "stride"): OFFSETS,
    ("deform_conv2d", "padding"): OFFSETS,
    ("batch_norm", "momentum"): UPDATED,
    ("sync_batch_norm", "momentum"): UPDATED,
    ("weight_norm", "axis"): "the shape of the gain belongs to one axis",
    ("istft", "onesided"): "the number of frequencies belongs to one of them",
}
_rng = np.random.default_rng(2)


def _random(*shape):
    return _rng.normal(size=shape).astype("float32")


def _array(*values):
    return np.array(values, "float32")


NOT_FINITE = _array(math.nan, math.inf, -math.inf)
SQUARE, CUBE = _random(1, 3, 3), _random(1, 4, 4, 4)
FIVE = {1: _random(1, 1, 5), 2: _random(1, 1, 5, 5), 3: _random(1, 1, 5, 5, 5)}
PLACES = {n: np.arange(2**n, dtype="int64").reshape(1, 1, *[2] * n) for n in (1, 2, 3)}
SCALE = np.ones(3, "float32"), np.zeros(3, "float32"), _array(0, 1, 2), _array(1, 2, 3)
ATTENTION = (_random(1, 1, 4, 5), _random(1, 1, 6, 5), _random(1, 1, 6, 5))
BOXES = _array([0, 0, 2, 2], [0, 0, 2, 1])
# where the samples of the operator do not show it: arguments, and another value
CALLS = {
    ("isclose", "equal_nan"): (NOT_FINITE, NOT_FINITE, {}, True),
    ("allclose", "equal_nan"): (NOT_FINITE, NOT_FINITE, {}, True),
    ("allclose", "rtol"): (_array(100), _array(101), {}, 0.1),
    ("nan_to_num", "nan"): (NOT_FINITE, {}, 1.0),
    ("nan_to_num", "posinf"): (NOT_FINITE, {}, 1.0),
    ("nan_to_num", "neginf"): (NOT_FINITE, {}, 1.0),
    ("split", "axis"): (_random(4, 4), 2, {}, 1),
    ("take", "axis"): (_random(3, 3), np.array([0, 2]), {}, 1),
    ("scatter", "axis"): (_random(3, 3), np.array([[1]]), _random(1, 1), {}, 0),
    ("index_add", "axis"): (_random(3, 3), np.array([0, 1, 1]), _random(3, 3), {}, 1),
    ("searchsorted", "side"): (_array(1, 2, 3), _array(2), {}, "right"),
    ("prelu", "axis"): (_random(3, 3), _array(0.1, 0.2, 0.3), {}, 0),
    ("batched_nms", "iou_threshold"): (BOXES, _array(0.9, 0.8), np.array([0, 0]), 0.3, {}, 0.9),
    ("normalize", "epsilon"): (1e-3 * SQUARE, {}, 1.0),
    ("cosine_similarity", "epsilon"): (1e-3 * SQUARE, SQUARE + 1, {}, 1.0),
    ("einsum", "equation"): ("ij,jk->ik", _random(2, 3), _random(3, 4), {}, "ij,jk->ki"),
    ("cross", "axis"): (_random(3, 3), _random(3, 3), {}, 0),
    ("scaled_dot_product_attention", "rate"): (*ATTENTION, {"training": True}, 0.5),
    ("scaled_dot_product_attention", "training"): (*ATTENTION, {"rate": 0.5}, True),
    ("conv1d", "data_format"): (SQUARE, _random(2, 3, 1), {}, "channels_last"),
    ("conv2d", "data_format"): (CUBE, _random(2, 4, 1, 1), {}, "channels_last"),
    ("conv3d", "data_format"): (CUBE[..., None] + np.zeros(4, "float32"), _random(2, 4, 1, 1, 1), {}, "channels_last"),
    ("conv_transpose1d", "data_format"): (SQUARE, _random(3, 2, 1), {}, "channels_last"),
    ("depthwise_conv2d", "data_format"): (CUBE, _random(4, 1, 2, 2), {}, "channels_last"),
    ("separable_conv2d", "data_format"): (CUBE, _random(4, 1, 2, 2), _random(2, 4, 1, 1), {}, "channels_last"),
    ("fold", "kernel_size"): (_random(1, 2, 6), 3, (2, 1), {}, (1, 2)),
    ("fold", "stride"): (_random(1, 1, 6), 3, 1, {"stride": (2, 1)}, (1, 2)),
    ("fold", "dilation"): (_random(1, 4, 6), 4, 2, {"dilation": (1, 2)}, (2, 1)),
    ("pixel_shuffle", "data_format"): (CUBE, 2, {}, "channels_last"),
    ("channel_shuffle", "data_format"): (CUBE, 2, {}, "channels_last"),
    ("batch_norm", "axis"): (SQUARE, *SCALE, {}, 2),
    ("sync_batch_norm", "axis"): (SQUARE, *SCALE, {}, 2),
    ("group_norm", "axis"): (CUBE, 2, {}, 2),
    **{
        (f"{kind}_pool{n}d", "ceil_mode"): (FIVE[n], *p, 2, {}, True)
        for n in (1, 3)
        for kind, p in (("max", ()), ("avg", ()), ("lp", (2.0,)))
    },
    **{(f"max_pool{n}d_with_indices", "ceil_mode"): (FIVE[n], 2, {}, True) for n in (1, 3)},
    **{(f"max_unpool{n}d", "stride"): (PLACES[n].astype("float32"), PLACES[n], 2, {}, 3) for n in (1, 2, 3)},
    **{(f"max_unpool{n}d", "size"): (PLACES[n].astype("float32"), PLACES[n], 2, {}, (5,) * n) for n in (1, 2, 3)},
    **{
        (f"max_unpool{n}d", "padding"): (PLACES[n].astype("float32"), PLACES[n] * 0 + np.arange(2), 3, {}, 1)
        for n in (1, 2, 3)
    },
}


def options_of(entry):
    skipped = ("VAR_POSITIONAL", "VAR_KEYWORD")
    return [p for p in entry.signature.parameters.values() if p.name not in entry.inputs and p.kind.name not in skipped]


def results(entry, arguments, backend):
    labdl.seed(3)
    args, kwargs = each_sample((arguments.args, arguments.kwargs), lambda a: native(a, backend.name))
    output = getattr(ops, entry.name)(*args, **kwargs)
    return [labdl.to_numpy(one) for one in (output if isinstance(output, list | tuple) else [output])]


def matters(entry, name, backend) -> bool:
    for case in entry.samples:
        args, kwargs = Call(entry, case).arrays()
        arguments = entry.signature.bind(*args, **kwargs)
        arguments.apply_defaults()
        value = arguments.arguments[name]
        expected = results(entry, arguments, backend)
        for other in variations(value, list(getattr(entry.options.get(name), "values", ()))):
            arguments.arguments[name] = other
            try:
                values = results(entry, arguments, backend)
            except Exception:  # most values are refused, each by an error of its own
                continue
            if not is_equal(values, expected):
                return True
    return False


@pytest.mark.sample(every=36)
@pytest.mark.parametrize("name", [name for name, entry in OPERATORS.items() if options_of(entry)])
def test_every_argument_changes_a_result(name, backend):
    entry = OPERATORS[name]
    for option in (p.name for p in options_of(entry)):
        if (name, option) in REASONS:
            continue
        if (name, option) not in CALLS:
            assert matters(entry, option, backend), f"{name}: {option} changes nothing"
            continue
        *args, kwargs, other = CALLS[name, option]
        arguments = entry.signature.bind(*args, **kwargs)
        arguments.apply_defaults()
        expected = results(entry, arguments, backend)
        arguments.arguments[option] = other
        assert not is_equal(results(entry, arguments, backend), expected), f"{name}: {option} changes nothing"


def test_list_of_exceptions_is_short():
    names = {(name, p.name) for name, entry in OPERATORS.items() for p in options_of(entry)}
    assert names.issuperset(REASONS.keys() | CALLS.keys())
    assert all(REASONS.values())
