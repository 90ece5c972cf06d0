"""A framework's own classes: their calls with sample arguments, inputs, and the weights of LabDL's layer."""

import importlib
import inspect
import math
import re

import numpy as np

import labdl
from labdl import nn
from labdl.interop import names, weights
from labdl.interop.names.entry import DEFAULT_ONLY, IGNORED, parse_signature
from labdl.nn.native import branch_of
from labdl.nn.schema import LAYERS
from labdl.ops.operator import floats, ints

LAYOUT = {"scale_factor": 3.0, "data_format": "NHWC"}
# values of arguments without a default
REQUIRED = {
    "activation": "relu",
    "axis": 1,
    "depth_radius": 1,
    "dim": 1,
    "dims": (2, 1),
    "downscale_factor": 2,
    "embedding_dim": 3,
    "embedding_size": 3,
    "filters": 6,
    "groups": 2,
    "hidden_size": 5,
    "in1_channels": 3,
    "in1_features": 3,
    "in2_channels": 4,
    "in2_features": 4,
    "in_channels": 4,
    "in_features": 4,
    "input_dim": 7,
    "input_size": 3,
    "kernel_size": 3,
    "kernel_sizes": (3, 2),
    "n": 3,
    "norm_type": 2.0,
    "normalized_shape": (5,),
    "num_channels": 4,
    "num_embeddings": 7,
    "num_features": 4,
    "num_groups": 2,
    "pool_size": 2,
    "out_channels": 6,
    "out_features": 5,
    "output_dim": 3,
    "output_size": 3,
    "output_sizes": (4, 5),
    "padding": 1,
    "rate": 0.25,
    "shape": (2, 2),
    "size": 3,
    "stddev": 0.5,
    "target_shape": (5, 4),
    "threshold": 0.1,
    "unflattened_size": (2, 2),
    "units": 5,
    "upscale_factor": 2,
    "value": 1.5,
    "vocab_size": 7,
}
# other values of arguments with a default; a number is changed and a boolean negated without being listed
OTHER = {
    "activation": "tanh",
    "approximate": {"none": "tanh", False: "tanh", True: False},
    "data_format": {"NCL": "NLC", "NCHW": "NHWC", "NCDHW": "NDHWC", None: "channels_first"},
    "depthwise_initializer": "he_uniform",
    "pointwise_initializer": "he_uniform",
    "embeddings_initializer": "random_normal",
    "kernel_initializer": "he_uniform",
    "mode": {"nearest": "bilinear", "constant": "reflect"},
    "interpolation": "bilinear",
    "nonlinearity": "relu",
    "pool_size": 3,
    "cropping": {(1, 1): (1, 2), ((0, 0), (0, 0)): ((1, 0), (2, 1)), ((1, 1), (1, 1), (1, 1)): 2},
    "size": {2: 3, (2, 2): (2, 3), (2, 2, 2): (1, 2, 3)},
    "pad_mode": "pad",
    "padding": {"valid": "same", 0: 1, 1: 2, (1, 1): ((1, 0), (2, 1)), ((1, 1), (1, 1), (1, 1)): 2},
    "padding_mode": "reflect",
    "padding_idx": 2,
    "pos_weight": [0.5, 2.0, 1.5],
    "weight": [0.5, 2.0, 1.5],
    "reduction": {"mean": "sum", "none": "sum", "sum_over_batch_size": "mean"},
    "stride": {None: 1, 1: 2},
    "strides": {None: 1, 1: 2, (1, 1): 2, (1, 1, 1): 2},
    "dilation_rate": 2,
    "axis": {1: -1, -1: 1},
    "dim": 1,
    "num_parameters": 4,
    "channel": 4,
    "p": {2: 3, 1: 2, 0.5: 0.25, None: 0.25},
    "ignore_index": 2,
    "k": 2.0,
    "target_shape": (2, 10),
    "keep_prob": 0.75,
    "weight_attr": False,
    "bias_attr": False,
    "max": 2.0,
    "high": 2.0,
    "max_val": 2.0,
    "output_size": (7, 7),
    "data_layout": "NHWC",
    "end_dim": -2,
    "stop_axis": -2,
    "epsilon": 0.001,
    "eps": 0.001,
}
ALL = "all that have another value"
# sets of arguments of some classes, in place of the ones it needs and all others
CALLS = [
    (r"Upsample", [{"size": (5, 6), "mode": "bilinear", "align_corners": True}, {"scale_factor": 2.0}, LAYOUT]),
    (r"SoftmaxCrossEntropyWithLogits", [{"sparse": True}, {"sparse": True, "reduction": "mean"}]),
    (r"Upsampling.*", [{"size": (5, 6)}, {"scale_factor": 2.0}, LAYOUT]),
    (r"MaxUn[pP]ool1[dD]", [{}, {"stride": 2, "output_size": (8,)}, {"stride": 2, "padding": 1}]),
    (r"MaxUn[pP]ool2[dD]", [{}, {"stride": 2, "output_size": (8, 8)}, {"stride": 2, "padding": 1}]),
    (r"MaxUn[pP]ool3[dD]", [{}, {"stride": 2, "output_size": (8, 8, 8)}, {"stride": 2, "padding": 1}]),
    (
        r"(Depthwise|Separable)?Conv(olution)?\dD(Transpose)?",
        [{}, {ALL: True, "dilation_rate": 1}, {"dilation_rate": 2}],
    ),
    (r"GroupNormalization", [{"groups": 2}, {ALL: True, "groups": 4}]),
    (r"LayerNormalization", [{}, {ALL: True, "axis": [-2, -1]}]),
    (r"SpatialDropout.*", [{}, {"data_format": "channels_first"}]),
]
WINDOWS = [(2, 3), (3, 2), (1, 2), (4, 2), ((2, 3), (3, 2))]  # kernel sizes and strides
POOLS = [(3, 2, 0), (3, 2, 1), (2, 2, 0), (3, 1, 1), ((2, 3), (2, 3), 0), (3, 2, "SAME")]  # and paddings
# calls whose meaning depends on several arguments, and the shapes of their inputs
PARTICULAR = {
    "torch": [
        *[(f"ZeroPad{rank}d", (1,), {}, (2, 4, 5, 6, 7)[: rank + 2]) for rank in (1, 2, 3)],
        ("ConstantPad2d", ((1, 2, 0, 1), 1.5), {}, (2, 4, 5, 6)),
        ("Upsample", (), {"size": (9, 11), "mode": "nearest-exact"}, (2, 3, 5, 6)),
    ],
    "tensorflow": [
        *[("Conv2DTranspose", (6, k, s), {"padding": p}, (2, 7, 8, 3)) for k, s in WINDOWS for p in ("valid", "same")],
        ("Conv1DTranspose", (6, 2, 3), {}, (2, 7, 3)),
        ("Conv3DTranspose", (6, 2, 3), {}, (1, 3, 4, 3, 3)),
    ],
    "paddle": [
        *[("Conv2DTranspose", (4, 6, k, 1, "SAME"), {}, (2, 4, 7, 8)) for k in (2, 3, 4)],
        ("Conv2D", (4, 6, 3, 2, "SAME"), {}, (2, 4, 7, 8)),
        *[("MaxPool2D", (k, s, p), {"ceil_mode": True}, (2, 3, n, n)) for k, s, p in POOLS for n in (5, 6, 7)],
        *[
            ("AvgPool2D", (k, s, p), {"ceil_mode": True, "exclusive": e}, (2, 3, n, n))
            for k, s, p in POOLS
            for n in (5, 6, 7)
            for e in (True, False)
            if e or p != "SAME"
        ],
        ("Unfold", ([2, 3], 1, [1, 2, 0, 1]), {}, (2, 3, 9, 8)),
        ("Unfold", ([2, 3], 1, [1, 2]), {}, (2, 3, 9, 8)),
        ("Fold", ([9, 8], [2, 3], 1, [1, 2, 1, 2]), {}, (2, 12, 100)),
        ("ZeroPad2D", (1,), {}, (2, 4, 5, 6)),
        ("Pad3D", (1, "reflect"), {}, (2, 4, 5, 6, 7)),
    ],
    "mindspore": [
        *[
            ("Conv2dTranspose", (4, 6, k, s), {"pad_mode": p}, (2, 4, 7, 8))
            for k, s in WINDOWS
            for p in ("valid", "same")
        ],
        ("Conv2dTranspose", (4, 6, 2, 4, "valid", 0, 0, 2), {}, (2, 4, 5, 4)),
        ("Conv1dTranspose", (4, 6, 2, 3, "valid"), {}, (2, 4, 7)),
        ("Conv3dTranspose", (4, 6, 2, 3, "valid"), {}, (1, 4, 3, 4, 3)),
        *[("Upsample", (), {"size": (9, 11), "mode": mode}, (2, 3, 5, 6)) for mode in ("nearest", "bilinear", "area")],
        ("ReplicationPad2d", (1,), {}, (2, 4, 5, 6)),
    ],
}
SHAPES = {1: (2, 4, 9), 2: (2, 4, 8, 7), 3: (2, 4, 6, 5, 7)}
SPATIAL = re.compile(
    r"Conv|MaxPool|MaxUnpool|AvgPool|LPPool|Adaptive|Pad|Crop|Upsample|Global|DropoutChannels|BatchNorm|InstanceNorm"
    r"|Depthwise|Separable|GroupNorm|ChannelShuffle|LocalResponse|Unfold"
)
SIGNS = floats(4, 3, transform=np.sign)
# inputs of layers whose examples in the registry are for other settings
SAMPLES = {
    "Linear": [floats(2, 4)],
    "Bilinear": [floats(2, 3), floats(2, 4)],
    "LayerNorm": [floats(2, 3, 5)],
    "RMSNorm": [floats(2, 3, 5)],
    "Embedding": [ints(2, 5, high=7)],
    "PReLU": [floats(2, 4, 4)],
    "Softmax": [floats(2, 4, 3, 5)],
    "LogSoftmax": [floats(2, 4, 3)],
    "Softmin": [floats(2, 4, 3)],
    "GLU": [floats(2, 4, 6)],
    "Maxout": [floats(2, 4, 6, 4)],
    "CosineSimilarity": [floats(2, 3, 4), floats(2, 3, 4)],
    "RNNCell": [floats(2, 3), floats(2, 5)],
    "GRUCell": [floats(2, 3), floats(2, 5)],
    "Reshape": [floats(2, 4, 5)],
    "Permute": [floats(2, 3, 4)],
    "Flatten": [floats(2, 3, 4, 2)],
    "Unflatten": [floats(2, 4, 4)],
    "PixelShuffle": [floats(2, 8, 2, 4)],
    "PixelUnshuffle": [floats(2, 2, 4, 4)],
    "HingeEmbeddingLoss": [floats(4, 3), SIGNS],
    "CosineEmbeddingLoss": [floats(4, 3), floats(4, 3), floats(4, transform=np.sign)],
    "MarginRankingLoss": [floats(4), floats(4), floats(4, transform=np.sign)],
    "OneHot": [ints(2, 3, high=1)],
}


