"""Two values of a layer's setting give different parameters or results on some sample: one that is ignored is a fault."""

import math
import typing

import layers
import numpy as np
import pytest
from cases import native
from variations import is_equal, literals, variations

import labdl
from labdl.nn.schema import LAYERS
from labdl.ops.operator import floats, ints
from labdl.settings import form_fields
from labdl.spec import Spec

CHECKED = "it says how many there have to be"
UPDATE = "the update begins with zeros: test_lora.py draws others"
SHAPES = "the shapes of the inputs belong to one value"
REASONS = {
    **{
        (kind, f"in_{what}"): CHECKED
        for kind, what in (
            ("Linear", "features"),
            ("LoRALinear", "features"),
            *((f"{word}{n}d", "channels") for word in ("Conv", "ConvTranspose") for n in (1, 2, 3)),
            *((f"{word}Conv{n}d", "channels") for word in ("Depthwise", "Separable") for n in (1, 2)),
            *((name, "channels") for name in ("ConvNormAct", "ConvLSTM", "ConvLSTMCell")),
            *((name, "features") for name in ("AdaptiveLogSoftmaxWithLoss", "MixtureOfExperts")),
        )
    },
    ("Bilinear", "in1_features"): CHECKED,
    ("Bilinear", "in2_features"): CHECKED,
    ("InstanceNorm", "spatial_axes"): CHECKED,
    ("DropoutChannels", "spatial_axes"): CHECKED,
    ("RNNCell", "hidden_size"): SHAPES,
    ("LayerNormLSTMCell", "hidden_size"): SHAPES,
    **{("ConvLSTMCell", name): SHAPES for name in ("out_channels", "stride", "padding", "data_format")},
    ("Fold", "padding"): SHAPES,
    ("LoRALinear", "lora_alpha"): UPDATE,
    ("LoRALinear", "lora_dropout"): UPDATE,
}
FIVE = {n: (floats(1, 2, *[5] * n),) for n in (1, 2, 3)}
TWO = {n: (floats(1, 1, *[2] * n), ints(1, 1, *[2] * n, high=2)) for n in (1, 2, 3)}
SQUARE = floats(1, 4, 4, 4)
# settings and inputs that show what neither the example nor a variant does
BASES = {
    **{
        (f"{kind}Pool{n}d{end}", "ceil_mode"): ({}, FIVE[n])
        for n in (1, 2, 3)
        for kind, end in (("Max", ""), ("Avg", ""), ("LP", ""), ("Max", "WithIndices"))
    },
    **{(f"AvgPool{n}d", "count_include_pad"): ({"padding": 1}, FIVE[n]) for n in (1, 3)},
    **{(f"MaxUnpool{n}d", name): ({"kernel_size": 3}, TWO[n]) for n in (1, 2, 3) for name in ("stride", "padding")},
    **{(f"ConvTranspose{n}d", "groups"): ({"out_channels": 4}, (floats(1, 4, *[3] * n),)) for n in (1, 3)},
    ("GroupNorm", "data_format"): ({"groups": 2}, (SQUARE,)),
    ("L2Normalize", "epsilon"): ({}, (floats(2, 4, low=-1e-3, high=1e-3),)),
    ("Reshape", "shape"): ({"shape": (2, 3)}, (floats(2, 6),)),
    ("PixelShuffle", "data_format"): ({"factor": 2}, (SQUARE,)),
    ("ChannelShuffle", "data_format"): ({"groups": 2}, (SQUARE,)),
    ("Fold", "stride"): ({"size": (3, 3), "kernel_size": 1, "stride": (1, 2)}, (floats(1, 1, 6),)),
    ("Fold", "dilation"): ({"size": (4, 4), "kernel_size": 2, "dilation": (1, 2), "padding": 0}, (floats(1, 4, 6),)),
    ("Concat", "axis"): ({"axis": 1}, (floats(2, 2), floats(2, 2))),
    ("RNN", "rate"): ({"hidden_size": 3, "layers": 2}, (floats(2, 3, 4),)),
    ("MultiHeadAttention", "rotary_base"): ({"heads": 1, "rotary": True}, None),
    ("MultiHeadAttention", "rotary_scaling"): (
        {"heads": 1, "rotary": True, "rotary_base": 100.0, "rotary_scaling": (4.0, 1.0, 4.0, 16.0)},
        None,
    ),
    ("MultiHeadAttention", "rotary_interleaved"): ({"heads": 1, "rotary": True}, None),
    ("PatchEmbedding", "data_format"): ({"patch_size": 2}, (SQUARE,)),
    ("PoissonNLLLoss", "epsilon"): ({"log_input": False}, (floats(4, low=1e-9, high=1e-8), floats(4, low=0, high=3))),
    ("MixtureOfExperts", "normalize"): ({"top_k": 2}, None),
}


