"""Clause 6.1, the adaptation of frameworks: creation, operators, modules, and the choice of a framework."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np

from labdl import backends, dispatch, nn, ops
from labdl.conformance.row import array, close, equal, holds, raises, row, there
from labdl.errors import BackendError
from labdl.ops.operator import Sample
from labdl.ops.random.state import seed

# -- a) initial values of tensors


@row("6.1.1 a)1", "Tensors without initial values", "ops.empty")
def empty():
    tensor = ops.empty((2, 3), dtype="int32")
    equal(np.zeros_like(array(tensor)), np.zeros((2, 3), "int32"))
    holds(dispatch.spec_of(tensor).dtype == "int32", "the dtype is the one asked for")


@row(
    "6.1.1 a)2",
    "Tensors of zeros, ones, a value, or another tensor's values",
    "ops.zeros, ones, full, tensor, full_like",
)
def fill():
    equal(ops.zeros((2, 3)), np.zeros((2, 3)))
    equal(ops.ones((2, 3), dtype="int64"), np.ones((2, 3)))
    equal(ops.full((2,), 1.5), [1.5, 1.5])
    equal(ops.tensor(ops.full((2,), 7)), [7, 7])
    equal(ops.full_like(ops.zeros((2, 2)), 3.0), np.full((2, 2), 3.0))


@row("6.1.1 a)3", "Random tensors of the uniform distribution", "mean, variance and range of 20,000 numbers")
def uniform():
    drawn = array(ops.random_uniform((20000,), -1.0, 3.0))
    holds(drawn.min() >= -1 and drawn.max() < 3, "all numbers are in the range")
    close([drawn.mean(), drawn.var()], [1.0, 16 / 12], rtol=0, atol=0.05)


@row("6.1.1 a)3", "Random tensors of the binomial distribution", "mean and variance of 20,000 numbers")
def binomial():
    drawn = array(ops.random_binomial((20000,), 10, 0.3)).astype("float64")
    close([drawn.mean(), drawn.var()], [3.0, 2.1], rtol=0, atol=0.1)


@row(
    "6.1.1 a)3", "Random tensors of the normal distribution", "mean and variance of 20,000 numbers; the same seed twice"
)
def normal():
    drawn = array(ops.random_normal((20000,), 2.0, 0.5))
    close([drawn.mean(), drawn.var()], [2.0, 0.25], rtol=0, atol=0.02)
    seed(3)
    first = array(ops.random_normal((4,)))
    seed(3)
    equal(ops.random_normal((4,)), first)


# -- b) and c) operators: registered, and the values of their samples against NumPy

_NUMPY = {
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
    "logical_not": np.logical_not,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "greater": np.greater,
    "less": np.less,
    "equal": np.equal,
    "less_equal": np.less_equal,
    "greater_equal": np.greater_equal,
    "not_equal": np.not_equal,
    "square": np.square,
    "sqrt": np.sqrt,
    "exp": np.exp,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "max": np.max,
    "min": np.min,
    "sum": np.sum,
    "mean": np.mean,
    "matmul": np.matmul,
    "reshape": np.reshape,
    "concat": lambda arrays, axis=0: np.concatenate(arrays, axis),
    "stack": lambda arrays, axis=0: np.stack(arrays, axis),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "relu": lambda x: np.maximum(x, 0),
}
# clause, name, requirement, operators
_OPERATORS = [
    ("6.1.1 b)1", "logic", "Logical and, or, not, exclusive or", "logical_and logical_or logical_not logical_xor"),
    ("6.1.1 b)2", "trigonometry", "Sine, cosine, tangent", "sin cos tan"),
    ("6.1.1 b)3", "inverse trigonometry", "Inverse sine, cosine, tangent", "asin acos atan"),
    ("6.1.1 b)4", "hyperbolic functions", "Hyperbolic sine, cosine, tangent", "sinh cosh tanh"),
    ("6.1.1 b)5", "comparison", "The six comparisons", "greater less equal less_equal greater_equal not_equal"),
    ("6.1.1 b)6", "powers", "Squares, roots, exponentials, logarithms", "square sqrt exp log log2 log10"),
    ("6.1.1 c)3", "aggregation", "Maximum, minimum, sum, mean", "max min sum mean"),
    ("6.1.1 c)4", "activation", "Activation functions", "sigmoid relu tanh"),
    (
        "6.1.1 c)5",
        "arrangement",
        "Matrix product, change of shape, joining, stacking, splitting",
        "matmul reshape concat stack split",
    ),
]


def _sample_arguments(value, rng, wrap):
    """Replace each sample in nested arguments by an array."""
    if isinstance(value, Sample):
        return wrap(value.draw(rng))
    if isinstance(value, list | tuple):
        return type(value)(_sample_arguments(v, rng, wrap) for v in value)
    return value


def _flat(result) -> list:
    return list(result) if isinstance(result, list | tuple) else [result]


def try_operators(names: str) -> None:
    """Check that each operator is registered and agrees with NumPy on its samples."""
    for name in names.split():
        there(ops, name, what="an operator of the standard's list")
        for args, kwargs in ops.OPERATORS[name].samples:
            given, expected = (
                [
                    _sample_arguments(args, np.random.default_rng(1), w),
                    {k: _sample_arguments(v, np.random.default_rng(2), w) for k, v in kwargs.items()},
                ]
                for w in (ops.tensor, np.asarray)
            )
            oracle = _NUMPY.get(name, ops.OPERATORS[name].body)
            for ours, reference in zip(
                _flat(getattr(ops, name)(*given[0], **given[1])),
                _flat(oracle(*expected[0], **expected[1])),
                strict=True,
            ):
                close(ours, reference)


for _clause, _name, _requirement, _names in _OPERATORS:
    row(_clause, _requirement, f"their samples against NumPy: {_names}", name=_name)(
        lambda names=_names: try_operators(names)
    )


@row("6.1.1 c)1", "Shape, data type and device of a tensor", "spec_of, device_of, devices")
def information():
    tensor = ops.zeros((2, 3), dtype="int32")
    spec = dispatch.spec_of(tensor)
    holds((spec.shape, spec.dtype) == ((2, 3), "int32"), f"the tensor is int32 of shape (2, 3), said is {spec}")
    holds(backends.device_of(tensor) in backends.devices(), "the tensor lies on a device that there is")


@row("6.1.1 c)2", "Conversion between data types and between devices", "ops.astype over seven types, to_device")
def conversion():
    for dtype in ("float64", "float16", "int64", "int32", "uint8", "bool", "float32"):
        result = ops.astype(ops.tensor([0.0, 1.0, 3.7]), dtype)
        close(result, np.array([0.0, 1.0, 3.7]).astype(dtype), rtol=1e-3)
        holds(dispatch.spec_of(result).dtype == dtype, f"the result is {dtype}")
    for device in backends.devices():
        equal(backends.to_device(ops.tensor([1, 2]), device), [1, 2])


# -- d) modules


def _windows(x, size: int):
    """Windows of an array (N, C, spatial...): (N, C, spatial..., window...)."""
    axes = tuple(range(2, x.ndim))
    return np.lib.stride_tricks.sliding_window_view(x, (size,) * len(axes), axes)  # type: ignore[arg-type]


@row("6.1.1 d)1", "Activation modules", "nn.Sigmoid, nn.ReLU, nn.Tanh against NumPy")
def activation_modules():
    x = np.linspace(-3, 3, 7, dtype="float32")[None]
    for kind, expected in ((nn.Sigmoid, 1 / (1 + np.exp(-x))), (nn.ReLU, np.maximum(x, 0)), (nn.Tanh, np.tanh(x))):
        close(kind()(ops.tensor(x)), expected)


@row(
    "6.1.1 d)2",
    "Convolutions in one, two and three dimensions",
    "nn.Conv1d, Conv2d, Conv3d against sums of windows in NumPy",
)
def convolutions():
    rng = np.random.default_rng(0)
    for kind, space in ((nn.Conv1d, "x"), (nn.Conv2d, "xy"), (nn.Conv3d, "xyz")):
        x = rng.standard_normal((2, 3, *(5,) * len(space))).astype("float32")
        layer = kind(4, kernel_size=2).build(x.shape)
        state = layer.state_dict()  # the kernel is window × in × out
        window = space.upper()
        expected = np.einsum(f"nc{space}{window},{window}co->no{space}", _windows(x, 2), state["kernel:0"])
        close(layer(ops.tensor(x)), expected + state["bias:0"].reshape(-1, *(1,) * len(space)))


@row("6.1.1 d)2", "Fully connected layers", "nn.Linear against x · W + b in NumPy")
def linear():
    x = np.random.default_rng(0).standard_normal((5, 3)).astype("float32")
    layer = nn.Linear(4).build(x.shape)
    state = layer.state_dict()
    close(layer(ops.tensor(x)), x @ state["kernel:0"] + state["bias:0"])


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _lstm(x, state):
    """Outputs of an LSTM (Hochreiter and Schmidhuber, 1997), step by step; gates in the order of torch.nn.LSTM."""
    hidden, cell, outputs = np.zeros((len(x), 4)), np.zeros((len(x), 4)), []
    for step in range(x.shape[1]):
        gates = x[:, step] @ state["kernel:0"] + hidden @ state["recurrent_kernel:0"] + state["bias:0"]
        add, forget, new, out = np.split(gates, 4, 1)
        cell = _sigmoid(forget) * cell + _sigmoid(add) * np.tanh(new)
        hidden = _sigmoid(out) * np.tanh(cell)
        outputs.append(hidden)
    return np.stack(outputs, 1)


def _gru(x, state):
    """Outputs of a GRU (Cho et al., 2014), step by step, with the reset after the product as in torch.nn.GRU."""
    hidden, outputs = np.zeros((len(x), 4)), []
    for step in range(x.shape[1]):
        reset, update, new = np.split(x[:, step] @ state["kernel:0"] + state["bias:0"], 3, 1)
        past = np.split(hidden @ state["recurrent_kernel:0"] + state["recurrent_bias:0"], 3, 1)
        new = np.tanh(new + _sigmoid(reset + past[0]) * past[2])
        share = _sigmoid(update + past[1])
        hidden = (1 - share) * new + share * hidden
        outputs.append(hidden)
    return np.stack(outputs, 1)


@row("6.1.1 d)2", "Recurrent layers", "nn.RNN, nn.LSTM and nn.GRU against their recurrences in NumPy")
def recurrent():
    x = np.random.default_rng(0).standard_normal((2, 5, 3)).astype("float32")
    layer = nn.RNN(4).build(x.shape)
    state, hidden, expected = layer.state_dict(), np.zeros((2, 4)), []
    for step in range(5):
        hidden = np.tanh(x[:, step] @ state["kernel:0"] + hidden @ state["recurrent_kernel:0"] + state["bias:0"])
        expected.append(hidden)
    close(layer(ops.tensor(x))[0], np.stack(expected, 1))
    for kind, recurrence in ((nn.LSTM, _lstm), (nn.GRU, _gru)):
        layer = kind(4).build(x.shape, seed=0)
        rng = np.random.default_rng(1)  # biases other than 0
        state = {name: 0.5 * rng.standard_normal(value.shape) for name, value in layer.state_dict().items()}
        layer.load_state_dict({name: value.astype("float32") for name, value in state.items()})
        close(layer(ops.tensor(x))[0], recurrence(x.astype("float64"), state))


@row("6.1.1 d)3", "Dropout", "nn.Dropout in training and evaluation")
def dropout():
    layer, x = nn.Dropout(0.25), ops.ones((100, 100))
    drawn = array(layer.train()(x))
    close(np.unique(drawn), [0, 1 / 0.75])
    close((drawn == 0).mean(), 0.25, rtol=0, atol=0.03)
    equal(layer.eval()(x), np.ones((100, 100)))


@row("6.1.1 d)3", "Batch normalization", "nn.BatchNorm in training and evaluation against NumPy")
def batch_normalization():
    x = np.random.default_rng(0).standard_normal((8, 3)).astype("float32") * 2 + 1
    layer = nn.BatchNorm().build(x.shape).train()
    close(layer(ops.tensor(x)), (x - x.mean(0)) / np.sqrt(x.var(0) + 1e-5))
    mean, variance = 0.1 * x.mean(0), 0.9 + 0.1 * x.var(0, ddof=1)
    close(layer.eval()(ops.tensor(x)), (x - mean) / np.sqrt(variance + 1e-5))


@row(
    "6.1.1 d)3",
    "Maximum, average and global pooling",
    "nn.MaxPool2d, AvgPool2d, GlobalMaxPool, GlobalAvgPool against NumPy",
)
def pooling():
    x = np.random.default_rng(0).standard_normal((2, 3, 4, 6)).astype("float32")
    parts = x.reshape(2, 3, 2, 2, 3, 2)
    for layer, expected in (
        (nn.MaxPool2d(2), parts.max((3, 5))),
        (nn.AvgPool2d(2), parts.mean((3, 5))),
        (nn.GlobalMaxPool(), x.max((2, 3))),
        (nn.GlobalAvgPool(), x.mean((2, 3))),
    ):
        close(layer(ops.tensor(x)), expected)


# -- e) and f) frameworks


@row(
    "6.1.1 e)",
    "PyTorch, TensorFlow, PaddlePaddle and MindSpore can be adapted to",
    "backends.available, the type of a tensor",
)
def frameworks():
    known = backends.available()
    wanted = ("torch", "tensorflow", "paddle", "mindspore")
    holds(set(wanted) <= set(known), f"there are {', '.join(known)}, wanted are {', '.join(wanted)}")
    home = type(ops.zeros((1,))).__module__.partition(".")[0]
    holds(home == dispatch.default(), f"a tensor of {dispatch.default()} is {home}'s own")


@row(
    "6.1.1 f)",
    "The framework is chosen at the start, and can be changed",
    "LABDL_BACKEND in a new process, use, a wrong name",
)
def switching():
    code = "import labdl; print(labdl.backends.default())"
    environment = {**os.environ, "LABDL_BACKEND": "numpy"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120)
    holds(
        done.stdout.strip() == "numpy",
        f"LABDL_BACKEND chooses the framework, the process said {done.stdout + done.stderr}",
    )
    former = dispatch.default()
    try:
        dispatch.use("numpy")
        holds(isinstance(ops.zeros((1,)), np.ndarray), "use changes the framework of a process")
        with raises(BackendError, "caffe"):
            dispatch.use("caffe")
    finally:
        dispatch.use(former)


@row(
    "6.1.2",
    "All frameworks implement the interface alike",
    "a small network against the NumPy reference, from one seed",
)
def consistency():
    x = np.random.default_rng(0).standard_normal((4, 1, 8, 8)).astype("float32")
    results = []
    for backend in (dispatch.default(), "numpy"):
        model = nn.Sequential(nn.Conv2d(3, kernel_size=3), nn.ReLU(), nn.BatchNorm(), nn.Flatten(), nn.Linear(5))
        model.build(x.shape, backend=backend, seed=1)
        results.append(array(model(ops.tensor(x, backend=backend))))
    close(*results)