def tables(backend: str):
    """(name, entry) of the classes of a framework that are equal to a layer of LabDL."""
    return [(name, entry) for name, entry in names.classes(backend).items() if entry.equal]


def native_class(backend: str, name: str):
    """The framework's class, found in the modules of its table."""
    for module in names.FRAMEWORKS[backend].modules:
        found = getattr(importlib.import_module(module), name, None)
        if found is not None:
            return found
    raise AssertionError(f"{backend} has no {name}")


def public_classes(backend: str) -> dict[str, type]:
    """The layers and losses of the framework's namespaces."""
    found = {}
    for module in map(importlib.import_module, names.FRAMEWORKS[backend].modules):
        base = next(getattr(module, n) for n in ("Module", "Cell", "Layer", "Loss") if n in dir(module))
        base = getattr(module, "Layer", base) if backend == "paddle" else base
        for name in dir(module):
            cls = getattr(module, name)
            if inspect.isclass(cls) and issubclass(cls, base) and not name.startswith("_"):
                found[name] = cls
    if backend == "mindspore":  # optimizers and schedules are cells, too
        others = module.learning_rate_schedule.LearningRateSchedule, module.Optimizer
        found = {name: cls for name, cls in found.items() if not issubclass(cls, others)}
    return found


def rank_of(name: str) -> int:
    found = re.search(r"(\d)[dD]", name)
    return int(found[1]) if found else 2