def arrays_of(value):
    if isinstance(value, list | tuple):
        return [array for part in value for array in arrays_of(part)]
    if isinstance(value, dict):
        return arrays_of(list(value.values()))
    return [] if value is None else [np.asarray(labdl.to_numpy(value))]


def observe(cls, settings, arrays, backend):
    """Names, values and flags of the parameters, and the outputs of a call in training and one in evaluation."""
    labdl.seed(3)
    layer = cls(**settings).build(*(Spec(a.shape, str(a.dtype)) for a in arrays), backend=backend.name, seed=0)
    inputs = [native(a, backend.name) for a in arrays]
    results = [np.array([f"{name} {p.trainable}" for name, p in layer.named_parameters()])]
    for training in (True, False):
        layer.train(training)
        labdl.seed(5)
        results += arrays_of([p.value for p in layer.parameters()]) + arrays_of(layer(*inputs))
    return results


def matters(cls, name, bases, backend) -> bool:
    listed = literals(typing.get_type_hints(cls, include_extras=True)[name])
    for settings, samples in bases:
        draws = np.random.default_rng(0)
        arrays = [sample.draw(draws) for sample in samples]
        expected = observe(cls, settings, arrays, backend)
        for other in variations(getattr(cls(**settings), name), listed):
            try:
                results = observe(cls, {**settings, name: other}, arrays, backend)
            except Exception:  # most values are refused, each by an error of its own
                continue
            if not is_equal(results, expected):
                return True
    return False


@pytest.mark.sample(every=16, backends=1)
@pytest.mark.parametrize(
    "kind", [name for name in layers.NAMES if name != "Input"]
)  # of a graph, which computes nothing
def test_every_setting_changes_a_result(kind, backend):
    cls = LAYERS[kind]
    example, inputs = cls.layer_example.params, cls.layer_example.inputs
    variants = [(v[1], v[2:]) for v in layers.VARIANTS.values() if v[0] == kind]
    for name in form_fields(cls):
        if (kind, name) in REASONS or (kind, name) == ("CTCLoss", "zero_infinity"):  # see below
            continue
        own, samples = BASES.get((kind, name), (None, None))
        bases = [(example, inputs), *variants] if own is None else [({**example, **own}, samples or inputs)]
        bases = [({**example, **settings}, arrays) for settings, arrays in bases]
        assert matters(cls, name, bases, backend), f"{kind}: {name} changes nothing"


def test_infinite_loss_of_sequences_that_do_not_fit(backend):
    logits, targets = native(np.zeros((1, 2, 3), "float32"), backend.name), native(np.array([[1, 1, 1]]), backend.name)
    for zero, expected in ((False, math.inf), (True, 0.0)):
        loss = LAYERS["CTCLoss"](zero_infinity=zero, reduction="sum")
        lengths = [native(np.array([n]), backend.name) for n in (2, 3)]
        assert float(labdl.to_numpy(loss(logits, targets, *lengths))) == expected


def test_lists_name_settings_that_exist():
    names = {(kind, name) for kind, cls in LAYERS.items() for name in form_fields(cls)}
    assert names.issuperset(REASONS.keys() | BASES.keys())