def translated(entry) -> list[str]:
    """Arguments of a class that become settings of LabDL."""
    return [
        name
        for name, parameter in parse_signature(entry.signature).parameters.items()
        if entry.rule(name) not in (IGNORED, DEFAULT_ONLY)
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    ]


def calls_of(name: str, entry) -> list[tuple[tuple, dict]]:
    """Calls of a class: with the arguments that it needs, in its order, and with others for those that it translates."""
    parameters = parse_signature(entry.signature).parameters
    rank = rank_of(name)
    needed = tuple(
        _required(p.name, entry.ours, rank)
        for p in parameters.values()
        if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD
    )
    rest = {n: parameters[n].default for n in translated(entry) if parameters[n].default is not inspect.Parameter.empty}
    sets = next((sets for pattern, sets in CALLS if re.fullmatch(pattern, name)), None)
    if "dim" in rest and rest["dim"] is None and entry.ours != "LogSoftmaxExt":
        sets = [{"dim": 1}]
    if "begin_norm_axis" in rest:
        two = {"begin_norm_axis": 1, "begin_params_axis": 1, "normalized_shape": (3, 5)}
        return [(needed, {}), ((), two | {"epsilon": 0.001})]
    if sets is None:
        sets = [{}, {ALL: True}]
    found = []
    for each in sets:
        others = {n: _other(n, d) for n, d in rest.items() if n not in each} if ALL in each else {}
        kwargs = {k: v for k, v in (others | each).items() if k in translated(entry)}
        if each and not kwargs:  # none of them is an argument of this framework
            continue
        found += [] if (needed, kwargs) in found else [(needed, kwargs)]
    return found


def _required(name: str, ours: str, rank: int):
    if ours == "Pad" and name == "padding":
        return (1, 2, 2, 1, 0, 1)[: 2 * rank]
    if ours == "Fold" and name.startswith("kernel"):
        return 2
    if ours == "Fold":
        return (5, 6)
    if ours == "LayerNorm":
        return (5,)
    return REQUIRED[name]


def _other(name: str, default):
    if name in OTHER:
        value = OTHER[name]
        return value[default] if isinstance(value, dict) else value
    if isinstance(default, bool):
        return not default
    if isinstance(default, float):
        return round(default * 0.7 + 0.05, 6)
    if isinstance(default, int):
        return default + 1
    raise AssertionError(f"no other value of {name}, whose default is {default!r}")


def arrays_of(name: str, module, rng) -> list[np.ndarray]:
    """Inputs of a layer of LabDL."""
    first = module[0] if isinstance(module, nn.Sequential) else module
    kind = type(first).__name__
    if kind == "BinaryCrossEntropyLoss":
        return [floats(4, 3, low=0.1, high=0.9).draw(rng), floats(4, 3, low=0, high=1).draw(rng)]
    if kind == "Fold":
        given = [getattr(first, n) for n in ("size", "padding", "dilation", "kernel_size", "stride")]
        settings = [(v, v) if isinstance(v, int) else v for v in given]
        counts = [(n + 2 * p - d * (k - 1) - 1) // s + 1 for n, p, d, k, s in zip(*settings, strict=True)]
        return [rng.normal(size=(2, 2 * math.prod(settings[3]), math.prod(counts))).astype("float32")]
    if kind in SAMPLES:
        return [sample.draw(rng) for sample in SAMPLES[kind]]
    if SPATIAL.match(kind):
        shape = SHAPES[rank_of(name)]
        if kind.startswith("MaxUnpool"):
            return _pooled(first, shape, rng)
        if getattr(first, "data_format", "") == "channels_last":
            shape = (shape[0], *shape[2:], shape[1])
        return [rng.normal(size=shape).astype("float32")]
    return [sample.draw(rng) for sample in LAYERS[kind].layer_example.inputs]


def _pooled(module, shape, rng) -> list[np.ndarray]:
    """Maxima and positions that lie in any output."""
    rank = len(shape) - 2
    small = shape[:2] + (3,) * rank
    found = [rng.normal(size=small).astype("float32"), np.zeros(small, "int64")]
    found[1] += np.arange(3**rank).reshape((3,) * rank)
    return [np.moveaxis(a, 1, -1) for a in found] if module.data_format == "channels_last" else found


class NoKernelError(Exception):
    """The framework has a kernel for a call on some processors only."""


# of TensorFlow's transposed convolutions, which oneDNN has, where TensorFlow uses it
NO_KERNEL = re.compile("only supports NHWC|not yet support dilation|only support NHWC|supports NDHWC|channels_last")


class Native:
    """A layer of the framework with the weights of LabDL's."""

    def __init__(self, backend, name: str, args: tuple, kwargs: dict):
        self.backend, self.framework = backend, importlib.import_module(backend.name)
        kwargs = {k: self._tensor(v) if k in ("weight", "pos_weight") else v for k, v in kwargs.items()}
        self.layer = native_class(backend.name, name)(*args, **kwargs)

    def _tensor(self, values):
        return self.backend.tensor(np.array(values, "float32"))

    def load(self, module, arrays) -> None:
        """Copy the weights of LabDL's layer; those of losses are arguments."""
        if type(module).__name__.endswith("Loss"):
            return
        own = dict(module.named_parameters())
        found = {}
        for mapping in weights.mappings(weights.layer_table(self.backend.name), branch_of(module)):
            values = mapping.to_native(*(labdl.to_numpy(own[f"{n}:0"].value) for n in mapping.own))
            found.update(zip(mapping.native, values, strict=True))
        if not found:
            return
        if self.backend.name == "torch":
            self.layer.load_state_dict(
                {_last(k): self.framework.as_tensor(np.array(v)) for k, v in found.items()}, strict=True
            )
        elif self.backend.name == "paddle":
            assert self.layer.set_state_dict({_last(k): v for k, v in found.items()}) == ([], [])
        elif self.backend.name == "tensorflow":
            self.layer.build(arrays[0].shape)
            self.layer.set_weights([np.array(v) for v in found.values()])
        else:
            # a batch norm of three axes has its parameters in an inner cell
            there = {k.removeprefix("bn2d."): v for k, v in self.layer.parameters_and_names()}
            for k, v in found.items():
                there[_last(k)].set_data(self.framework.Tensor(np.array(v)))

    def check_statistics(self, after, before, count: int | None) -> None:
        """Compare the running mean and variance with LabDL's; with ``count`` values in a batch, the variance is the batch's."""
        own = {
            "torch": ("running_mean", "running_var"),
            "paddle": ("_mean", "_variance"),
        }.get(self.backend.name, ("moving_mean", "moving_variance"))
        holder = getattr(self.layer, "bn2d", self.layer)
        mean, variance = (labdl.to_numpy(getattr(holder, name)) for name in own)
        np.testing.assert_allclose(mean, after["moving_mean:0"], rtol=1e-4, atol=1e-6)
        expected = after["moving_variance:0"]
        if count:
            kept = (0.75 if self.backend.name != "torch" else 0.25) * before["moving_variance:0"]
            expected = kept + (expected - kept) * (count - 1) / count
        np.testing.assert_allclose(variance, expected, rtol=1e-4)

    def __call__(self, arrays, training: bool) -> list[np.ndarray]:
        if self.backend.name in ("torch", "paddle"):
            self.layer.train() if training else self.layer.eval()
        elif self.backend.name == "mindspore":
            self.layer.set_train(training)
        tensors = [self.backend.tensor(a) for a in arrays]
        if self.backend.name == "tensorflow":
            takes = hasattr(self.layer, "call") and "training" in inspect.signature(self.layer.call).parameters
            try:
                output = self.layer(*tensors, **({"training": training} if takes else {}))
            except self.framework.errors.OpError as error:
                if type(self.layer).__name__.endswith("DTranspose") and NO_KERNEL.search(str(error)):
                    raise NoKernelError from error
                raise
        else:
            output = self.layer(*tensors)
        return [labdl.to_numpy(v) for v in (output if isinstance(output, tuple | list) else [output])]


def _last(path: str) -> str:
    return path.rpartition("/")[2] if path[:1].isdigit() else path.replace("/", ".")
